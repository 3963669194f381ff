// Package shellwords writes words for a shell, so that it reads back the same words: for lines that a person copies, and
// for the few places where a client insists on a line.
package shellwords

import "strings"

// Quote makes s one word of a POSIX shell, in single quotes where it needs any. zsh, bash and fish read it the same.
func Quote(s string) string {
	if s != "" && s[0] != '=' && strings.IndexFunc(s, special) < 0 { // zsh takes =ls for the path of ls
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func special(r rune) bool {
	return !('0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || strings.ContainsRune("_-./:@%+=,", r))
}

// Join makes words one line, each of them quoted where it needs to be.
func Join(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = Quote(w)
	}
	return strings.Join(quoted, " ")
}
