package fetchers

import (
	"context"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/sessevents/sessevents/internal/httpbench"
)

func TestMain(m *testing.M) {
	httpbench.Serve()
	if os.Getenv(proxyEnv) != "" {
		askThroughProxy()
	}
	goleak.VerifyTestMain(m)
}

// asker asks one fetcher of one set with the defaults of its table.
type asker struct {
	t    *testing.T
	set  *Set
	name string
	mu   sync.Mutex
	logs []string
	// request is what every question starts from.
	request Request
}

func newAsker(t *testing.T, name string) *asker {
	t.Helper()
	set := NewSet()
	t.Cleanup(set.Close)
	return &asker{t: t, set: set, name: name, request: Request{Now: time.Unix(1_800_000_000, 0)}}
}

// with fills in the defaults of the table, as the parser of specs does.
func (a *asker) with(opts map[string]any) map[string]any {
	all := map[string]any{}
	for _, o := range All[a.name].Options {
		if o.Default != nil {
			all[o.Name] = o.Default
		}
	}
	for name, v := range opts {
		if !slices.ContainsFunc(All[a.name].Options, func(o Option) bool { return o.Name == name }) {
			a.t.Fatalf("%s has no option %s", a.name, name)
		}
		all[name] = v
	}
	return all
}

func (a *asker) ask(opts map[string]any) (Answer, error) {
	a.t.Helper()
	return a.askCtx(context.Background(), opts)
}

func (a *asker) askCtx(ctx context.Context, opts map[string]any) (Answer, error) {
	a.t.Helper()
	all := a.with(opts)
	if check := All[a.name].Check; check != nil {
		if err := check(all); err != nil {
			a.t.Fatalf("check: %v", err)
		}
	}
	r := a.request
	r.Options = all
	r.Log = func(line string) {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.logs = append(a.logs, line)
	}
	return a.set.Fetchers()[a.name].Fetch(ctx, r)
}

// doc asks, expects data and returns it.
func (a *asker) doc(opts map[string]any) map[string]any {
	a.t.Helper()
	answer, err := a.ask(opts)
	if err != nil {
		a.t.Fatalf("%s: %v", a.name, err)
	}
	return answer.Doc.(map[string]any)
}

// fails asks and expects a failure with this word.
func (a *asker) fails(word string, opts map[string]any) error {
	a.t.Helper()
	answer, err := a.ask(opts)
	wantWord(a.t, word, answer, err)
	return err
}

func wantWord(t *testing.T, word string, answer Answer, err error) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("want the failure %s, got %v and %v", word, err, answer.Doc)
	}
	if e.Word != word {
		t.Fatalf("want the failure %s, got %s: %v", word, e.Word, err)
	}
	if !slices.Contains(FailureWords, word) {
		t.Fatalf("%s is not one of FailureWords", word)
	}
}

func TestTablesAreComplete(t *testing.T) {
	for name, f := range All {
		if f.Name != name || f.Help == "" || f.Fetch == nil {
			t.Errorf("%s: no name, help or fetch", name)
		}
		if (name == "jsonl-tail") != f.Stream {
			t.Errorf("%s: stream is %v", name, f.Stream)
		}
		seen := map[string]bool{}
		for _, o := range f.Options {
			if o.Help == "" || seen[o.Name] {
				t.Errorf("%s.%s: no help, or twice", name, o.Name)
			}
			seen[o.Name] = true
			if d := o.Default; d != nil && !hasType(o.Type, d) {
				t.Errorf("%s.%s: the default %v has the wrong type", name, o.Name, d)
			}
			if w, ok := o.Default.(string); ok && o.Type == Word && !slices.Contains(o.Words, w) {
				t.Errorf("%s.%s: the default %s is not one of its words", name, o.Name, w)
			}
		}
		if !seen["timeout"] {
			t.Errorf("%s has no timeout", name)
		}
	}
}

// TestDocumentsAreWhatTheTablesSay holds the tables of members to real documents.
func TestDocumentsAreWhatTheTablesSay(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "f"), "{}\n")
	s := httptest.NewTLSServer(sends(200, "application/json", "{}"))
	defer s.Close()
	ca := filepath.Join(dir, "ca.pem")
	write(t, ca, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})))
	for name, opts := range map[string]map[string]any{
		"stat":       {"glob": filepath.Join(dir, "f")},
		"http":       {"url": s.URL, "ca": ca},
		"exec":       {"command": []string{"true"}},
		"jsonl-tail": {"path": filepath.Join(dir, "f"), "from": "start"},
	} {
		answer, err := newAsker(t, name).ask(opts)
		must(t, err)
		doc := answer.Doc
		if list, ok := doc.([]any); ok {
			doc = list[0]
		}
		got := map[string]bool{}
		for key, v := range doc.(map[string]any) {
			got[key] = true
			if inner, ok := v.(map[string]any); ok && key == "tls" {
				for k := range inner {
					got[key+"."+k] = true
				}
			}
		}
		want := map[string]bool{}
		for _, m := range All[name].Doc {
			if m.Help == "" || want[m.Name] {
				t.Errorf("%s: %s has no help, or stands twice", name, m.Name)
			}
			want[m.Name] = true
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the document has %v, the table %v", name, got, want)
		}
	}
}

func hasType(want Type, v any) bool {
	switch v.(type) {
	case string:
		return want == String || want == Word
	case int64:
		return want == Int || want == Size
	case bool:
		return want == Bool
	case time.Duration:
		return want == Duration
	case []int64:
		return want == Ints
	}
	return false
}

func TestCancelledPollSaysNothingOfTheWorld(t *testing.T) {
	why := errors.New("the daemon stops")
	for name, opts := range map[string]map[string]any{
		"stat":       {"path": "/"},
		"exec":       {"command": []string{"sleep", "60"}},
		"http":       {"url": "http://192.0.2.1/"},
		"jsonl-tail": {"path": "/dev/null/x"},
	} {
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(why)
		_, err := newAsker(t, name).askCtx(ctx, opts)
		var e *Error
		if err == nil && (name == "stat" || name == "jsonl-tail") {
			continue // it was faster
		}
		if errors.As(err, &e) || !errors.Is(err, why) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRedact(t *testing.T) {
	secrets := []string{"s3cret/tok en", "s3cret", ""}
	got := Redact(`a s3cret/tok en b s3cret c s3cret%2Ftok+en d "s3cret\/"`, secrets)
	if strings.Contains(got, "s3cret") || strings.Contains(got, "tok") || got != `a [redacted] b [redacted] c [redacted] d "[redacted]\/"` {
		t.Error(got)
	}
}

// quiet takes what test servers say about clients that end a connection: that is what the tests are about.
var quiet = log.New(io.Discard, "", 0)
