package examples_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// object is one JSON object of the fake.
type object = map[string]any

// github is a server that answers as GitHub does, in the recorded forms: lists in pages with Link, ETag and 304, a
// moved repository, limits. It holds one repository with one pull request and one branch; tests change what it holds
// between polls.
type github struct {
	*testing.T
	*httptest.Server
	prefix string // of every path, as /api/v3 of an Enterprise server

	mu      sync.Mutex
	pull    object
	shas    []string // the pull request's commits, the last is its head
	tip     string   // the branch's
	reviews []object
	checks  []object
	runs    []object
	moved   bool // the repository has another name, the old one redirects
	refuse  func(http.ResponseWriter) bool
	whole   int // answers 200
	same    int // answers 304
	asked   []*http.Request
}

func newGitHub(t *testing.T) *github {
	g := &github{T: t}
	g.Server = httptest.NewServer(http.HandlerFunc(g.serve))
	t.Cleanup(g.Close)
	g.begin()
	return g
}

// begin is a pull request with one commit, and a branch with another one.
func (g *github) begin() {
	for _, name := range []string{"GH_TOKEN", "GITHUB_TOKEN"} {
		g.Setenv(name, "")
	}
	g.pull, g.tip = recorded(g.T, "pull"), sha("t")
	g.push(sha("a"))
}

// recorded is a new copy of a recorded answer.
func recorded(t *testing.T, name string) object {
	t.Helper()
	data, err := os.ReadFile("testdata/github/" + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var o object
	if err := json.Unmarshal(data, &o); err != nil {
		t.Fatal(err)
	}
	return o
}

// sha makes a commit's name that begins with a word in hexadecimal.
func sha(word string) string {
	return fmt.Sprintf("%x", word) + strings.Repeat("0", 40-2*len(word))
}

// change lets a test change what the server holds.
func (g *github) change(f func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	f()
}

// push puts commits on the pull request.
func (g *github) push(shas ...string) {
	g.change(func() {
		g.shas = append(g.shas, shas...)
		g.head()
	})
}

// force replaces the commits of the pull request.
func (g *github) force(shas ...string) {
	g.change(func() {
		g.shas = shas
		g.head()
	})
}

func (g *github) head() {
	g.pull["head"].(object)["sha"] = g.shas[len(g.shas)-1]
	g.pull["commits"] = len(g.shas)
}

// set changes members of an object that the server holds.
func (g *github) set(o object, pairs ...any) {
	g.change(func() {
		for i := 0; i < len(pairs); i += 2 {
			o[pairs[i].(string)] = pairs[i+1]
		}
	})
}

// review is a new review by login.
func (g *github) review(id int, login, state string) object {
	r := recorded(g.T, "review")
	g.set(r, "id", id, "state", state)
	g.set(r["user"].(object), "login", login)
	g.change(func() { g.reviews = append(g.reviews, r) })
	return r
}

// run is a new workflow run for a head.
func (g *github) run(id int, head, status string, conclusion any) object {
	r := recorded(g.T, "workflow_run")
	g.set(r, "id", id, "head_sha", head, "status", status, "conclusion", conclusion, "path", ".github/workflows/ci.yml@main",
		"html_url", fmt.Sprintf("https://github.com/octo-org/octo-repo/actions/runs/%d", id))
	g.change(func() { g.runs = append(g.runs, r) })
	return r
}

// check is a new check run of an app for a head.
func (g *github) check(id int, app, head, status string, conclusion any) object {
	c := recorded(g.T, "check_run")
	g.set(c, "id", id, "head_sha", head, "status", status, "conclusion", conclusion)
	g.set(c["app"].(object), "slug", app)
	g.change(func() { g.checks = append(g.checks, c) })
	return c
}

func (g *github) serve(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.asked = append(g.asked, r)
	if g.refuse != nil && g.refuse(w) {
		return
	}
	path, ok := strings.CutPrefix(r.URL.Path+"/", g.prefix+"/repos/octo/app/")
	if ok && g.moved {
		to := g.URL + g.prefix + "/repositories/515436299/" + strings.TrimSuffix(path, "/")
		if r.URL.RawQuery != "" {
			to += "?" + r.URL.RawQuery
		}
		w.Header().Set("Location", to)
		g.answer(w, r, http.StatusMovedPermanently, object{"message": "Moved Permanently", "url": to})
		return
	}
	if !ok {
		path, ok = strings.CutPrefix(r.URL.Path+"/", g.prefix+"/repositories/515436299/")
	}
	if ok && g.one(w, r, strings.TrimSuffix(path, "/")) {
		return
	}
	g.answer(w, r, http.StatusNotFound, object{"message": "Not Found", "documentation_url": "https://docs.github.com/rest"})
}

// one answers for a path inside the repository.
func (g *github) one(w http.ResponseWriter, r *http.Request, path string) bool {
	head := r.URL.Query().Get("head_sha")
	if rest, ok := strings.CutPrefix(path, "commits/"); ok {
		head, path, _ = strings.Cut(rest, "/")
	}
	ofHead := func(all []object) []object {
		list := []object{}
		for _, o := range all {
			if o["head_sha"] == head {
				list = append(list, o)
			}
		}
		return list
	}
	pull := fmt.Sprintf("pulls/%v", g.pull["number"])
	switch path {
	case pull:
		g.answer(w, r, http.StatusOK, g.pull)
	case pull + "/commits":
		commits := []object{}
		for _, s := range g.shas[:min(len(g.shas), 250)] { // more it does not list
			commits = append(commits, object{"sha": s, "commit": object{"message": "prose of a commit", "author": object{"name": "prose"}}})
		}
		g.list(w, r, commits, "")
	case pull + "/reviews":
		g.list(w, r, g.reviews, "")
	case "git/ref/heads/main", "git/ref/heads/team/next":
		if g.tip == "" {
			return false
		}
		ref := strings.TrimPrefix(path, "git/ref/")
		g.answer(w, r, http.StatusOK, object{"ref": "refs/" + ref, "object": object{"sha": g.tip, "type": "commit"}})
	case "":
		g.answer(w, r, http.StatusOK, object{"full_name": "octo/app", "description": "prose"})
	case "check-runs":
		g.list(w, r, ofHead(g.checks), "check_runs")
	case "actions/runs":
		g.list(w, r, ofHead(g.runs), "workflow_runs")
	default:
		return false
	}
	return true
}

// list answers with one page; name is the member that holds it, where the list is not the whole body.
func (g *github) list(w http.ResponseWriter, r *http.Request, all []object, name string) {
	q := r.URL.Query()
	size, err := strconv.Atoi(q.Get("per_page"))
	if err != nil {
		size = 30
	}
	size = min(size, 100)
	page, err := strconv.Atoi(q.Get("page"))
	if err != nil {
		page = 1
	}
	from, to := min((page-1)*size, len(all)), min(page*size, len(all))
	if to < len(all) {
		next := *r.URL
		q.Set("page", strconv.Itoa(page+1))
		next.RawQuery = q.Encode()
		w.Header().Set("Link", fmt.Sprintf(`<%s%s>; rel="next", <%s%s>; rel="last"`, g.URL, next.RequestURI(), g.URL, next.RequestURI()))
	}
	list := append([]object{}, all[from:to]...)
	if name == "" {
		g.answer(w, r, http.StatusOK, list)
		return
	}
	g.answer(w, r, http.StatusOK, object{"total_count": len(all), name: list})
}

func (g *github) answer(w http.ResponseWriter, r *http.Request, status int, body any) {
	data, err := json.Marshal(body)
	if err != nil {
		g.Error(err)
	}
	h := w.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("X-RateLimit-Limit", "5000")
	h.Set("X-RateLimit-Remaining", "4936")
	if status == http.StatusOK {
		tag := fmt.Sprintf(`"%x"`, sha256.Sum256(data))
		h.Set("ETag", tag)
		if r.Header.Get("If-None-Match") == tag {
			g.same++
			w.WriteHeader(http.StatusNotModified)
			return
		}
		g.whole++
	}
	w.WriteHeader(status)
	_, _ = w.Write(data)
}
