package tail

import (
	"os"
	"reflect"
	"strings"
	"testing"
)

func TestC3_BOM(t *testing.T) {
	w := newWatch(t, "log")
	w.write("log", "\xef\xbb\xbf{\"a\":1}\n\xef\xbb\xbf{}\n")
	w.want(`{"a":1}`, "\xef\xbb\xbf{}")
	for _, mark := range []string{"\xff\xfe", "\xfe\xff"} {
		w := newWatch(t, "log")
		w.write("log", mark+"{\x00}\x00\n\x00")
		if _, err := w.tryPoll(); err == nil || !strings.Contains(err.Error(), "UTF-16") {
			t.Errorf("%q: %v", mark, err)
		}
	}
}

func TestC4_LineEnds(t *testing.T) {
	w := newWatch(t, "log")
	w.write("log", "a\r\n\r\n\n  \t\n\r\r\nb\u2028c\rd\ne\n")
	w.want("a", "b\u2028c\rd", "e")
	if w.report.Lines != 3 {
		t.Errorf("%d lines counted", w.report.Lines)
	}
}

func TestC5_MultiByteAcrossEveryBuffer(t *testing.T) {
	for _, at := range []int{4096, 64 << 10, chunk, 1 << 20, chunk + 1<<20} {
		for shift := -3; shift <= 3; shift++ {
			w := newWatch(t, "log")
			w.reader.MaxLine = 4 << 20
			line := strings.Repeat("x", at+shift-1) + "€" + strings.Repeat("y", 10)
			w.write("log", "short\n"+line+"\n")
			w.want("short", line)
		}
	}
}

func TestC7_VeryLongLine(t *testing.T) {
	w := newWatch(t, "log")
	w.reader.MaxLine = 1 << 20
	w.write("log", "before\n"+strings.Repeat("x", 5<<20)+"\nafter\n")
	w.want("before", "after")
	if w.report.TooLong != 1 || !reflect.DeepEqual(w.report.Long, []Long{{w.path("log"), 7, 5 << 20}}) {
		t.Fatalf("%+v", w.report)
	}
	if n := cap(w.reader.buf); n > 1<<20+2*chunk {
		t.Errorf("buffer of %d bytes", n)
	}
}

func TestC7_LongLineThatGrowsBetweenReads(t *testing.T) {
	w := newWatch(t, "log")
	w.reader.MaxLine = 1000
	w.write("log", "before\n")
	w.want("before")
	for range 5 {
		w.add("log", strings.Repeat("x", 900))
		w.want()
	}
	w.add("log", "\nafter\n")
	w.want("after")
	if w.report.TooLong != 1 || w.report.Long[0].Size != 4500 || w.report.Long[0].Offset != 7 {
		t.Fatalf("%+v", w.report)
	}
}

func TestLineOfExactlyMaxLine(t *testing.T) {
	w := newWatch(t, "log")
	w.reader.MaxLine = 100
	fits, over := strings.Repeat("x", 100), strings.Repeat("y", 101)
	w.write("log", fits+"\r\n"+over+"\n"+fits+"\n"+over+"\r\n"+fits)
	w.want(fits, fits)
	w.add("log", "\r\n")
	w.want(fits)
	if w.report.TooLong != 0 {
		t.Fatalf("%+v", w.report)
	}
}

func TestHoleOfZeros(t *testing.T) { // copy-truncate while the writer keeps its offset
	w := newWatch(t, "log")
	w.reader.MaxLine = 10_000
	f, err := os.Create(w.path("log"))
	w.must(err)
	defer f.Close()
	_, err = f.WriteString("before\n")
	w.must(err)
	w.want("before")
	w.must(f.Truncate(0))
	_, err = f.WriteAt([]byte("after\n"), 3_000_000)
	w.must(err)
	w.want("after")
	w.must(f.Truncate(5_000_000)) // zeros without a line behind them are not gone past
	w.want()
	_, err = f.WriteAt([]byte("inside the zeros\n"), 4_000_000)
	w.must(err)
	w.want("inside the zeros")
	if w.report.TooLong != 0 {
		t.Fatalf("%+v", w.report)
	}
}
