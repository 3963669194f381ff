package specs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sessevents/sessevents/engine"
	"github.com/sessevents/sessevents/engine/eventlog"
	"github.com/sessevents/sessevents/fetchers"
)

var _ engine.Source = (*Source)(nil)

// Describe is [engine.Source.Describe].
func (s *Source) Describe() engine.Info { return s.info }

// ParseTarget is [engine.Source.ParseTarget].
func (s *Source) ParseTarget(words []string) (engine.Target, error) { return s.target.parse(words) }

// Poll is [engine.Source.Poll]. Its errors hold no value of the polled system. The outcome of a poll that failed holds
// its log alone: why a command failed is what it wrote to stderr.
func (s *Source) Poll(ctx context.Context, target engine.Target, now time.Time) (engine.Outcome, error) {
	t, rebased, err := s.begin(target, now)
	if err != nil {
		return engine.Outcome{}, err
	}
	asked, err := s.ask(ctx, t)
	if err != nil {
		return engine.Outcome{Log: asked.log}, err
	}
	return s.finish(ctx, t, asked, rebased)
}

// begin reads what is saved of a target. rebased says that its cursors are of another spec.
func (s *Source) begin(target engine.Target, now time.Time) (t *turn, rebased bool, err error) {
	values, err := s.target.values(target.Value)
	if err != nil {
		return nil, false, err
	}
	old, known, rebased, err := s.loadState(target.Saved)
	if err != nil {
		return nil, false, err
	}
	return &turn{label: target.Text, target: values, now: now.UTC(), old: old, first: !known}, rebased, nil
}

// finish is the part of a poll after the questions.
func (s *Source) finish(ctx context.Context, t *turn, asked answers, rebased bool) (engine.Outcome, error) {
	t.doc, t.moved = asked.doc, s.stream && asked.read > 0
	t.old.Positions = asked.positions
	if rebased {
		t.events = append(t.events, eventlog.Event{Kind: "baseline", Level: eventlog.Note, Text: cut(t.label+": the spec changed; watching from a new baseline", maxText)})
	}
	out, err := s.step(ctx, t)
	if err != nil {
		return engine.Outcome{Log: asked.log}, err
	}
	out.More = asked.more
	out.Log = append(asked.log, out.Log...)
	if len(asked.committed) > 0 {
		out.Committed = func() {
			for _, f := range asked.committed {
				f()
			}
		}
	}
	return out, nil
}

// answers are what all steps of a poll came to.
type answers struct {
	doc       any
	positions map[string]json.RawMessage
	more      bool
	read      int // lines of a stream, also those that were left out
	log       []string
	committed []func()
	secrets   []string // what the options of the steps so far were made from
}

// ask runs the steps.
func (s *Source) ask(ctx context.Context, t *turn) (answers, error) {
	out := answers{positions: map[string]json.RawMessage{}}
	env := map[string]any{"target": t.target, budgetName: &budget{poll: maxPollSteps}}
	raw, err := cursorOf(t.old.Cursor)
	if err != nil {
		return out, err
	}
	env["cursor"] = s.cursorType.typed(raw)
	docs, known := map[string]any{}, map[string]int{}
	for _, st := range s.steps {
		if st.when != nil {
			ok, err := st.when.holds(env)
			if err != nil {
				return out, fmt.Errorf("step %s: %w", st.name, err)
			}
			if !ok {
				docs[st.name], env[st.name] = nil, nil
				continue
			}
		}
		a, err := s.askOne(ctx, st, t, env, &out)
		if err != nil {
			return out, st.errorf(err)
		}
		out.more = out.more || a.More
		out.read += a.Read
		if a.Committed != nil {
			out.committed = append(out.committed, a.Committed)
		}
		if a.Position != nil {
			out.positions[st.name] = a.Position
		}
		docs[st.name], env[st.name] = a.Doc, a.Doc
		known[st.name] = len(out.secrets)
		out.doc = a.Doc
	}
	if s.several {
		for name, doc := range docs {
			if known[name] < len(out.secrets) { // a step may have said what only a later one names
				docs[name] = newBlotter(out.secrets).blot(doc)
			}
		}
		out.doc = docs
	}
	if len(out.positions) == 0 {
		out.positions = nil
	}
	return out, nil
}

func (st step) errorf(err error) error {
	if st.name == "" {
		return fmt.Errorf("%s: %w", st.fetcher.Name, err)
	}
	return fmt.Errorf("step %s: %s: %w", st.name, st.fetcher.Name, err)
}

// askOne resolves the options of a step and asks.
func (s *Source) askOne(ctx context.Context, st step, t *turn, env map[string]any, out *answers) (fetchers.Answer, error) {
	req := fetchers.Request{Options: map[string]any{}, Position: t.old.Positions[st.name], Now: t.now, Target: t.label, Env: shellEnv(t.target), Narrow: st.narrow}
	req.Log = func(line string) { out.log = append(out.log, line) }
	asker := &secretAsker{ctx: ctx, source: s, target: t.target, now: t.now, log: req.Log}
	var vars []string
	for _, o := range st.options {
		if len(o.env)+len(o.secrets) > 0 {
			env["env"], env[secretsName] = s.variables(o.env, &vars), asker
		}
		v, err := o.value(env)
		if ctx.Err() != nil {
			return fetchers.Answer{}, ctx.Err()
		}
		if err != nil {
			return fetchers.Answer{}, o.without(err, env)
		}
		if v != nil {
			req.Options[o.Name] = v
		}
	}
	delete(env, "env")
	delete(env, secretsName)
	out.secrets = append(append(out.secrets, vars...), asker.got...)
	req.Secrets = slices.Clone(out.secrets)
	slices.Sort(req.Secrets)
	req.Secrets = slices.Compact(req.Secrets)
	a, err := st.fetcher.Fetch(ctx, req) // which keeps its timeout itself: what waits for a host's place does not count
	if err == nil {
		a.Doc = newBlotter(out.secrets).blot(a.Doc)
		return a, nil
	}
	if ctx.Err() != nil {
		return a, ctx.Err()
	}
	var fe *fetchers.Error
	errors.As(err, &fe)
	if fe != nil && fe.Word == "status" {
		asker.forget()
	}
	if fe != nil && slices.ContainsFunc(st.options, func(o option) bool { return o.polled }) {
		err = unquoted(fe)
	}
	if st.failData && fe != nil {
		return fetchers.Answer{Doc: map[string]any{"error": fe.Word}, Position: req.Position}, nil
	}
	return a, err
}

// variables are those of the environment that an option names, and that are set; their values go to seen.
func (s *Source) variables(names []string, seen *[]string) map[string]any {
	vars := map[string]any{}
	for _, name := range names {
		if v := s.getenv(name); v != "" {
			vars[name] = v
			*seen = append(*seen, v)
		}
	}
	return vars
}

// without is the failure of an option, with the variables that it names and that are not set: mostly they are why.
func (o option) without(err error, env map[string]any) error {
	vars, _ := env["env"].(map[string]any)
	for _, name := range o.env {
		if vars[name] == nil {
			err = fmt.Errorf("%w; env.%s is not set", err, name)
		}
	}
	return err
}

// plainWords are the kinds of failure whose reason holds nothing of the question and nothing of the answer, once the
// question that stands before it is taken away.
var plainWords = []string{"status", "pages", "too-large", "parse", "timeout"}

// unquoted is the failure of a question that was made from what was polled before: what names the question could quote
// that, so it is left out.
func unquoted(fe *fetchers.Error) error {
	reason := fe.Word
	if inner := errors.Unwrap(fe.Err); inner != nil && slices.Contains(plainWords, fe.Word) {
		reason = inner.Error()
	}
	return &fetchers.Error{Word: fe.Word, Wait: fe.Wait, Err: fmt.Errorf("%s; the question was made from an earlier answer, and is not shown", reason)}
}

// shellEnv are the values of a target as a shell text sees them: TARGET_PATH for target.path.
func shellEnv(target map[string]any) map[string]string {
	env := map[string]string{}
	for name, v := range target {
		if s, err := plain(v); err == nil {
			env["TARGET_"+strings.ToUpper(name)] = s
		}
	}
	return env
}
