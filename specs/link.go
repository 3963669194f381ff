package specs

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// linkError is a value that cannot stand where a URL wants it.
type linkError struct{ reason string }

func (e *linkError) Error() string { return e.reason }

func asLink(err error, to **linkError) bool { return errors.As(err, to) }

var hostForm = lazily(`\A[A-Za-z0-9.-]+(?::\d{1,5})?\z|\A\[[0-9A-Fa-f:]+\](?::\d{1,5})?\z`)

// encoded renders the template as a URL: each value is percent-encoded for where it stands. At the very start a value
// is taken as it is: it is a whole URL. text makes a text of a value; false refuses it.
func (t *template) encoded(env map[string]any, text func(any) (string, bool)) (string, error) {
	var out string
	inPath := false
	for _, p := range t.pieces {
		if p.e == nil {
			out += p.lit
			continue
		}
		v, err := p.e.say(env)
		if err != nil {
			return "", err
		}
		s, ok := text(v)
		if !ok {
			return "", &linkError{fmt.Sprintf("`${%s}` is %s", strings.TrimSpace(p.e.code), kindOf(v))}
		}
		switch where(out) {
		case "start":
			out = s
		case "host":
			if !hostForm().MatchString(s) {
				return "", &linkError{fmt.Sprintf("`${%s}` is no host", strings.TrimSpace(p.e.code))}
			}
			out += s
		case "path":
			inPath = true
			parts := strings.Split(s, "/")
			for i := range parts {
				parts[i] = url.PathEscape(parts[i])
			}
			out += strings.Join(parts, "/")
		default:
			out += url.QueryEscape(s)
		}
	}
	if inPath {
		path, _, _ := strings.Cut(out, "?")
		path, _, _ = strings.Cut(path, "#")
		if slices.Contains(strings.Split(path, "/"), "..") {
			return "", &linkError{"a `..` in the path"}
		}
	}
	return out, nil
}

// where says in which part of a URL the next character stands.
func where(out string) string {
	if out == "" {
		return "start"
	}
	if strings.ContainsAny(out, "?#") {
		return "query"
	}
	scheme, rest, absolute := strings.Cut(out, "://")
	if absolute && scheme != "file" && !strings.Contains(rest, "/") {
		return "host"
	}
	return "path"
}
