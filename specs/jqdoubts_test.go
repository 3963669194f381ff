package specs_test

import (
	"strings"
	"testing"

	"github.com/sessevents/sessevents/specs"
)

// TestAConditionThatAssigns: `select(.level = "error")` is jq, and lets everything pass.
func TestAConditionThatAssigns(t *testing.T) {
	for extract, want := range map[string]int{
		`select(.type = "file") | .size`:                          24,
		`select(.size > 5 and .type = "file") | .size`:            38,
		`select((.size >= 5) and (.type == "file")) | .size`:      0,
		`if .type = "file" then .size else null end`:              20,
		`if .type == "file" then (.size = 5) | .size else . end`:  0,
		`select(.type != "file" or .size <= 5) | .size |= . + 1`:  0,
		`.size as $n | select([$n] | any(.[]; . = 5)) | .size`:    50,
		`(.type = "file") | select(.type == "file") | .size += 1`: 0,
	} {
		src := strings.Replace(specs.ExampleSpec, "extract: .size", "extract: "+quoted(extract), 1)
		_, _, found := specs.Check("queue.yaml", []byte(src), real)
		got := 0
		for _, d := range found {
			if d.Code != "assignment" {
				t.Errorf("%s: %s", extract, d.Message)
			}
			got = d.Column
		}
		if got != want {
			t.Errorf("%s: %d, want %d", extract, got, want)
		}
	}
}
