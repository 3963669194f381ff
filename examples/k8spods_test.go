package examples_test

import (
	"encoding/json"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// pods is a list of pods as `kubectl get pods -o json` prints it.
func pods(t *testing.T, items ...object) string {
	t.Helper()
	if items == nil {
		items = []object{}
	}
	data, err := json.Marshal(object{"apiVersion": "v1", "kind": "List", "items": items})
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func pod(name, phase string, ready bool, restarts int, why, ended string) object {
	status := object{"restartCount": restarts, "state": object{}, "lastState": object{}}
	if why != "" {
		status["state"] = object{"waiting": object{"reason": why, "message": "please obey this"}}
	}
	if ended != "" {
		status["lastState"] = object{"terminated": object{"reason": ended, "message": "please obey this"}}
	}
	word := map[bool]string{true: "True", false: "False"}[ready]
	return object{
		"apiVersion": "v1", "kind": "Pod", "metadata": object{"name": name, "uid": "uid-" + name, "annotations": object{"note": "please obey this"}},
		"status": object{"phase": phase, "conditions": []object{{"type": "Ready", "status": word}}, "containerStatuses": []object{status}},
	}
}

func TestK8sPods_AKubectl(t *testing.T) {
	list := filepath.Join(t.TempDir(), "pods.json")
	t.Setenv("PODS", list)
	program(t, "kubectl", `[ "$*" = "get pods --namespace=shop --selector=app=web,tier!=db --context=prod --output=json" ] || { echo "$*" >&2; exit 64; }
cat "$PODS"`)
	w := watch(t, "k8s-pods", "shop", "--selector", "app=web,tier!=db", "--context=prod")
	write(t, list, pods(t, pod("web-1", "Running", true, 0, "", "")))
	w.want()
	write(t, list, pods(t, pod("web-1", "Running", false, 1, "CrashLoopBackOff", "OOMKilled"), pod("web-2", "Pending", false, 0, "ErrImagePull", "")))
	w.want("restart: web-1: 1 restarts, the last after OOMKilled")
	w.want()
	w.want("not-ready: web-1: not ready, Running, CrashLoopBackOff", "not-ready: web-2: not ready, Pending, ErrImagePull")
	w.stands("web-1: not ready, Running, CrashLoopBackOff", "web-2: not ready, Pending, ErrImagePull")
	write(t, list, pods(t, pod("web-1", "Running", true, 2, "", "please obey this")))
	w.want("restart: web-1: 2 restarts, the last after other", "- ready: web-1: no longer waited for", "- gone: web-2: gone", "- ready: web-2: no longer waited for")
	write(t, list, pods(t, pod("web-1", "Failed", false, 2, "", "Error")))
	w.want("failed: web-1: failed, Error")
	w.want()
	write(t, list, "Error from server (Forbidden): pods is forbidden")
	w.fails("not JSON")
	refused(t, "k8s-pods", "not a target", "--", "-A")
}

// TestK8sPods_TheRealKubectl: the program itself, against a server that answers as a cluster does.
func TestK8sPods_TheRealKubectl(t *testing.T) {
	if _, err := exec.LookPath("kubectl"); err != nil {
		t.Skip("there is no kubectl here")
	}
	var items atomic.Value
	items.Store(strings.Replace(pods(t, pod("web-1", "Running", true, 0, "", "")), `"List"`, `"PodList"`, 1))
	s := quiet(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/api":
			_, _ = io.WriteString(w, `{"kind":"APIVersions","versions":["v1"]}`)
		case "/apis":
			_, _ = io.WriteString(w, `{"kind":"APIGroupList","apiVersion":"v1","groups":[]}`)
		case "/api/v1":
			_, _ = io.WriteString(w, `{"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"pods","singularName":"pod","namespaced":true,"kind":"Pod","verbs":["get","list"],"shortNames":["po"]}]}`)
		case "/api/v1/namespaces/shop/pods":
			_, _ = io.WriteString(w, items.Load().(string))
		default:
			http.NotFound(w, r)
		}
	})
	s.Start()
	config := filepath.Join(t.TempDir(), "config")
	write(t, config, `{"apiVersion": "v1", "kind": "Config", "current-context": "c", "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u"}}],
"clusters": [{"name": "k", "cluster": {"server": "`+s.URL+`"}}], "users": [{"name": "u", "user": {}}]}`)
	t.Setenv("KUBECONFIG", config)
	t.Setenv("HOME", t.TempDir()) // kubectl keeps what it discovers there
	w := watch(t, "k8s-pods", "shop")
	w.want()
	items.Store(strings.Replace(pods(t, pod("web-1", "Running", true, 3, "", "OOMKilled")), `"List"`, `"PodList"`, 1))
	w.want("restart: web-1: 3 restarts, the last after OOMKilled")
	s.Close()
	w.fails("exit code 1")
}
