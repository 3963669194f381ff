package specs

import (
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// tooSoon are the words of faults of an expression that ends too soon.
var tooSoon = lazily(`EOF|unterminated|not terminated|unclosed|without its`)

// commentHints says of expressions that end too soon where YAML has cut them: at a space and `#`.
func (ds Diagnostics) commentHints(n *yaml.Node) {
	if n.Kind == yaml.ScalarNode && n.Style == 0 && n.LineComment != "" {
		for i, d := range ds {
			if d.Line == n.Line && d.Column >= n.Column && d.Column <= n.Column+utf8.RuneCountInString(n.Value) && tooSoon().MatchString(d.Message) {
				ds[i].Hint = "YAML takes ` #` for the beginning of a comment: put the whole in quotes"
			}
		}
	}
	for _, c := range n.Content {
		ds.commentHints(c)
	}
}

// comments warns of texts that YAML has cut at ` #`, where what is cut off holds a `${}`.
func (l *linter) comments(n *yaml.Node) {
	if n.Kind == yaml.ScalarNode && n.Style == 0 && strings.Contains(n.LineComment, "${") {
		at := strings.Index(l.src.line(n.Line), n.LineComment)
		if at >= 0 { // it may stand behind a further line of the text
			l.put(Diagnostic{
				Line: n.Line, Column: utf8.RuneCountInString(l.src.line(n.Line)[:at]) + 1, Width: utf8.RuneCountInString(n.LineComment),
				Severity: Warning, Code: "comment", Message: "YAML takes this for a comment: it is no part of the text before it", Hint: "put the whole in quotes",
			})
		}
	}
	for _, c := range n.Content {
		l.comments(c)
	}
}
