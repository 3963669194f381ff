package inbox

import "time"

// The receiver drops what comes too fast from one sender: it keeps 30 messages, one more each 2 s, and it drops a
// message whose body it had within 30 s. The daemon stays under each of these.
const (
	// Spacing is the least time between two messages.
	Spacing = 1100 * time.Millisecond
	// Burst is how many messages may follow at that spacing.
	Burst = 28
	// Refill is the time after which one more may.
	Refill = 2050 * time.Millisecond
	// Repeat is how long a body counts as one that the receiver remembers. It counts its 30 s from when it reads a
	// message, which may be long after it was written.
	Repeat = time.Minute
)

// Tokens returns what the receiver's budget has grown to in the time since it was tokens.
func Tokens(tokens float64, since time.Duration) float64 {
	if since <= 0 { // the clock went back
		return tokens
	}
	return min(Burst, tokens+float64(since)/float64(Refill))
}

// NextToken returns how long it takes until a budget of tokens allows a message.
func NextToken(tokens float64) time.Duration {
	if tokens >= 1 {
		return 0
	}
	return time.Duration((1-tokens)*float64(Refill)) + 1
}
