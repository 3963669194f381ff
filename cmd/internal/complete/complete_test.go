package complete

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

type program struct {
	Spec  string `help:"A spec."`
	Quiet bool   `help:"Say less."`
	Watch struct {
		Mode   string   `enum:"bypass,prompting" default:"bypass"`
		Tag    []string `help:"Given more than once."`
		Target []string `arg:"" passthrough:"all"`
	} `cmd:"" help:"Watch a\ntarget."`
	Print struct {
		Of string `arg:"" enum:"spec,event"`
	} `cmd:"" aliases:"show"`
	Hidden struct{} `cmd:"" hidden:""`
}

func completer(t *testing.T, asked *Place) Completer {
	t.Helper()
	parser, err := kong.New(&program{}, kong.Name("program"))
	if err != nil {
		t.Fatal(err)
	}
	return Completer{Model: parser.Model, Values: func(p Place) Values {
		*asked = p
		return Values{List: []Candidate{{Word: "value"}, {Word: "va:lue#2 & more"}}, Files: true}
	}}
}

func TestWordsOfTheGrammar(t *testing.T) {
	for line, want := range map[string]string{
		"":                                "watch print",
		"w":                               "watch",
		"x":                               "",
		"--":                              "--help --spec --quiet",
		"--spec x --q":                    "--quiet",
		"--spec x --s":                    "", // given
		"watch --":                        "--help --spec --quiet --mode --tag",
		"watch --tag 1 --t":               "--tag",
		"watch --mode ":                   "bypass prompting",
		"watch --mode=p":                  "--mode=prompting",
		"watch --mode bypass --mo":        "",
		"print ":                          "spec event",
		"show e":                          "event",
		"print spec ":                     "",
		"--quiet print ":                  "spec event",
		"--quiet=":                        "",
		"--nothing=":                      "",
		"--nothing print ":                "spec event",
		"-h print ":                       "spec event",
		"watch -- --mode":                 "",
		"hidden --qu":                     "--quiet", // it is not offered, and it works
		"watch target --unknown --mode b": "bypass",
	} {
		var asked Place
		var words []string
		for _, c := range completer(t, &asked).Complete(strings.Split(line, " ")).List {
			words = append(words, c.Word)
		}
		if got := strings.Join(words, " "); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

func TestTheProgramIsAskedForTheRest(t *testing.T) {
	for line, want := range map[string]Place{
		"--spec v":                  {Flag: "spec"},
		"--spec=v":                  {Flag: "spec"},
		"watch --tag ":              {Command: "watch", Flag: "tag"},
		"watch v":                   {Command: "watch"},
		"--spec s watch a --tag=t ": {Command: "watch", Words: []string{"a"}, Flags: map[string]string{"spec": "s", "tag": "t"}},
		"watch -- --spec ":          {Command: "watch", Words: []string{"--spec"}},
	} {
		var asked Place
		got := completer(t, &asked).Complete(strings.Split(line, " "))
		if asked.Command != want.Command || asked.Flag != want.Flag || !slices.Equal(asked.Words, want.Words) {
			t.Errorf("%q asks for %+v, want %+v", line, asked, want)
		}
		for name, value := range want.Flags {
			if asked.Flags[name] != value {
				t.Errorf("%q: flag %s is %q, want %q", line, name, asked.Flags[name], value)
			}
		}
		if !got.Files || len(got.List) == 0 {
			t.Errorf("%q: the program's answer is lost: %+v", line, got)
		}
	}
}

func TestBashLines(t *testing.T) {
	for line, want := range map[string]string{
		"program --spec va":              "value\t|va:lue#2\\ \\&\\ more\t|:files|",
		"program --spec=va":              "value\t|va:lue#2\\ \\&\\ more\t|:files|", // bash has cut --spec= off
		"program watch va:":              "lue#2\\ \\&\\ more\t|:files|",
		`program watch "va`:              "value\t|va:lue#2 & more\t|:files|",
		`program watch 'va:lue#2 & m`:    "va:lue#2 & more\t|:files|",
		`program watch va:lue\#2\ \&\ m`: "lue#2\\ \\&\\ more\t|:files|",
		"program wat":                    "watch\tWatch a target.|", // the help on one line
		"program":                        "",
	} {
		var asked Place
		var out bytes.Buffer
		completer(t, &asked).Run(&out, []string{"bash", line, " =:\"'"})
		if got := strings.ReplaceAll(out.String(), "\n", "|"); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

func TestScriptsNameTheProgram(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish"} {
		script, err := Script(shell, "my-program")
		if err != nil || strings.Contains(script, "@") && shell == "fish" || !strings.Contains(script, "my_program_complete") || !strings.Contains(script, Command) {
			t.Errorf("%s: %v\n%s", shell, err, script)
		}
	}
	if _, err := Script("tcsh", "program"); err == nil {
		t.Error("a script for tcsh")
	}
}

// FuzzBashLine holds a line of any bytes to this: no panic, and never more lines than candidates.
func FuzzBashLine(f *testing.F) {
	for _, line := range []string{"program --spec=x", `p "a b`, `p 'a\' \`, "p --mode=", "p\x00\xff\n--", ""} {
		f.Add(line, " =:")
	}
	f.Fuzz(func(t *testing.T, line, breaks string) {
		var asked Place
		var out bytes.Buffer
		c := completer(&testing.T{}, &asked)
		c.Run(&out, []string{"bash", line, breaks})
		if n := strings.Count(out.String(), "\n"); n > 8 {
			t.Errorf("%d lines:\n%s", n, out.String())
		}
	})
}
