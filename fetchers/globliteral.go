package fetchers

import (
	"os"
	"path/filepath"
	"strings"
)

// GlobLiteral is value as a part of a pattern that stands for nothing but itself, behind what is there of the pattern
// already: a target is a name, and whoever names it must not reach other files with it.
func GlobLiteral(before, value string) string {
	class, braces := open(before)
	var b strings.Builder
	for _, c := range value {
		switch {
		case class && strings.ContainsRune(`\]-^!`, c), !class && strings.ContainsRune(`*?[]{}`, c):
			b.WriteByte('\\')
			b.WriteRune(c)
		// doublestar takes these two for what they are only in a class: where it finds no pattern at all, it leaves their
		// backslash in the name.
		case !class && c == '\\', !class && braces && c == ',':
			b.WriteString(`[\` + string(c) + `]`)
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}

// open says whether a pattern ends within [ ], and whether it may end within { }.
func open(pattern string) (class, braces bool) {
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '\\':
			i++
		case c == ']':
			class = false
		case c == '[' && !class:
			class = true
		case c == '{':
			braces = true
		}
	}
	return class, braces
}

// absoluteGlob is absolute for a pattern: the folders that it adds are names, whatever characters they hold.
func absoluteGlob(pattern string) (string, error) {
	if filepath.IsAbs(pattern) {
		return absolute(pattern)
	}
	base := os.Getwd
	rest, ok := strings.CutPrefix(pattern, "~/")
	if ok {
		base = os.UserHomeDir
	}
	if rest == "" || strings.ContainsRune(pattern, 0) {
		return absolute(pattern)
	}
	dir, err := base()
	if err != nil {
		return "", failf("invalid", "folder for the glob %s: %w", pattern, err)
	}
	return filepath.Join(GlobLiteral("", dir), rest), nil
}
