package fetchers

import (
	"crypto/tls"
	"net/url"
	"strings"
	"time"
)

// nextPage is where the Link header says that the list goes on; nil: it ends here. A header that cannot be read to its
// end is an error: what is missing may be the link to the rest of the list.
func (x *exchange) nextPage(a *reply) (*url.URL, error) {
	for _, field := range a.header.Values("Link") {
		target, found, ok := nextLink(field)
		if !ok {
			return nil, failf("pages", "the Link header cannot be read: it is cut off or malformed (%d bytes)", len(field))
		}
		if found {
			return x.step("pages", a.url, target)
		}
	}
	return nil, nil
}

// nextLink finds the link with the relation `next` in one field of RFC 8288. ok is false where the field is no list of
// links up to there.
func nextLink(field string) (target string, found, ok bool) {
	for {
		field = strings.TrimLeft(field, " \t,") // elements of a list may be empty
		if field == "" {
			return "", false, true
		}
		if field[0] != '<' {
			return "", false, false
		}
		target, rest, closed := strings.Cut(field[1:], ">")
		params, rest, whole := linkParams(rest)
		rel, related := relation(params)
		if !closed || !whole || !related {
			return "", false, false
		}
		for _, word := range strings.Fields(rel) {
			if strings.EqualFold(word, "next") {
				return target, true, true
			}
		}
		field = rest
	}
}

// relation is the rel of a link. Each has one, or in the older form a rev; of several, only the first counts.
func relation(params []string) (rel string, ok bool) {
	for _, p := range params {
		name, v, _ := strings.Cut(p, "=")
		v = strings.Trim(strings.TrimSpace(v), `"`)
		switch name = strings.TrimSpace(name); {
		case strings.EqualFold(name, "rel"):
			return v, v != ""
		case strings.EqualFold(name, "rev"):
			ok = true
		}
	}
	return "", ok
}

// linkParams splits what stands behind a target up to the comma that ends the link: parameters, a semicolon before each.
// ok is false where there is something else, or a quote without its end.
func linkParams(s string) (params []string, rest string, ok bool) {
	quoted, begin, end := false, 0, -1
	for i := 0; i < len(s) && end < 0; i++ {
		switch c := s[i]; {
		case c == '\\' && quoted:
			i++
		case c == '"':
			quoted = !quoted
		case c == ';' && !quoted:
			params, begin = append(params, s[begin:i]), i+1
		case c == ',' && !quoted:
			end = i
		}
	}
	if end < 0 {
		end = len(s)
	} else {
		rest = s[end+1:]
	}
	params = append(params, s[begin:end])
	return params[1:], rest, !quoted && strings.TrimSpace(params[0]) == ""
}

// tlsDoc is what a spec sees of the connection; nil without TLS.
func tlsDoc(state *tls.ConnectionState) any {
	if state == nil {
		return nil
	}
	doc := map[string]any{"version": tls.VersionName(state.Version), "protocol": state.NegotiatedProtocol, "expires": nil, "issuer": nil, "serial": nil}
	if len(state.PeerCertificates) > 0 {
		leaf := state.PeerCertificates[0]
		doc["expires"] = leaf.NotAfter.UTC().Format(time.RFC3339)
		doc["issuer"] = leaf.Issuer.String()
		doc["serial"] = leaf.SerialNumber.Text(16)
	}
	return doc
}
