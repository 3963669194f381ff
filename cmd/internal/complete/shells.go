package complete

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed shells
var shells embed.FS

// Script is what a shell has to read to complete the words of program.
func Script(shell, program string) (string, error) {
	text, err := shells.ReadFile("shells/" + shell)
	if err != nil {
		return "", fmt.Errorf("no completion for %s: bash, zsh or fish", shell)
	}
	function := strings.Map(func(r rune) rune { // of characters that every shell takes in a name
		if '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}, program)
	return strings.NewReplacer("@PROGRAM@", program, "@FUNCTION@", function).Replace(string(text)), nil
}
