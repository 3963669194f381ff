package specs

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
)

// place is file:line:column, or the file alone.
func (d Diagnostic) place() string {
	if d.Line == 0 {
		return d.File
	}
	return fmt.Sprintf("%s:%d:%d", d.File, d.Line, d.Column)
}

// WriteText writes diagnostics for a reader: place, message, code, the line with a caret below, and the hint. color
// is for terminals.
func (ds Diagnostics) WriteText(w io.Writer, color bool) error {
	paint := func(code, s string) string {
		if !color || s == "" {
			return s
		}
		return "\x1b[" + code + "m" + s + "\x1b[0m"
	}
	var b strings.Builder
	for _, d := range ds {
		severity := paint("1;31", "error")
		if d.Severity == Warning {
			severity = paint("1;33", "warning")
		}
		fmt.Fprintf(&b, "%s: %s: %s %s\n", paint("1", printable(d.place())), severity, printable(d.Message), paint("2", "["+d.Code+"]"))
		if d.Source != "" {
			number := strconv.Itoa(d.Line)
			d = d.window()
			fmt.Fprintf(&b, " %s | %s\n", number, printable(d.Source))
			fmt.Fprintf(&b, " %s | %s%s\n", strings.Repeat(" ", len(number)), padding(d.Source, d.Column-1), paint("1;32", "^"+strings.Repeat("~", underline(d)-1)))
		}
		if d.Hint != "" {
			fmt.Fprintf(&b, "hint: %s\n", printable(d.Hint))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// maxShown is how many characters of a line are drawn.
const maxShown = 200

// window is the diagnostic with the part of a long line around its place. Whatever the file is like, a fault costs its
// reader no more than that.
func (d Diagnostic) window() Diagnostic {
	if len(d.Source) <= maxShown {
		return d
	}
	runes := []rune(d.Source)
	if len(runes) <= maxShown {
		return d
	}
	from := min(max(d.Column-1-maxShown/2, 0), len(runes)-maxShown)
	shown, before := string(runes[from:from+maxShown]), ""
	if from > 0 {
		before = "…"
	}
	if from+maxShown < len(runes) {
		shown += "…"
	}
	d.Source, d.Column, d.Width = before+shown, d.Column-from+len([]rune(before)), min(d.Width, maxShown)
	return d
}

// padding is white space as wide as the first n characters of a line: tabs stay tabs, wide characters take two.
func padding(line string, n int) string {
	var b strings.Builder
	for _, r := range line {
		if n--; n < 0 {
			break
		}
		switch {
		case r == '\t':
			b.WriteByte('\t')
		default:
			b.WriteString(strings.Repeat(" ", cells(r)))
		}
	}
	return b.String()
}

// underline is how many cells the caret spans: never past the end of the line.
func underline(d Diagnostic) int {
	n := 0
	for i, r := range []rune(d.Source) {
		if i >= d.Column-1 && i < d.Column-1+d.Width {
			n += cells(r)
		}
	}
	return max(n, 1)
}

// cells is how many columns of a terminal a character takes.
func cells(r rune) int {
	switch {
	case unicode.Is(unicode.Mn, r):
		return 0
	case unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana), r >= 0xff01 && r <= 0xff60, r >= 0x1f300 && r <= 0x1faff:
		return 2
	}
	return 1
}
