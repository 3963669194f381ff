package specs_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/sessevents/sessevents/specs"
)

const given = `version: 1
name: given
interval: 1m
target:
  args: [path]
  flags:
    polls: {type: int, default: 2}
    wait: {type: duration, default: 90s}
    limit: {type: number, default: 0.5}
    none: {type: duration}
fetch: {http: {url: "http://x/", timeout: "${target.wait}"}}
item: count
rules:
  - {when: item > target.limit, for: "${target.polls}", until: item <= target.limit, kind: high, text: "${item} is more than ${target.limit}"}
  - {when: item > target.limit, for: "${target.none ?? (target.wait * 2)}", kind: long, text: "for ${target.wait * 2}"}
`

func TestFlagsGiveCountsDurationsAndNumbers(t *testing.T) {
	w := watch(t, given, "/x")
	w.want("0.75")
	w.want("0.75", "high: 0.75 is more than 0.5")
	w.want("0.75")
	w.want("0.75", "long: for 3m")
	if got := w.last.Options["timeout"]; got != 90*time.Second {
		t.Errorf("timeout %v", got)
	}
	w = watch(t, given, "/x", "--polls=1", "--limit=-1.5e2", "--wait", "1h", "--none=1s")
	w.want("-100", "high: -100 is more than -150")
	w.want("-100", "long: for 2h")
}

func TestAGivenValueThatDoesNotFitRefusesTheTarget(t *testing.T) {
	source := compile(t, &world{}, given)
	for _, row := range []struct{ flag, want string }{
		{"--polls=0", "`for` is 1 to 100000 polls, or a duration of more than nothing, this is 0"},
		{"--polls=100001", "this is 100001"},
		{"--none=-1s", "this is -1s"},
		{"--wait=2h", "`timeout` is 10ms to 1h, this is 2h"},
		{"--wait=1ms", "`timeout` is 10ms to 1h, this is 1ms"},
		{"--limit=much", `--limit: "much" is not a number`},
		{"--limit=1,5", `--limit: "1,5" is not a number`},
		{"--limit=true", `--limit: "true" is not a number`},
		{"--limit=NaN", `--limit: "NaN" is not a number`},
	} {
		_, err := source.ParseTarget([]string{"/x", row.flag})
		if err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v, want %q", row.flag, err, row.want)
		}
	}
	source = compile(t, &world{}, strings.Replace(given, "${target.none ?? (target.wait * 2)}", "${target.none}", 1))
	if _, err := source.ParseTarget([]string{"/x"}); err == nil || !strings.Contains(err.Error(), "`for` is a count of polls or a duration, this is nothing") {
		t.Errorf("without the flag: %v", err)
	}
}

func TestGivenValuesSeeTheTargetAlone(t *testing.T) {
	for _, row := range []struct{ line, by, want string }{
		{"when: changed", "when: changed\n    for: \"${target.path}\"", "10:13 value-type"},
		{"{args: [path]}", "{args: [path], flags: {n: {type: number}, d: {type: duration}}}", ""},
		{"when: changed", "when: changed\n    for: \"${item.n}\"", "10:13 unknown-name"},
		{"when: changed", "when: changed\n    for: \"${target.path}s\"", "10:10 hold"},
		{`{path: "${target.path}"}`, `{path: /x, timeout: "${cursor}"}`, "5:38 unknown-name"},
		{`{path: "${target.path}"}`, `{path: /x, timeout: "1${target.path}"}`, "5:35 duration"},
		{"{args: [path]}", "{args: [path], flags: {n: {type: number, default: much}}}", "4:59 flag-default"},
	} {
		if got := strings.Join(faults(t, strings.Replace(base, row.line, row.by, 1)), " "); got != row.want {
			t.Errorf("%s: %q, want %q", row.by, got, row.want)
		}
	}
}

func TestAcceptTakesRanges(t *testing.T) {
	src := strings.Replace(given, `timeout: "${target.wait}"`, "accept: [200-203, 404, 500-500]", 1)
	w := watch(t, src, "/x")
	w.want("0")
	want := []int64{200, 201, 202, 203, 404, 500}
	if got := w.last.Options["accept"]; !reflect.DeepEqual(got, want) {
		t.Errorf("accept %v, want %v", got, want)
	}
	for by, want := range map[string]string{
		"[299-200]": "range", "[200-9999]": "range", "[1-200]": "range", "[200 - 299]": "not-a-number", "[200..299]": "not-a-number", "200-299": "type", "[0200-299]": "not-a-number",
	} {
		got := faults(t, strings.Replace(given, `timeout: "${target.wait}"`, "accept: "+by, 1))
		if len(got) != 1 || !strings.HasSuffix(got[0], " "+want) {
			t.Errorf("%s: %q, want %s", by, got, want)
		}
	}
}

// TestAnIDPatternMayLetBracketsIn: what a pattern lets in is a word all the same.
func TestAnIDPatternMayLetBracketsIn(t *testing.T) {
	src := strings.NewReplacer("item: count", `item: {by: {id: '[\w.-]+(\[bot\])?'}, any: {id: '[!-~]+'}, plain: id}`,
		"when: item > target.limit, for: \"${target.polls}\", until: item <= target.limit, kind: high", `when: item != nil, kind: high`,
		`"${item} is more than ${target.limit}"`, `"${item.by} ${item.any} ${item.plain}"`,
		"when: item > target.limit", `when: item == nil`).Replace(given)
	for _, row := range []struct{ doc, want string }{
		{`{"by":"renovate[bot]","any":"a[0](x){y},100%","plain":"a/b"}`, "renovate[bot] a[0](x){y},100% a/b"},
		{`{"by":"renovate[cat]","any":"a<b","plain":"renovate[bot]"}`, "(withheld) (withheld) (withheld)"},
		{`{"by":"a b","any":"a;b","plain":""}`, "(withheld) (withheld) (withheld)"},
		{`{"by":"a[bot]\n","any":"$(id)","plain":7}`, "(withheld) (withheld) 7"},
		{`{"by":7,"any":"` + strings.Repeat("[", 121) + `","plain":"x"}`, "7 (withheld) x"},
	} {
		w := watch(t, src, "/x")
		w.want(row.doc, "high: "+row.want)
	}
}

func TestAnOptionThatTakesAValueMakesADashHarmless(t *testing.T) {
	for by, want := range map[string]string{
		`[grep, -e, "${target.path}"]`: "", `[grep, -c, "${target.path}"]`: "dash-argument", `[grep, "--regexp=${target.path}"]`: "",
		`[grep, --, "${target.path}"]`: "", `[git, -C, "${target.path}", "${target.path}"]`: "dash-argument",
	} {
		src := strings.NewReplacer("{stat:", "{exec:", `path: "${target.path}"`, "command: "+by, "extract: .size", "extract: .stdout", "size: null", "stdout: null").Replace(specs.ExampleSpec)
		if got := strings.Join(codesOf(src), " "); got != want {
			t.Errorf("%s: %q, want %q", by, got, want)
		}
	}
}
