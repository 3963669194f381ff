package fakeharness

import (
	"fmt"
	"strconv"
	"strings"
)

// parseTOML reads as much of TOML as a configuration of Codex has: tables, arrays of tables, quoted names, strings of
// one line, numbers and booleans. Other values stay text. What it cannot read is an error, as it is to the client.
func parseTOML(text string) (map[string]any, error) {
	root := map[string]any{}
	table := root
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSpace(line)
		var err error
		switch {
		case line == "" || line[0] == '#':
			continue
		case strings.HasPrefix(line, "[["):
			table, err = tomlTable(root, strings.TrimPrefix(line, "[["), "]]", true)
		case line[0] == '[':
			table, err = tomlTable(root, line[1:], "]", false)
		default:
			err = tomlPair(table, line)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
	}
	return root, nil
}

// tomlTable opens the table of a header.
func tomlTable(root map[string]any, header, closing string, array bool) (map[string]any, error) {
	path, rest, err := tomlName(header)
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(rest, closing) {
		return nil, fmt.Errorf("a header without its end: %q", header)
	}
	at := root
	for i, name := range path {
		last := i == len(path)-1
		if last && array {
			list, _ := at[name].([]any)
			entry := map[string]any{}
			at[name] = append(list, entry)
			return entry, nil
		}
		if list, ok := at[name].([]any); ok && len(list) > 0 { // the last entry of an array of tables
			at = list[len(list)-1].(map[string]any)
			continue
		}
		at = within(at, name)
	}
	return at, nil
}

func tomlPair(table map[string]any, line string) error {
	path, rest, err := tomlName(line)
	if err != nil {
		return err
	}
	text, ok := strings.CutPrefix(rest, "=")
	if !ok {
		return fmt.Errorf("no value in %q", line)
	}
	value, rest, err := tomlValue(strings.TrimSpace(text))
	if err != nil {
		return err
	}
	if rest = strings.TrimSpace(rest); rest != "" && rest[0] != '#' {
		return fmt.Errorf("%q behind a value", rest)
	}
	for _, name := range path[:len(path)-1] {
		table = within(table, name)
	}
	name := path[len(path)-1]
	if _, twice := table[name]; twice {
		return fmt.Errorf("duplicate key %q", name)
	}
	table[name] = value
	return nil
}

// tomlName reads a dotted name.
func tomlName(text string) (path []string, rest string, err error) {
	for {
		text = strings.TrimSpace(text)
		var name string
		if text != "" && (text[0] == '"' || text[0] == '\'') {
			var value any
			if value, text, err = tomlValue(text); err != nil {
				return nil, "", err
			}
			name = value.(string)
		} else {
			end := strings.IndexFunc(text, func(r rune) bool {
				return !(r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z')
			})
			if end <= 0 {
				return nil, "", fmt.Errorf("no name in %q", text)
			}
			name, text = text[:end], text[end:]
		}
		path = append(path, name)
		text = strings.TrimSpace(text)
		after, more := strings.CutPrefix(text, ".")
		if !more {
			return path, text, nil
		}
		text = after
	}
}

// tomlValue reads one value.
func tomlValue(text string) (value any, rest string, err error) {
	switch {
	case text == "":
		return nil, "", fmt.Errorf("no value")
	case text[0] == '\'':
		literal, rest, ok := strings.Cut(text[1:], "'")
		if !ok {
			return nil, "", fmt.Errorf("a string without its end: %q", text)
		}
		return literal, rest, nil
	case text[0] == '"':
		end := 1
		for end < len(text) && text[end] != '"' {
			if text[end] == '\\' {
				end++
			}
			end++
		}
		if end >= len(text) {
			return nil, "", fmt.Errorf("a string without its end: %q", text)
		}
		s, err := strconv.Unquote(text[:end+1]) // Go's escapes have all of TOML's that matter
		if err != nil {
			return nil, "", fmt.Errorf("string %s: %w", text[:end+1], err)
		}
		return s, text[end+1:], nil
	}
	word, _, _ := strings.Cut(text, "#")
	word = strings.TrimSpace(word)
	rest = text[len(word):]
	if word == "true" || word == "false" {
		return word == "true", rest, nil
	}
	if n, err := strconv.ParseFloat(word, 64); err == nil {
		return n, rest, nil
	}
	if word[0] == '[' || word[0] == '{' {
		return word, rest, nil
	}
	return nil, "", fmt.Errorf("value %q", word)
}
