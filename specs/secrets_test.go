package specs_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sessevents/sessevents/engine"
	"github.com/sessevents/sessevents/fetchers"
	"github.com/sessevents/sessevents/specs"
)

const hidden = "ghp_0123456789/abc+d"

// withSecret asks a server with a token that a program on the PATH prints, unless the environment has one.
const withSecret = `version: 1
name: with-secret
interval: 1m
idleInterval: 5m
target: {args: [url], flags: {who: {default: ann}}}
secrets: {token: {command: [print-token, --user, "${target.who}"]}}
fetch: {http: {url: "${target.url}", headers: {Authorization: '${let t = env.SECRET_TEST_TOKEN ?? secret.token; t == nil ? nil : "Bearer " + t}'}}}
extract: .body
item: {echo: id, n: count}
url: "https://x.example/${item.echo}"
rules:
  - {when: changed || item.echo != "", kind: said, text: "${item.echo} ${cursor.echo} ${item.n}", fields: {echo: "${item.echo}"}}
summary: [{text: "${cursor.echo}"}]
`

// secretive is a server that gives back what it is asked with, and a program that prints a token.
type secretive struct {
	*testing.T
	server *httptest.Server
	source *specs.Source
	runs   string // a file with a line for each run of the program

	mu     sync.Mutex
	status int
	asked  []string
}

func newSecretive(t *testing.T, script string) *secretive {
	s := &secretive{T: t, status: http.StatusOK, runs: filepath.Join(t.TempDir(), "runs")}
	s.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.asked = append(s.asked, r.Header.Get("Authorization"))
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(s.status)
		token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		_ = json.NewEncoder(w).Encode(map[string]any{"echo": token, "n": len(s.asked), token + "x": []any{"your token is " + token}})
	}))
	t.Cleanup(s.server.Close)
	dir := t.TempDir()
	if script != "" {
		text := "#!/bin/sh\necho \"$@\" >>" + s.runs + "\n" + script + "\n"
		if err := os.WriteFile(filepath.Join(dir, "print-token"), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	t.Setenv("SECRET_TEST_TOKEN", "")
	_, source, found := specs.Check("with-secret.yaml", []byte(withSecret), specs.Options{Fetchers: fetchers.All})
	if source == nil {
		t.Fatal(found)
	}
	s.source = source
	return s
}

func (s *secretive) target(flags ...string) engine.Target {
	s.Helper()
	target, err := s.source.ParseTarget(append([]string{s.server.URL}, flags...))
	if err != nil {
		s.Fatal(err)
	}
	return target
}

// ran are the runs of the program, by their arguments.
func (s *secretive) ran() []string {
	b, _ := os.ReadFile(s.runs)
	return strings.Split(strings.TrimSpace(string(b)), "\n")
}

// TestASecretIsSentAndNeverSaid: the server gives the token back in its document, and no part of what the poll leaves
// behind has it.
func TestASecretIsSentAndNeverSaid(t *testing.T) {
	s := newSecretive(t, "echo '"+hidden+"'; echo another line; echo noise "+hidden+" >&2")
	target, now := s.target(), time.Now()
	said := ""
	for i := range 2 {
		out, err := s.source.Poll(t.Context(), target, now.Add(time.Duration(i)*time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		target.Saved = out.Saved
		events, _ := json.Marshal(out.Events)
		said += fmt.Sprintln(string(events), string(out.Saved), out.Log, s.source.Summary(target))
	}
	if s.asked[0] != "Bearer "+hidden || s.asked[1] != s.asked[0] {
		t.Errorf("asked with %q", s.asked)
	}
	if !strings.Contains(said, `"text":"(withheld) (withheld) 2"`) || !strings.Contains(said, `(redacted)`) {
		t.Errorf("said %s", said)
	}
	trial, err := s.source.NewTrial([]string{s.server.URL})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		trace, err := trial.Poll(t.Context(), now.Add(time.Duration(i)*time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(trace)
		said += fmt.Sprintln(string(b), err)
	}
	entry, err := trial.Record(t.Context(), "recorded")
	if err != nil {
		t.Fatal(err)
	}
	s.status = http.StatusInternalServerError
	_, err = s.source.Poll(t.Context(), target, now)
	said += fmt.Sprintln(entry, err)
	for _, form := range []string{hidden, "ghp_", "0123456789", "abc%2B", "noise"} {
		if strings.Contains(said, form) {
			t.Errorf("%q was said:\n%s", form, said)
		}
	}
	added, err := specs.AddTest("with-secret.yaml", []byte(withSecret), entry)
	if err != nil {
		t.Fatal(err)
	}
	spec, source, _ := specs.Check("with-secret.yaml", added, specs.Options{Fetchers: fetchers.All})
	before := len(s.ran())
	for _, r := range specs.RunTests(t.Context(), spec, source) {
		if !r.Pass || r.Polls != 2 {
			t.Errorf("%+v\n%s", r, entry)
		}
	}
	if len(s.ran()) != before {
		t.Error("a test ran the command of a secret")
	}
}

// TestNoSecretIsNoFailedPoll: without the program, or where it says no, the question goes without a token.
func TestNoSecretIsNoFailedPoll(t *testing.T) {
	for name, script := range map[string]string{"no such program": "", "not logged in": "echo no token for ann >&2; exit 1", "says nothing": "true", "an empty line": "echo"} {
		t.Run(name, func(t *testing.T) {
			s := newSecretive(t, script)
			out, err := s.source.Poll(t.Context(), s.target(), time.Now())
			if err != nil || s.asked[0] != "" {
				t.Fatalf("asked with %q: %v", s.asked, err)
			}
			log := strings.Join(out.Log, "\n")
			if none := strings.Contains(log, "secret token: there is none: "); none != (name == "no such program" || name == "not logged in") || strings.Contains(log, "ann") {
				t.Errorf("log %q", log)
			}
		})
	}
}

// TestASecretThatCannotBeAskedForFailsThePoll: what ends by a signal has said neither yes nor no.
func TestASecretThatCannotBeAskedForFailsThePoll(t *testing.T) {
	s := newSecretive(t, "echo "+hidden+"; kill -9 $$")
	_, err := s.source.Poll(t.Context(), s.target(), time.Now())
	if err == nil || !strings.Contains(err.Error(), "the command of the secret token failed: signal") || strings.Contains(err.Error(), "ghp_") || len(s.asked) > 0 {
		t.Errorf("asked with %q: %v", s.asked, err)
	}
}

// TestASecretIsKeptForSomeTime: one run serves all targets that ask alike, until its time is over or a server refuses it.
func TestASecretIsKeptForSomeTime(t *testing.T) {
	s := newSecretive(t, "echo "+hidden)
	now := time.Now()
	poll := func(after time.Duration, flags ...string) {
		t.Helper()
		if _, err := s.source.Poll(t.Context(), s.target(flags...), now.Add(after)); err != nil && s.status == http.StatusOK {
			t.Fatal(err)
		}
	}
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() { poll(0) })
	}
	wait.Wait()
	poll(4 * time.Minute)
	if got := s.ran(); len(got) != 1 || got[0] != "--user ann" {
		t.Fatalf("ran %q", got)
	}
	poll(5 * time.Minute)
	poll(5*time.Minute, "--who", "$(id) b")
	if got := s.ran(); len(got) != 3 || got[2] != "--user $(id) b" {
		t.Fatalf("ran %q", got)
	}
	s.status = http.StatusUnauthorized
	poll(6 * time.Minute)
	if got := s.ran(); len(got) != 3 {
		t.Fatalf("ran %q", got)
	}
	poll(6 * time.Minute)
	if got := s.ran(); len(got) != 4 {
		t.Fatalf("after a refusal it ran %q", got)
	}
}

func TestNoSecretIsKeptForAMinute(t *testing.T) {
	s := newSecretive(t, "exit 1")
	now := time.Now()
	for _, after := range []time.Duration{0, 59 * time.Second, time.Minute} {
		out, err := s.source.Poll(t.Context(), s.target(), now.Add(after))
		if err != nil {
			t.Fatal(err)
		}
		if said := len(out.Log) > 0; said != (after == 0) {
			t.Errorf("after %s the log says %q", after, out.Log)
		}
	}
	if got := s.ran(); len(got) != 2 {
		t.Errorf("ran %q", got)
	}
}

// TestASecretIsAskedForOnlyWhereItIsNeeded: what stands before `??` is enough.
func TestASecretIsAskedForOnlyWhereItIsNeeded(t *testing.T) {
	s := newSecretive(t, "echo "+hidden)
	t.Setenv("SECRET_TEST_TOKEN", "from-the-environment")
	out, err := s.source.Poll(t.Context(), s.target(), time.Now())
	if err != nil || s.asked[0] != "Bearer from-the-environment" {
		t.Errorf("asked with %q: %v", s.asked, err)
	}
	if strings.Contains(string(out.Saved), "from-the-environment") {
		t.Errorf("saved %s", out.Saved)
	}
	if _, err := os.Stat(s.runs); err == nil {
		t.Error("the command ran")
	}
}

// TestAShortSecretBreaksNoDocument: what is also a word or a number stays in documents.
func TestAShortSecretBreaksNoDocument(t *testing.T) {
	s := newSecretive(t, "echo 1")
	out, err := s.source.Poll(t.Context(), s.target(), time.Now())
	if err != nil || s.asked[0] != "Bearer 1" || len(out.Events) != 1 || out.Events[0].Text != "1 none 1" {
		t.Errorf("asked with %q, said %v: %v", s.asked, out.Events, err)
	}
}

func TestSecretsHaveTheirPlace(t *testing.T) {
	const line = "fetch: {stat: {path: \"${target.path}\"}}"
	with := func(s string) string {
		return "secrets: {gh: {command: [gh, auth, token]}}\nfetch: " + s
	}
	for _, row := range []struct{ name, by, want string }{
		{"in a header", with(`{http: {url: "http://x/", headers: {A: "${secret.gh}"}}}`), ""},
		{"in a url", with(`{http: {url: "http://x/${secret.gh}"}}`), "6:33 unknown-name"},
		{"in a command", with(`{exec: {command: [a, "${secret.gh}"]}}`), "6:32 unknown-name"},
		{"of another name", with(`{http: {url: "http://x/", headers: {A: "${secret.hg}"}}}`), "6:57 unknown-name"},
		{"as a whole", with(`{http: {url: "http://x/", headers: {A: "${toJSON(secret)}"}}}`), "6:57 env-name"},
		{"computed", with(`{http: {url: "http://x/", headers: {A: "${secret[target.path]}"}}}`), "6:50 env-name"},
		{"without any", `fetch: {http: {url: "http://x/", headers: {A: "${secret.gh}"}}}`, "5:57 unknown-name"},
		{"a step of that name", "fetch: [{as: secret, stat: {path: /x}}]", "5:14 name"},
		{"no command", "secrets: {gh: {}}\n" + line, "5:15 missing-key"},
		{"an empty command", "secrets: {gh: {command: []}}\n" + line, "5:25 missing-key"},
		{"a cursor in the command", "secrets: {gh: {command: [gh, \"${cursor}\"]}}\n" + line, "5:33 unknown-name"},
		{"kept for too long", "secrets: {gh: {command: [gh], keep: 48h}}\n" + line, "5:37 range"},
	} {
		if got := strings.Join(faults(t, strings.Replace(base, line, row.by, 1)), " "); got != row.want {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
	}
	for _, row := range []struct{ line, by, want string }{
		{`text: "${item.id}"`, `text: "${secret.gh}"`, "12:14 unknown-name"},
		{"when: changed", "when: changed && secret.gh != nil", "10:22 unknown-name"},
		{"extract: .size", "extract: $secret", "7:10 jq"},
	} {
		src := strings.Replace(base, line, with(`{http: {url: "http://x/", headers: {A: "${secret.gh}"}}}`), 1)
		if got := strings.Join(faults(t, strings.Replace(src, row.line, row.by, 1)), " "); got != row.want {
			t.Errorf("%s: %q, want %q", row.by, got, row.want)
		}
	}
}

func TestASecretThatNothingNamesIsADoubt(t *testing.T) {
	src := strings.Replace(specs.ExampleSpec, "fetch:", "secrets: {gh: {command: [gh, auth, token, \"${target.path}\"]}}\nfetch:", 1)
	if got := strings.Join(codesOf(src), " "); got != "unused-name dash-argument" {
		t.Errorf("%q", got)
	}
}

// TestC21_StderrOfAFailedPollIsInItsLog: why a command failed is what it wrote to stderr, without the secrets.
func TestC21_StderrOfAFailedPollIsInItsLog(t *testing.T) {
	const src = `version: 1
name: fails
interval: 1m
target: {args: [path]}
fetch: {exec: {command: [sh, -c, "echo the remote is gone, $KEY >&2; exit 3"], env: {KEY: "${env.FAILS_KEY}"}}}
extract: .
item: {n: count}
url: "https://x.example/"
rules: [{when: changed, kind: said, text: "x"}]
`
	_, source, found := specs.Check("fails.yaml", []byte(src), specs.Options{Fetchers: fetchers.All, Getenv: func(string) string { return hidden }})
	if source == nil {
		t.Fatal(found)
	}
	target, err := source.ParseTarget([]string{"x"})
	if err != nil {
		t.Fatal(err)
	}
	out, err := source.Poll(t.Context(), target, time.Unix(1_800_000_000, 0))
	if err == nil || len(out.Log) != 1 || out.Log[0] != "sh: the remote is gone, [redacted]" {
		t.Errorf("log %q, error %v", out.Log, err)
	}
}

// TestASecretOfALaterStepIsTakenOutOfTheFirst, also where it comes back in base64 or as a number.
func TestASecretOfALaterStepIsTakenOutOfTheFirst(t *testing.T) {
	const src = `version: 1
name: two
interval: 1m
target: {args: [path]}
fetch:
  - as: first
    exec: {command: [printf, "%s", '{"a":"is c2VzYW1lOjgxMjM0NTY3OQ==","n":812345679,"hex":"383132333435363739"}'], parse: json}
  - as: second
    exec: {command: ["true"], env: {KEY: "${env.LATER_KEY}"}}
extract: .first.stdout
item: {a: id, n: id, hex: id}
url: "https://x.example/"
rules: [{when: changed, kind: said, text: "${item.a}"}]
`
	_, source, found := specs.Check("two.yaml", []byte(src), specs.Options{Fetchers: fetchers.All, Getenv: func(string) string { return "812345679" }})
	if source == nil {
		t.Fatal(found)
	}
	target, err := source.ParseTarget([]string{"x"})
	if err != nil {
		t.Fatal(err)
	}
	out, err := source.Poll(t.Context(), target, time.Unix(1_800_000_000, 0))
	if err != nil {
		t.Fatal(err)
	}
	if text := fmt.Sprintf("%s %v", out.Saved, out.Events); strings.Contains(text, "812345679") || strings.Contains(text, "gxMjM0NTY3") || strings.Contains(text, "3831323334") {
		t.Error(text)
	}
}
