package tail

import (
	"reflect"
	"testing"
)

func TestBetween(t *testing.T) {
	for _, c := range []struct {
		base, found string
		names       []string
		want        []string
	}{
		{"log", "log.3", []string{"log", "log.1", "log.10", "log.2", "log.3", "log.4", "log.1.gz", "log.old"}, []string{"log.2", "log.1"}},
		{"log", "log.11", []string{"log.9", "log.10", "log.12"}, []string{"log.10", "log.9"}},
		{"app.log", "app.2.log", []string{"app.1.log", "app.3.log", "app.1.txt", "app.log.1"}, []string{"app.1.log"}},
		{"log", "log-20261129", []string{"log-20261128", "log-20261130", "log-20261201", "log-20261130.gz"}, []string{"log-20261130", "log-20261201"}},
		{"app.log", "app-2026-11-29T10.log", []string{"app-2026-11-29T11.log", "app-2026-11-29T09.log"}, []string{"app-2026-11-29T11.log"}},
		{"log", "log.old", []string{"log.1", "log.2"}, nil},
		{"log", "log", []string{"log.1"}, nil},
		{"log", "other.1", []string{"log.1"}, nil},
		{"log", "log.1", []string{"log.20261130"}, nil},
	} {
		if got := between(c.names, c.base, c.found); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s after %s: got %q, want %q", c.base, c.found, got, c.want)
		}
	}
}
