package specs

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sessevents/sessevents/fetchers"
)

// Reference is the part of docs/spec.md that is made from the tables: all keys, types, and options of registry, in
// Markdown.
func Reference(registry map[string]fetchers.Fetcher) string {
	var b strings.Builder
	b.WriteString("### A spec\n\n")
	referenceRows(&b, rowsOf(specKeys()))
	for _, part := range []struct {
		title string
		rows  []row
	}{
		{"`target`", rowsOf(targetKeys())},
		{"An argument", rowsOf(argKeys())},
		{"A flag", rowsOf(flagKeys())},
		{"A requirement", rowsOf(requireKeys())},
		{"A rule", rowsOf(ruleKeys())},
		{"`cleared`", rowsOf(clearedKeys())},
		{"A line of `summary`", rowsOf(summaryKeys())},
		{"A test", rowsOf(testKeys())},
		{"A poll of a test", rowsOf(pollKeys())},
	} {
		fmt.Fprintf(&b, "\n### %s\n\n", part.title)
		referenceRows(&b, part.rows)
	}
	b.WriteString("\n### Types\n\n| type | what it says |\n|---|---|\n")
	for _, t := range typeWordTable {
		fmt.Fprintf(&b, "| `%s` | %s |\n", t.name, cell(t.help))
	}
	b.WriteString("| `[open, closed]` | a list of words: one of them, any other word is spoken as `other` |\n")
	for _, name := range slices.Sorted(maps.Keys(registry)) {
		f := registry[name]
		fmt.Fprintf(&b, "\n### Fetcher `%s`\n\n%s.\n\n| option | value | default | meaning |\n|---|---|---|---|\n", name, strings.ToUpper(f.Help[:1])+f.Help[1:])
		for _, o := range optionsOf(f) {
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", o.Name, optionValue(o), optionDefault(o), cell(optionHelp(o)))
		}
		referenceDoc(&b, f)
	}
	b.WriteString("\n### Words of a failure\n\n`failure: data` gives `{error: WORD}` with one of: ")
	for i, w := range fetchers.FailureWords {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString("`" + w + "`")
	}
	b.WriteString(".\n")
	return b.String()
}

// referenceDoc is what the document of a fetcher holds.
func referenceDoc(b *strings.Builder, f fetchers.Fetcher) {
	if len(f.Doc) == 0 {
		return
	}
	b.WriteString("\nIts document:\n\n| member | what it is |\n|---|---|\n")
	for _, m := range f.Doc {
		fmt.Fprintf(b, "| `.%s` | %s |\n", m.Name, cell(m.Help))
	}
	if f.Content != "" {
		fmt.Fprintf(b, "\nWhat is asked for stands in it: `extract: .%s`.\n", f.Content)
	}
}

func referenceRows(b *strings.Builder, rows []row) {
	b.WriteString("| key | value | meaning |\n|---|---|---|\n")
	for _, r := range rows {
		name := "`" + r.name + "`"
		if r.need {
			name = "**" + name + "**"
		}
		fmt.Fprintf(b, "| %s | %s | %s |\n", name, r.value(), cell(r.help))
	}
}

// cell is a text inside a table of Markdown.
func cell(s string) string { return strings.ReplaceAll(s, "|", "\\|") }

func (r row) value() string {
	words := map[kind]string{
		kindString: "string", kindName: "name", kindExpr: "expr", kindJQ: "jq", kindTemplate: "text with `${expr}`", kindDuration: "duration",
		kindVersion: "`1`", kindBool: "boolean", kindAny: "any", kindStrings: "string, or list", kindWords: "list of strings",
		kindHold: "count or duration", kindItem: "type, or names with types", kindFetch: "step, or list of steps", kindDefaults: "fetchers with options",
		kindFlagType: "word, or list of words", kindMapOf: "names with mappings", kindListOf: "list of mappings", kindObject: "mapping",
		kindArgs: "list of names or mappings", kindTexts: "names with texts", kindEnv: "names with strings",
	}
	if r.kind == kindWord {
		return "`" + strings.Join(r.words, "`, `") + "`"
	}
	return words[r.kind]
}

func optionValue(o fetchers.Option) string {
	switch o.Type {
	case fetchers.Word:
		return "`" + strings.Join(o.Words, "`, `") + "`"
	case fetchers.Int:
		return "whole number"
	case fetchers.Bool:
		return "boolean"
	case fetchers.Duration:
		return "duration"
	case fetchers.Size:
		return "size"
	case fetchers.Ints:
		return "list of numbers and ranges (`200-299`)"
	case fetchers.Strings:
		return "list of strings"
	case fetchers.Map:
		return "names with strings"
	case fetchers.JSON:
		return "any"
	case fetchers.Pages:
		return "`link`, or `{by: link, list: .path, max: 10}`"
	}
	return "string"
}

func optionDefault(o fetchers.Option) string {
	switch d := o.Default.(type) {
	case nil:
		return ""
	case time.Duration:
		return "`" + short(d) + "`"
	case []int64:
		return "`" + strings.ReplaceAll(fmt.Sprint(d), " ", ", ") + "`"
	}
	if s, ok := jsonDefault(o).(string); ok {
		return "`" + s + "`"
	}
	return fmt.Sprintf("`%v`", o.Default)
}

// LintReference is docs/lint.md: every code with an example, what lint says of it, and what to write instead.
func LintReference(o Options) string {
	var b strings.Builder
	b.WriteString("# What lint finds\n\n" +
		"Made by `go test ./specs -update` from the table of codes; each output is what `sessevents lint` prints.\n\n" +
		"An **error** keeps a spec from running, a **warning** is a doubt. The exit code of `lint` is 0 where there is neither, 1 where there is one, 2 where it was called wrongly. " +
		"Codes are stable: tools may match on them (`--format json`, `sarif`, `github`).\n\n" +
		comparedWithActionlint(o) +
		"The examples change a line of this spec, which is clean:\n\n```yaml\n" + ExampleSpec + "```\n")
	for _, c := range Codes {
		fmt.Fprintf(&b, "\n## %s\n\n%s (%s)\n", c.Code, c.Help, c.Severity)
		if c.Line == "" && c.Bad == "" {
			continue
		}
		bad, src := c.Bad, c.Bad
		if c.Line != "" {
			src = strings.Replace(ExampleSpec, c.Line, c.Bad, 1)
		}
		if bad == "" {
			bad = "# without: " + strings.TrimSpace(strings.SplitN(c.Line, "\n", 2)[0])
		}
		fmt.Fprintf(&b, "\n```yaml\n%s\n```\n\n```text\n", strings.TrimRight(bad, "\n"))
		_, _, found := Check("queue.yaml", []byte(src), o)
		for _, d := range found {
			if d.Code == c.Code {
				_ = Diagnostics{d}.WriteText(&b, false)
				break
			}
		}
		b.WriteString("```\n")
		if c.Line != "" {
			fmt.Fprintf(&b, "\nWrite instead:\n\n```yaml\n%s\n```\n", strings.TrimRight(c.Good, "\n"))
		}
	}
	return b.String()
}

// comparedSpec has the faults of a workflow that actionlint was run on: a name, a name in a folded block, a key, and an
// end that comes too soon in a literal block.
const comparedSpec = `version: 1
name: compared
interval: 15s
target: {args: [path]}
fetch: {stat: {path: "${target.path}"}}
extract: |
  .size | contains(
item: {id: id, n: count}
rules:
  - when: itm.n > 1
    kind: large
    text: >-
      one
      "é" ${cursor.m}
    levle: note
tests: [{name: starts, target: [/x], polls: [{fetch: {size: null}, events: []}]}]
`

// comparedWithActionlint sets the form of lint beside the one that it was taken from.
func comparedWithActionlint(o Options) string {
	var b strings.Builder
	b.WriteString("## The form\n\n" +
		"It is the one that [actionlint](https://github.com/rhysd/actionlint) made familiar for workflows: `file:line:column: message [kind]`, the line, a caret. " +
		"This is what actionlint 1.7.7 says of a workflow with a misspelt name, another one in a folded block, a misspelt key, and a call without its end in a literal block " +
		"(its lists of names are cut here):\n\n" +
		"```text\n" +
		"x.yaml:6:23: property \"evnt\" is not defined in object type {action: string; action_path: string; …} [expression]\n" +
		"  |\n6 |       - run: echo ${{ github.evnt.number }}\n  |                       ^~~~~~~~~~~~~~~~~~\n" +
		"x.yaml:7:39: property \"os\" is not defined in object type {} [expression]\n" +
		"x.yaml:11:9: unexpected key \"wiht\" for \"step\" section. expected one of \"continue-on-error\", \"env\", \"id\", … [syntax-check]\n" +
		"   |\n11 |         wiht: {ref: main}\n   |         ^~~~~\n" +
		"x.yaml:12:43: unexpected end of input while parsing arguments of function call. expecting \",\", \")\" [expression]\n" +
		"```\n\n" +
		"The second fault stands in line 9 and the fourth in line 13: inside of blocks actionlint counts from the line of the key, and draws nothing. " +
		"A spec with the same four faults:\n\n```text\n")
	_, _, found := Check("compared.yaml", []byte(comparedSpec), o)
	_ = found.WriteText(&b, false)
	b.WriteString("```\n\n" +
		"A place inside jq or expr is a place in the file, also in quoted, folded and block strings and behind letters of several bytes; " +
		"the caret spans the word; a line `hint:` says what to write; and the severity is named, since there are warnings. " +
		"[Twenty faults in one file](../specs/testdata/twenty-faults.out) are twenty diagnostics.\n\n## The codes\n\n")
	return b.String()
}
