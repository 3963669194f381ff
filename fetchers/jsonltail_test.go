package fetchers

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
)

// stream is a watch of jsonl-tail; each poll is committed.
type stream struct {
	*asker
	opts map[string]any
	last Answer
}

func newStream(t *testing.T, opts map[string]any) *stream {
	t.Helper()
	return &stream{asker: newAsker(t, "jsonl-tail"), opts: opts}
}

func (s *stream) poll() []any {
	s.t.Helper()
	answer, err := s.ask(s.opts)
	if err != nil {
		s.t.Fatal(err)
	}
	s.last, s.request.Position = answer, answer.Position
	return answer.Doc.(map[string]any)["lines"].([]any)
}

func (s *stream) want(lines ...any) {
	s.t.Helper()
	if got := s.poll(); len(got)+len(lines) > 0 && !reflect.DeepEqual(got, lines) {
		s.t.Fatalf("got %v, want %v", got, lines)
	}
}

func (s *stream) skipped() any { return s.last.Doc.(map[string]any)["skipped"] }

func add(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	must(t, err)
	_, err = f.WriteString(text)
	must(t, err)
	must(t, f.Close())
}

func TestJSONLTail(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	s := newStream(t, map[string]any{"path": path})
	s.want()
	add(t, path, "\xef\xbb\xbf{\"id\":9007199254740993}\r\n\n 12 \n\"a\u2028b\"\nnull\n{\"half\":")
	s.want(map[string]any{"id": 9007199254740993}, 12, "a\u2028b", nil)
	if s.last.Read != 4 || s.last.More {
		t.Errorf("%+v", s.last)
	}
	files := s.last.Doc.(map[string]any)["files"].([]any)
	if len(files) != 1 || files[0].(map[string]any)["path"] != path {
		t.Errorf("%v", files)
	}
	add(t, path, "true}\n")
	s.want(map[string]any{"half": true})
	s.want()
}

func TestC6_BadLinesAreSkippedAndCounted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	s := newStream(t, map[string]any{"path": path, "from": "start"})
	write(t, path, "{}\n{\"private\":\"\xff\xfe\"}\nprivate words\n{\"a\":1} {\"b\":2}\n{\"nul\":\x00}\n[1]\n")
	s.want(map[string]any{}, []any{1})
	if s.skipped() != 4 {
		t.Errorf("skipped %v", s.skipped())
	}
	if len(s.logs) != 4 || s.logs[0] != path+": the line at byte 3 is not JSON (16 bytes), skipped" || strings.Contains(strings.Join(s.logs, " "), "private") {
		t.Errorf("%q", s.logs)
	}
	s.want()
	if s.skipped() != 0 {
		t.Errorf("skipped %v again", s.skipped())
	}
}

func TestBadLineMayFailThePoll(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	s := newStream(t, map[string]any{"path": path, "from": "start", "bad": "fail", "maxLine": int64(20)})
	write(t, path, "{}\n")
	s.want(map[string]any{})
	add(t, path, "[1]\nnot JSON\n")
	if err := s.fails("parse", s.opts); strings.Contains(err.Error(), "not JSON\n") {
		t.Error(err)
	}
	write(t, path, "{}\n[2]\n\""+strings.Repeat("x", 20)+"\"\n")
	s.fails("parse", s.opts)
}

func TestC7_OverLongLineIsSkippedAndCounted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	s := newStream(t, map[string]any{"path": path, "from": "start", "maxLine": int64(1 << 20)})
	write(t, path, "[1]\n\""+strings.Repeat("x", 5<<20)+"\"\n[2]\n")
	s.want([]any{1}, []any{2})
	if s.skipped() != 1 || len(s.logs) != 1 || s.logs[0] != path+": the line at byte 4 is too long (5242882 bytes), skipped" {
		t.Errorf("%v %q", s.skipped(), s.logs)
	}
}

func TestC10_NotAFileOfLines(t *testing.T) {
	dir := t.TempDir()
	must(t, syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600))
	must(t, os.Symlink("loop", filepath.Join(dir, "loop")))
	must(t, os.Symlink("none", filepath.Join(dir, "dangling")))
	s := newStream(t, nil)
	for path, word := range map[string]string{
		filepath.Join(dir, "fifo"): "not-regular", "/dev/zero": "not-regular", dir: "not-regular",
		filepath.Join(dir, "loop"): "io",
	} {
		s.fails(word, map[string]any{"path": path})
	}
	if _, err := os.Stat("/proc/uptime"); err == nil {
		s.fails("not-regular", map[string]any{"path": "/proc/uptime"})
		newStream(t, nil).fails("not-regular", map[string]any{"path": "/proc/uptime", "from": "start"})
	}
	s.opts = map[string]any{"path": filepath.Join(dir, "dangling")}
	s.want()
	s = newStream(t, map[string]any{"glob": filepath.Join(dir, "*"), "from": "start"})
	s.fails("io", s.opts) // the link that goes in a circle: nobody knows what is behind it
	must(t, os.Remove(filepath.Join(dir, "loop")))
	write(t, filepath.Join(dir, "a"), "1\n")
	s.want(1)
}

// TestC3_UTF16IsNoticedAtTheEnd: also where only what comes is read.
func TestC3_UTF16IsNoticedAtTheEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	write(t, path, "\xff\xfe{\x00}\x00\n\x00")
	for _, from := range []string{"end", "start"} {
		s := newStream(t, nil)
		opts := map[string]any{"path": path, "from": from}
		if _, err := s.ask(opts); err == nil || !strings.Contains(err.Error(), "UTF-16") {
			t.Errorf("from %s: %v", from, err)
		}
	}
}

func TestAStreamThatMayNotBeReadIsAFailure(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may read everything")
	}
	path := filepath.Join(t.TempDir(), "f")
	s := newStream(t, map[string]any{"path": path, "from": "start"})
	write(t, path, "1\n")
	s.want(1)
	add(t, path, "2\n")
	must(t, os.Chmod(path, 0))
	s.fails("permission", s.opts)
	must(t, os.Chmod(path, 0o600))
	s.want(2)
}

func TestC8_StartCountsOnlyWithoutAPosition(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a"), "1\n")
	s := newStream(t, map[string]any{"glob": filepath.Join(dir, "*"), "from": "end"})
	s.want()
	add(t, filepath.Join(dir, "a"), "2\n")
	write(t, filepath.Join(dir, "b"), "3\n")
	s.want(2, 3)
	s.opts["from"] = "start"
	s.want()
	s.request.Position = nil
	s.want(1, 2, 3)
}

func TestContains(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	s := newStream(t, map[string]any{"path": path, "from": "start", "contains": []string{`"stop"`, "x"}})
	write(t, path, "{\"e\":\"stop\",\"x\":1}\n{\"e\":\"stop\"}\nnot JSON\n{\"e\":\"start\",\"x\":2}\n")
	s.want(map[string]any{"e": "stop", "x": 1})
	if s.last.Read != 4 || s.skipped() != 0 {
		t.Errorf("%+v", s.last)
	}
}

func TestBacklogIsReadOverSeveralPolls(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	s := newStream(t, map[string]any{"path": path, "from": "start"})
	line := `{"text":"` + strings.Repeat("x", 990) + "\"}\n"
	write(t, path, strings.Repeat(line, 5000))
	total, polls := 0, 0
	for more := true; more; more = s.last.More {
		n := len(s.poll())
		if total += n; n > batchBytes/(len(line)-1)+1 {
			t.Fatalf("%d lines in one poll", n)
		}
		polls++
	}
	if total != 5000 || polls != 5 {
		t.Errorf("%d lines in %d polls", total, polls)
	}
}

func TestAPollThatWasNotCommittedIsReadAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	s := newStream(t, map[string]any{"path": path})
	s.want()
	write(t, path, "1\n")
	before := s.request.Position
	s.want(1)
	s.request.Position = before
	s.want(1)
	s.want()
}

func TestPositionThatIsNone(t *testing.T) {
	s := newStream(t, nil)
	s.request.Position = []byte(`{"files":7}`)
	s.fails("invalid", map[string]any{"path": "/tmp/x"})
}

func TestWatch(t *testing.T) {
	dir := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(dir, "a", "x"), 0o700))
	must(t, os.MkdirAll(filepath.Join(dir, "b"), 0o700))
	watch := All["jsonl-tail"].Watch
	for _, c := range []struct {
		opts map[string]any
		want []string
	}{
		{map[string]any{"path": dir + "/a/../f"}, []string{dir + "/f"}},
		{map[string]any{"glob": dir + "/*.log"}, []string{dir}},
		{map[string]any{"glob": dir + "/*/x.log"}, []string{dir, dir + "/a", dir + "/b"}},
		{map[string]any{"glob": dir + "/none/*/x.log"}, []string{dir + "/none"}},
		{map[string]any{}, nil},
	} {
		if got := watch(c.opts); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%v: got %q, want %q", c.opts, got, c.want)
		}
	}
}
