package tmux

import (
	"strings"
	"testing"
)

func FuzzParsePanes(f *testing.F) {
	f.Add("%0:27136:0:::%0:1:api-2:vm\n%1:27142:1:3:::0:my work:a: b\n")
	f.Add("%0:1:1::9::1:x:\n")
	f.Add("::::::::\n")
	f.Fuzz(func(t *testing.T, out string) {
		panes, err := parsePanes(out)
		if err == nil && len(panes) != strings.Count(strings.TrimSuffix(out, "\n")+"\n", "\n") && out != "" {
			t.Errorf("%d panes of %q", len(panes), out)
		}
	})
}

func FuzzLiteral(f *testing.F) {
	f.Add("a#{pid}##[x;")
	f.Fuzz(func(t *testing.T, text string) {
		got := literal(text)
		if strings.Count(got, "#")%2 != 0 && !strings.Contains(text, "#[") {
			t.Errorf("%q became %q", text, got)
		}
		if strings.HasSuffix(got, ";") && !strings.HasSuffix(got, `\;`) {
			t.Errorf("%q became %q", text, got)
		}
	})
}
