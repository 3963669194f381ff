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

func durationHint(s string) string {
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
		return 0
	}
	if d < time.Second || d > 24*time.Hour || d%time.Second != 0 {
		r.fault(n, "interval", fmt.Sprintf("an interval is 1s to 24h (86400s) in whole seconds, this is %s", n.Value), "write it as `5s`")
		return 0
	}
	return d
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
			r.fault(n, "hold", "`for` is 1 to 100000 polls, this is "+n.Value, "")
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
