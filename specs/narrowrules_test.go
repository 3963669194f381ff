package specs

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/sessevents/sessevents/engine/eventlog"
	"github.com/sessevents/sessevents/fetchers"
)

// streamOf compiles a spec of a stream.
func streamOf(t *testing.T, extract, item string, rules []string, rest string) *Source {
	t.Helper()
	quoted, err := json.Marshal(extract)
	if err != nil {
		t.Fatal(err)
	}
	src := "version: 1\nname: n\ninterval: 5s\ntarget: {args: [path]}\nfetch: {jsonl-tail: {path: \"${target.path}\", from: start}}\n" +
		"extract: " + string(quoted) + "\n" + item + "rules:\n"
	for _, r := range rules {
		src += "  - " + r + "\n"
	}
	s, found := Parse("n.yaml", []byte(src+rest))
	source, more := Compile(s, Options{Fetchers: fetchers.All})
	if found = append(found, more...); found.HasErrors() {
		t.Fatal(src, found)
	}
	return source
}

func TestWhichLinesTheRulesNeed(t *testing.T) {
	const typed = "item: {a: [x, y], b: id, t: time, n: count}\n"
	says := func(when, more string) string {
		return fmt.Sprintf(`{when: '%s', kind: k, text: "said"%s}`, when, more)
	}
	plain := `.lines[] | {a, b: .c.d, t, n}`
	for name, c := range map[string]struct {
		extract, item string
		rules         []string
		rest, want    string
	}{
		"one word":            {plain, typed, []string{says(`item.a == "x"`, "")}, "", "[[x]]"},
		"two rules":           {plain, typed, []string{says(`item.a == "x" && item.n > 1`, ""), says(`"y" == item.b`, "")}, "", "[[x y]]"},
		"either":              {plain, typed, []string{says(`item.a == "x" || item.b == "z"`, "")}, "", "[[x z]]"},
		"the narrowest":       {plain, typed, []string{says(`item.a in ["x", "y"] && item.b == "z"`, "")}, "", "[[z]]"},
		"one of a list":       {plain, typed, []string{says(`item.a in ["x", "y"]`, "")}, "", "[[x y]]"},
		"a part of a text":    {plain, typed, []string{says(`item.b contains "z"`, ""), says(`item.b startsWith "w"`, "")}, "", "[[w z]]"},
		"with extract's own":  {`.lines[] | select(.e == "q") | {a}`, "item: {a: [x]}\n", []string{says(`item.a == "x"`, "")}, "", "[[q] [x]]"},
		"of the line itself":  {`.lines[]`, "", []string{says(`item.a.b == "x"`, "")}, "", "[[x]]"},
		"the item itself":     {`.lines[] | .level`, "item: id\n", []string{says(`item == "x"`, "")}, "", "[[x]]"},
		"a rule without":      {plain, typed, []string{says(`item.a == "x"`, ""), says(`item.n > 1`, "")}, "", "[]"},
		"not a word":          {plain, typed, []string{says(`item.a != "x"`, "")}, "", "[]"},
		"perhaps a word":      {plain, typed, []string{says(`item.a == "x" || item.n > 1`, "")}, "", "[]"},
		"a time":              {plain, typed, []string{says(`item.t == "2027-01-01T00:00:00Z"`, "")}, "", "[]"},
		"nothing":             {plain, typed, []string{says(`item.b == ""`, "")}, "", "[]"},
		"made by extract":     {`.lines[] | {a: (.a | ascii_downcase)}`, "item: {a: id}\n", []string{says(`item.a == "x"`, "")}, "", "[]"},
		"in a row":            {plain, typed, []string{says(`item.a == "x"`, ", for: 2")}, "", "[]"},
		"until":               {plain, typed, []string{says(`item.a == "x"`, ", until: item.n > 1")}, "", "[]"},
		"the time":            {plain, typed, []string{says(`item.a == "x"`, ""), says(`quiet > duration("1m")`, "")}, "", "[]"},
		"the cursor":          {plain, typed, []string{says(`item.a == "x" && cursor.n == 1`, "")}, "", "[]"},
		"a cursor of its own": {plain, typed, []string{says(`item.a == "x"`, "")}, "cursor: item.n\n", "[]"},
		"the number of items": {plain, typed, []string{says(`item.a == "x" && len(items) > 1`, "")}, "", "[]"},
		"busy":                {plain, typed, []string{says(`item.a == "x"`, "")}, "busy: len(items) > 0\n", "[]"},
		"done":                {plain, typed, []string{says(`item.a == "x"`, "")}, "done: cursor.a == \"y\"\n", "[]"},
		"a text of the count": {plain, typed, []string{`{when: item.a == "x", kind: k, text: "${count}"}`}, "", "[]"},
		"a summary":           {plain, typed, []string{says(`item.a == "x"`, "")}, "summary: [{text: \"${cursor.n}\"}]\n", "[]"},
		"the document":        {plain, typed, []string{says(`item.a == "x" && doc.skipped > 0`, "")}, "", "[]"},
	} {
		n := streamOf(t, c.extract, c.item, c.rules, c.rest).steps[0].narrow
		if n == nil {
			n = &fetchers.Narrow{}
		}
		if got := fmt.Sprint(n.Literals); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestStreamsNarrowedByRulesSayTheSame runs random rules on random lines, narrowed and not, over several polls: the
// events must be equal, and so must be whether the target is busy.
func TestStreamsNarrowedByRulesSayTheSame(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 17))
	word := func() string { return []string{`"x"`, `"y"`, `"é\"q"`, `"other"`}[r.IntN(4)] }
	field := func() string { return []string{"item.a", "item.c", "item.n"}[r.IntN(3)] }
	var when func(depth int) string
	when = func(depth int) string {
		switch n := r.IntN(8); {
		case depth > 0 && n < 4:
			return "(" + when(depth-1) + []string{" && ", " || ", " && ", " && "}[n] + when(depth-1) + ")"
		case n == 4:
			return field() + " in [" + word() + ", " + word() + "]"
		case n == 5:
			return field() + ` contains ` + []string{`"x"`, `"th"`, `"q"`}[r.IntN(3)]
		case n == 6 && depth < 2:
			return "item.n > 50"
		}
		return field() + " == " + word()
	}
	narrowed, said := 0, 0
	for range 60 {
		rules := []string{}
		for i := range 1 + r.IntN(3) {
			condition, err := json.Marshal(when(2))
			if err != nil {
				t.Fatal(err)
			}
			rules = append(rules, fmt.Sprintf(`{when: %s, kind: k%d, text: "${item.n} ${item.a}", fields: {now: "${now}"}}`, condition, i))
		}
		extract := []string{`.lines[] | {a, c: .b.c, n}`, `.lines[]`, `.lines[] | select(.d == "x") | {a, c: .e, n}`}[r.IntN(3)]
		source := streamOf(t, extract, "", rules, "")
		wide := source.wide()
		if n := source.steps[0].narrow; n != nil && len(n.Literals) > 0 {
			narrowed++
		}
		path := filepath.Join(t.TempDir(), "log")
		a, b := follower{t, source, path, nil}, follower{t, wide, path, nil}
		for range 15 {
			text := randomLines(r)
			appendTo(t, path, text)
			x, busy := a.poll()
			y, other := b.poll()
			if said += len(x); !reflect.DeepEqual(x, y) || busy != other {
				t.Fatalf("%s\n%s\nof\n%s\ngive narrowed %v, %v\nand else %v, %v", extract, strings.Join(rules, "\n"), text, x, busy, y, other)
			}
		}
	}
	if narrowed < 20 || said < 100 {
		t.Errorf("%d of 60 specs were narrowed, %d events: the test says too little", narrowed, said)
	}
}

// follower polls a file as a daemon does.
type follower struct {
	*testing.T
	source *Source
	path   string
	saved  json.RawMessage
}

func (f *follower) poll() (events []eventlog.Event, busy bool) {
	f.Helper()
	target, err := f.source.ParseTarget([]string{f.path})
	if err != nil {
		f.Fatal(err)
	}
	target.Saved = f.saved
	out, err := f.source.Poll(context.Background(), target, time.Unix(1_790_000_000, 0))
	if err != nil {
		f.Fatal(err)
	}
	f.saved = out.Saved
	return out.Events, out.Busy
}

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
}
