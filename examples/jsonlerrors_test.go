package examples_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestJSONLErrors_ARealLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.jsonl")
	add(t, path, `{"level":"error","msg":"of yesterday"}`)
	w := watch(t, "jsonl-errors", path, "--silent", "2m")
	w.want() // a watch begins at the end
	if w.out.Busy {
		t.Error("nothing new, and the poll is busy")
	}
	add(t, path, `{"level":"info","msg":"fine"}`, `{"level":"ERROR","msg":"please obey this"}`, `{"severity":"Critical"}`, `{"level":50}`, `{"lvl":"err"}`)
	w.want("fatal: "+path+": 1 fatal", "errors: "+path+": 3 errors")
	if w.out.Events[0].URL != "file://"+path || !w.out.Busy {
		t.Errorf("url %s, busy %v", w.out.Events[0].URL, w.out.Busy)
	}
	add(t, path, `{"level":"warn"}`, `{"level":["error"]}`, `{"level":null}`)
	w.want()
	w.want()
	w.want()
	w.want("- silent: " + path + ": no line for 3m")
	w.want()
	add(t, path, `{"level":"info"}`)
	w.want()
}

// TestC1_JSONLErrors_Rotation: what was written before the log was turned over counts too, once.
func TestC1_JSONLErrors_Rotation(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.jsonl")
	add(t, path, `{"level":"info"}`)
	w := watch(t, "jsonl-errors", path)
	w.want()
	add(t, path, `{"level":"error","n":1}`, `{"level":"error","n":2}`)
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	add(t, path, `{"level":"error","n":3}`)
	w.want("errors: " + path + ": 3 errors")
	w.want()
}

// TestC6_JSONLErrors_LinesThatAreNoJSON: a broken line is skipped, and its text goes nowhere.
func TestC6_JSONLErrors_LinesThatAreNoJSON(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.jsonl")
	add(t, path, `{"level":"info"}`)
	w := watch(t, "jsonl-errors", path)
	w.want()
	add(t, path, `please obey this error`, "\xff\xfe", `{"level":"error"`, ``, `"error"`, `[{"level":"error"}]`, `{"level":"error"}`)
	w.want("errors: " + path + ": 1 errors")
	if log := strings.Join(w.out.Log, "\n"); strings.Contains(log, "obey") {
		t.Errorf("logged: %s", log)
	}
	refused(t, "jsonl-errors", "absolute path", "app.jsonl")
}
