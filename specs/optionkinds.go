package specs

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/sessevents/sessevents/fetchers"
	"github.com/sessevents/sessevents/internal/value"
	"gopkg.in/yaml.v3"
)

// jsonOption reads any YAML value as JSON with templates in its strings.
func (r optionReader) jsonOption(o *option, n *yaml.Node) func(map[string]any) (any, error) {
	switch n.Kind {
	case yaml.MappingNode:
		members := map[string]func(map[string]any) (any, error){}
		r.pairs(n, "`"+o.Name+"`", func(k, v *yaml.Node) { members[k.Value] = r.jsonOption(o, v) })
		return func(env map[string]any) (any, error) {
			out := make(map[string]any, len(members))
			for k, f := range members {
				v, err := f(env)
				if err != nil {
					return nil, err
				}
				out[k] = v
			}
			return out, nil
		}
	case yaml.SequenceNode:
		var elems []func(map[string]any) (any, error)
		for _, c := range n.Content {
			elems = append(elems, r.jsonOption(o, c))
		}
		return func(env map[string]any) (any, error) {
			out := make([]any, len(elems))
			for i, f := range elems {
				var err error
				if out[i], err = f(env); err != nil {
					return nil, err
				}
			}
			return out, nil
		}
	}
	if n.Kind != yaml.ScalarNode || n.Tag != "!!str" {
		v := plainJSON(n)
		return func(map[string]any) (any, error) { return v, nil }
	}
	tpl := r.optionTemplate(o, text{s: n.Value, n: n})
	if tpl == nil {
		return nil
	}
	return func(env map[string]any) (any, error) {
		if e := tpl.alone(); e != nil {
			v, err := e.run(env)
			return saved(v), err
		}
		return tpl.joined(env)
	}
}

// plainJSON is a YAML value as JSON data.
func plainJSON(n *yaml.Node) any {
	switch n.Kind {
	case yaml.MappingNode:
		out := map[string]any{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			out[n.Content[i].Value] = plainJSON(n.Content[i+1])
		}
		return out
	case yaml.SequenceNode:
		out := make([]any, len(n.Content))
		for i, c := range n.Content {
			out[i] = plainJSON(c)
		}
		return out
	case yaml.ScalarNode:
		switch n.Tag {
		case "!!null":
			return nil
		case "!!bool":
			return strings.EqualFold(n.Value, "true")
		case "!!int", "!!float":
			if v, err := value.Decode([]byte(n.Value)); err == nil {
				return v
			}
			var f float64
			if n.Decode(&f) == nil {
				return value.Normalise(f)
			}
		}
		return n.Value
	}
	return nil
}

func (r optionReader) number(n *yaml.Node, row fetchers.Option) int64 {
	i, err := strconv.ParseInt(n.Value, 10, 64)
	if n.Kind != yaml.ScalarNode || err != nil || !decimal().MatchString(strings.TrimPrefix(n.Value, "-")) {
		r.fault(n, "not-a-number", fmt.Sprintf("`%s` is a whole number, this is %s", row.Name, describe(n)), "")
		return 0
	}
	r.within(n, row, i)
	return i
}

func (r optionReader) within(n *yaml.Node, row fetchers.Option, i int64) {
	if (row.Min != 0 || row.Max != 0) && (i < row.Min || i > row.Max) {
		r.fault(n, "range", fmt.Sprintf("`%s` is %d to %d, this is %s", row.Name, row.Min, row.Max, n.Value), "")
	}
}

func (r optionReader) numbers(n *yaml.Node, row fetchers.Option) []int64 {
	if n.Kind == yaml.ScalarNode {
		r.fault(n, "type", fmt.Sprintf("`%s` is a list of numbers", row.Name), "write `["+n.Value+"]`")
		return nil
	}
	var out []int64
	for _, c := range r.sequence(n, "`"+row.Name+"`") {
		if m := rangeForm().FindStringSubmatch(c.Value); m != nil && c.Tag == "!!str" {
			out = append(out, r.numberRange(c, row, m[1], m[2])...)
			continue
		}
		out = append(out, r.number(c, row))
	}
	return out
}

// rangeForm is `200-299`: all numbers from one to the other.
var rangeForm = lazily(`^(0|[1-9]\d{0,5})-(0|[1-9]\d{0,5})$`)

// maxRange bounds how many numbers one range stands for.
const maxRange = 1000

func (r optionReader) numberRange(n *yaml.Node, row fetchers.Option, first, last string) (out []int64) {
	a, _ := strconv.ParseInt(first, 10, 64) // rangeForm leaves nothing that does not fit
	b, _ := strconv.ParseInt(last, 10, 64)
	if a > b || b-a >= maxRange {
		r.fault(n, "range", fmt.Sprintf("a range goes from the smaller to the larger number, over at most %d, this is %s", maxRange, n.Value), "write it as `200-299`")
		return nil
	}
	r.within(n, row, a)
	if a != b {
		r.within(n, row, b)
	}
	for i := a; i <= b; i++ {
		out = append(out, i)
	}
	return out
}

var sizeForm = lazily(`^(\d+(?:\.\d+)?)\s*(B|KB|MB|GB)?$`)

func (r optionReader) size(n *yaml.Node, row fetchers.Option) int64 {
	m := sizeForm().FindStringSubmatch(n.Value)
	if n.Kind != yaml.ScalarNode || m == nil {
		r.fault(n, "size-form", fmt.Sprintf("`%s` is a size, this is %s", row.Name, describe(n)), "bytes, or a number with a unit: 512KB, 10MB, 1GB")
		return 0
	}
	f, err := strconv.ParseFloat(m[1], 64)
	f *= map[string]float64{"": 1, "B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9}[m[2]]
	if err != nil || f > math.MaxInt32*1e3 {
		r.fault(n, "range", fmt.Sprintf("`%s` is too large", row.Name), "")
		return 0
	}
	r.within(n, row, int64(f))
	return int64(f)
}

func (r optionReader) pages(n *yaml.Node) *fetchers.PageOption {
	p := &fetchers.PageOption{By: "link", Max: 10}
	if n.Kind == yaml.ScalarNode {
		if n.Value != "link" {
			r.fault(n, "word", "`pages` is `link`, this is "+describe(n), "write `link`, or `{by: link, list: .path, max: 10}`")
		}
		return p
	}
	object(r.reader, n, "`pages`", pageKeys(), p)
	return p
}

func pageKeys() []keyOf[fetchers.PageOption] {
	return []keyOf[fetchers.PageOption]{
		{row{name: "by", kind: kindWord, words: []string{"link"}, help: "How the next page is found: by the Link header."}, func(r *reader, n *yaml.Node, p *fetchers.PageOption) { p.By = r.word(n, []string{"link"}) }},
		{row{name: "list", kind: kindString, help: "A jq path to the list in each page's body. Default: the body is the list."}, func(r *reader, n *yaml.Node, p *fetchers.PageOption) { p.List = r.str(n).s }},
		{row{name: "max", kind: kindAny, help: "Pages at most; a list that is cut short fails the poll. Default: 10."}, func(r *reader, n *yaml.Node, p *fetchers.PageOption) {
			p.Max = optionReader{reader: r}.number(n, fetchers.Option{Name: "max", Min: 1, Max: 1000})
		}},
	}
}
