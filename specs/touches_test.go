package specs_test

import (
	"reflect"
	"testing"

	"github.com/sessevents/sessevents/specs"
)

func TestTouchesTellsWhatASpecMayReach(t *testing.T) {
	src := `version: 1
name: many
interval: 5s
target: {args: [host, dir, {name: rev, pattern: '[a-z0-9]+'}]}
fetch:
  - as: api
    http:
      url: 'https://${target.host == "a/b" ? "x" : target.host}/v1?${target.rev}'
      headers: {Authorization: '${env.TOKEN == nil ? nil : "Bearer " + env.TOKEN}'}
  - {as: other, http: {url: "https://example.org"}}
  - {as: whole, http: {url: "${target.host}/a/b?c"}}
  - {as: odd, http: {url: '${target.host == "" ? "https://x" : target.host}/a'}}
  - {as: log, exec: {command: [git, log, "-1", "${target.rev}"], cwd: "${target.dir}"}}
  - {as: lines, exec: {shell: "ls | wc -l"}}
  - {as: file, stat: {path: "${target.dir}/x"}}
extract: .file.size
item: count
rules: [{when: changed, kind: changed, text: "${item}"}]
`
	_, source, faults := specs.Check("many.yaml", []byte(src), real)
	if source == nil {
		t.Fatal(faults)
	}
	want := specs.Touches{
		Hosts:    []string{`${target.host == "" ? "https://x" : target.host}`, `${target.host == "a/b" ? "x" : target.host}`, "${target.host}", "example.org"},
		Commands: []string{"git log -1 ${target.rev}", "sh -c ls | wc -l"},
		Paths:    []string{"${target.dir}/x"},
		Env:      []string{"TOKEN"},
	}
	if got := source.Touches(); !reflect.DeepEqual(got, want) {
		t.Errorf("touches %+v\nwant    %+v", got, want)
	}
}
