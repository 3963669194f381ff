package specs

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// Touches is what a spec may reach, as it writes it: `${}` stands where a target decides.
type Touches struct {
	Hosts    []string `json:"hosts,omitempty"`
	Commands []string `json:"commands,omitempty"`
	Paths    []string `json:"paths,omitempty"`
	Env      []string `json:"env,omitempty"`
}

// reaches are the options of fetchers that name something to reach, and how to read it off.
var reaches = map[string]func(t *Touches, n *yaml.Node){
	"url":  func(t *Touches, n *yaml.Node) { t.Hosts = append(t.Hosts, hostOf(n.Value)) },
	"path": func(t *Touches, n *yaml.Node) { t.Paths = append(t.Paths, n.Value) },
	"glob": func(t *Touches, n *yaml.Node) { t.Paths = append(t.Paths, n.Value) },
	"shell": func(t *Touches, n *yaml.Node) {
		t.Commands = append(t.Commands, "sh -c "+strings.Join(strings.Fields(n.Value), " "))
	},
	"command": func(t *Touches, n *yaml.Node) { t.Commands = append(t.Commands, strings.Join(values(n), " ")) },
}

// Touches tells what the source may reach, each once, sorted.
func (s *Source) Touches() Touches {
	var t Touches
	for _, st := range s.steps {
		for _, o := range st.options {
			t.Env = append(t.Env, o.env...)
			if read := reaches[o.Name]; read != nil && o.at != nil {
				read(&t, o.at)
			}
		}
	}
	for _, cmd := range s.secrets {
		reaches["command"](&t, cmd.at)
	}
	for _, list := range []*[]string{&t.Hosts, &t.Commands, &t.Paths, &t.Env} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return t
}

func values(n *yaml.Node) (words []string) {
	for _, c := range n.Content {
		words = append(words, c.Value)
	}
	return words
}

// hostOf is the host of a URL that may hold templates; where it begins with one, that is the target's own.
func hostOf(url string) string {
	_, rest, ok := strings.Cut(url, "://")
	if !ok || strings.HasPrefix(url, "${") {
		rest = url
	}
	depth := 0
	for i, c := range rest {
		switch c {
		case '{':
			depth++
		case '}':
			depth--
		case '/', '?', '#':
			if depth == 0 {
				return rest[:i]
			}
		}
	}
	return rest
}
