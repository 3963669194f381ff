package specs

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sessevents/sessevents/engine"
	"github.com/sessevents/sessevents/fetchers"
)

// Trial polls one target with real fetches, without a daemon and without state on disk, and shows what happens inside.
// It is for one goroutine.
type Trial struct {
	source *Source
	target engine.Target
	words  []string
	polls  []recordedPoll
	env    map[string]bool // variables that were read
}

// recordedPoll is what one poll of a trial saw.
type recordedPoll struct {
	at    time.Time
	docs  map[string]any // by step; those that were asked
	fails bool
}

// Trace is what one poll came to, step by step. Its values are those of the polled system: it is for the eyes of who
// writes the spec. Secrets from the environment are blotted out.
type Trace struct {
	Steps []StepTrace `json:"steps"`
	Items []any       `json:"items"`
	Rules []RuleTrace `json:"rules"`
	// Outcome is the poll's; its zero value where the poll failed.
	Outcome engine.Outcome `json:"-"`
	// Cursor is what is saved: the cursor, or the cursors by key.
	Cursor any `json:"cursor"`
}

// StepTrace is one question.
type StepTrace struct {
	Name    string        `json:"name,omitempty"`
	Fetcher string        `json:"fetcher"`
	Skipped bool          `json:"skipped,omitempty"`
	Doc     any           `json:"doc"`
	Took    time.Duration `json:"took"`
	Error   string        `json:"error,omitempty"`
}

// RuleTrace is one evaluation of a rule's `when` or `until`.
type RuleTrace struct {
	Kind string `json:"kind"`
	// Until says that the rule is latched and its `until` was asked.
	Until bool   `json:"until,omitempty"`
	Item  string `json:"item"`
	Holds bool   `json:"holds"`
	// Why are the values that the condition looked at, as `name = value`.
	Why   []string `json:"why"`
	Error string   `json:"error,omitempty"`
}

// NewTrial starts a trial of the target that words name.
func (s *Source) NewTrial(words []string) (*Trial, error) {
	target, err := s.ParseTarget(words)
	if err != nil {
		return nil, err
	}
	t := &Trial{target: target, words: words, env: map[string]bool{}}
	seen := s.wide()
	seen.getenv = func(name string) string {
		v := s.getenv(name)
		if v != "" {
			t.env[name] = true
		}
		return v
	}
	t.source = seen
	return t, nil
}

// Poll polls once. The trace is filled in as far as the poll came, also where it failed.
func (t *Trial) Poll(ctx context.Context, now time.Time) (Trace, error) {
	var trace Trace
	rec := recordedPoll{at: now, docs: map[string]any{}}
	source := *t.source
	source.steps = slices.Clone(t.source.steps)
	for i, st := range source.steps {
		source.steps[i].fetcher.Fetch = func(ctx context.Context, r fetchers.Request) (fetchers.Answer, error) {
			began := time.Now()
			a, err := st.fetcher.Fetch(ctx, r)
			step := StepTrace{Name: st.name, Fetcher: st.fetcher.Name, Doc: newBlotter(r.Secrets).blot(a.Doc), Took: time.Since(began)}
			if err != nil {
				step.Error = err.Error()
				if fe := new(fetchers.Error); st.failData && errors.As(err, &fe) {
					step.Doc = map[string]any{"error": fe.Word}
				}
			}
			if step.Doc != nil {
				rec.docs[st.name] = step.Doc
			}
			trace.Steps = append(trace.Steps, step)
			return a, err
		}
	}
	out, err := source.traced(ctx, t.target, now, &trace)
	rec.fails = err != nil
	t.polls = append(t.polls, rec)
	for _, st := range source.steps {
		if !slices.ContainsFunc(trace.Steps, func(s StepTrace) bool { return s.Name == st.name }) {
			trace.Steps = append(trace.Steps, StepTrace{Name: st.name, Fetcher: st.fetcher.Name, Skipped: true})
		}
	}
	if err != nil {
		return trace, err
	}
	trace.Outcome = out
	t.target.Saved = out.Saved
	if out.Committed != nil {
		out.Committed()
	}
	return trace, nil
}

// traced is Poll with a trace of what it evaluates.
func (s *Source) traced(ctx context.Context, target engine.Target, now time.Time, trace *Trace) (engine.Outcome, error) {
	t, rebased, err := s.begin(target, now)
	if err != nil {
		return engine.Outcome{}, err
	}
	asked, err := s.ask(ctx, t)
	if err != nil {
		return engine.Outcome{}, err
	}
	t.trace = trace
	out, err := s.finish(ctx, t, asked, rebased)
	trace.Items = t.items
	trace.Cursor = t.cursor
	if s.key != nil {
		trace.Cursor = t.cursors
	}
	return out, err
}

// traceRule notes an evaluation, where somebody looks on.
func (t *turn) traceRule(kind string, until bool, e *expression, r run, holds bool, err error) {
	if t.trace == nil {
		return
	}
	rt := RuleTrace{Kind: kind, Until: until, Item: r.called(), Holds: holds, Why: []string{}}
	if err != nil {
		rt.Error = err.Error()
	}
	for _, name := range slices.Sorted(maps.Keys(e.used)) {
		if name == "doc" || name == "items" || name == "target" || name == "now" {
			continue
		}
		paths := e.pathsOf(name)
		if len(paths) == 0 {
			rt.Why = append(rt.Why, name+" = "+shown(t.env[name]))
		}
		for _, p := range paths {
			if m, ok := t.env[name].(map[string]any); ok {
				rt.Why = append(rt.Why, p+" = "+shown(m[strings.TrimPrefix(p, name+".")]))
			} else {
				rt.Why = append(rt.Why, name+" = "+shown(t.env[name]))
			}
		}
	}
	rt.Why = slices.Compact(rt.Why)
	t.trace.Rules = append(t.trace.Rules, rt)
}

// pathsOf are the members of a name that the expression looks at, such as item.state.
func (e *expression) pathsOf(name string) []string {
	var paths []string
	for _, p := range slices.Sorted(maps.Keys(e.paths)) {
		if strings.HasPrefix(p, name+".") {
			paths = append(paths, p)
		}
	}
	return paths
}

// shown is a value for who looks on: JSON, cut short.
func shown(v any) string {
	if v == nil {
		return "nil"
	}
	if d, ok := v.(time.Duration); ok {
		return speakSpan(d)
	}
	return cut(printable(yamlScalar(saved(v))), 80)
}

// Record is an entry of `tests` made from what the trial saw: the documents of its polls, and the events that they
// give when they are played again, so that the test passes. It is indented as an element of the list `tests`.
func (t *Trial) Record(ctx context.Context, name string) (string, error) {
	rec := &recording{}
	env := map[string]string{}
	for k := range t.env {
		env[k] = "recorded"
	}
	played := rec.plays(t.source, env)
	target, err := played.ParseTarget(t.words)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "  - name: %s\n    target: %s\n", yamlScalar(name), yamlList(t.words))
	if len(env) > 0 {
		var parts []string
		for _, k := range slices.Sorted(maps.Keys(env)) {
			parts = append(parts, k+": recorded")
		}
		fmt.Fprintf(&b, "    env: {%s}\n", strings.Join(parts, ", "))
	}
	b.WriteString("    polls:\n")
	now := testStart
	for i, p := range t.polls {
		if i > 0 {
			after := max(p.at.Sub(t.polls[i-1].at).Round(time.Second), time.Second)
			now = now.Add(after)
			fmt.Fprintf(&b, "      - after: %s\n        ", short(after))
		} else {
			b.WriteString("      - ")
		}
		rec.docs, rec.asked, rec.fails = p.docs, map[string]bool{}, p.fails
		out, err := played.Poll(ctx, target, now)
		if err != nil {
			b.WriteString("fails: true\n")
			if len(p.docs) > 0 {
				fmt.Fprintf(&b, "        fetch: %s\n", yamlScalar(t.source.recordedDoc(p.docs)))
			}
			continue
		}
		fmt.Fprintf(&b, "fetch: %s\n", yamlScalar(t.source.recordedDoc(p.docs)))
		target.Saved = out.Saved
		b.WriteString("        events:")
		if len(out.Events) == 0 {
			b.WriteString(" []")
		}
		for _, e := range out.Events {
			b.WriteString("\n          - " + written(e, []string{"url"}))
		}
		b.WriteByte('\n')
	}
	return b.String(), nil
}

func (s *Source) recordedDoc(docs map[string]any) any {
	if s.several {
		return docs
	}
	return docs[""]
}

func yamlList(words []string) string {
	parts := make([]string, len(words))
	for i, w := range words {
		parts[i] = yamlScalar(w)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// AddTest puts an entry, as [Trial.Record] gives it, at the end of the `tests` of a spec, and leaves all else of the
// file as it is. It fails where the spec has its tests in a flow list, which cannot be added to line by line, and
// wherever the spec would not have that one test more.
func AddTest(file string, src []byte, entry string) ([]byte, error) {
	s, found := Parse(file, src)
	if s.root == nil {
		return nil, fmt.Errorf("%s holds no spec", file)
	}
	added, err := s.withTest(src, entry)
	if err != nil {
		return nil, err
	}
	if len(added) > maxFile {
		return nil, fmt.Errorf("%s would be larger than %d bytes with this test; record into another file, and copy what is needed", file, maxFile)
	}
	if t, now := Parse(file, added); t.root == nil || len(t.tests) != len(s.tests)+1 || len(now) > len(found) {
		return nil, fmt.Errorf("%s is written in a way that a test cannot be added to; record into another file, and copy it", file)
	}
	return added, nil
}

func (s *Spec) withTest(src []byte, entry string) ([]byte, error) {
	text := strings.TrimRight(string(src), "\n") + "\n"
	tests := member(s.root, "tests")
	if tests == nil {
		return []byte(text + "tests:\n" + entry), nil
	}
	if len(tests.Content) == 0 || tests.Line == tests.Content[0].Line && strings.HasPrefix(s.src.line(tests.Line)[min(tests.Column-1, len(s.src.line(tests.Line))):], "[") {
		return nil, fmt.Errorf("%s:%d: write `tests` as a list with a line for each entry first", s.File, tests.Line)
	}
	if indent := strings.Repeat(" ", max(tests.Column-1, 0)); indent != "  " { // as the other entries stand
		entry = indent + strings.ReplaceAll(strings.TrimPrefix(entry, "  "), "\n  ", "\n"+indent)
	}
	// The entry goes before the next key of the spec, or to the end.
	end := len(text)
	for i := 0; i+1 < len(s.root.Content); i += 2 {
		if k := s.root.Content[i]; k.Line > tests.Line {
			end = min(end, s.src.lines[k.Line-1])
		}
	}
	return []byte(text[:end] + entry + text[end:]), nil
}
