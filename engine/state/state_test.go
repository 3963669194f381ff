package state

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestPrepareThenPromote(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.state.json")
	if _, err := Load(path); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("no state yet: %v", err)
	}
	want := State{
		Version: Version, Events: 17,
		Targets:  []Target{{Text: "/a <b>", Value: json.RawMessage(`{"path":"/a"}`), Saved: json.RawMessage(`9007199254740993`)}},
		Delivery: Delivery{Delivered: 16, Sending: &Message{"m-17", 17, "body\n", 3, time.Unix(1, 0).UTC()}, Sent: []Sent{{time.Unix(1, 0).UTC(), "s"}}, Tokens: 2.5},
		Commit:   []json.RawMessage{json.RawMessage(`{"id":17}`)},
	}
	if err := Prepare(path, want); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a prepared state counts already: %v", err)
	}
	if got, err := Prepared(path); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("prepared %+v, %v", got, err)
	}
	if err := Promote(path); err != nil {
		t.Fatal(err)
	}
	if got, err := Load(path); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("read back %+v, %v\nwant %+v", got, err, want)
	}
	if _, err := Prepared(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("still prepared: %v", err)
	}
}

func TestSE7_3_C30_WhatIsNotAStateIsSaidAndKept(t *testing.T) {
	for name, tt := range map[string]struct{ content, reason string }{
		"empty":           {"", "is not JSON"},
		"truncated":       {`{"version":1,"events":3,"targets":[{"te`, "is not JSON"},
		"prose":           {"hello", "is not JSON"},
		"two values":      {`{"version":1}{"version":1}`, "is not JSON"},
		"NULs":            {"\x00\x00\x00", "is not JSON"},
		"a list":          {"[]", "is not JSON"},
		"no version":      {"{}", "has no version"},
		"another version": {`{"version":2,"events":"so"}`, "is of version 2"},
		"another form":    {`{"version":1,"events":"so"}`, "is not a state"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.state.json")
			if err := os.WriteFile(path, []byte(tt.content), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := Load(path)
			var damaged *DamagedError
			if !errors.As(err, &damaged) || !strings.Contains(err.Error(), tt.reason) || !strings.Contains(err.Error(), path) {
				t.Errorf("error %v; want one that names the file and says %q", err, tt.reason)
			}
		})
	}
}

func TestC30_ALinkAFifoAFolderAndAnothersFileAreNoState(t *testing.T) {
	dir := t.TempDir()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.WriteFile(dir+"/good", []byte(`{"version":1}`), 0o600))
	must(os.Symlink(dir+"/good", dir+"/link"))
	must(os.Mkdir(dir+"/folder", 0o700))
	must(syscall.Mkfifo(dir+"/fifo", 0o600))
	names := map[string]string{"link": "is a link", "folder": "is not a regular file", "fifo": "is not a regular file"}
	if os.Geteuid() == 0 {
		must(os.WriteFile(dir+"/other", []byte(`{"version":1}`), 0o600))
		must(os.Chown(dir+"/other", 65534, -1))
		names["other"] = "belongs to user 65534"
	}
	for name, reason := range names {
		if _, err := Load(filepath.Join(dir, name)); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%s: %v; want %q", name, err, reason)
		}
	}
}
