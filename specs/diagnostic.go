package specs

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Severity says whether a diagnostic stops a spec from running.
type Severity string

const (
	// Error is a fault: the spec does not run.
	Error Severity = "error"
	// Warning is a doubt: the spec runs, lint names it.
	Warning Severity = "warning"
)

// Diagnostic is one fault of one file, at its place.
type Diagnostic struct {
	File string `json:"file"`
	// Line and Column count from 1; a column is a character, not a byte. Both are 0 where the file as a whole is
	// meant: it cannot be read.
	Line   int `json:"line"`
	Column int `json:"column"`
	// Width is how many characters the caret underlines, at least 1.
	Width    int      `json:"width"`
	Severity Severity `json:"severity"`
	// Code is stable: tools may match on it. docs/lint.md has a part for each.
	Code    string `json:"code"`
	Message string `json:"message"`
	// Hint says what to write instead; it may be empty.
	Hint string `json:"hint,omitempty"`
	// Source is the line it stands in; in JSON it is left out where it is very long.
	Source string `json:"source,omitempty"`

	hidden int // how many it stands for, of the code "more"
}

// more stands for n diagnostics of a file that are not told.
func more(file string, severity Severity, n int) Diagnostic {
	return Diagnostic{File: file, Width: 1, Severity: severity, Code: "more", Message: fmt.Sprintf("%d more findings of this file are not shown", n), Hint: "mend what is shown first", hidden: n}
}

// Diagnostics are the faults of one or more files.
type Diagnostics []Diagnostic

// HasErrors reports whether one of them stops its spec from running.
func (ds Diagnostics) HasErrors() bool {
	return slices.ContainsFunc(ds, func(d Diagnostic) bool { return d.Severity == Error })
}

// Count is how many there are, with those that are not told.
func (ds Diagnostics) Count() (n int) {
	for _, d := range ds {
		n += max(d.hidden, 1)
	}
	return n
}

// bounded is the sorted diagnostics of one file, of which the last ones are not told where there are too many.
func (ds Diagnostics) bounded() Diagnostics {
	ds = ds.Sort()
	hidden, severity, file := 0, Warning, ""
	for i := len(ds) - 1; i >= 0 && (i >= maxFound || ds[i].hidden > 0); i-- {
		hidden += max(ds[i].hidden, 1)
		if file = ds[i].File; ds[i].Severity == Error {
			severity = Error
		}
		ds = ds[:i]
	}
	if hidden == 0 {
		return ds
	}
	return append(ds, more(file, severity, hidden))
}

// Sort orders by file and place, and drops what was said twice. What stands for more of a file comes last of it.
func (ds Diagnostics) Sort() Diagnostics {
	slices.SortStableFunc(ds, func(a, b Diagnostic) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(min(a.hidden, 1), min(b.hidden, 1)), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column),
			strings.Compare(a.Code, b.Code), strings.Compare(a.Message, b.Message))
	})
	return slices.Compact(ds)
}

// Error makes a list with faults usable as an error: the first fault, and how many more there are.
func (ds Diagnostics) Error() string {
	for _, d := range ds {
		if d.Severity == Error {
			return d.place() + ": " + d.Message
		}
	}
	return "no faults"
}

// nearest is the word of words that a typing fault of got would most likely have meant; empty where none is near.
func nearest(got string, words []string) string {
	best, least := "", len([]rune(got))/3+1
	for _, w := range words {
		if strings.EqualFold(got, w) && got != w {
			return w
		}
		if d := distance(strings.ToLower(got), strings.ToLower(w)); d <= least && (best == "" || d < least) {
			best, least = w, d
		}
	}
	return best
}

// distance counts the insertions, deletions, changes and swaps of neighbours between two short words.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	if len(x) > 64 || len(y) > 64 {
		return 99
	}
	rows := make([][]int, len(x)+1)
	for i := range rows {
		rows[i] = make([]int, len(y)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(x); i++ {
		for j := 1; j <= len(y); j++ {
			change := 1
			if x[i-1] == y[j-1] {
				change = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+change)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(x)][len(y)]
}

// hintNearest is the hint for a word that is not one of words.
func hintNearest(got string, words []string) string {
	if w := nearest(got, words); w != "" {
		return "did you mean `" + w + "`?"
	}
	if len(words) > 0 {
		return "one of: " + strings.Join(words, ", ")
	}
	return ""
}

// printable is s with what would disturb a terminal replaced.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' || unicode.IsPrint(r) {
			return r
		}
		return '\uFFFD'
	}, s)
}
