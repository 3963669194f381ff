package specs

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// duration reads a number with a unit.
func (r *reader) duration(n *yaml.Node) time.Duration {
	if n.Kind != yaml.ScalarNode {
		r.fault(n, "duration", "a duration must stand here, this is "+describe(n), "write it as `5s`, `10m` or `1h30m`")
		return 0
	}
	d, err := parseDuration(n.Value)
	if err != nil {
		r.fault(n, "duration", fmt.Sprintf("%q is not a duration", n.Value), durationHint(n.Value))
		return 0
	}
	if d <= 0 {
		r.fault(n, "duration", fmt.Sprintf("a duration is more than nothing, this is %s", n.Value), "")
		return 0
	}
	return d
}

// parseDuration knows what Go knows; a bare 0 is no duration either.
func parseDuration(s string) (time.Duration, error) {
	if _, err := strconv.ParseFloat(s, 64); err == nil {
		return 0, fmt.Errorf("no unit")
	}
	return time.ParseDuration(s)
}

var looseDuration = lazily(`^\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*$`)

// clockForm is how a clock shows a time.
var clockForm = lazily(`^\s*0*(\d+):0*(\d{1,2})\s*$`)

// meant is the duration that a number with or without some unit stands for.
func meant(s string) (time.Duration, bool) {
	m := looseDuration().FindStringSubmatch(s)
	if m == nil {
		return 0, false
	}
	n, err := strconv.ParseFloat(m[1], 64)
	unit := time.Second
	switch w := strings.ToLower(m[2]); {
	case w == "ms" || strings.HasPrefix(w, "mil"):
		unit = time.Millisecond
	case strings.HasPrefix(w, "m"):
		unit = time.Minute
	case strings.HasPrefix(w, "h"):
		unit = time.Hour
	case strings.HasPrefix(w, "d"):
		unit = 24 * time.Hour
	case strings.HasPrefix(w, "w"):
		unit = 7 * 24 * time.Hour
	case w != "" && !strings.HasPrefix(w, "s"):
		return 0, false
	}
	return time.Duration(min(n, 1e5) * float64(unit)), err == nil
}

func durationHint(s string) string {
	if m := clockForm().FindStringSubmatch(s); m != nil {
		return fmt.Sprintf("write `%sm%ss`, or `%sh%sm`", m[1], m[2], m[1], m[2])
	}
	m := looseDuration().FindStringSubmatch(s)
	if m == nil {
		return "write it as `5s`, `10m` or `1h30m`"
	}
	unit := strings.ToLower(m[2])
	switch {
	case unit == "" || strings.HasPrefix(unit, "s"):
		return "a duration has a unit: write `" + m[1] + "s`"
	case strings.HasPrefix(unit, "min") || unit == "m":
		return "write `" + m[1] + "m`"
	case strings.HasPrefix(unit, "h"):
		return "write `" + m[1] + "h`"
	case strings.HasPrefix(unit, "d"):
		if days, err := strconv.Atoi(m[1]); err == nil && days < 100_000 {
			return fmt.Sprintf("there is no unit for days: write `%dh`", 24*days)
		}
	}
	return "the units are ms, s, m, h: `5s`, `10m`, `1h30m`"
}

// interval reads a wait between polls.
func (r *reader) interval(n *yaml.Node) time.Duration {
	before := len(r.found)
	d := r.duration(n)
	if len(r.found) > before {
		if d, ok := meant(n.Value); ok && legal(d) != d { // what a duration would be is no interval
			r.found[len(r.found)-1].Hint = "an interval is 1s to 24h: write `" + short(legal(d)) + "`"
		}
		return 0
	}
	if legal(d) != d {
		r.fault(n, "interval", fmt.Sprintf("an interval is 1s to 24h (86400s) in whole seconds, this is %s", n.Value), "write `"+short(legal(d))+"`")
		return 0
	}
	return d
}

// legal is the nearest interval that may be.
func legal(d time.Duration) time.Duration {
	return min(max(d.Round(time.Second), time.Second), 24*time.Hour)
}

// short is a duration as a person writes it: 10m, not 10m0s.
func short(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// hold reads `for`.
func (r *reader) hold(n *yaml.Node) holdSpec {
	if isTemplate(n) {
		return holdSpec{from: text{s: n.Value, n: n}}
	}
	if n.Kind == yaml.ScalarNode && n.Tag == "!!int" {
		polls, err := strconv.Atoi(n.Value)
		if err != nil || polls < 1 || polls > maxHold {
			r.fault(n, "hold", "`for` is 1 to 100000 polls, this is "+n.Value, "without `for` a rule emits at once")
			return holdSpec{}
		}
		return holdSpec{polls: polls}
	}
	before := len(r.found)
	d := r.duration(n)
	if len(r.found) > before {
		r.found[len(r.found)-1].Hint = "write a count of polls (`3`), a duration (`10m`), or `\"${target.name}\"`"
	}
	return holdSpec{time: d}
}
