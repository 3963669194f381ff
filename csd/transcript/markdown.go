package transcript

import "io"

// Render writes a turn as Markdown. Results of tools are cut to five lines unless full is set; those of a tool that
// failed never are.
func Render(w io.Writer, t Turn, full bool) error { return nil }
