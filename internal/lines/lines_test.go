package lines

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"testing"
)

// plain is what the package promises, said in the plainest way.
func plain(text []byte, from int64, limit int) []string {
	var out []string
	at := from
	for rest := text[from:]; ; {
		line, after, whole := bytes.Cut(rest, []byte("\n"))
		if !whole {
			return out
		}
		size := len(line)
		if size > limit {
			out = append(out, fmt.Sprintf("%d long %d", at, size))
		} else {
			if at == 0 {
				line = bytes.TrimPrefix(line, bom)
			}
			out = append(out, fmt.Sprintf("%d %q", at, bytes.TrimSuffix(line, []byte("\r"))))
		}
		at += int64(size) + 1
		rest = after
	}
}

func collect(t *testing.T, seq iter.Seq2[Line, error]) []string {
	t.Helper()
	var out []string
	for line, err := range seq {
		switch {
		case err != nil:
			t.Fatal(err)
		case line.Raw == nil:
			out = append(out, fmt.Sprintf("%d long %d", line.Offset, line.Size))
		default:
			out = append(out, fmt.Sprintf("%d %q", line.Offset, line.Raw))
		}
	}
	return out
}

func check(t *testing.T, text []byte, from int64, limit int, size inBlocks) {
	t.Helper()
	r := bytes.NewReader(text)
	want := plain(text, from, limit)
	if got := collect(t, size.forward(r, from, int64(len(text)), limit)); !slices.Equal(got, want) {
		t.Errorf("forward in blocks of %d: got %q, want %q", size, got, want)
	}
	got := collect(t, size.backward(r, from, int64(len(text)), limit))
	slices.Reverse(got)
	if !slices.Equal(got, want) {
		t.Errorf("backward in blocks of %d: got %q, want %q", size, got, want)
	}
}

func TestWholeLinesBothWays(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":           "",
		"one newline":       "\n",
		"no newline":        "torn",
		"a torn last line":  "one\ntwo\nthr",
		"empty lines":       "\n\none\n\n\n",
		"CRLF and a mark":   "\xef\xbb\xbfone\r\ntwo\r\n",
		"a long line":       "a\n" + strings.Repeat("x", 60) + "\nb\n",
		"a long line first": strings.Repeat("x", 60) + "\nb\n",
		"a long line last":  "a\n" + strings.Repeat("x", 60) + "\n",
		"exactly the limit": strings.Repeat("x", 20) + "\n" + strings.Repeat("y", 21) + "\n",
		"a wide line":       "a\n" + strings.Repeat("x", 400) + "\r\nb\n",
		"a long torn line":  "a\n" + strings.Repeat("x", 60),
	} {
		t.Run(name, func(t *testing.T) {
			for size := inBlocks(1); size < 70; size++ {
				check(t, []byte(text), 0, 20, size)
				check(t, []byte(text), 0, 500, size)
			}
		})
	}
}

func TestAcrossRealBlocks(t *testing.T) {
	var text strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&text, "%d %s\n", i, strings.Repeat("é", i%300))
	}
	text.WriteString(strings.Repeat("z", 9*block) + "\nend\n")
	check(t, []byte(text.String()), 0, Limit, block)
	check(t, []byte(text.String()), 0, 2*block, block)
}

func TestStartIsTheNextLine(t *testing.T) {
	r := strings.NewReader("ab\ncd\nef")
	for offset, want := range []int64{0, 3, 3, 3, 6, 6, 6, 8, 8} {
		got, err := Start(r, int64(offset), 8)
		if err != nil || got != want {
			t.Errorf("Start(%d) = %d, %v, want %d", offset, got, err, want)
		}
	}
}

func TestAFileThatWasCut(t *testing.T) {
	r := strings.NewReader("one\ntwo\n")
	for _, err := range Backward(r, 0, 100, Limit) {
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatal(err)
		}
	}
	for _, err := range Forward(r, 0, 100, Limit) {
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatal(err)
		}
	}
}

func FuzzLines(f *testing.F) {
	f.Add([]byte("one\r\n\ntwo\nthree"), uint8(3), uint8(4), uint8(0))
	f.Add([]byte("\xef\xbb\xbfone\n"+strings.Repeat("x", 99)+"\n"), uint8(7), uint8(40), uint8(5))
	f.Fuzz(func(t *testing.T, text []byte, size, limit, from uint8) {
		at, err := Start(bytes.NewReader(text), min(int64(from), int64(len(text))), int64(len(text)))
		if err != nil {
			t.Fatal(err)
		}
		check(t, text, at, int(limit), inBlocks(max(size, 1)))
	})
}
