package specs

import (
	"regexp"
	"sync"
)

// lazily compiles a pattern when it is first used: a command that only needs a spec's name starts without the cost of
// all of them.
func lazily(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}
