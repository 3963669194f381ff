package main

import (
	"io"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/alecthomas/kong"
)

// TestPlain: what plain reads of any words is what the grammar reads of them.
func TestPlain(t *testing.T) {
	vocabulary := []string{"list", "status", "--worker", "--json", "--all", "-a", "w", "w-1", "--", "", "=", "--json=false", "--worker=w", "a b", "-", "--help", "ü", "stop"}
	random := rand.New(rand.NewPCG(1, 2))
	read := 0
	for range 20_000 {
		words := make([]string, 1+random.IntN(5))
		for i := range words {
			words[i] = vocabulary[random.IntN(len(vocabulary))]
		}
		if random.IntN(2) == 0 {
			words = append([]string{"--worker", "w", "status"}, words[:len(words)-1]...)
		} else if random.IntN(2) == 0 {
			words[0] = "list"
		}
		command, worker := plain(words)
		if command == nil {
			continue
		}
		read++
		g, name := trimmed(words)
		parser, err := kong.New(g, kong.Exit(func(int) {}), kong.Writers(io.Discard, io.Discard), kong.Vars{"version": ""})
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := parser.Parse(words)
		if err != nil {
			t.Fatalf("%q is no line for the grammar: %v", words, err)
		}
		if whole := parsed.Selected().Target.Interface(); !reflect.DeepEqual(whole, reflect.ValueOf(command).Elem().Interface()) || *name != worker {
			t.Fatalf("%q: the grammar has %+v of %q, plain %+v of %q", words, whole, *name, command, worker)
		}
	}
	if read < 100 {
		t.Errorf("only %d lines were plain", read)
	}
	for _, words := range [][]string{{"list"}, {"list", "--json"}, {"list", "w", "--all"}, {"--worker", "w", "status"}, {"--worker", "w", "status", "--json"}} {
		if command, _ := plain(words); command == nil {
			t.Errorf("%q is not plain", words)
		}
	}
}
