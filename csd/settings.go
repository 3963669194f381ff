package csd

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Settings are the times of a Fleet. Each has an environment variable; a value that is no number, or less than
// nothing, is the default, and 0 is 0.
type Settings struct {
	SubmitTimeout time.Duration // CSD_SUBMIT_TIMEOUT, seconds: how long `send` waits for the worker to take a prompt
	SubmitRetry   time.Duration // CSD_SUBMIT_RETRY_INTERVAL, seconds: how often Enter is pressed again until then
	Register      time.Duration // CSD_REGISTER_TIMEOUT, seconds: how long a first prompt may take to give the worker an id
	Start         time.Duration // CSD_START_TIMEOUT_MS, milliseconds: how long a client may take to start
}

// The defaults. A client on a busy machine was seen to need over twenty seconds to start.
const (
	defaultSubmitTimeout = 10 * time.Second
	defaultSubmitRetry   = 2 * time.Second
	defaultRegister      = 15 * time.Second
	defaultStart         = 60 * time.Second
)

// SettingsOf reads the settings from an environment.
func SettingsOf(getenv func(string) string) Settings {
	return Settings{
		SubmitTimeout: duration(getenv("CSD_SUBMIT_TIMEOUT"), time.Second, defaultSubmitTimeout),
		SubmitRetry:   duration(getenv("CSD_SUBMIT_RETRY_INTERVAL"), time.Second, defaultSubmitRetry),
		Register:      duration(getenv("CSD_REGISTER_TIMEOUT"), time.Second, defaultRegister),
		Start:         startTimeout(getenv("CSD_START_TIMEOUT_MS")),
	}
}

// startTimeout has no use for 0: nothing starts in no time.
func startTimeout(text string) time.Duration {
	if d := duration(text, time.Millisecond, defaultStart); d > 0 {
		return d
	}
	return defaultStart
}

func duration(text string, unit, missing time.Duration) time.Duration {
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || !(n >= 0) || n > float64(math.MaxInt64)/float64(unit) {
		return missing
	}
	return time.Duration(n * float64(unit))
}
