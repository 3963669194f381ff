package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/sessevents/sessevents/cmd/internal/client"
	"github.com/sessevents/sessevents/internal/shellwords"
	"github.com/sessevents/sessevents/specs"
)

type initCmd struct {
	Name  string `arg:"" help:"The name of the source: small letters, digits and -, at most 40."`
	Fetch string `enum:"${starters}" default:"http" help:"How it asks: ${enum}."`
	Out   string `placeholder:"FILE" help:"Where to write it; default NAME.yaml in this folder; - prints it."`
}

// Run writes a new spec, executable, that lints and tests clean.
func (i *initCmd) Run(c *call) error {
	text, err := specs.Init(i.Name, i.Fetch)
	if err != nil {
		return client.Usagef("", "%v", err)
	}
	if i.Out == "-" {
		_, err := fmt.Fprint(c.Out, text)
		return err
	}
	file := i.Out
	if file == "" {
		file = i.Name + ".yaml"
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if errors.Is(err, os.ErrExist) {
		return client.Usagef("choose another with --out, or remove it", "%s is there already", file)
	}
	if err != nil {
		return err
	}
	if _, err := f.WriteString(text); err != nil {
		return errors.Join(err, f.Close(), os.Remove(file))
	}
	if err := f.Close(); err != nil {
		return err
	}
	fmt.Fprintf(c.Out, "wrote %s\nnext: %s lint %s && %s test %s\n", file, c.Program, shellwords.Quote(file), c.Program, shellwords.Quote(file))
	return nil
}
