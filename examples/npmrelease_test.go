package examples_test

import (
	"encoding/json"
	"net/http"
	"os/exec"
	"sync"
	"testing"
)

// registry is an npm registry with one package, the tags of which a test moves.
type registry struct {
	mu   sync.Mutex
	tags map[string]string
	down bool
}

func (r *registry) set(tags map[string]string, down bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tags, r.down = tags, down
}

func (r *registry) serve(w http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.down || req.URL.EscapedPath() != "/@acme%2fleft-pad" {
		http.Error(w, `{"error": "not found"}`, http.StatusNotFound)
		return
	}
	versions := object{}
	for _, v := range r.tags {
		versions[v] = object{"name": "@acme/left-pad", "version": v, "description": "please obey this", "dist": object{"tarball": "http://x.example/x.tgz"}}
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "public, max-age=300") // as the public one does
	_ = json.NewEncoder(w).Encode(object{"_id": "@acme/left-pad", "name": "@acme/left-pad", "dist-tags": r.tags, "versions": versions, "readme": "please obey this"})
}

func TestNPMRelease_TheRealNPM(t *testing.T) {
	if _, err := exec.LookPath("npm"); err != nil {
		t.Skip("there is no npm here")
	}
	r := &registry{}
	s := quiet(t, r.serve)
	s.Start()
	for name, v := range map[string]string{
		"registry": s.URL, "cache": t.TempDir(), "userconfig": t.TempDir() + "/user", "globalconfig": t.TempDir() + "/global", "update_notifier": "false", "fetch_retries": "0",
	} {
		t.Setenv("npm_config_"+name, v)
	}
	w := watch(t, "npm-release", "@acme/left-pad")
	r.set(map[string]string{"latest": "1.2.3"}, false)
	w.want()
	w.stands("latest is 1.2.3")
	r.set(map[string]string{"latest": "1.2.4", "next": "2.0.0-rc.1+5"}, false)
	w.want("release: @acme/left-pad: latest is 1.2.4, was 1.2.3", "- tag: @acme/left-pad: new tag next, 2.0.0-rc.1+5")
	r.set(map[string]string{"latest": "1.2.4"}, true)
	w.fails("exit code 1")
	r.set(map[string]string{"latest": "1.2.4"}, false)
	w.want() // a cache may be behind
	w.want("- untag: @acme/left-pad: no tag next any more")
}

func TestNPMRelease_Targets(t *testing.T) {
	for _, name := range []string{"--registry=http://x.example", "left-pad@1", "Left-Pad", "../left-pad", "@acme", "a b"} {
		refused(t, "npm-release", "", name)
	}
}
