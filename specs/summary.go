package specs

import (
	"maps"
	"slices"

	"github.com/sessevents/sessevents/engine"
)

// maxSummary bounds the lines under a target.
const maxSummary = 20

// Summary is [engine.Source.Summary]: the lines of `summary`, for each key; without it the texts of latched rules.
func (s *Source) Summary(target engine.Target) []string {
	st, known, _, err := s.loadState(target.Saved)
	if err != nil || !known {
		return nil
	}
	if len(s.summary) == 0 {
		var lines []string
		for _, id := range slices.Sorted(maps.Keys(st.Latches)) {
			if l := st.Latches[id]; l.On && l.Text != "" && !slices.Contains(lines, l.Text) {
				lines = append(lines, l.Text)
			}
		}
		return bounded(lines)
	}
	values, err := s.target.values(target.Value)
	if err != nil {
		return nil
	}
	cursors := []jsonRaw{st.Cursor}
	if s.key != nil {
		cursors = nil
		for _, k := range slices.Sorted(maps.Keys(st.Keys)) {
			cursors = append(cursors, st.Keys[k])
		}
	}
	var lines []string
	for _, raw := range cursors {
		cursor, err := cursorOf(raw)
		if err != nil {
			continue
		}
		for _, l := range s.summary {
			if line, ok := s.summaryLine(l, values, cursor); ok && !slices.Contains(lines, line) {
				lines = append(lines, line)
			}
		}
	}
	return bounded(lines)
}

// summaryLine is one line for one cursor; one that cannot be made is left out: status must not fail for it.
func (s *Source) summaryLine(l summaryLine, values map[string]any, cursor any) (string, bool) {
	env := map[string]any{"target": values, "cursor": s.cursorType.typed(cursor), budgetName: &budget{poll: maxSteps}}
	if l.when != nil {
		if ok, err := l.when.holds(env); err != nil || !ok {
			return "", false
		}
	}
	text, err := l.text.speech(s.spokenEnv(l.text, env, nil, cursor, func(string) {}))
	return text, err == nil
}

func bounded(lines []string) []string {
	if len(lines) > maxSummary {
		lines = append(lines[:maxSummary-1:maxSummary-1], "…")
	}
	return lines
}
