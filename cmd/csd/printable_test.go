package main

import "testing"

func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"/srv/ünï çode/漢字 🙂":      "/srv/ünï çode/漢字 🙂",
		`C:\back`:                 `C:\back`,
		"a\tb\nc":                 `a\tb\nc`,
		"\x1b[31mred\x1b]0;t\x07": `\x1b[31mred\x1b]0;t\x07`,
		"bad \xff end":            `bad \xff end`,
		"\u202egnp.exe":           `\u202egnp.exe`,
		"a\u0085b":                `a\u0085b`,
		"\ufffd":                  "\ufffd",
		"":                        "",
	} {
		if got := printable(in, ""); got != want {
			t.Errorf("%q is printed as %q, want %q", in, got, want)
		}
	}
	if got := printable("a\nb\x1b", "\n"); got != "a\nb\\x1b" {
		t.Errorf("%q", got)
	}
}
