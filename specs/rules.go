package specs

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/sessevents/sessevents/engine/eventlog"
	"github.com/sessevents/sessevents/internal/value"
)

type jsonRaw = json.RawMessage

// rules runs every rule on a group of runs: a rule without memory on each of them, one with memory on all at once. A
// group of one is the common case; its events come in the order of the file.
func (t *turn) rules(group []run) error {
	if len(group) == 1 {
		return t.rulesOf(group[0])
	}
	for i := range group {
		t.enter(group[i])
		for _, rl := range t.src.rules {
			if rl.stateful() {
				continue
			}
			if err := t.rule(rl, group[i:i+1]); err != nil {
				return fmt.Errorf("rule %s: %w", rl.says.kind, err)
			}
		}
	}
	for _, rl := range t.src.rules {
		if !rl.stateful() {
			continue
		}
		if err := t.remembering(rl, group); err != nil {
			return fmt.Errorf("rule %s: %w", rl.says.kind, err)
		}
	}
	return nil
}

// rulesOf runs every rule on one run.
func (t *turn) rulesOf(r run) error {
	for _, rl := range t.src.rules {
		as := r
		if r.told && !rl.awaits() {
			if r.key != "" {
				continue // it saw that the key is gone in the poll before
			}
			as.gone = false
		}
		t.enter(as)
		err := t.rule(rl, []run{as})
		if err == nil {
			continue
		}
		err = fmt.Errorf("rule %s: %w", rl.says.kind, err)
		var fault *EvalError
		if !t.src.stream || r.item == nil || !errors.As(err, &fault) || fault.Endless {
			return err
		}
		t.once("on a line, " + err.Error()) // a line that never fits must not stop all that come behind it
	}
	if r.key != "" && r.item == nil && !r.kept {
		return t.forget(r)
	}
	return nil
}

// rule runs one rule on one run, which has been entered.
func (t *turn) rule(rl *rule, one []run) error {
	if rl.stateful() {
		return t.remembering(rl, one)
	}
	r := one[0]
	if t.src.stream && r.item == nil && (rl.when.uses("item") || !rl.when.uses("quiet", "now")) {
		return nil // without a new line, only what looks at the time can have changed
	}
	ok, err := t.lenient(rl.when, r.absent())
	t.traceRule(rl.says.kind, false, rl.when, r, ok, err)
	if err != nil || !ok {
		return err
	}
	_, err = t.emit(&rl.says, r)
	return err
}

// enter makes a run what expressions see.
func (t *turn) enter(r run) {
	t.env["item"], t.env["cursor"] = r.typed, r.cursor
	t.env["appeared"], t.env["changed"], t.env["gone"] = r.appeared, r.changed, r.gone
}

// remembering runs a rule with `for` or `until`.
func (t *turn) remembering(rl *rule, group []run) error {
	id := latchKey(rl.id, group[0].key)
	l := t.next.Latches[id]
	if l.On {
		return t.unlatch(rl, group, id)
	}
	at, err := t.held(rl, group, l)
	if err != nil {
		return err
	}
	if at < 0 {
		delete(t.next.Latches, id)
		return nil
	}
	if !t.src.quietLine(group) {
		l.Held++
	}
	if l.Since == 0 {
		l.Since = millis(t.now)
	}
	hold, err := rl.hold.of(rl.given, t.target)
	if err != nil {
		return err
	}
	if l.Held < hold.polls || t.now.Sub(time.UnixMilli(l.Since)) < hold.time {
		if hold.polls > 0 {
			l.Since = 0
		} else {
			l.Held = 0
		}
		t.latch(id, l)
		return nil
	}
	text, err := t.emit(&rl.says, group[at])
	t.latch(id, latch{On: true, Text: text})
	return err
}

// quietLine reports whether a group stands for the absence of new lines in a stream.
func (s *Source) quietLine(group []run) bool { return s.stream && group[0].item == nil }

func (t *turn) latch(id string, l latch) {
	if t.next.Latches == nil {
		t.next.Latches = map[string]latch{}
	}
	t.next.Latches[id] = l
}

// held is the first run for which `when` holds, or -1. Without new lines in a stream, what is said of a line still
// stands.
func (t *turn) held(rl *rule, group []run, l latch) (int, error) {
	if t.src.quietLine(group) && (rl.when.uses("item") || !rl.when.uses("quiet", "now", "cursor")) {
		if l.Since == 0 && l.Held == 0 {
			return -1, nil
		}
		return 0, nil
	}
	for i, r := range group {
		t.enter(r)
		ok, err := t.lenient(rl.when, r.absent())
		t.traceRule(rl.says.kind, false, rl.when, r, ok, err)
		if err != nil {
			return -1, err
		}
		if ok {
			return i, nil
		}
	}
	return -1, nil
}

// unlatch ends the silence of a rule: when `until` holds for every run, or, where there is none, when `when` no
// longer holds.
func (t *turn) unlatch(rl *rule, group []run, id string) error {
	if rl.until == nil {
		at, err := t.held(rl, group, latch{Held: 1})
		if err == nil && at < 0 {
			delete(t.next.Latches, id)
		}
		return err
	}
	if t.src.quietLine(group) && rl.until.uses("item") {
		return nil
	}
	for _, r := range group {
		t.enter(r)
		ok, err := t.lenient(rl.until, r.absent())
		t.traceRule(rl.says.kind, true, rl.until, r, ok, err)
		if err != nil || !ok {
			return err
		}
	}
	delete(t.next.Latches, id)
	return t.emitCleared(rl, group[len(group)-1])
}

func (t *turn) emitCleared(rl *rule, r run) error {
	if rl.cleared == nil {
		return nil
	}
	t.enter(r)
	_, err := t.emit(rl.cleared, r)
	return err
}

// forget clears the latches of a key that is gone.
func (t *turn) forget(r run) error {
	for _, rl := range t.src.rules {
		id := latchKey(rl.id, r.key)
		if l, ok := t.next.Latches[id]; ok {
			delete(t.next.Latches, id)
			if l.On && t.old.Latches[id].On { // what this poll has said is not taken back at once
				if err := t.emitCleared(rl, r); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// emit makes an event of a run and returns its text. The same words of the same item are said once in a poll.
func (t *turn) emit(s *saying, r run) (string, error) {
	text, err := s.text.speech(t.spokenEnv(s.text, r))
	if err != nil {
		return "", fmt.Errorf("text of %s: %w", s.kind, err)
	}
	once := r.key + "\x00" + s.kind + "\x00" + text
	if t.said[once] {
		return text, nil
	}
	t.said[once] = true
	ev := eventlog.Event{Kind: s.kind, Level: s.level, Text: text}
	if s.url != nil {
		if ev.URL, err = s.url.link(t.spokenEnv(s.url, r)); err != nil {
			return "", fmt.Errorf("url of %s: %w", s.kind, err)
		}
	}
	for _, f := range s.fields {
		v, err := f.value.member(t.spokenEnv(f.value, r))
		if err != nil {
			return "", fmt.Errorf("field %s of %s: %w", f.name, s.kind, err)
		}
		if ev.Fields == nil {
			ev.Fields = map[string]any{}
		}
		ev.Fields[f.name] = v
	}
	t.events = append(t.events, ev)
	return text, nil
}

// member renders a field of an event: one `${}` alone keeps a number or a boolean, all else is a text.
func (t *template) member(env map[string]any) (any, error) {
	e := t.alone()
	if e == nil {
		return t.speech(env)
	}
	v, err := e.say(env)
	if err != nil {
		return nil, err
	}
	switch n := value.Normalise(goNumber(v)).(type) {
	case nil, bool, int, uint64, float64:
		return n, nil
	case size:
		return n.bytes, nil
	case time.Duration:
		return n.Seconds(), nil
	}
	return cut(clean(speak(v)), maxText), nil
}

// spokenEnv is what a text sees: the target, which the user typed, and spoken values. What the polled system said and
// no type lets through is not in it, so no expression can say it.
func (t *turn) spokenEnv(tpl *template, r run) map[string]any {
	lost := func(what string) { t.withhold(what, r.called()) }
	return t.src.spokenEnv(tpl, t.env, r.item, r.rawCursor, lost)
}

// spokenEnv makes the environment of a text from that of conditions.
func (s *Source) spokenEnv(tpl *template, env map[string]any, item, cursor any, lost func(string)) map[string]any {
	out := map[string]any{"target": env["target"], "count": env["count"], "quiet": env["quiet"], "now": env["now"], budgetName: env[budgetName]}
	keys := tpl.members()
	out["item"], out["cursor"] = nil, nil
	note := lost
	lost = func(what string) {
		out[lostName] = true
		note(what)
	}
	if tpl.uses("item") {
		out["item"] = s.item.spoken(item, "item", keys, lost)
	}
	if tpl.uses("cursor") {
		out["cursor"] = s.cursorType.spoken(cursor, "cursor", keys, lost)
	}
	return out
}

func (t *turn) withhold(what, name string) {
	t.once(fmt.Sprintf("withheld %s of %s: it does not fit its type", what, name))
}

// maxLost bounds the lines that one poll writes about what it left out.
const maxLost = 20

// once writes a line for the daemon log, once in a poll.
func (t *turn) once(line string) {
	if t.logged[line] || len(t.logged) >= maxLost {
		return
	}
	t.logged[line] = true
	t.log = append(t.log, line)
}
