package main

import (
	"fmt"

	"github.com/sessevents/sessevents/cmd/internal/client"
	"github.com/sessevents/sessevents/fetchers"
	"github.com/sessevents/sessevents/specs"
)

type testCmd struct {
	Paths []string `arg:"" optional:"" name:"file|folder" help:"Specs, or folders of them; default: --spec, else .sessevents, else this folder."`
	JSON  bool     `name:"json" help:"Print a JSON list of results."`
}

// Run runs the tests that specs bring: recorded documents in the place of fetches, no network. Exit code 1 where one
// fails, or where a spec does not compile.
func (t *testCmd) Run(c *call) error {
	options := specs.Options{Fetchers: fetchers.All, Getenv: c.Getenv}
	var checks []func() (*specs.Spec, *specs.Source, specs.Diagnostics)
	if len(t.Paths) == 0 && c.Spec != "" {
		found, err := c.find()
		if err != nil {
			return err
		}
		checks = append(checks, func() (*specs.Spec, *specs.Source, specs.Diagnostics) { return found.Check(options) })
	} else {
		for _, path := range c.specPaths(t.Paths) {
			files, err := specs.SpecFiles(path)
			if err != nil {
				return client.Usagef("", "%v", err)
			}
			for _, file := range files {
				checks = append(checks, func() (*specs.Spec, *specs.Source, specs.Diagnostics) { return specs.CheckFile(file, options) })
			}
		}
	}
	if len(checks) == 0 {
		return client.Usagef("name a file, or a folder with *.yaml files", "no specs found")
	}
	results := []specs.TestResult{}
	broken := 0
	for _, check := range checks {
		spec, source, faults := check()
		if source == nil || faults.HasErrors() {
			broken++
			c.printFaults(faults)
			continue
		}
		for _, r := range specs.RunTests(c.Ctx, spec, source) {
			results = append(results, r)
			if !t.JSON {
				c.printResult(r)
			}
		}
	}
	failed := 0
	for _, r := range results {
		if !r.Pass {
			failed++
		}
	}
	if t.JSON {
		if err := client.PrintJSON(c.Out, results); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(c.Out, "%d passed, %d failed\n", len(results)-failed, failed)
	}
	if failed+broken > 0 {
		return client.ExitCode(client.ExitFailed)
	}
	return nil
}

func (c *call) printResult(r specs.TestResult) {
	if r.Pass {
		fmt.Fprintf(c.Out, "ok    %s: %s (%s)\n", r.Place, r.Name, client.Count(r.Polls, "poll"))
		return
	}
	fmt.Fprintf(c.Out, "FAIL  %s: %s\n%s", r.Place, r.Name, r.Diff)
}
