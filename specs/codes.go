package specs

import "slices"

// Code is one kind of fault or doubt, with an example that shows it.
type Code struct {
	Code string
	// Help says in a sentence what is wrong.
	Help string
	// Severity is what it comes with.
	Severity Severity
	// Bad is a line of a spec that shows it and Good what to write instead: both stand in the place of Line in the
	// spec of docs/lint.md. Bad alone is a whole file.
	Line, Bad, Good string
}

// ExampleSpec is what the examples of [Codes] change a line of.
const ExampleSpec = `version: 1
name: queue
interval: 15s
idleInterval: 2m
target: {args: [path]}
fetch: {stat: {path: "${target.path}"}}
extract: .size
item: {id: id, n: count, note: text}
rules:
  - when: changed && item.note != ""
    kind: changed
    text: "${item.id}: ${item.n}"
tests: [{name: starts, target: [/x], polls: [{fetch: {size: null}, events: []}]}]
`

// Codes are all kinds of faults (errors) and doubts (warnings), in the order of docs/lint.md.
var Codes = []Code{
	{"read", "The file cannot be read, or is no file.", Error, "", "", ""},
	{"size", "The file is too large to be a spec.", Error, "", "", ""},
	{"more", "The file has so many faults that not all are told: 500 are shown, and this says how many there are beside.", Error, "", "", ""},
	{"empty", "The file holds no spec.", Error, "", "# nothing yet\n", ""},
	{"yaml", "The file is not YAML.", Error, "", "version: 1\nname: [a\n", ""},
	{"documents", "A file is one spec.", Error, "extract: .size", "extract: .size\n---\nextract: .mtime", "extract: .size"},
	{"tab", "YAML is indented by spaces.", Error, "    kind: changed", "\tkind: changed", "    kind: changed"},
	{"unquoted-template", "In `{…}` and `[…]` YAML takes the brace of `${…}` for its own.", Error, `{path: "${target.path}"}`, "{path: ${target.path}}", `{path: "${target.path}"}`},
	{"unquoted-colon", "A colon and a space in a string without quotes make a mapping.", Error, `text: "${item.id}: ${item.n}"`, "text: queue: changed", `text: "queue: changed"`},
	{"unquoted-comma", "In `{…}` a comma ends a string without quotes.", Error, "{args: [path]}", "{args: [{name: path, help: a file, by its path}]}", `{args: [{name: path, help: "a file, by its path"}]}`},
	{"unquoted", "A string cannot begin with this character without quotes.", Error, "kind: changed", "kind: @changed", "kind: changed"},
	{"quote", "A quote inside of quotes ends the string.", Error, `text: "${item.id}: ${item.n}"`, `text: "${item.id ?? "none"}: ${item.n}"`, `text: '${item.id ?? "none"}: ${item.n}'`},
	{"escape", "In double quotes a backslash begins an escape.", Error, "{args: [path]}", `{args: [{name: path, pattern: "/\d+"}]}`, `{args: [{name: path, pattern: '/\d+'}]}`},
	{"alias", "Anchors and aliases: a spec says everything where it stands.", Error, "item: {id: id, n: count, note: text}", "item: {id: &word id, n: count, note: *word}", "item: {id: id, n: count, note: id}"},
	{"merge", "Merge keys: a spec says everything where it stands.", Error, "  - when: changed", "  - <<: {level: note}\n    when: changed", "  - level: note\n    when: changed"},
	{"tag", "A spec has no tags.", Error, "kind: changed", "kind: !!str changed", "kind: changed"},
	{"duplicate-key", "A key stands twice; YAML would take one of them silently.", Error, "extract: .size", "extract: .size\nextract: .mtime", "extract: .size"},
	{"missing-space", "Without a space after the colon YAML reads one key.", Error, "item: {id: id, n: count, note: text}\nrules:\n  - when: changed && item.note != \"\"\n    kind: changed\n    text: \"${item.id}: ${item.n}\"", "item: {n: count}\nrules:\n  - {when: changed, kind:changed, text: \"${item.n}\"}", "item: {n: count}\nrules:\n  - {when: changed, kind: changed, text: \"${item.n}\"}"},
	{"unknown-key", "There is no such key.", Error, "    kind: changed", "    knid: changed", "    kind: changed"},
	{"missing-key", "A key that must be there is not.", Error, "    kind: changed\n", "", "    kind: changed\n"},
	{"type", "A mapping, a list or a single value stands where another of them must.", Error, "target: {args: [path]}", "target: [path]", "target: {args: [path]}"},
	{"not-a-string", "YAML makes something else than a string of this.", Error, "kind: changed", "kind: 012", `kind: "012"`},
	{"not-a-boolean", "A boolean is true or false.", Error, `{path: "${target.path}"}`, `{path: "${target.path}", follow: no}`, `{path: "${target.path}", follow: false}`},
	{"not-a-number", "A whole number must stand here.", Error, `{stat: {path: "${target.path}"}}`, "{http: {url: \"http://h/\", redirects: many}}", "{http: {url: \"http://h/\", redirects: 3}}"},
	{"version", "The version of the language is 1.", Error, "version: 1", "version: 2", "version: 1"},
	{"name", "A name has a form, or means something else already.", Error, "name: queue", "name: The Queue", "name: the-queue"},
	{"word", "The value must be one of a list of words.", Error, "    kind: changed", "    kind: changed\n    level: alarm", "    kind: changed\n    level: alert"},
	{"pattern", "A regular expression does not compile.", Error, "{args: [path]}", "{args: [{name: path, pattern: '/(a'}]}", "{args: [{name: path, pattern: '/(a)'}]}"},
	{"duration", "A duration is a number with a unit.", Error, "interval: 15s", "interval: 15", "interval: 15s"},
	{"interval", "A wait between polls is 1s to 24h in whole seconds, and the idle one is the longer.", Error, "idleInterval: 2m", "idleInterval: 2s", "idleInterval: 2m"},
	{"hold", "`for` is a count of polls or a duration.", Error, "    kind: changed", "    kind: changed\n    for: 0", "    kind: changed\n    for: 3"},
	{"range", "A number is too small or too large.", Error, `{stat: {path: "${target.path}"}}`, "{http: {url: \"http://h/\", timeout: 2h}}", "{http: {url: \"http://h/\", timeout: 1m}}"},
	{"size-form", "A size is bytes, or a number with a unit.", Error, `{stat: {path: "${target.path}"}}`, "{http: {url: \"http://h/\", maxBytes: 10 megs}}", "{http: {url: \"http://h/\", maxBytes: 10MB}}"},
	{"flag-default", "The default of a flag does not fit its type.", Error, "{args: [path]}", "{args: [path], flags: {grace: {type: duration, default: 10}}}", "{args: [path], flags: {grace: {type: duration, default: 10m}}}"},
	{"unknown-fetcher", "There is no such fetcher.", Error, "{stat:", "{stats:", "{stat:"},
	{"two-fetchers", "One step asks one question.", Error, `{stat: {path: "${target.path}"}}`, "{stat: {path: /x}, exec: {command: [ls]}}", "{stat: {path: /x}}"},
	{"fetch", "The options of the fetcher do not go together.", Error, `{stat: {path: "${target.path}"}}`, "{stat: {path: /x, glob: /y}}", "{stat: {path: /x}}"},
	{"stream-step", "A stream is never one of several steps.", Error, `{stat: {path: "${target.path}"}}`, "[{as: log, jsonl-tail: {path: /x}}, {as: file, stat: {path: /x}}]", "{jsonl-tail: {path: /x}}"},
	{"stream-key", "A stream has no key: its lines come and do not stay.", Error, "fetch: {stat: {path: \"${target.path}\"}}\nextract: .size", "fetch: {jsonl-tail: {path: /x}}\nkey: item.id", "fetch: {jsonl-tail: {path: /x}}"},
	{"template", "A `${` has no end.", Error, `"${item.id}: ${item.n}"`, `"${item.id: ${item.n"`, `"${item.id}: ${item.n}"`},
	{"no-template", "This option has no `${}`.", Error, `{stat: {path: "${target.path}"}}`, "{exec: {shell: \"ls ${target.path} | wc -l\"}}", `{exec: {shell: 'ls "$TARGET_PATH" | wc -l'}}`},
	{"empty-expression", "An expression is empty.", Error, "${item.n}", "${}", "${item.n}"},
	{"empty-text", "A text, a URL or a refusal is empty.", Error, `text: "${item.id}: ${item.n}"`, `text: ""`, `text: "${item.id}: ${item.n}"`},
	{"expr", "An expression is not right; the words are those of the expression library.", Error, "when: changed &&", "when: changed & &", "when: changed &&"},
	{"jq", "A jq program is not right; the words are those of the jq library.", Error, "extract: .size", "extract: .size | lenght", "extract: .size | length"},
	{"unknown-name", "There is no such name in this place.", Error, "when: changed &&", "when: chnged &&", "when: changed &&"},
	{"value-type", "A value is of another type than its place needs: a condition is true or false, a duration is no number.", Error, "when: changed &&", "when: quiet > 5 &&", `when: quiet > duration("5m") &&`},
	{"env-name", "An environment variable must be named.", Error, `{stat: {path: "${target.path}"}}`, "{http: {url: \"http://h/\", headers: {A: '${env[target.path]}'}}}", "{http: {url: \"http://h/\", headers: {A: '${env.TOKEN}'}}}"},
	{"type-name", "There is no such type.", Error, "n: count", "n: number", "n: count"},
	{"pattern-space", "The pattern of an id can match white space, so a sentence could pass.", Error, "id: id", "id: {id: '.+'}", "id: {id: '[a-z]+'}"},
	{"doc-in-text", "A text never quotes what was polled.", Error, "${item.id}", "${doc.title}", "${item.id}"},
	{"text-speaks", "The value does not speak: it could be prose of the polled system.", Error, "${item.id}", "${item.note}", "${item.id}"},
	{"computed-name", "In a text a name stands as it is.", Error, "${item.id}", "${item[target.path]}", "${item.id}"},
	{"unsafe-function", "A function that could make a sentence of a safe value has no place in a text.", Error, "${item.id}", `${replace(item.id, '-', ' ')}`, "${item.id}"},
	{"test", "A test contradicts itself: a poll that fails gives no events.", Error, "{size: null}, events: []", "{size: null}, fails: true, events: []", "{size: null}, fails: true"},
	{"no-tests", "The spec has no tests.", Warning, "tests: [{name: starts, target: [/x], polls: [{fetch: {size: null}, events: []}]}]\n", "", "tests: [{name: starts, target: [/x], polls: [{fetch: {size: null}, events: []}]}]\n"},
	{"comment", "A space and `#` begin a comment, which has cut a text.", Warning, `text: "${item.id}: ${item.n}"`, "text: item #${item.id} has ${item.n}", `text: "item #${item.id} has ${item.n}"`},
	{"never-holds", "The condition can never hold.", Warning, "n: count, note: text}\nrules:\n  - when: changed &&", "n: count, note: text, state: [open, closed]}\nrules:\n  - when: changed && item.state == \"opened\" &&", "n: count, note: text, state: [open, closed]}\nrules:\n  - when: changed && item.state == \"open\" &&"},
	{"absent", "A text names what is not there when its rule holds.", Warning, "  - when: changed && item.note != \"\"\n    kind: changed", "  - {when: item.note != nil, kind: note, text: a note}\n  - when: gone\n    kind: gone", "  - {when: item.note != nil, kind: note, text: a note}\n  - when: changed\n    kind: changed"},
	{"unused-name", "Nothing names this part of the item.", Warning, "when: changed &&", "when: appeared && item.id != \"\" #", "when: changed &&"},
	{"document", "The document of a fetcher never has a member of this name.", Warning, "extract: .size", "extract: .bytes", "extract: .size"},
	{"dollar", "A variable of the shell stands where no shell reads it.", Warning, `{path: "${target.path}"}`, `{path: "$HOME/${target.path}"}`, `{path: "~/${target.path}"}`},
	{"assignment", "In jq a single `=` assigns, and what it gives is as good as true.", Warning, "extract: .size", "extract: select(.type = \"file\") | .size", "extract: select(.type == \"file\") | .size"},
	{"no-key", "A list is watched without a key.", Warning, "fetch: {stat: {path: \"${target.path}\"}}\nextract: .size\n", "fetch: {stat: {glob: \"${target.path}/*\"}}\nextract: \".[] | {id: .inode, n: .size, note: .path}\"\n", "fetch: {stat: {glob: \"${target.path}/*\"}}\nextract: \".[] | {id: .inode, n: .size, note: .path}\"\nkey: item.id\n"},
	{"no-type", "Without a type the strings of an item do not speak.", Warning, "item: {id: id, n: count, note: text}\n", "", "item: {id: id, n: count, note: text}\n"},
	{"no-idle-interval", "A question that costs something is asked at the same pace for ever.", Warning, "idleInterval: 2m\ntarget: {args: [path]}\nfetch: {stat: {path: \"${target.path}\"}}", "fetch: {http: {url: \"http://h/\"}}", "idleInterval: 2m\nfetch: {http: {url: \"http://h/\"}}"},
	{"first-page", "Of a list in pages only the first is read.", Warning, `{stat: {path: "${target.path}"}}`, "{http: {url: \"https://api.github.com/repos/o/r/issues\"}}", "{http: {url: \"https://api.github.com/repos/o/r/issues\", pages: link}}"},
	{"shell", "The command needs no shell.", Warning, `{stat: {path: "${target.path}"}}`, "{exec: {shell: git fetch origin}}", "{exec: {command: [git, fetch, origin]}}"},
	{"dash-argument", "What the user types may be taken for an option of the command.", Warning, `{stat: {path: "${target.path}"}}`, "{exec: {command: [ls, \"${target.path}\"]}}", "{exec: {command: [ls, \"--\", \"${target.path}\"]}}"},
}

// codeHelp is the sentence of a code.
func codeHelp(code string) string {
	if i := slices.IndexFunc(Codes, func(c Code) bool { return c.Code == code }); i >= 0 {
		return Codes[i].Help
	}
	return code
}
