package client

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/sessevents/sessevents/engine/control"
	"github.com/sessevents/sessevents/engine/rundir"
)

// List shows every daemon of this user.
type List struct {
	JSON bool `name:"json" help:"Print a JSON list of status objects."`
}

// Run shows every daemon in the runtime directory. Sockets that nobody listens on are passed over: the next start
// removes them.
func (l *List) Run(c *Call) error {
	dir, _, err := rundir.Open(c.Getenv)
	if err != nil {
		return err
	}
	sockets, err := filepath.Glob(filepath.Join(GlobQuote(dir), "*.sock"))
	if err != nil {
		return err
	}
	reports := make([]*control.Report, len(sockets))
	silent := make([]error, len(sockets))
	var wg sync.WaitGroup
	for i, socket := range sockets {
		wg.Go(func() {
			r, err := control.Ask(c.Ctx, socket, control.Request{Op: control.Status})
			reports[i] = r.Report
			if err != nil && !errors.Is(err, control.ErrNoDaemon) {
				silent[i] = err
			}
		})
	}
	wg.Wait()
	found := []*control.Report{}
	for i := range sockets {
		if reports[i] != nil {
			found = append(found, reports[i])
		}
		if silent[i] != nil {
			fmt.Fprintf(c.Err, "warning: %s does not answer: %v\n", sockets[i], silent[i])
		}
	}
	if l.JSON {
		return PrintJSON(c.Out, found)
	}
	if len(found) == 0 {
		fmt.Fprintf(c.Out, "no daemons in %s\n", dir)
		return nil
	}
	now := time.Now()
	tw := tabwriter.NewWriter(c.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "NAME\tOWNER\tPID\tTARGETS\tEVENTS\tLAST POLL\tNEXT POLL\tPENDING")
	for _, r := range found {
		pending := "-"
		if r.Delivery != nil {
			pending = fmt.Sprint(r.Delivery.Pending)
		}
		fmt.Fprintf(tw, "%s\t%s\t%d\t%d\t%d\t%s\t%s\t%s\n", r.Name, ownerName(r.Owner), r.PID, len(r.Targets), r.Events, ago(now, r.LastPoll), until(now, r.NextPoll), pending)
	}
	return tw.Flush()
}

// GlobQuote makes the characters that mean something in a pattern mean themselves.
func GlobQuote(s string) string {
	var q []rune
	for _, r := range s {
		if r == '*' || r == '?' || r == '[' || r == '\\' {
			q = append(q, '\\')
		}
		q = append(q, r)
	}
	return string(q)
}
