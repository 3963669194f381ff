package fetchers

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// leastEncoded is how long a secret must be to be looked for in base64 and as hexadecimal: what shorter ones look like
// there could be anything.
const leastEncoded = 6

// Spellings are the forms in which a secret may come back, the longest first: as it is, in JSON, quoted by Go, in a URL with either
// case of its hexadecimal digits, in hexadecimal, and in base64 of both alphabets, also in the midst of a longer text.
func Spellings(s string) []string {
	quoted, _ := json.Marshal(s)
	forms := []string{s, string(quoted[1 : len(quoted)-1])}
	for _, quoted := range []string{strconv.Quote(s), strconv.QuoteToASCII(s)} {
		forms = append(forms, quoted[1:len(quoted)-1])
	}
	for _, f := range []string{url.QueryEscape(s), url.PathEscape(s), everyByte(s)} {
		forms = append(forms, f, smallHex(f))
	}
	if len(s) >= leastEncoded {
		small := hex.EncodeToString([]byte(s))
		forms = append(forms, small, strings.ToUpper(small))
		for _, e := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
			forms = append(forms, e.EncodeToString([]byte(s)))
		}
		for _, e := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			for at := range 3 {
				forms = append(forms, within(e, s, at))
			}
		}
	}
	slices.SortFunc(forms, func(a, b string) int {
		if d := len(b) - len(a); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	return slices.Compact(forms)
}

// within is the part of base64 that s alone decides where at bytes, modulo three, stand before it.
func within(e *base64.Encoding, s string, at int) string {
	text := e.EncodeToString([]byte(strings.Repeat("\x00", at) + s))
	return text[(at*8+5)/6 : (at+len(s))*8/6]
}

// everyByte is s with all of its bytes percent-encoded.
func everyByte(s string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, "%%%02X", s[i])
	}
	return b.String()
}

// smallHex writes the digits of percent-encoding in small letters.
func smallHex(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:], strings.ToLower(s[i+1:i+3]))
			i += 2
		}
	}
	return string(b)
}

// Redact replaces every one of the [Spellings] of the secrets in text.
func Redact(text string, secrets []string) string {
	secrets = slices.Clone(secrets)
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) }) // one may be a part of another
	for _, s := range secrets {
		if s == "" {
			continue
		}
		for _, form := range Spellings(s) {
			text = strings.ReplaceAll(text, form, "[redacted]")
		}
	}
	return text
}
