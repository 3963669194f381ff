package fetchers

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

// options reads typed values; a missing one is the zero value of its type.
type options map[string]any

func get[T any](o options, name string) T {
	v, _ := o[name].(T)
	return v
}

func (o options) text(name string) string            { return get[string](o, name) }
func (o options) flag(name string) bool              { return get[bool](o, name) }
func (o options) number(name string) int64           { return get[int64](o, name) }
func (o options) numbers(name string) []int64        { return get[[]int64](o, name) }
func (o options) list(name string) []string          { return get[[]string](o, name) }
func (o options) dict(name string) map[string]string { return get[map[string]string](o, name) }

// timeout is the option that every fetcher has.
func (o options) timeout() time.Duration {
	if d := get[time.Duration](o, "timeout"); d > 0 {
		return d
	}
	return defaultTimeout
}

// has says that an option has a value that is not empty.
func (o options) has(name string) bool {
	switch v := o[name].(type) {
	case nil:
		return false
	case string:
		return v != ""
	case []string:
		return len(v) > 0
	case map[string]string:
		return len(v) > 0
	}
	return true
}

const defaultTimeout = 30 * time.Second

// Sizes of options.
const (
	kilobyte = 1000
	megabyte = 1000 * kilobyte
	gigabyte = 1000 * megabyte
)

var timeoutOption = Option{
	Name: "timeout", Type: Duration, Default: defaultTimeout, Min: int64(10 * time.Millisecond), Max: int64(time.Hour),
	Help: "how long the whole answer may take",
}

// exactlyOne makes a check that one of two options is set and the other is not.
func exactlyOne(a, b string) func(map[string]any) error {
	return func(o map[string]any) error {
		hasA, hasB := options(o).has(a), options(o).has(b)
		switch {
		case hasA && hasB:
			return failf("invalid", "%s and %s exclude each other", a, b)
		case !hasA && !hasB:
			return failf("invalid", "one of %s and %s must be set", a, b)
		}
		return nil
	}
}

// absolute makes a path of this machine of what a spec says: `~/` is the user's home, the rest is seen from the
// folder in which the daemon was started.
func absolute(path string) (string, error) {
	if path == "" {
		return "", failf("invalid", "the path is empty")
	}
	if strings.ContainsRune(path, 0) {
		return "", failf("invalid", "the path holds a zero byte")
	}
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", failf("invalid", "home folder for %s: %w", path, err)
		}
		path = filepath.Join(home, rest)
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", failf("invalid", "%w", err)
	}
	return abs, nil
}
