package client

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Command is one of this package's commands, told what to do.
type Command interface {
	Run(c *Call) error
}

// Read reads a command line of this package's commands, where it leaves no doubt: each flag given once and spelled out,
// each value plain. Everything else, and so every fault and every call for help, is for the program that has the whole
// grammar; a test of it holds the two to the same reading.
func Read(args []string) (command Command, spec string, ok bool) {
	if slices.ContainsFunc(args, func(word string) bool { return !utf8.ValidString(word) }) {
		return nil, "", false // the grammar's parser mends them
	}
	r := reading{words: Hoist(args), flags: map[string]func(string) bool{"--spec": plain(&spec)}}
	if at := CommandAt(r.words); at < len(r.words) {
		command = r.expect(r.words[at])
	}
	if command == nil {
		return nil, "", false
	}
	named := false
	for len(r.words) > 0 {
		word := r.words[0]
		r.words = r.words[1:]
		switch {
		case strings.HasPrefix(word, "-"):
			if !r.flag(word) {
				return nil, "", false
			}
		case !named:
			named = true // the command itself
		case r.target != nil:
			*r.target, r.words = append([]string{word}, r.words...), nil
		default:
			return nil, "", false
		}
	}
	return command, spec, !r.needsTarget || len(*r.target) > 0
}

// reading is how far a command line is read.
type reading struct {
	words       []string
	flags       map[string]func(value string) bool // that may still come, and what takes their values
	switches    map[string]*bool                   // flags without a value
	target      *[]string                          // what takes the words of a target; nil: there are none
	needsTarget bool
}

// expect makes the command of that name and says what may come with it; nil: it is none of this package's.
func (r *reading) expect(name string) Command {
	serving := func(s *Serving) { r.flags["--id"] = plain(&s.ID) }
	switch name {
	case "status":
		s := &Status{}
		serving(&s.Serving)
		r.switches = map[string]*bool{"--json": &s.JSON}
		return s
	case "list":
		l := &List{}
		r.switches = map[string]*bool{"--json": &l.JSON}
		return l
	case "wait":
		w := &Wait{}
		serving(&w.Serving)
		r.flags["--since"] = whole(&w.Since)
		r.flags["--timeout"] = func(value string) bool { w.Timeout = new(float64); return decimal(w.Timeout)(value) }
		return w
	case "follow":
		f := &Follow{}
		serving(&f.Serving)
		r.flags["--since"] = func(value string) bool { f.Since = new(int64); return whole(f.Since)(value) }
		return f
	case "watch":
		w := &Watch{}
		serving(&w.Serving)
		r.target, r.needsTarget = &w.Words, true
		return w
	case "unwatch":
		u := &Unwatch{}
		serving(&u.Serving)
		r.switches = map[string]*bool{"--all": &u.All}
		r.target = &u.Words
		return u
	case "poll":
		p := &Poll{}
		serving(&p.Serving)
		return p
	case "stop":
		s := &Stop{}
		serving(&s.Serving)
		return s
	}
	return nil
}

// flag takes a flag and its value.
func (r *reading) flag(word string) bool {
	if on := r.switches[word]; on != nil && !*on {
		*on = true
		return true
	}
	name, value, joined := strings.Cut(word, "=")
	take := r.flags[name]
	if take == nil {
		return false
	}
	delete(r.flags, name)
	if !joined {
		if len(r.words) == 0 {
			return false
		}
		value, r.words = r.words[0], r.words[1:]
	}
	return take(value)
}

// plain takes a text that looks like no flag.
func plain(into *string) func(string) bool {
	return func(value string) bool {
		*into = value
		return value != "" && value[0] != '-'
	}
}

// whole takes a number as everybody writes it: no sign, no leading zero, no more digits than surely fit.
func whole(into *int64) func(string) bool {
	return func(value string) bool {
		n, err := strconv.ParseInt(value, 10, 64)
		*into = n
		return err == nil && digits(value) && (value == "0" || value[0] != '0') && len(value) < 16
	}
}

// decimal takes a whole number, or one with a decimal point in it.
func decimal(into *float64) func(string) bool {
	return func(value string) bool {
		n, err := strconv.ParseFloat(value, 64)
		*into = n
		before, after, point := strings.Cut(value, ".")
		return err == nil && digits(before) && (digits(after) || !point) && len(value) < 16
	}
}

func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
