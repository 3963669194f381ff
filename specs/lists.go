package specs

import (
	"slices"

	"github.com/sessevents/sessevents/internal/value"
)

// flat are the values of lists and single values, in order. nil is no value: it is left out.
func flat(args []any) ([]any, error) {
	var vs []any
	for _, a := range args {
		switch l := asList(a).(type) {
		case nil:
		case []any:
			inner, err := flat(l)
			if err != nil {
				return nil, err
			}
			vs = append(vs, inner...)
		default:
			vs = append(vs, a)
		}
	}
	return vs, nil
}

func sum(vs []any) (any, error) {
	if len(vs) == 0 {
		return 0, nil
	}
	total, err := vs[0], error(nil)
	for _, v := range vs[1:] {
		if total, err = compute("+", total, v); err != nil {
			return nil, err
		}
	}
	return total, nil
}

// best is the largest (sign 1) or the least (sign -1) value. Of no values there is none: that is an error, so that a
// watermark is not lost to an empty list.
func best(vs []any, sign int) (any, error) {
	if len(vs) == 0 {
		return nil, wrong("there is no largest or least of an empty list")
	}
	top := vs[0]
	for _, v := range vs[1:] {
		c, ok := value.Compare(bare(v), bare(top))
		if !ok {
			return nil, wrong("there is no order between %s and %s", kindOf(v), kindOf(top))
		}
		if c*sign > 0 {
			top = v
		}
	}
	return top, nil
}

func mean(vs []any) (any, error) {
	if len(vs) == 0 {
		return nil, wrong("there is no mean of an empty list")
	}
	total, err := sum(vs)
	if err != nil {
		return nil, err
	}
	return compute("/", total, len(vs))
}

func median(vs []any) (any, error) {
	if len(vs) == 0 {
		return nil, wrong("there is no median of an empty list")
	}
	sorted, err := sortList(vs, vs, nil)
	if err != nil {
		return nil, err
	}
	list := sorted.([]any)
	if mid := len(list) / 2; len(list)%2 == 1 {
		return list[mid], nil
	} else if v, err := compute("+", list[mid-1], list[mid]); err == nil {
		return compute("/", v, 2)
	}
	return nil, wrong("there is no median of these values")
}

// sortList sorts a list by the values of another one, which belong to its elements; equal ones keep their order.
func sortList(list, by any, order []any) (any, error) {
	vs, ok := asList(list).([]any)
	keys, okKeys := asList(by).([]any)
	if !ok || !okKeys || len(vs) != len(keys) {
		return nil, wrong("sort takes a list, not %s", kindOf(list))
	}
	sign := 1
	if len(order) > 0 && order[0] == "desc" {
		sign = -1
	}
	at := make([]int, len(vs))
	for i := range at {
		at[i] = i
	}
	var err error
	slices.SortStableFunc(at, func(i, j int) int {
		c, ok := value.Compare(bare(keys[i]), bare(keys[j]))
		switch {
		case keys[i] == nil && keys[j] != nil: // what is not there comes first
			c = -1
		case keys[i] != nil && keys[j] == nil:
			c = 1
		case !ok && keys[i] != nil:
			err = wrong("there is no order between %s and %s", kindOf(keys[i]), kindOf(keys[j]))
		}
		return c * sign
	})
	if err != nil {
		return nil, err
	}
	out := make([]any, len(vs))
	for i, j := range at {
		out[i] = vs[j]
	}
	return out, nil
}

func uniq(v any) (any, error) {
	vs, ok := asList(v).([]any)
	if !ok {
		return nil, wrong("uniq takes a list, not %s", kindOf(v))
	}
	seen := map[string]bool{}
	out := []any{}
	for _, e := range vs {
		if value.TooDeep(e) {
			return nil, wrong("uniq takes no element that is %s", value.ErrTooDeep)
		}
		b, err := value.Encode(saved(e))
		if err != nil {
			return nil, wrong("uniq cannot compare %s", kindOf(e))
		}
		if !seen[string(b)] {
			seen[string(b)] = true
			out = append(out, e)
		}
	}
	return out, nil
}
