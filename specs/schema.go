package specs

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sessevents/sessevents/fetchers"
)

// object of a JSON Schema.
type schema = map[string]any

// Schema is the JSON Schema (2020-12) of a spec, from the same tables as the parser, with the options of registry.
// Editors complete, explain and check by it; what only compiling shows (expressions, jq, types) is left to lint.
func Schema(registry map[string]fetchers.Fetcher) map[string]any {
	root := objectSchema(rowsOf(specKeys()), registry)
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["$id"] = "https://github.com/sessevents/sessevents/schema/spec.schema.json"
	root["title"] = "A sessevents spec, version 1"
	root["$defs"] = schema{
		"type":  typeSchema(),
		"step":  stepSchema(registry, false),
		"steps": schema{"type": "array", "minItems": 1, "items": stepSchema(registry, true)},
	}
	return root
}

// EventSchema is the JSON Schema of a line of the event log.
func EventSchema() map[string]any {
	return schema{
		"$schema":     "https://json-schema.org/draft/2020-12/schema",
		"$id":         "https://github.com/sessevents/sessevents/schema/event.schema.json",
		"title":       "An event of sessevents",
		"description": "One line of an event log, and of what `wait` and `follow` print.",
		"type":        "object",
		"required":    []any{"id", "at", "kind", "text"},
		"properties": schema{
			"id":    schema{"type": "integer", "minimum": 1, "description": "Counts from 1; never reused."},
			"at":    schema{"type": "string", "format": "date-time", "description": "When it was seen: UTC, to the second."},
			"kind":  schema{"type": "string", "pattern": "^[a-z0-9-]{1,40}$", "description": "What happened, as the spec calls it."},
			"level": schema{"enum": []any{"alert", "note"}, "default": "alert", "description": "An alert is delivered as a message, a note is only logged."},
			"text":  schema{"type": "string", "maxLength": maxText, "description": "What happened, in the words of the spec: never prose of the polled system."},
			"url":   schema{"type": "string", "description": "Where to look."},
		},
		"additionalProperties": schema{"type": []any{"string", "number", "boolean", "null"}, "description": "A field that the spec adds."},
	}
}

func objectSchema(rows []row, registry map[string]fetchers.Fetcher) schema {
	properties, required := schema{}, []any{}
	for _, r := range rows {
		s := r.schema(registry)
		if r.help != "" {
			s["description"] = r.help
		}
		properties[r.name] = s
		if r.need {
			required = append(required, r.name)
		}
	}
	out := schema{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		out["required"] = required
	}
	return out
}

const durationPattern = `^([0-9]+(\.[0-9]+)?(ns|us|ms|s|m|h))+$`

func durationSchema() schema {
	return schema{"type": "string", "pattern": durationPattern, "examples": []any{"5s", "10m", "1h30m"}}
}

// givenSchema is a value that the target gives.
func givenSchema() schema { return schema{"type": "string", "pattern": targetPattern} }

func namePattern(most int) string { return fmt.Sprintf("^[a-z0-9-]{1,%d}$", most) }

// schema is what may stand for a key.
func (r row) schema(registry map[string]fetchers.Fetcher) schema {
	text := func() schema { return schema{"type": "string"} }
	sub := func() schema { return objectSchema(r.sub(), registry) }
	switch r.kind {
	case kindName:
		return schema{"type": "string", "pattern": namePattern(40)}
	case kindExpr:
		return schema{"type": []any{"string", "boolean", "number"}}
	case kindDuration:
		return durationSchema()
	case kindVersion:
		return schema{"const": 1}
	case kindWord:
		return schema{"enum": anys(r.words)}
	case kindBool:
		return schema{"type": "boolean"}
	case kindAny:
		return schema{}
	case kindStrings:
		return schema{"oneOf": []any{text(), schema{"type": "array", "items": text()}}}
	case kindWords:
		return schema{"type": "array", "items": text()}
	case kindHold:
		return schema{"oneOf": []any{schema{"type": "integer", "minimum": 1, "maximum": maxHold}, durationSchema(), givenSchema()}}
	case kindItem:
		return schema{"oneOf": []any{
			schema{"$ref": "#/$defs/type"},
			schema{"type": "object", "additionalProperties": schema{"$ref": "#/$defs/type"}, "not": schema{"anyOf": []any{narrowID(), narrowURL()}}},
		}}
	case kindFetch:
		return schema{"oneOf": []any{schema{"$ref": "#/$defs/step"}, schema{"$ref": "#/$defs/steps"}}}
	case kindDefaults:
		properties := schema{}
		for name, f := range registry {
			properties[name] = optionsSchema(f)
		}
		return schema{"type": "object", "properties": properties, "additionalProperties": false}
	case kindFlagType:
		return schema{"oneOf": []any{schema{"enum": anys(flagTypes)}, schema{"type": "array", "items": text(), "minItems": 1}}}
	case kindMapOf:
		return schema{"type": "object", "additionalProperties": sub()}
	case kindListOf:
		return schema{"type": "array", "items": sub()}
	case kindObject:
		return sub()
	case kindArgs:
		return schema{"type": "array", "items": schema{"oneOf": []any{text(), sub()}}}
	case kindTexts, kindEnv:
		return schema{"type": "object", "additionalProperties": text()}
	}
	return text()
}

func anys(words []string) []any {
	out := make([]any, len(words))
	for i, w := range words {
		out[i] = w
	}
	return out
}

func narrowID() schema {
	return schema{
		"type": "object", "required": []any{"id"}, "additionalProperties": false, "description": "An id that matches the pattern.",
		"properties": schema{"id": schema{"type": "string", "not": schema{"enum": anys(typeWordNames())}}},
	}
}

func narrowURL() schema {
	return schema{
		"type": "object", "required": []any{"url"}, "additionalProperties": false, "description": "A URL of one of these hosts.",
		"properties": schema{"url": schema{"type": "array", "items": schema{"type": "string"}, "minItems": 1}},
	}
}

func typeSchema() schema {
	var words []any
	for _, t := range typeWordTable {
		words = append(words, schema{"const": t.name, "description": t.help})
	}
	list := schema{"type": "array", "items": schema{"type": "string"}, "minItems": 1, "description": "One of these words; any other is spoken as `other`."}
	return schema{"oneOf": append(words, list, narrowID(), narrowURL())}
}

// stepSchema is one step: exactly one fetcher, with `as` and `when` where it is one of several.
func stepSchema(registry map[string]fetchers.Fetcher, several bool) schema {
	properties := schema{}
	var one []any
	for _, name := range slices.Sorted(maps.Keys(registry)) {
		f := registry[name]
		if several && f.Stream {
			continue
		}
		s := optionsSchema(f)
		s["description"] = f.Help
		properties[name] = s
		one = append(one, schema{"required": []any{name}})
	}
	out := schema{"type": "object", "properties": properties, "additionalProperties": false, "oneOf": one}
	if several {
		properties["as"] = schema{"type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$", "description": "The name of the document in `doc`, and in later steps."}
		properties["when"] = schema{"type": []any{"string", "boolean"}, "description": "Whether the step runs; a step that does not is null in `doc`."}
		out["required"] = []any{"as"}
	}
	return out
}

func optionsSchema(f fetchers.Fetcher) schema {
	properties := schema{}
	for _, o := range optionsOf(f) {
		s := optionSchema(o)
		s["description"] = optionHelp(o)
		if d := jsonDefault(o); d != nil {
			s["default"] = d
		}
		properties[o.Name] = s
	}
	return schema{"type": "object", "properties": properties, "additionalProperties": false}
}

func optionHelp(o fetchers.Option) string {
	help := o.Help
	switch {
	case o.Env:
		help += ". Takes `${}`, also `${env.NAME}`."
	case o.Template == fetchers.InGlob:
		help += ". Takes `${}`, in which no character is a pattern."
	case o.Template != fetchers.NoTemplate:
		help += ". Takes `${}`."
	}
	return help
}

func jsonDefault(o fetchers.Option) any {
	switch d := o.Default.(type) {
	case nil:
		return nil
	case time.Duration:
		return short(d)
	case int64:
		if o.Type == fetchers.Size {
			return strings.ReplaceAll(speakSize(int(d)), " ", "")
		}
		return d
	case []int64, bool, string:
		return d
	}
	return nil
}

func optionSchema(o fetchers.Option) schema {
	text := schema{"type": "string"}
	switch o.Type {
	case fetchers.Word:
		return schema{"enum": anys(o.Words)}
	case fetchers.Int:
		s := schema{"type": "integer"}
		if o.Min != 0 || o.Max != 0 {
			s["minimum"], s["maximum"] = o.Min, o.Max
		}
		return s
	case fetchers.Bool:
		return schema{"type": "boolean"}
	case fetchers.Duration:
		return schema{"oneOf": []any{durationSchema(), givenSchema()}}
	case fetchers.Size:
		return schema{"oneOf": []any{schema{"type": "integer", "minimum": 0}, schema{"type": "string", "pattern": `^[0-9]+(\.[0-9]+)? *(B|KB|MB|GB)?$`}}}
	case fetchers.Ints:
		return schema{"type": "array", "items": schema{"oneOf": []any{schema{"type": "integer"}, schema{"type": "string", "pattern": "^[0-9]+-[0-9]+$"}}}}
	case fetchers.Strings:
		return schema{"type": "array", "items": schema{"type": []any{"string", "integer"}}}
	case fetchers.Map:
		return schema{"type": "object", "additionalProperties": schema{"type": []any{"string", "integer"}}}
	case fetchers.JSON:
		return schema{}
	case fetchers.Pages:
		return schema{"oneOf": []any{schema{"const": "link"}, objectSchema(rowsOf(pageKeys()), nil)}}
	}
	if o.Type == fetchers.String && o.Template != fetchers.NoTemplate {
		return schema{"type": []any{"string", "integer"}}
	}
	return text
}
