package specs

import (
	"fmt"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// targetPattern is how the JSON Schema knows a value that the target gives.
const targetPattern = `^\$\{.+\}$`

// isTemplate reports whether a scalar holds a `${}`, where a literal would stand otherwise.
func isTemplate(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Tag == "!!str" && strings.Contains(n.Value, "${")
}

// given compiles a duration or a count that the target gives: one `${}` alone, which sees nothing but `target`, so that
// it can be checked before anything is polled: it is of one of kinds. nil where it has faults.
func (r *reader) given(n *yaml.Node, what, code string, target *shape, kinds ...valueKind) *expression {
	sc := scope{names: map[string]*shape{"target": target}, why: map[string]string{}}
	for _, name := range []string{"item", "items", "cursor", "doc", "env"} {
		sc.why[name] = "`" + what + "` is known before anything is polled: only `target` is in scope"
	}
	tpl := r.template(text{s: n.Value, n: n}, sc, exprMode{})
	if tpl == nil {
		return nil
	}
	e := tpl.alone()
	if e == nil {
		r.fault(n, code, fmt.Sprintf("`%s` is one `${}` and nothing else, this is %q", what, n.Value), "such as `\"${target.name}\"`, for a flag with a type")
	}
	r.mustBe(e, what, kinds...)
	return e
}

// check makes the target be refused for which a given value does not fit.
func (p *targetParser) check(fits func(values map[string]any) error) {
	p.checks = append(p.checks, fits)
}

// targetEnv is what an expression sees that knows the target alone.
func targetEnv(values map[string]any) map[string]any {
	return map[string]any{"target": values, budgetName: &budget{poll: maxSteps}}
}

// givenDuration is the value of a duration that the target gives.
func givenDuration(e *expression, what string, least, most time.Duration, env map[string]any) (time.Duration, error) {
	v, err := e.run(env)
	if err != nil {
		return 0, err
	}
	d, ok := v.(time.Duration)
	switch {
	case !ok:
		return 0, fmt.Errorf("%s is a duration, this is %s", what, kindOf(v))
	case d < least || most > 0 && d > most:
		if most == 0 {
			return 0, fmt.Errorf("%s is at least %s, this is %s", what, short(least), short(d))
		}
		return 0, fmt.Errorf("%s is %s to %s, this is %s", what, short(least), short(most), short(d))
	}
	return d, nil
}

// maxHold is how many polls a `for` may count.
const maxHold = 100_000

// of is what a rule waits for: the count or the duration that stands in the spec, or what the target gives.
func (h holdSpec) of(e *expression, values map[string]any) (holdSpec, error) {
	if e == nil {
		return h, nil
	}
	v, err := e.run(targetEnv(values))
	if err != nil {
		return h, err
	}
	switch v := bare(v).(type) {
	case time.Duration:
		if v > 0 {
			return holdSpec{time: v}, nil
		}
	case int:
		if v >= 1 && v <= maxHold {
			return holdSpec{polls: v}, nil
		}
	default:
		return h, fmt.Errorf("`for` is a count of polls or a duration, this is %s", kindOf(v))
	}
	return h, fmt.Errorf("`for` is 1 to %d polls, or a duration of more than nothing, this is %s", maxHold, speak(v))
}
