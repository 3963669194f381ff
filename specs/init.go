package specs

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// starters are the parts of a new spec that depend on its fetcher.
var starters = map[string]struct{ usage, args, fetch, extract, item, rules, tests string }{
	"stat": {
		usage: "targets: the absolute path of a file",
		args: `  args: [path]
  require:                            # what must hold, and the refusal in your words
    - that: target.path startsWith "/"
      else: watch needs an absolute path
`,
		fetch:   "  stat: {path: \"${target.path}\"}\n",
		extract: ".size                      # null while there is no file\n",
		item:    "size                          # bytes: spoken with a unit\n",
		rules: `  - when: changed
    kind: changed
    text: "${target.path}: ${cursor} to ${item}"
  - when: gone
    kind: gone
    text: "${target.path}: gone"
`,
		tests: `  - name: grows, then goes
    target: [/var/log/build.log]
    polls:
      - fetch: {exists: true, size: 10}
        events: []                    # the first poll is the baseline
      - fetch: {exists: true, size: 1500}
        events: [{kind: changed, text: "/var/log/build.log: 10 B to 1.5 KB"}]
      - fetch: {exists: false, size: null}
        events: [{kind: gone, text: "/var/log/build.log: gone"}]
`,
	},
	"http": {
		usage: "targets: a URL that answers JSON with an id and a state",
		args:  "  args: [url]\n",
		fetch: `  http:
    url: "${target.url}"
    headers:                          # left out where the variable is not set
      Authorization: '${env.MY_TOKEN == nil ? nil : "Bearer " + env.MY_TOKEN}'
`,
		extract: "'.body | {id, state}'       # a jq program; sessevents try shows the document\n",
		item: `                               # what a text may say: only these names, only as these types
  id: id
  state: [open, running, done, failed]
`,
		rules: `  - when: changed && item.state != cursor.state
    kind: state
    text: "${item.id}: ${cursor.state} to ${item.state}"
`,
		tests: `  - name: a state changes
    target: ["https://api.example/jobs/7"]
    polls:
      - fetch: {status: 200, body: {id: job-7, state: running}}
        events: []                    # the first poll is the baseline
      - fetch: {status: 200, body: {id: job-7, state: failed}}
        events: [{kind: state, text: "job-7: running to failed"}]
      - fails: true                   # no answer is a failed poll, not an event
`,
	},
	"exec": {
		usage: "targets: the absolute path of a git repository",
		args: `  args: [path]
  require:                            # what must hold, and the refusal in your words
    - that: target.path startsWith "/"
      else: watch needs an absolute path
`,
		fetch: `  exec:
    command: [git, -C, "${target.path}", rev-parse, HEAD]   # no shell: each ${} stays one argument
`,
		extract: ".stdout\n",
		item:    "{id: '[0-9a-f]{40}'}          # one word of this form, nothing else\n",
		rules: `  - when: changed
    kind: commit
    text: "${target.path}: new head ${item[:12]}"
`,
		tests: `  - name: a new commit
    target: [/src/shop]
    polls:
      - fetch: {exit: 0, stdout: 0123456789abcdef0123456789abcdef01234567}
        events: []                    # the first poll is the baseline
      - fetch: {exit: 0, stdout: 76543210fedcba9876543210fedcba9876543210}
        events: [{kind: commit, text: "/src/shop: new head 76543210fedc"}]
`,
	},
	"jsonl-tail": {
		usage:   "targets: the absolute path of a log of JSON lines",
		args:    "  args: [path]\n",
		fetch:   "  jsonl-tail: {path: \"${target.path}\"}\n",
		extract: "'.lines[] | {level, code}'  # each new line is an item\n",
		item: `                               # what a text may say: only these names, only as these types
  level: [debug, info, warn, error]
  code: id
`,
		rules: `  - when: item.level == "error"
    kind: error
    text: "${target.path}: error ${item.code}"
  - when: quiet > duration("10m")
    until: quiet < duration("10m")    # said once, until there is a line again
    kind: silent
    level: note
    text: "${target.path}: no line for ${quiet}"
`,
		tests: `  - name: errors, then silence
    target: [/var/log/app.jsonl]
    polls:
      - fetch: {lines: []}
        events: []
      - fetch: {lines: [{level: info}, {level: error, code: E42}]}
        events: [{kind: error, text: "/var/log/app.jsonl: error E42"}]
      - after: 11m
        fetch: {lines: []}
        events: [{kind: silent, level: note, text: "/var/log/app.jsonl: no line for 11m"}]
`,
	},
}

// Starters are the fetchers that [Init] has a spec for.
func Starters() []string { return slices.Sorted(maps.Keys(starters)) }

// Init is a commented spec called name that asks by fetcher. It lints and tests clean, and runs as it is.
func Init(name, fetcher string) (string, error) {
	if !isName(name) {
		return "", fmt.Errorf("a name is 1 to 40 of a-z, 0-9 and -, this is %q", name)
	}
	s, ok := starters[fetcher]
	if !ok {
		return "", fmt.Errorf("no fetcher `%s`: %s", fetcher, hintNearest(fetcher, Starters()))
	}
	var b strings.Builder
	fmt.Fprintf(&b, `#!/usr/bin/env -S sessevents --spec
version: 1
name: %s
interval: 15s                         # between polls while something goes on
idleInterval: 5m                      # the longest wait
usage: "%s"
target:                               # the words after watch
%sfetch:
%sextract: %sitem: %s# cursor: item                       # what is remembered for the next poll
rules:                                # all that hold emit, in this order
%stests:                                # sessevents test runs them; sessevents try --record writes them
%s`, yamlScalar(name), s.usage, s.args, s.fetch, s.extract, s.item, s.rules, s.tests)
	return b.String(), nil
}
