package specs_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/sessevents/sessevents/specs"
)

// TestOneFaultIsOneDiagnostic makes one fault in a spec that ships. It must be told once, at its place, which ▸ marks
// where it is not where the change is, and nothing may follow from it.
func TestOneFaultIsOneDiagnostic(t *testing.T) {
	for _, row := range []struct{ file, old, by, code string }{
		{"log-events", "name: log-events", "▸nam: log-events", "unknown-key"},
		{"log-events", "version: 1", "version: ▸2", "version"},
		{"log-events", "interval: 5s", "interval: ▸5", "duration"},
		{"log-events", "interval: 5s", "interval:▸", "duration"},
		{"log-events", "interval: 5s\n", "", "3:1 missing-key"},
		{"log-events", "name: log-events", "name: ▸Log Events", "name"},
		{"log-events", "args: [path]", "args: [▸in]", "name"},
		{"log-events", "args: [path]", "args: ▸path", "type"},
		{"log-events", "args: [path]", "args: [▸{help: x}]", "missing-key"},
		{"log-events", "args: [path]", "args: [{name: pat, pattern: ▸'(?P<path>x'}]", "pattern"},
		{"log-events", "args: [path]", "▸arg: [path]", "unknown-key"},
		{"log-events", "target:\n", "▸targt:\n", "unknown-key"},
		{"log-events", "item: count ", "▸itme: count ", "unknown-key"},
		{"log-events", "rules:\n", "▸rulse:\n", "unknown-key"},
		{"log-events", "tests:\n", "▸test:\n", "unknown-key"},
		{"log-events", "fetch:\n", "▸fetc:\n", "unknown-key"},
		{"watch-github", "secret.gh;", "secret.▸hg;", "unknown-name"},
		{"watch-github", "secrets: {gh: {command", "secrets: {gh: {▸comand", "unknown-key"},
		{"watch-github", "{as: commits,", "{▸az: commits,", "unknown-key"},
		{"watch-github", "pattern: '(?P<repo>", "▸patern: '(?P<repo>", "unknown-key"},
		{"watch-github", "    api: {default", "    ▸ap i: {default", "name"},
		{"http-up", "    status: {type: int,", "    status: {▸typ: int,", "unknown-key"},
		{"http-up", "  error: [timeout,", "  ▸in: [timeout,", "name"},
		{"http-up", "  status: count\n", "  status: ▸[]\n", "word"},
		{"k8s-pods", "{kind: ready, level: note,", "{▸knd: ready, level: note,", "unknown-key"},
		{"log-events", "that: target.path startsWith", "that: target.▸pth startsWith", "unknown-name"},
		{"log-events", "    - that: target.path startsWith \"/\"\n      else: ", "    - ▸else: ", "missing-key"},
		{"log-events", "stat: {path:", "▸stats: {path:", "unknown-fetcher"},
		{"log-events", "stat: {path:", "stat: {▸pth:", "unknown-key"},
		{"log-events", "  stat: {path: \"${target.path}\"}", "  ▸stat: {}", "fetch"},
		{"log-events", `"${target.path}"}`, `"${target.▸pat}"}`, "unknown-name"},
		{"log-events", `"${target.path}"}`, "▸${target.path}}", "unquoted-template"},
		{"log-events", "extract: .size ", "extract: .size |▸ ", "jq"},
		{"log-events", "extract: .size ", "extract: .size | ▸lenght ", "jq"},
		{"log-events", "item: count ", "item: ▸number ", "type-name"},
		{"log-events", "item: count ", "item: ▸cuont ", "type-name"},
		{"log-events", "cursor: item ", "cursor: ▸itm ", "unknown-name"},
		{"log-events", "cursor: item ", "cursor: item.▸size ", "unknown-name"},
		{"log-events", "url: file://${target.path}", "url: file://${target.▸pth}", "unknown-name"},
		{"log-events", "url: file://${target.path}", "url: file://▸${target.path", "template"},
		{"log-events", "when: gone", "when: ▸gne", "unknown-name"},
		{"log-events", "kind: gone", "kind: ▸Gone", "name"},
		{"log-events", "    kind: gone\n", "", "19:5 missing-key"},
		{"log-events", "- when: changed", "- ▸wen: changed", "unknown-key"},
		{"log-events", "- when: changed", "- ▸if: changed", "unknown-key"},
		{"log-events", "interval: 5s", "▸every: 5s", "unknown-key"},
		{"http-up", "level: note", "▸severity: note", "unknown-key"},
		{"log-events", `text: "${target.path}: gone"`, "text: ${target.path}▸: gone", "unquoted-colon"},
		{"log-events", `text: "${target.path}: gone"`, `text: ▸""`, "empty-text"},
		{"log-events", "${cursor} to ${item} bytes", "${cursor} to ${▸} bytes", "empty-expression"},
		{"log-events", "${cursor} to ${item} bytes", "${cursor} to ${item ▸+} bytes", "expr"},
		{"log-events", "${cursor} to ${item} bytes", "${cursor} to ${▸doc.size} bytes", "doc-in-text"},
		{"log-events", "${cursor} to ${item} bytes", "${cursor} to ${▸itm} bytes", "unknown-name"},
		{"log-events", "    kind: changed", "▸\tkind: changed", "tab"},
		{"log-events", "    kind: changed", "    kind: changed\n    ▸kind: changed", "duplicate-key"},
		{"log-events", "kind: changed, level: alert", "kind: ▸chnged, level: alert", "word"},
		{"log-events", "- name: grows, then goes\n    target: [/var/log/build.log]\n    polls:", "- name: grows, then goes\n    target: [/var/log/build.log]\n    ▸pols:", "unknown-key"},
		{"http-up", "idleInterval: 1m", "idleInterval: ▸1s", "interval"},
		{"http-up", "interval: 15s", "interval: ▸15", "duration"},
		{"http-up", "{type: int, default: 200", "{type: ▸itn, default: 200", "word"},
		{"http-up", "{type: int, default: 200", "{type: int, default: ▸much", "flag-default"},
		{"http-up", "{type: duration, default: 10s", "{type: string, default: 10s", "20:88 value-type"},
		{"http-up", "failure: data", "failure: ▸dta", "word"},
		{"http-up", "200-299, ", "▸20, 200-299, ", "fetch"},
		{"http-up", "[timeout, refused", "[▸time out, refused", "word"},
		{"http-up", "for: 2\n", "for: ▸0\n", "hold"},
		{"http-up", "    until: item.error == nil && item.status == target.status\n    kind: down", "    kind: down", "32:14 missing-key"},
		{"http-up", "cleared: {kind: up, ", "cleared: ▸{", "missing-key"},
		{"http-up", "item.expires - now < target.expiry", "item.expires - now ▸< target.status", "value-type"},
		{"k8s-pods", "exec: {command: [kubectl,", "exec: {▸comand: [kubectl,", "unknown-key"},
		{"k8s-pods", "key: item.uid", "key: item.▸udi", "unknown-name"},
		{"k8s-pods", "  uid: text", "  uid: ▸txt", "type-name"},
		{"k8s-pods", "  name: id\n", "  name: {id: ▸'.*'}\n", "pattern-space"},
		{"k8s-pods", `item.phase == "Failed" && (`, `item.phase == ▸"Faild" && (`, "never-holds"},
		{"k8s-pods", "for: 2m", "for: ▸2min", "duration"},
		{"watch-github", "when: pr != nil, http", "when: ▸prr != nil, http", "unknown-name"},
		{"watch-github", "pages: link}}\n  - {as: reviews", "pages: ▸links}}\n  - {as: reviews", "word"},
		{"watch-github", "any(items, .what in", "any(items, .▸waht in", "unknown-name"},
		{"jsonl-errors", "jsonl-tail: {path", "jsonl-tail: {from: ▸begin, path", "word"},
		{"jsonl-errors", "quiet > target.silent", "quiet ▸> 3600", "value-type"},
	} {
		src, err := os.ReadFile("../examples/" + row.file + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		marked := strings.Replace(string(src), row.old, row.by, 1)
		if marked == string(src) {
			t.Fatalf("%s: no %q", row.file, row.old)
		}
		want := row.code
		if before, _, ok := strings.Cut(marked, "▸"); ok {
			want = fmt.Sprintf("%d:%d %s", strings.Count(before, "\n")+1, len([]rune(before[strings.LastIndex(before, "\n")+1:]))+1, row.code)
		}
		_, _, found := specs.Check(row.file, []byte(strings.Replace(marked, "▸", "", 1)), real)
		var got []string
		for _, d := range found {
			got = append(got, fmt.Sprintf("%d:%d %s", d.Line, d.Column, d.Code))
		}
		if strings.Join(got, ", ") != want {
			var b strings.Builder
			_ = found.WriteText(&b, false)
			t.Errorf("%s: %s\ngave %q, want %q\n%s", row.file, row.by, got, want, b.String())
		}
	}
}
