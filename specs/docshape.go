package specs

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/sessevents/sessevents/fetchers"
	"gopkg.in/yaml.v3"
)

// docShape is what the document of a fetcher can hold, by the fetcher's table. listed says that it is a list of such
// objects, failData that it may be `{error: …}` instead.
func docShape(f fetchers.Fetcher, what string, listed, failData bool) *shape {
	if len(f.Doc) == 0 {
		return anyShape
	}
	s := &shape{what: what, fields: map[string]*shape{}, content: f.Content, failure: !failData}
	for _, m := range f.Doc {
		outer, inner, nested := strings.Cut(m.Name, ".")
		if s.fields[outer] == nil {
			s.fields[outer] = &shape{what: what + "." + outer, small: outer == f.Small}
		}
		if nested {
			of := s.fields[outer]
			if of.fields == nil {
				of.fields = map[string]*shape{}
			}
			of.fields[inner] = &shape{what: of.what + "." + inner}
		}
	}
	if failData {
		s.fields["error"] = &shape{what: what + ".error"}
	}
	if listed {
		return &shape{what: what, elem: s}
	}
	return s
}

// has reports whether a member of that name can be there.
func (s *shape) has(name string) bool {
	if s.small {
		return name == strings.ToLower(name)
	}
	return s.fields == nil || s.fields[name] != nil
}

// hint says what to write instead of a name that is not there. path is how the place names the value.
func (s *shape) hint(name, path string) string {
	switch names := slices.Sorted(maps.Keys(s.fields)); {
	case s.small:
		return "these names are in small letters: `" + strings.ToLower(name) + "`"
	case name == "error" && s.failure:
		return "`failure: data` gives it, in the options of the fetcher"
	case s.content != "" && nearest(name, names) == "":
		return "did you mean `" + path + "." + s.content + "." + name + "`? It has: " + strings.Join(names, ", ")
	default:
		return hintNearest(name, names)
	}
}

// readsOfDoc warns where extract looks for what no document has: it would find null for ever, and say nothing.
func (c *compiler) readsOfDoc(program text) {
	if c.found.HasErrors() { // of the fetch: then it may be meant otherwise
		return
	}
	root, t := &reads{}, &tracker{}
	t.query(c.out.extract.tree, places{root}, nil)
	if t.steps <= maxTracked {
		c.missing(program, root, c.docs, "")
	}
}

func (c *compiler) missing(program text, r *reads, s *shape, path string) {
	if r == nil || s == nil {
		return
	}
	if s.elem != nil {
		c.missing(program, r.each, s.elem, path+"[]")
		return
	}
	for _, name := range slices.Sorted(maps.Keys(r.members)) {
		if s.has(name) {
			c.missing(program, r.members[name], s.fields[name], path+"."+name)
			continue
		}
		at := placeOfMember(program.s, path, name)
		c.inside(program.n, at, len([]rune(name)), Warning, "document", fmt.Sprintf("`%s` has no `%s`: this is always null", s.what, name), s.hint(name, path))
	}
}

// placeOfMember finds where a program names a member: the library tells no places. Of several the one wins that most
// looks like it.
func placeOfMember(program, path, name string) int {
	word := `"?(` + regexp.QuoteMeta(name) + `)(?:\W|$)`
	for _, before := range []string{regexp.QuoteMeta(path) + `\s*[.\[]\s*`, `(?:^|[^\w\])}?".])\.\s*`, `[{,]\s*`, `\W`} {
		if path == "" && strings.HasPrefix(before, `\s`) {
			continue
		}
		if loc := regexp.MustCompile(before + word).FindStringSubmatchIndex(program); loc != nil {
			return loc[2]
		}
	}
	return 0
}

// recordedDoc warns of a recorded document that no fetcher gives: the test would prove what never happens.
func (c *compiler) recordedDoc(n *yaml.Node, s *shape) {
	if s == nil || c.found.HasErrors() {
		return
	}
	if s.elem != nil && n.Kind == yaml.SequenceNode {
		for _, e := range n.Content {
			c.recordedDoc(e, s.elem)
		}
	}
	if n.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if s.has(k.Value) {
			c.recordedDoc(v, s.fields[k.Value])
			continue
		}
		hint := s.hint(k.Value, "")
		if content, _, list := strings.Cut(s.content, "["); content != "" && strings.Contains(hint, "."+s.content+".") {
			if hint = "what is asked for stands in it: `" + content + ": …`"; list {
				hint = "what is asked for stands in it: `" + content + ": [{…}]`"
			}
		}
		told := s.what + "." + k.Value
		if c.told[told] { // in all polls it is one fault
			continue
		}
		c.told[told] = true
		c.warn(k, "document", fmt.Sprintf("`%s` has no `%s`: no answer looks like this", s.what, k.Value), hint)
	}
}
