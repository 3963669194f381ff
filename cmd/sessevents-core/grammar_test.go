package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/sessevents/sessevents/cmd/internal/client"
)

func TestOwnFlagsAreFoundBehindATarget(t *testing.T) {
	for in, want := range map[string]string{
		"watch /x --id a":                        "watch --id a /x",
		"watch /x --host h --id=a --spec s -v":   "watch --id=a --spec s /x --host h -v",
		"--spec watch watch /x --id a":           "--spec watch watch --id a /x",
		"--id unwatch status":                    "--id unwatch status",
		"unwatch --all --id a":                   "unwatch --all --id a",
		"watch -- /x --id a":                     "watch -- /x --id a",
		"watch --id a -- --spec":                 "watch --id a -- --spec",
		"try /x --polls 3 --host h --record - y": "try --polls 3 --record - /x --host h y",
		"watch /x --all":                         "watch /x --all",
		"lint watch --id a":                      "lint watch --id a",
		"watch /x --id":                          "watch --id /x",
		"--help":                                 "--help",
		"":                                       "",
	} {
		if got := client.Hoist(strings.Fields(in)); !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%q becomes %q, want %q", in, strings.Join(got, " "), want)
		}
	}
}
