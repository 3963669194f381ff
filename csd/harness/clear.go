package harness

import (
	"context"
	"strings"
)

// Clear throws away what stands in the input box of a client in which no turn runs: a prompt that came back into it
// when its turn was broken off, or what a person left half typed. A text that is pasted would be appended to it. It
// returns what stood there, and does nothing where the box is empty or is not to be seen.
func Clear(ctx context.Context, h Harness, s Screen) (thrown string, err error) {
	composer, keys := composerOf(h)
	if composer == nil {
		return "", nil
	}
	text, err := boxText(ctx, s, composer)
	for range clearRounds {
		if err != nil || text == "" {
			return thrown, err
		}
		if thrown == "" {
			thrown = text
		}
		if err := s.Keys(ctx, keys...); err != nil {
			return thrown, err
		}
		before := text
		changed, err := until(ctx, shows/2, func() (bool, error) {
			now, err := boxText(ctx, s, composer)
			text = now
			return now != before, err
		})
		if err != nil {
			return thrown, err
		}
		if !changed {
			return "", nil // a hint of the client's, in grey, and no text
		}
	}
	return thrown, nil
}

// AtRest reports whether a screen shows an empty input box and no turn. It is for what is better asked otherwise where
// the client says more of itself.
func AtRest(h Harness, screen string) bool {
	composer, _ := composerOf(h)
	if composer == nil {
		return false
	}
	text, ok := composer(screen)
	return ok && text == "" && !strings.Contains(screen, "esc to interrupt") && !strings.Contains(screen, "Working")
}

// clearRounds is how often the keys are pressed at most: each round takes a few lines of a long text away.
const clearRounds = 25

func boxText(ctx context.Context, s Screen, composer func(string) (string, bool)) (string, error) {
	screen, err := s.Capture(ctx)
	if err != nil {
		return "", err
	}
	text, ok := composer(screen)
	if !ok {
		return "", nil
	}
	return text, nil
}

// composerOf is how a client's input box is read, and the keys that empty it line by line. None of them does harm in a
// box that is empty already, as Ctrl-C would: it ends Codex at once, and Pi the second time.
func composerOf(h Harness) (composer func(screen string) (string, bool), keys []string) {
	switch h.(type) {
	case claude:
		return claudeComposer, []string{"C-e", "C-u", "C-u", "C-u", "C-u", "C-u", "C-u", "C-u", "C-u"}
	case codex:
		return codexComposer, []string{"C-e", "C-u", "BSpace", "C-u", "BSpace", "C-u", "BSpace", "C-u", "BSpace"}
	case pi:
		return piComposer, []string{"C-e", "C-u", "BSpace", "C-u", "BSpace", "C-u", "BSpace", "C-u", "BSpace"}
	}
	return nil, nil
}
