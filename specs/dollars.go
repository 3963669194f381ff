package specs

import (
	"fmt"

	"gopkg.in/yaml.v3"
)

// shellVariable is what a shell would take for a variable of the environment.
var shellVariable = lazily(`(?:^|[^$\w])(\$([A-Z][A-Z0-9_]+))`)

// dollars warns of `$HOME` in an option that no shell reads: there is no such file, and no such token. In the words of
// a command it may be meant for who reads them there.
func (l *linter) dollars(st stepSpec) {
	for _, of := range []*yaml.Node{st.options, l.spec.defaults[st.fetcher.s]} {
		for _, name := range []string{"path", "glob", "cwd", "ca", "url", "headers", "query"} {
			n := member(of, name)
			if n == nil {
				continue
			}
			values := []*yaml.Node{n}
			if n.Kind == yaml.MappingNode {
				values = n.Content
			}
			for _, v := range values {
				l.dollar(name, v)
			}
		}
	}
}

func (l *linter) dollar(option string, n *yaml.Node) {
	if n.Kind != yaml.ScalarNode || l.dollared[n] {
		return
	}
	m := shellVariable().FindStringSubmatchIndex(n.Value)
	if m == nil {
		return
	}
	if l.dollared == nil {
		l.dollared = map[*yaml.Node]bool{}
	}
	l.dollared[n] = true // defaults are shared by steps
	word, name := n.Value[m[2]:m[3]], n.Value[m[4]:m[5]]
	hint := "let the target or a flag say it: `${target.name}`"
	switch {
	case option == "headers":
		hint = "write `${env." + name + "}`"
	case name == "HOME":
		hint = "`~/` is the home folder"
	}
	l.inside(n, m[2], len(word), Warning, "dollar", fmt.Sprintf("`%s` stands here as it is: no shell reads it", word), hint)
}
