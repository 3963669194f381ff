package specs

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sessevents/sessevents/engine"
	"github.com/sessevents/sessevents/engine/eventlog"
	"github.com/sessevents/sessevents/fetchers"
	"github.com/sessevents/sessevents/internal/value"
	"gopkg.in/yaml.v3"
)

// TestResult is what one entry of a spec's `tests` came to.
type TestResult struct {
	Name string `json:"name"`
	// Place is file:line of the test.
	Place string `json:"place"`
	Pass  bool   `json:"pass"`
	// Polls is how many polls ran.
	Polls int `json:"polls"`
	// Diff says for each poll that came out otherwise what was wanted (-) and what came (+), in the form in which
	// the spec writes it. It is empty where the test passes.
	Diff string `json:"diff,omitempty"`
}

// RunTests runs the spec's own tests: recorded documents in the place of fetches, no network, no clock. source must be
// compiled from spec.
func RunTests(ctx context.Context, spec *Spec, source *Source) []TestResult {
	results := make([]TestResult, 0, len(spec.tests))
	for _, ts := range spec.tests {
		r := TestResult{Name: ts.name.s, Place: fmt.Sprintf("%s:%d", spec.File, ts.at.Line)}
		r.Diff, r.Polls = runTest(ctx, ts, source)
		r.Pass = r.Diff == ""
		results = append(results, r)
	}
	return results
}

// HasTests reports whether the spec brings tests.
func (s *Spec) HasTests() bool { return len(s.tests) > 0 }

// testStart is when the first poll of every test is.
var testStart = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// errRecorded is a fetch that the test wants to fail.
var errRecorded = errors.New("the test says that this fetch fails")

func runTest(ctx context.Context, ts testSpec, source *Source) (diff string, polls int) {
	rec := &recording{}
	played := rec.plays(source, ts.env)
	target, err := played.ParseTarget(ts.target)
	if err != nil {
		return "  the target is refused: " + err.Error() + "\n", 0
	}
	var b strings.Builder
	now := testStart
	for i, p := range ts.polls {
		if i > 0 {
			wait := p.after
			if wait == 0 {
				wait = source.info.Interval
			}
			now = now.Add(wait)
		}
		rec.load(p, source)
		out, err := played.Poll(ctx, target, now)
		polls++
		if lines := p.compare(out, err, rec.unused()); len(lines) > 0 {
			for _, line := range out.Log {
				lines = append(lines, "log: "+line)
			}
			fmt.Fprintf(&b, "  poll %d, line %d:\n    %s\n", i+1, p.at.Line, strings.Join(lines, "\n    "))
		}
		if err == nil {
			target.Saved = out.Saved
		}
	}
	return b.String(), polls
}

// recording gives recorded documents in the place of answers.
type recording struct {
	docs  map[string]any // by step
	asked map[string]bool
	fails bool
}

// plays is the source with its questions answered by the recording.
func (rec *recording) plays(source *Source, env map[string]string) *Source {
	played := *source
	played.getenv = func(name string) string { return env[name] }
	played.vault = &vault{run: func(context.Context, fetchers.Request) (fetchers.Answer, error) {
		return fetchers.Answer{Doc: map[string]any{"stdout": "recorded"}}, nil
	}}
	played.steps = slices.Clone(source.steps)
	for i := range played.steps {
		name := played.steps[i].name
		played.steps[i].fetcher.Fetch = func(context.Context, fetchers.Request) (fetchers.Answer, error) {
			rec.asked[name] = true
			doc, ok := rec.docs[name]
			switch {
			case rec.fails && !ok:
				return fetchers.Answer{}, errRecorded
			case !ok:
				return fetchers.Answer{}, fmt.Errorf("the test has no document for step %s", name)
			}
			lines := 0
			if m, ok := doc.(map[string]any); ok {
				if list, ok := m["lines"].([]any); ok && source.stream {
					lines = len(list)
				}
			}
			return fetchers.Answer{Doc: doc, Read: lines}, nil
		}
	}
	return &played
}

func (rec *recording) load(p pollSpec, source *Source) {
	rec.docs, rec.asked, rec.fails = map[string]any{}, map[string]bool{}, p.fails
	if p.fetch == nil {
		return
	}
	doc := value.Normalise(plainJSON(p.fetch))
	if !source.several {
		rec.docs[""] = doc
		return
	}
	if m, ok := doc.(map[string]any); ok {
		rec.docs = m
	}
}

// unused are the documents that were not asked for.
func (rec *recording) unused() []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(rec.docs)) {
		if name != "" && !rec.asked[name] {
			names = append(names, name)
		}
	}
	return names
}

// compare is what differs from what the test wants.
func (p pollSpec) compare(out engine.Outcome, err error, unused []string) []string {
	switch {
	case err != nil && p.fails:
		return nil
	case err != nil:
		return []string{"the poll failed: " + err.Error()}
	case p.fails:
		return []string{"the poll must fail, and gave an answer"}
	}
	var lines []string
	for _, name := range unused {
		lines = append(lines, "step "+name+" was not asked, and the test has a document for it")
	}
	if p.events != nil {
		lines = append(lines, diffEvents(p.expect, out.Events)...)
	}
	for _, f := range []struct {
		name string
		want *bool
		got  bool
	}{{"busy", p.busy, out.Busy}, {"done", p.done, out.Done}} {
		if f.want != nil && *f.want != f.got {
			lines = append(lines, fmt.Sprintf("- %s: %v", f.name, *f.want), fmt.Sprintf("+ %s: %v", f.name, f.got))
		}
	}
	return lines
}

// diffEvents compares events in order; what is equal in both stands once.
func diffEvents(want []*yaml.Node, got []eventlog.Event) []string {
	// The longest common subsequence keeps a diff small when one event is missing in the middle.
	same := make([][]int, len(want)+1)
	for i := range same {
		same[i] = make([]int, len(got)+1)
	}
	for i := len(want) - 1; i >= 0; i-- {
		for j := len(got) - 1; j >= 0; j-- {
			if matches(want[i], got[j]) {
				same[i][j] = same[i+1][j+1] + 1
			} else {
				same[i][j] = max(same[i+1][j], same[i][j+1])
			}
		}
	}
	if len(want) == len(got) && same[0][0] == len(want) {
		return nil
	}
	var lines []string
	i, j := 0, 0
	for i < len(want) || j < len(got) {
		switch {
		case i < len(want) && j < len(got) && matches(want[i], got[j]):
			lines = append(lines, "  "+written(got[j], memberNames(want[i])))
			i, j = i+1, j+1
		case i < len(want) && (j == len(got) || same[i+1][j] >= same[i][j+1]):
			lines = append(lines, "- "+writtenNode(want[i]))
			i++
		default:
			var names []string
			if i > 0 {
				names = memberNames(want[i-1])
			}
			lines = append(lines, "+ "+written(got[j], names))
			j++
		}
	}
	return lines
}

// matches reports whether an event is what a test wants: each member that is named is equal.
func matches(want *yaml.Node, got eventlog.Event) bool {
	m, ok := value.Normalise(plainJSON(want)).(map[string]any)
	if !ok {
		return false
	}
	if _, named := m["level"]; !named {
		m["level"] = string(eventlog.Alert)
	}
	have := eventMembers(got)
	for name, v := range m {
		if !value.Equal(v, have[name]) {
			return false
		}
	}
	return true
}

func eventMembers(e eventlog.Event) map[string]any {
	m := map[string]any{"kind": e.Kind, "level": string(e.Level), "text": e.Text}
	if e.URL != "" {
		m["url"] = e.URL
	}
	maps.Copy(m, e.Fields)
	return m
}

func memberNames(n *yaml.Node) []string {
	var names []string
	if n.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(n.Content); i += 2 {
			names = append(names, n.Content[i].Value)
		}
	}
	return names
}

// written is an event as a spec writes it, in one line: kind and text, the level of a note, and what else is asked for.
func written(e eventlog.Event, also []string) string {
	have := eventMembers(e)
	names := []string{"kind"}
	if e.Level == eventlog.Note {
		names = append(names, "level")
	}
	names = append(names, "text")
	for _, n := range append(append([]string{"url"}, slices.Sorted(maps.Keys(e.Fields))...), also...) {
		if _, ok := have[n]; ok && !slices.Contains(names, n) && (n != "level" || e.Level == eventlog.Note) {
			names = append(names, n)
		}
	}
	var parts []string
	for _, n := range names {
		parts = append(parts, n+": "+yamlScalar(have[n]))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func writtenNode(n *yaml.Node) string {
	var parts []string
	for i := 0; i+1 < len(n.Content); i += 2 {
		parts = append(parts, n.Content[i].Value+": "+yamlScalar(value.Normalise(plainJSON(n.Content[i+1]))))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// yamlScalar is a value as YAML in flow style: JSON is YAML, and words need no quotes. What begins with a digit may be a
// number or a date to YAML (12e4567, 0x1f, 2026-01-01).
func yamlScalar(v any) string {
	if s, ok := v.(string); ok && isName(s) && s[0] >= 'a' && !yamlKeeps[s] {
		return s
	}
	b, err := value.Encode(v)
	if err != nil {
		return strconv.Quote(fmt.Sprint(v))
	}
	return escaped(string(b))
}

// escaped is JSON as YAML reads it: some characters are line breaks to YAML or none at all, and a long key must be
// announced.
func escaped(s string) string {
	out := make([]byte, 0, len(s))
	begun := 0 // where in out the last string begins
	inside, escape := false, false
	for i, r := range s {
		if r >= 0x7f && r <= 0x9f || r == 0x2028 || r == 0x2029 || r == 0xfeff || r == 0xfffe || r == 0xffff {
			out, escape = fmt.Appendf(out, "\\u%04x", r), false
			continue
		}
		out = utf8.AppendRune(out, r)
		if r == '"' && !escape {
			switch inside = !inside; {
			case inside:
				begun = len(out) - 1
			case len(out)-begun > maxYAMLKey && strings.HasPrefix(s[i+1:], ":"):
				out = slices.Insert(out, begun, '?', ' ')
			}
		}
		escape = r == '\\' && !escape
	}
	return string(out)
}

// maxYAMLKey is how long a key of YAML may be that no `?` announces.
const maxYAMLKey = 1000

// yamlKeeps are words that YAML, or some reader of it, takes for something else.
var yamlKeeps = map[string]bool{"true": true, "false": true, "null": true, "yes": true, "no": true, "on": true, "off": true, "y": true, "n": true, "-": true, "--": true, "---": true}
