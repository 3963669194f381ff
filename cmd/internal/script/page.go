package script

import (
	"os"
	"strings"
	"testing"
)

// CheckPage runs the commands of a page of the documentation, those behind `$ ` in its console blocks, one after the
// other, and compares what run returns for each with what the page shows. least is how many there are at least.
// UPDATE_DOCS=1 writes the page anew.
func CheckPage(t *testing.T, path string, least int, run func(command string) string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var now strings.Builder
	fence, inBlock, ran := "", false, 0 // the fence of the block that we are in
	for line := range strings.Lines(string(text)) {
		command, isCommand := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "$ ")
		switch {
		case fence == "" && strings.HasPrefix(line, "```"):
			fence = line[:len(line)-len(strings.TrimLeft(line, "`"))]
			inBlock = strings.TrimSpace(line[len(fence):]) == "console"
			now.WriteString(line)
		case fence != "" && strings.TrimSpace(line) == fence:
			fence, inBlock = "", false
			now.WriteString(line)
		case !inBlock:
			now.WriteString(line)
		case isCommand:
			ran++
			now.WriteString(line + run(command))
		}
	}
	if ran < least {
		t.Errorf("only %d commands were found", ran)
	}
	if now.String() == string(text) {
		return
	}
	if os.Getenv("UPDATE_DOCS") != "" {
		if err := os.WriteFile(path, []byte(now.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, got := strings.Split(string(text), "\n"), strings.Split(now.String(), "\n")
	for i := range want {
		if i >= len(got) || want[i] != got[i] {
			t.Fatalf("%s:%d says\n\t%s\nand the program\n\t%s", path, i+1, want[i], strings.Join(got[min(i, len(got)):min(i+6, len(got))], "\n\t"))
		}
	}
	t.Fatalf("the program prints more than %s says", path)
}
