package specs_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sessevents/sessevents/specs"
)

// faults are the diagnostics of a spec, as line:column code.
func faults(t *testing.T, src string) []string {
	t.Helper()
	s, found := specs.Parse("spec.yaml", []byte(src))
	_, more := specs.Compile(s, specs.Options{Fetchers: (&world{}).registry()})
	var got []string
	for _, d := range append(found, more...).Sort() {
		got = append(got, fmt.Sprintf("%d:%d %s", d.Line, d.Column, d.Code))
	}
	return got
}

// base is a spec without faults; tests change a line of it.
const base = `version: 1
name: base
interval: 5s
target: {args: [path]}
fetch: {stat: {path: "${target.path}"}}
extract: .size
item: {id: id, n: count, prose: text}
rules:
  - when: changed
    kind: changed
    text: "${item.id}"
`

func TestBaseHasNoFaults(t *testing.T) {
	if got := faults(t, base); len(got) != 0 {
		t.Fatalf("%q", got)
	}
}

// fault is a line of base, what stands in its place, and the faults that it must give.
type fault struct{ name, line, by, want string }

func places(t *testing.T, rows []fault) {
	t.Helper()
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			src := strings.Replace(base, row.line, row.by, 1)
			if src == base {
				t.Fatalf("no line %q", row.line)
			}
			if got := strings.Join(faults(t, src), " "); got != row.want {
				t.Errorf("%s\ngave %q, want %q", src, got, row.want)
			}
		})
	}
}

// TestC11_WordsThatYAMLTakesForSomethingElse: where a string belongs, there is a string or a fault, never another value.
func TestC11_WordsThatYAMLTakesForSomethingElse(t *testing.T) {
	places(t, []fault{
		{"octal", "kind: changed", "kind: 012", "10:11 not-a-string"},
		{"null", `text: "${item.id}"`, "text: ~", "11:11 not-a-string"},
		{"boolean", "fetch: {stat: {path: \"${target.path}\"}}", "fetch: {stat: {path: true}}", "5:22 not-a-string"},
		{"Norway", "kind: changed", "kind: no", ""},
		{"a switch", "name: base", "name: on", ""},
		{"a number", "name: base", "name: 10", "2:7 not-a-string"},
	})
}

func TestC12_DuplicateKeysMergeKeysAndAliases(t *testing.T) {
	places(t, []fault{
		{"duplicate", "when: changed", "when: changed\n    when: gone", "10:5 duplicate-key"},
		{"merge", "item: {id: id, n: count, prose: text}", "item: {id: id, n: count, <<: {a: id}}", "7:26 merge"},
		{"alias", "item: {id: id, n: count, prose: text}", "item: {id: &a id, n: *a}", "7:12 alias 7:22 alias"},
	})
}

func TestC13_DurationsWithoutAUnit(t *testing.T) {
	places(t, []fault{
		{"no unit", "interval: 5s", "interval: 5", "3:11 duration"},
		{"sexagesimal", "interval: 5s", "interval: 1:30", "3:11 duration"},
		{"range", "interval: 5s", "interval: 99999h", "3:11 interval"},
		{"fraction", "interval: 5s", "interval: 1.5s", "3:11 interval"},
		{"idle", "interval: 5s", "interval: 5s\nidleInterval: 2s", "4:15 interval"},
		{"a word for a unit", "interval: 5s", "interval: 5sec", "3:11 duration"},
		{"none", "interval: 5s", "interval: 0s", "3:11 duration"},
		{"less than none", "interval: 5s", "interval: -1s", "3:11 duration"},
		{"days", "interval: 5s", "interval: 1d", "3:11 duration"},
	})
}

func TestC14_MissingSpacesAndFlowTraps(t *testing.T) {
	places(t, []fault{
		{"no space", "  - when: changed\n    kind: changed\n    text: \"${item.id}\"", `  - {when: changed,kind:b,text: "x"}`, "9:20 missing-space"},
		{"colon", `text: "${item.id}"`, `text: a: b`, "11:12 unquoted-colon"},
		{"escape", `text: "${item.id}"`, `text: "a\d"`, "11:13 escape"},
		{"template in a flow", `fetch: {stat: {path: "${target.path}"}}`, "fetch: {stat: {path: ${target.path}}}", "5:22 unquoted-template"},
		{"a list in a flow", "  - when: changed\n    kind: changed\n    text: \"${item.id}\"", `  - {when: item.id in ["a"] && changed, kind: b, text: "x"}`, "9:23 unquoted"},
		{"a member of a list in a flow", trapRule, `  - {when: ä.b[0] == 1, kind: b, text: "x"}`, "9:15 unquoted"},
		{"a template within a string in a flow", trapRule, `  - {when: changed, kind: b, text: ä ${item.id}}`, "9:38 unquoted-template"},
		{"a template within a string in a list", `{stat: {path: "${target.path}"}}`, `{exec: {command: [ls, a/${target.path}/b]}}`, "5:32 unquoted-template"},
		{"a template in the second line of a flow", trapRule, "  - {when: changed, kind: b,\n     text: a ${item.id}}", "10:14 unquoted-template"},
		{"a template in a list over lines", `{stat: {path: "${target.path}"}}`, "\n  exec:\n    command: [\n      ls,\n      a${target.path}]", "9:8 unquoted-template"},
		{"a colon in a flow", trapRule, "  - {when: changed, kind: a: b, text: x}", "9:28 unquoted-colon"},
		{"a colon behind more than a byte", trapRule, "  - {when: changed, text: x, kind: ä: b}", "9:37 unquoted-colon"},
		{"a colon in a list", "{args: [path]}", "{args: [path: a: b]}", "4:24 unquoted-colon"},
		{"a colon behind quotes", trapRule, `  - {when: changed, kind: "a": b, text: x}`, "9:30 unquoted-colon"},
		{"a colon at the end", "kind: changed", "kind: changed:", "10:18 unquoted-colon"},
		{"a list without its end", "{args: [path]}", "{args: [path}", "4:21 yaml"},
		{"a mapping without its end", "{args: [path]}", "{args: [path]", "4:9 yaml"},
		{"quotes without their end", trapText, `text: "${item.id}`, "11:11 quote"},
		{"an unknown word behind quotes", trapRule, `  - {when: "changed" kind: a, text: x}`, "9:20 quote"},
		{"a question in a flow", "  - when: changed\n    kind: changed\n    text: \"${item.id}\"", `  - {when: item?.n > 1, kind: b, text: "x"}`, "9:16 unquoted"},
	})
}

func TestFaultsStandAtTheirPlace(t *testing.T) {
	places(t, []fault{
		{"unknown key", "name: base", "name: base\nnaem: x", "3:1 unknown-key"},
		{"missing key", "    kind: changed\n", "", "9:5 missing-key"},
		{"a lone carriage return", "name: base\n", "name: base\r\r\nnaem: x\n", "4:1 unknown-key"},
		{"a tab", "    kind: changed", "\tkind: changed", "10:1 tab"},
		{"expr in a plain scalar", "when: changed", "when: changed && itm.n > 1", "9:22 unknown-name"},
		{"expr in single quotes", "when: changed", "when: 'item.id == ''x'' && item.m > 1'", "9:37 unknown-name"},
		{"expr in double quotes", "when: changed", `when: "item.id == \"ä\" && item.m > 1"`, "9:37 unknown-name"},
		{"expr in a literal block", "when: changed", "when: |\n      item.id == \"日本\" &&\n        item.m > 1", "11:14 unknown-name"},
		{"expr in a folded block", "when: changed", "when: >-\n      item.id == \"é\"\n      && item.m > 1", "11:15 unknown-name"},
		{"expr over two plain lines", "when: changed", "when: item.id == \"é\"\n      && item.m > 1", "10:15 unknown-name"},
		{"expr in a flow map", "  - when: changed\n    kind: changed\n    text: \"${item.id}\"", `  - {when: item.n >, kind: a, text: "ä ${itm.id}"}`, "9:19 expr 9:42 unknown-name"},
		{"a block with an indicator", "when: changed", "when: |2\n      item.n >\n        é &&", "11:13 expr"},
		{"a stripped fold with an indicator", "when: changed", "when: >2-\n      item.id == \"日本\" &&\n      foo", "11:7 unknown-name"},
		{"an indicator behind the sign", "when: changed", "when: >-1\n     item.id == \"日本\" && foo", "10:25 unknown-name"},
		{"a kept block with an indicator", "extract: .size", "extract: |+2\n  # ä\n\n  .size | foo(.)\n\n", "9:11 jq"},
		{"a block indented by more than its indicator", "extract: .size", "extract: |1\n    .a |\n  .\"ä\" | foo(.)", "8:10 jq"},
		{"a block that begins with an empty line", "extract: .size", "extract: |2\n\n    \n    .a | foo(.)", "9:10 jq"},
		{"a block with a comment behind it", "extract: .size", "extract: | # 2 lines\n    .a |\n      foo(.)", "8:7 jq"},
		{"a text in a block with an indicator", trapText, "text: >2+\n      ${item.id} é\n      ${item.x}\n\n", "13:14 unknown-name"},
		{"a block in a list", `{stat: {path: "${target.path}"}}`, "\n  exec:\n    command:\n      - |2\n          é${x}\n", "9:14 unknown-name"},
		{"a block with carriage returns", "extract: .size", "extract: |2\r\n  .a |\r\n  foo(.)\r", "8:3 jq"},
		{"jq in a block", "extract: .size", "extract: |\n  .size |\n    foo(.)", "8:5 jq"},
		{"jq that ends too soon", "extract: .size", "extract: |\n  .size | map(\n\n", "7:15 jq"},
		{"expr that ends too soon", "when: changed", "when: |\n      changed &&\n", "10:17 expr"},
		{"jq syntax", "extract: .size", "extract: '.\"ä\" | ]'", "6:18 jq"},
		{"text type", `text: "${item.id}"`, `text: "x ${item.prose}"`, "11:21 text-speaks"},
		{"doc in a text", `text: "${item.id}"`, `text: "${doc.body}"`, "11:14 doc-in-text"},
		{"the whole environment", `text: "${item.id}"`, `text: "${$env} ${get($env, 'doc')} ${__budget}"`, "11:14 unknown-name 11:26 unknown-name 11:42 unknown-name"},
		{"a function of the clock", "when: changed", "when: now() > now", "9:11 unknown-name"},
		{"an open template", `text: "${item.id}"`, `text: "a ${item.id"`, "11:14 template"},
		{"no rule", "rules:\n  - when: changed\n    kind: changed\n    text: \"${item.id}\"\n", "rules: []\n", "8:8 missing-key"},
		{"unknown fetcher", "fetch: {stat:", "fetch: {stats:", "5:9 unknown-fetcher"},
		{"unknown option", "path: \"${target.path}\"", "pth: x", "5:16 unknown-key"},
		{"two fetchers", `{stat: {path: "${target.path}"}}`, "{stat: {path: /}, exec: {command: [a]}}", "5:26 two-fetchers"},
		{"env in a url", `{stat: {path: "${target.path}"}}`, `{http: {url: "http://${env.HOST}/"}}`, "5:31 unknown-name"},
		{"template in a shell", `{stat: {path: "${target.path}"}}`, `{exec: {shell: "ls ${target.path}"}}`, "5:27 no-template"},
		{"id with space", "id: id,", "id: {id: '.*'},", "7:17 pattern-space"},
		{"no such type", "n: count", "n: number", "7:19 type-name"},
		{"not a condition", "when: changed", "when: '\"x\"'", "9:12 value-type"},
		{"a word that never is", "n: count, prose: text}\nrules:\n  - when: changed", "n: [open, closed], prose: text}\nrules:\n  - when: item.n == \"opn\"", "9:21 never-holds"},
		{"a word that never is in a list", "n: count, prose: text}\nrules:\n  - when: changed", "n: [open, closed], prose: text}\nrules:\n  - when: item.n in [\"open\", \"shut\"]", "9:30 never-holds"},
		{"never, whatever comes", "when: changed", "when: 1 > 2", "9:11 never-holds"},
		{"a count is no string", "when: changed", "when: item.n in [1, \"1\"]", "9:25 never-holds"},
		{"an item that is gone", "when: changed", "when: gone", "11:14 absent"},
		{"nothing of what is gone", "when: changed", "when: gone && item != nil", "9:19 never-holds"},
		{"a member of what is gone", "when: changed", "when: item.n != 1 && gone", "9:11 never-holds"},
		{"more of what is gone", "when: changed", "when: gone && (item.n > 1 || !item.id) ", "9:20 never-holds"},
		{"a cursor at the first poll", "when: changed", "when: first && cursor.n == 1", "9:20 never-holds"},
		{"what is gone may be looked for", "when: changed", "when: gone && (item == nil || item.n > 1) && item?.n == nil && (item?.n ?? 1) == 1 && cursor.n > 1", "11:14 absent"},
		{"no text", trapText, `text: ""`, "11:11 empty-text"},
		{"a blank text", trapText, `text: "  "`, "11:11 empty-text"},
		{"no url", trapText, `text: x
    url: ''`, "12:10 empty-text"},
		{"no text of what is cleared", trapText, `text: x
    until: gone
    cleared: {kind: a, text: ""}`, "13:30 empty-text"},
		{"no refusal", "{args: [path]}", `{args: [path], require: [{that: "true", else: ""}]}`, "4:55 empty-text"},
		{"a function", "when: changed", "when: lenn(items) > 1", "9:11 unknown-name"},
		{"a cursor that is not there yet", "when: changed\n    kind: changed\n    text: \"${item.id}\"", "when: appeared\n    kind: changed\n    url: https://x/${cursor.n}\n    text: \"${item.id} ${cursor?.n}\"", "11:22 absent"},
		{"what may be there or not", "when: changed\n    kind: changed\n    text: \"${item.id}\"", "when: gone || changed\n    kind: changed\n    text: \"${item.id} ${item?.n ?? cursor.n}\"", ""},
		{"two that exclude each other", "when: changed", "when: appeared && item.n > 1 && changed", "9:37 never-holds"},
		{"appeared in a stream", "fetch: {stat: {path: \"${target.path}\"}}\nextract: .size", "fetch: {jsonl-tail: {path: /x}}", "8:11 never-holds"},
	})
}

// TestAFetchersOwnCheckPointsAtTheOption: the check tells the option by its words alone.
func TestAFetchersOwnCheckPointsAtTheOption(t *testing.T) {
	for _, row := range []struct{ by, want string }{
		{`{http: {url: "http://h/", accept: [200, 20]}}`, "5:43"},
		{`{exec: {command: [a], accept: [0, 256]}}`, "5:39"},
		{`{http: {url: "http://h/", headers: {A: b, If-None-Match: x}}}`, "5:50"},
		{`{http: {url: "http://h/", body: a, json: b}}`, "5:9"},
		{"{http: {url: \"http://h/\"}}\ndefaults: {http: {accept: [99]}}", "6:28"},
	} {
		_, _, found := specs.Check("spec.yaml", []byte(strings.Replace(base, `{stat: {path: "${target.path}"}}`, row.by, 1)), real)
		found = slices.DeleteFunc(found, func(d specs.Diagnostic) bool { return d.Severity == specs.Warning })
		if len(found) != 1 || found[0].Code != "fetch" || fmt.Sprintf("%d:%d", found[0].Line, found[0].Column) != row.want {
			t.Errorf("%s: %+v, want %s", row.by, found, row.want)
		}
	}
}

func TestC15_FilesThatAreNoSpec(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	loop := filepath.Join(dir, "loop.yaml")
	if err := os.Symlink(loop, loop); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(dir, "x.yaml")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	fifo := filepath.Join(dir, "fifo.yaml")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct{ path, want string }{
		{fifo, "read"}, // nobody writes to it
		{"/dev/zero", "read"},
		{write("two.yaml", base+"---\na: b\n"), "documents"},
		{write("empty.yaml", ""), "empty"},
		{write("comment.yaml", "# nothing\n"), "empty"},
		{write("list.yaml", "- a\n"), "type"},
		{write("large.yaml", strings.Repeat("# xxxxxxxxxxxxxxxx\n", 60_000)), "size"},
		{write("nul.yaml", "name: a\x00b\n"), "yaml"},
		{folder, "read"},
		{loop, "read"},
		{filepath.Join(dir, "none.yaml"), "read"},
	} {
		_, found := specs.Load(row.path)
		if len(found) != 1 || found[0].Code != row.want || found[0].Severity != specs.Error {
			t.Errorf("%s: %+v", filepath.Base(row.path), found)
		}
	}
}

// TestC15_TextThatIsNotUTF8: the place is that of the byte, and another encoding is called by its name.
func TestC15_TextThatIsNotUTF8(t *testing.T) {
	wide := func(order string) string {
		var b strings.Builder
		for _, c := range "version: 1\n" {
			b.WriteString(strings.NewReplacer("c", string(c), "0", "\x00").Replace(order))
		}
		return b.String()
	}
	for _, row := range []struct{ src, place, message string }{
		{strings.Replace(base, "changed\n    kind", "\"é\xffa\"\n    kind", 1), "9:13", "the byte 0xff is no UTF-8"},
		{base + "# ä \xc3", "12:5", "the byte 0xc3 is no UTF-8"},
		{base + "# \xed\xa0\x80", "12:3", "the byte 0xed is no UTF-8"},
		{strings.Replace(base, "kind: changed", "kind: ä\x1bb", 1), "10:12", "the character U+001B has no place in YAML"},
		{strings.Replace(base, "kind: changed", "kind: ä\u0080b", 1), "10:12", "the character U+0080 has no place in YAML"},
		{strings.Replace(base, "kind: changed", "kind: ä\x00b", 1), "10:12", "a NUL byte: this is not a text file"},
		{"\xff\xfe" + wide("c0"), "0:0", "the file is UTF-16: a spec is UTF-8"},
		{"\xfe\xff" + wide("0c"), "0:0", "the file is UTF-16: a spec is UTF-8"},
		{wide("c0"), "0:0", "the file is UTF-16: a spec is UTF-8"},
		{wide("0c"), "0:0", "the file is UTF-16: a spec is UTF-8"},
		{"\xff\xfe\x00\x00" + wide("c000"), "0:0", "the file is UTF-32: a spec is UTF-8"},
		{wide("000c"), "0:0", "the file is UTF-32: a spec is UTF-8"},
	} {
		_, found := specs.Parse("spec.yaml", []byte(row.src))
		if len(found) != 1 || found[0].Code != "yaml" || fmt.Sprintf("%d:%d", found[0].Line, found[0].Column) != row.place || found[0].Message != row.message {
			t.Errorf("%q: %+v, want %s %s", row.src[:20], found, row.place, row.message)
		}
	}
}

func TestC12_AliasBombIsRefusedAtOnce(t *testing.T) {
	var b strings.Builder
	b.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < 12; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i, i, strings.Join(strings.Split(strings.Repeat(fmt.Sprintf("*a%d ", i-1), 10), " ")[:10], ","))
	}
	began := time.Now()
	_, found := specs.Parse("bomb.yaml", []byte(b.String()))
	if !found.HasErrors() || time.Since(began) > time.Second {
		t.Errorf("%d faults in %s", len(found), time.Since(began))
	}
}

func TestHints(t *testing.T) {
	for _, row := range []struct{ line, by, want string }{
		{"when: changed", "wen: changed", "did you mean `when`?"},
		{"when: changed", "when: chnged", "did you mean `changed`?"},
		{"interval: 5s", "interval: 5", "a duration has a unit: write `5s`"},
		{"interval: 5s", "interval: 1d", "there is no unit for days: write `24h`"},
		{"interval: 5s", "interval: 2d", "an interval is 1s to 24h: write `24h`"},
		{"interval: 5s", "interval: 0.2", "an interval is 1s to 24h: write `1s`"},
		{"interval: 5s", "interval: 100000", "an interval is 1s to 24h: write `24h`"},
		{"interval: 5s", "interval: 5 minutes", "write `5m`"},
		{"interval: 5s", "interval: 500ms", "write `1s`"},
		{"interval: 5s", "interval: 1.6s", "write `2s`"},
		{"interval: 5s", "interval: 36h", "write `24h`"},
		{"interval: 5s", "interval: 1:30", "write `1m30s`, or `1h30m`"},
		{"interval: 5s", "interval: 5s\nidleInterval: 0s", "write `1s`"},
		{"fetch: {stat:", "fetch: {sat:", "did you mean `stat`?"},
		{"when: changed", "when: item.n = 1", "compare with `==`"},
		{"extract: .size", "extract: .x | lenght", "did you mean `length`?"},
		{"when: changed", "when: lenn(items) > 1", "did you mean `len`?"},
		{"when: changed", "when: startswith(item.id, 'a')", "it is an operator: `a startsWith b`"},
		{"${item.id}", "${uper(item.id)}", "did you mean `upper`?"},
	} {
		src := strings.Replace(base, row.line, row.by, 1)
		s, found := specs.Parse("spec.yaml", []byte(src))
		_, more := specs.Compile(s, specs.Options{Fetchers: (&world{}).registry()})
		hints := ""
		for _, d := range append(found, more...) {
			hints += d.Hint + "\n"
		}
		if !strings.Contains(hints, row.want) {
			t.Errorf("%s: %q", row.by, hints)
		}
	}
}

func TestDiagnosticsAreDrawn(t *testing.T) {
	_, found := specs.Parse("a.yaml", []byte("version: 1\n日本: x\n"))
	var b strings.Builder
	if err := found[:1].WriteText(&b, false); err != nil {
		t.Fatal(err)
	}
	_, found = specs.Parse("a.yaml", []byte(strings.Replace(base, "kind: changed", "knid: changed", 1)))
	if err := found.WriteText(&b, false); err != nil {
		t.Fatal(err)
	}
	if want := "a.yaml:10:5: error: a rule has no key `knid` [unknown-key]\n 10 |     knid: changed\n    |     ^~~~\nhint: did you mean `kind`?\n"; !strings.Contains(b.String(), want) {
		t.Errorf("drawn as\n%s", b.String())
	}
}

// TestManyFaultsEndSoon: what a file costs is bounded, however it is made.
func TestManyFaultsEndSoon(t *testing.T) {
	for name, src := range map[string]string{
		"one long text":       strings.Replace(base, `"${item.id}"`, `"`+strings.Repeat("${x}", 200_000)+`"`, 1),
		"a block of faults":   strings.Replace(base, `"${item.id}"`, "|\n"+strings.Repeat("      ${item.id + }\n", 40_000), 1),
		"many rules":          base + strings.Repeat("  - {when: changed, kind: a, text: \"${item.id}\"}\n", 15_000),
		"many unknown keys":   base + strings.Repeat("a: b\n", 30_000),
		"a long expression":   strings.Replace(base, "when: changed", "when: "+strings.Repeat("(", 100_000), 1),
		"a long jq program":   strings.Replace(base, "extract: .size", "extract: '"+strings.Repeat("[", 300_000)+"'", 1),
		"a deep flow mapping": "a: " + strings.Repeat("{a: ", 5_000),
	} {
		began := time.Now()
		got := faults(t, src)
		if took := time.Since(began); name != "many rules" && len(got) == 0 || took > 20*time.Second {
			t.Errorf("%s: %d faults in %s", name, len(got), took)
		} else {
			t.Logf("%s: %d faults in %s", name, len(got), took)
		}
	}
}

// TestManyFaultsTakeLittleMemory: 500 faults in one line of nearly a megabyte hold the line once, and print little.
func TestManyFaultsTakeLittleMemory(t *testing.T) {
	src := []byte(strings.Replace(base, `"${item.id}"`, `"`+strings.Repeat("${x}", 200_000)+`"`, 1))
	before := heap()
	_, _, found := specs.Check("spec.yaml", src, real)
	if grown := int64(heap()) - int64(before); len(found) != 501 || grown > 20<<20 {
		t.Errorf("%d faults hold %d bytes", len(found), grown)
	}
	const all = 3_000 // no more expressions are looked at
	if last := found[500]; last.Code != "more" || last.Severity != specs.Error || found.Count() != all {
		t.Errorf("the last is %+v, of %d", last, found.Count())
	}
	for _, format := range specs.Formats {
		var b bytes.Buffer
		if err := found.Write(&b, format, false); err != nil || b.Len() > 500*1500 {
			t.Errorf("%s: %d bytes, %v", format, b.Len(), err)
		}
		if !strings.Contains(b.String(), fmt.Sprintf("%d more findings of this file are not shown", all-500)) {
			t.Errorf("%s does not say how many more there are: %s", format, b.String()[b.Len()-500:])
		}
		if format == "text" && !strings.Contains(b.String(), "| …x}${x}") {
			t.Errorf("drawn as\n%s", b.String()[:1000])
		}
	}
}

// heap is what lives on the heap.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
