package main

import (
	"slices"
	"strings"
)

// runner is a command with its words.
type runner interface{ Run(c *call) error }

// plain reads the words of a list or a status, which controllers call all day, where each of them is beyond doubt; nil
// where there is more to them. To set up the grammar for them would take a tenth of the whole.
func plain(words []string) (command runner, worker string) {
	switch {
	case len(words) >= 1 && words[0] == "list":
		var c listCmd
		for i, word := range words[1:] {
			switch {
			case slices.Contains(words[1:1+i], word):
				return nil, ""
			case word == "--all":
				c.All = true
			case word == "--json":
				c.JSON = true
			case c.Pattern == "" && word != "" && strings.Trim(word, nameLetters) == "" && word[0] != '-':
				c.Pattern = word
			default:
				return nil, ""
			}
		}
		return &c, ""
	case len(words) >= 3 && words[0] == "--worker" && words[1] != "" && strings.Trim(words[1], nameLetters) == "" && words[1][0] != '-' && words[2] == "status":
		switch {
		case len(words) == 3:
			return &statusCmd{}, words[1]
		case len(words) == 4 && words[3] == "--json":
			return &statusCmd{JSON: true}, words[1]
		}
	}
	return nil, ""
}

// nameLetters are those of names and session ids.
const nameLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
