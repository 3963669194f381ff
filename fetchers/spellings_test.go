package fetchers

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"
)

func TestASecretIsKnownInEverySpelling(t *testing.T) {
	const secret = "ghp_0123?>>/abc+d"
	for _, text := range []string{
		"x ghp_0123%3f%3e%3e%2fabc%2bd y", "x ghp_0123%3F%3E%3E%2Fabc%2Bd y",
		hex.EncodeToString([]byte(secret)), strings.ToUpper(hex.EncodeToString([]byte(secret))),
	} {
		if got := Redact(text, []string{secret}); !strings.Contains(got, "[redacted]") {
			t.Errorf("%s stays", text)
		}
	}
	for _, e := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
		for _, before := range []string{"", "a", "ab", "user:", "user1:"} {
			for _, after := range []string{"", "z", "zz"} {
				text := e.EncodeToString([]byte(before + secret + after))
				if got := Redact(text, []string{secret}); len(got) > 16+len("[redacted]") || got == text {
					t.Errorf("%q%q: %s stays as %s", before, after, text, got)
				}
			}
		}
	}
	if got := Redact("a 12 b", []string{"345"}); got != "a 12 b" {
		t.Error(got)
	}
}
