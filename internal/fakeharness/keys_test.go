package fakeharness

import (
	"reflect"
	"testing"
)

// TestDecoderInAnyPieces cuts what a terminal sends at every place.
func TestDecoderInAnyPieces(t *testing.T) {
	text := "aü漢\x1b[200~pasted\x1b[A\n\r\ttext\x1b[201~\r\x1b[A\x1bOB\x1b\r\x15\x7f\tz"
	want := []key{
		{"text", "aü漢"},
		{"paste", "pasted\x1b[A\n\r\ttext"},
		{name: "Enter"},
		{name: "Up"},
		{name: "Down"},
		{name: "M-Enter"},
		{name: "C-u"},
		{name: "BSpace"},
		{name: "Tab"},
		{"text", "z"},
	}
	for cut := range len(text) + 1 {
		var d decoder
		var got []key
		for _, k := range append(d.feed([]byte(text[:cut])), d.feed([]byte(text[cut:]))...) {
			if last := len(got) - 1; k.name == "text" && last >= 0 && got[last].name == "text" {
				got[last].text += k.text
				continue
			}
			got = append(got, k)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("cut at %d: %q", cut, got)
		}
	}
	var d decoder
	if got := d.feed([]byte{0x1b}); got != nil || !d.pending() || d.flush()[0].name != "Escape" {
		t.Errorf("a lone Escape: %q", got)
	}
}

func FuzzDecoder(f *testing.F) {
	f.Add([]byte("a\x1b[200~b\x1b[201~\r"), 3)
	f.Add([]byte("\x1b\x1b[\xff"), 1)
	f.Fuzz(func(t *testing.T, text []byte, cut int) {
		cut = min(max(cut, 0), len(text))
		var d decoder
		for _, k := range append(d.feed(text[:cut]), d.feed(text[cut:])...) {
			if k.name == "" || k.name == "text" && k.text == "" {
				t.Errorf("an empty key of %q", text)
			}
		}
	})
}

func TestClaudeProjectOfLongPaths(t *testing.T) {
	if got := claudeProject("/home/u/claude-harness/w é_ü:@+ x,漢.~%(1)A9"); got != "-home-u-claude-harness-w--------x------1-A9" {
		t.Errorf("got %s", got)
	}
}
