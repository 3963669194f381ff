package specs_test

import (
	"strings"
	"testing"
)

// TestC27_AnEditKeepsTheCursorOrSaysThatItDoesNot: what happened between the polls is told by the new texts; where key,
// item or cursor have another shape, one note says that it is not, and the watch goes on from there.
func TestC27_AnEditKeepsTheCursorOrSaysThatItDoesNot(t *testing.T) {
	w := watch(t, keyed)
	w.poll(`[{"id":"a","state":"open","n":1}]`)
	w.source = compile(t, w.world, strings.Replace(keyed, "appeared\"}", "is new\"}", 1))
	w.want(`[{"id":"a","state":"open","n":1},{"id":"b"}]`, "new: b is new")
	w.source = compile(t, w.world, strings.Replace(keyed, "[open, closed]", "[open, closed, merged]", 1))
	w.want(`[{"id":"a","state":"merged","n":1},{"id":"b"}]`, "changed: a: open 1 to merged 1")
	w.source = compile(t, w.world, strings.Replace(keyed, "n: count}", "n: count, by: id}", 1))
	w.want(`[{"id":"a","state":"closed","n":1},{"id":"c"}]`, "baseline: : the spec changed; watching from a new baseline")
	w.want(`[{"id":"a","state":"open","n":1},{"id":"c"}]`, "changed: a: closed 1 to open 1")
	for what, edit := range map[string][2]string{
		"key":    {"key: item.id", "key: item.id + item.state"},
		"cursor": {"\nrules:", "\ncursor: item.n\nrules:"},
	} {
		w := watch(t, keyed)
		w.poll(`[{"id":"a","state":"open","n":1}]`)
		changed := strings.Replace(keyed, edit[0], edit[1], 1)
		if what == "cursor" { // its rules speak of what the cursor no longer has
			changed = strings.NewReplacer("cursor.n", "cursor", "cursor.state", "cursor", "cursor.id", "cursor").Replace(changed)
		}
		if changed == keyed {
			t.Fatalf("%s: nothing was edited", what)
		}
		w.source = compile(t, w.world, changed)
		w.want(`[{"id":"a","state":"closed","n":2},{"id":"b","state":"open"}]`, "baseline: : the spec changed; watching from a new baseline")
		if e := w.out.Events[0]; e.Level != "note" {
			t.Errorf("%s: level %q", what, e.Level)
		}
		w.want(`[{"id":"a","state":"closed","n":2},{"id":"b","state":"open"}]`)
	}
}
