package client

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/sessevents/sessevents/engine/control"
	"github.com/sessevents/sessevents/engine/rundir"
)

// Status shows what a daemon says of itself.
type Status struct {
	Serving
	JSON bool `name:"json" help:"Print one JSON object."`
}

// Run shows what a daemon says of itself.
func (s *Status) Run(c *Call) error {
	_, r, err := s.ask(c, control.Request{Op: control.Status})
	if err != nil {
		return err
	}
	if s.JSON {
		return PrintJSON(c.Out, r.Report)
	}
	printReport(c.Out, r.Report, time.Now())
	return nil
}

// PrintJSON prints v as a person reads it.
func PrintJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

func printReport(w io.Writer, r *control.Report, now time.Time) {
	line := func(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }
	line("%s daemon %d for %s, up %s", r.Name, r.PID, ownerName(r.Owner), now.Sub(r.StartedAt).Round(time.Second))
	line("socket  %s", r.Files.Socket)
	line("state   %s", r.Files.State)
	line("events  %s (%d)", r.Files.Events, r.Events)
	line("log     %s", r.Files.Log)
	line("polls   every %gs to %gs; last %s, next %s", r.IntervalSeconds, r.IdleIntervalSeconds, ago(now, r.LastPoll), until(now, r.NextPoll))
	if f := r.LastFailure; f != nil {
		line("        last failure %s: %s", ago(now, &f.At), failureText(*f))
	}
	if r.ReloadError != "" {
		line("        the changed spec is not taken up: %s", r.ReloadError)
	}
	for _, l := range r.Limits {
		line("        %s asked for patience: nothing is asked of it for %gs", l.Host, l.LeftSeconds)
	}
	if r.Delivery != nil {
		printDelivery(line, r.Delivery, now)
	}
	line("targets %d", len(r.Targets))
	for _, t := range r.Targets {
		line("  %s", t.Text)
		for _, s := range t.Summary {
			line("    %s", s)
		}
		if t.Failures > 0 && t.LastFailure != nil {
			line("    failed %d times in a row; %s: %s", t.Failures, ago(now, &t.LastFailure.At), t.LastFailure.Reason)
		}
	}
	if len(r.Recent) > 0 {
		line("last events")
	}
	for _, e := range r.Recent {
		level := ""
		if !e.IsAlert() {
			level = " (note)"
		}
		line("  %d %s %s%s: %s", e.ID, e.At.UTC().Format(time.RFC3339), e.Kind, level, e.Text)
	}
}

func printDelivery(line func(string, ...any), d *control.Delivery, now time.Time) {
	text := fmt.Sprintf("messages mode %s; %d sent, last %s", d.Mode, d.Sent, ago(now, d.LastSent))
	if d.Pending > 0 {
		text += fmt.Sprintf("; %s waiting", Count(d.Pending, "alert"))
		if d.Since != nil {
			text += " since " + d.Since.Format(time.RFC3339)
		}
	}
	line("%s", text)
	if d.LastError != "" {
		line("        last error: %s", d.LastError)
	}
	if d.Warning != "" {
		line("        warning: %s", d.Warning)
	}
	for _, r := range d.Reports {
		id := r.MsgID
		if id == "" {
			id = "of that time" // the client names only ids of its own form
		}
		line("        %s the session reports: message %s %s: %s", r.At.Format(time.RFC3339), id, r.Status, r.Reason)
	}
}

func failureText(f control.Failure) string {
	if f.Target == "" {
		return f.Reason
	}
	return f.Target + ": " + f.Reason
}

// ownerName is whom a daemon serves, in the words that its own log uses.
func ownerName(o control.Owner) string { return rundir.Owner{ID: o.ID, PID: o.PID}.String() }

func until(now time.Time, t *time.Time) string {
	switch {
	case t == nil:
		return "none planned"
	case !t.After(now):
		return "now"
	}
	return "in " + t.Sub(now).Round(time.Second).String()
}
