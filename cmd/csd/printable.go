package main

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// printable is text that a person's terminal shows as it is: what would move its cursor, colour it or hide something is
// spelt out. A folder may be called anything. Letters in keep stay.
func printable(text, keep string) string {
	bad := func(r rune) bool {
		return r == utf8.RuneError || !unicode.IsPrint(r) && !unicode.Is(unicode.Zs, r) && !strings.ContainsRune(keep, r)
	}
	if strings.IndexFunc(text, bad) < 0 {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		r, n := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, text[0])
		case !bad(r) || r == utf8.RuneError:
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		text = text[n:]
	}
	return b.String()
}
