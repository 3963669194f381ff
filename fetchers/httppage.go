package fetchers

import (
	"crypto/tls"
	"net/url"
	"strings"
	"time"
)

// nextPage is where the Link header says that the list goes on; nil: it ends here.
func (x *exchange) nextPage(a *reply) (*url.URL, error) {
	for _, field := range a.header.Values("Link") {
		if target, ok := nextLink(field); ok {
			return x.step("pages", a.url, target)
		}
	}
	return nil, nil
}

// nextLink finds the link with the relation `next` in one field of RFC 8288.
func nextLink(field string) (string, bool) {
	for field != "" {
		start := strings.IndexByte(field, '<')
		if start < 0 {
			return "", false
		}
		end := strings.IndexByte(field[start:], '>')
		if end < 0 {
			return "", false
		}
		target := field[start+1 : start+end]
		var params []string
		params, field = linkParams(field[start+end+1:])
		for _, p := range params {
			name, v, _ := strings.Cut(p, "=")
			if !strings.EqualFold(strings.TrimSpace(name), "rel") {
				continue
			}
			for _, rel := range strings.Fields(strings.Trim(strings.TrimSpace(v), `"`)) {
				if strings.EqualFold(rel, "next") {
					return target, true
				}
			}
			break // of several, only the first counts
		}
	}
	return "", false
}

// linkParams splits what stands behind a target up to the comma that ends the link.
func linkParams(s string) (params []string, rest string) {
	quoted, begin := false, 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && quoted:
			i++
		case c == '"':
			quoted = !quoted
		case c == ';' && !quoted:
			params, begin = append(params, s[begin:i]), i+1
		case c == ',' && !quoted:
			return append(params, s[begin:i]), s[i+1:]
		}
	}
	return append(params, s[begin:]), ""
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
