package event

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Digest is the SHA-256, in hex, of a prompt as it can be compared: a client changes what is pasted into it before its
// hooks see it. So a paste's wrapper is taken off, line ends become LF, a tab becomes four spaces, other control
// characters go, and so does the white space around it.
func Digest(text string) string {
	sum := sha256.Sum256([]byte(normal(text)))
	return hex.EncodeToString(sum[:])
}

func normal(text string) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	text = Unwrap(strings.ReplaceAll(text, "\r", "\n"))
	var b strings.Builder
	b.Grow(len(text))
	for _, r := range text {
		switch {
		case r == '\t':
			b.WriteString("    ")
		case r < 0x20 && r != '\n' || r == 0x7f:
		default:
			b.WriteRune(r)
		}
	}
	return strings.TrimSpace(b.String())
}

const (
	wrapOpen  = `<pasted_content id="`
	wrapClose = `</pasted_content id="`
	wrapEnd   = `">`
)

// maxWraps is how many pastes a prompt has at most; what is behind them stays as it is. So a hostile prompt takes no
// time that grows faster than itself.
const maxWraps = 100

// Unwrap takes off the marks that Claude Code sets around each long paste:
// "\n\n<pasted_content id=\"8808\">\n…\n</pasted_content id=\"8808\">\n".
func Unwrap(text string) string {
	var b strings.Builder
	for range maxWraps {
		start := strings.Index(text, wrapOpen)
		if start < 0 {
			break
		}
		inner, after, ok := wrapped(text[start+len(wrapOpen):])
		if !ok {
			b.WriteString(text[:start+len(wrapOpen)])
			text = text[start+len(wrapOpen):]
			continue
		}
		b.WriteString(strings.TrimSuffix(text[:start], "\n\n"))
		b.WriteString(inner)
		text = strings.TrimPrefix(after, "\n")
	}
	b.WriteString(text)
	return b.String()
}

// wrapped splits text, which begins with the id of an opening mark, at the closing mark of that id.
func wrapped(text string) (inner, after string, ok bool) {
	const longest = 20 // letters; it was seen to be four hexadecimal digits
	head := text[:min(len(text), longest)]
	id := head[:len(head)-len(strings.TrimLeft(head, "0123456789abcdefABCDEF"))]
	rest, ok := strings.CutPrefix(text[len(id):], wrapEnd+"\n")
	if !ok || id == "" {
		return "", "", false
	}
	return strings.Cut(rest, "\n"+wrapClose+id+wrapEnd)
}
