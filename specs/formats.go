package specs

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"
)

// Formats are the forms in which diagnostics can be written.
var Formats = []string{"text", "json", "sarif", "github"}

// Write writes diagnostics in a format of [Formats]; color counts for text only.
func (ds Diagnostics) Write(w io.Writer, format string, color bool) error {
	switch format {
	case "text":
		return ds.WriteText(w, color)
	case "json":
		return ds.writeJSON(w)
	case "sarif":
		return ds.writeSARIF(w)
	case "github":
		return ds.writeGitHub(w)
	}
	return fmt.Errorf("no format %q: one of %s", format, strings.Join(Formats, ", "))
}

// maxSource bounds a line that is written with its fault: a reader of JSON has the file.
const maxSource = 2000

// writeJSON writes one list of objects.
func (ds Diagnostics) writeJSON(w io.Writer) error {
	ds = append(Diagnostics{}, ds...)
	for i := range ds {
		if len(ds[i].Source) > maxSource {
			ds[i].Source = ""
		}
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(ds)
}

// writeGitHub writes the workflow commands that GitHub Actions shows at the lines of a pull request.
func (ds Diagnostics) writeGitHub(w io.Writer) error {
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	message := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	var b strings.Builder
	for _, d := range ds {
		text := d.Message
		if d.Hint != "" {
			text += "\n" + d.Hint
		}
		fmt.Fprintf(&b, "::%s file=%s", d.Severity, property.Replace(d.File))
		if d.Line > 0 {
			fmt.Fprintf(&b, ",line=%d,col=%d,endColumn=%d", d.Line, d.Column, d.Column+d.Width)
		}
		fmt.Fprintf(&b, ",title=%s::%s\n", property.Replace(d.Code), message.Replace(text))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// The part of SARIF 2.1.0 that we write: https://docs.oasis-open.org/sarif/sarif/v2.1.0/.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool       sarifTool     `json:"tool"`
		ColumnKind string        `json:"columnKind"`
		Results    []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name  string      `json:"name"`
		Rules []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID               string       `json:"id"`
		ShortDescription sarifMessage `json:"shortDescription"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId"`
		RuleIndex int             `json:"ruleIndex"`
		Level     string          `json:"level"`
		Message   sarifMessage    `json:"message"`
		Locations []sarifLocation `json:"locations"`
	}
	sarifMessage struct {
		Text string `json:"text"`
	}
	sarifLocation struct {
		PhysicalLocation sarifPlace `json:"physicalLocation"`
	}
	sarifPlace struct {
		ArtifactLocation sarifFile    `json:"artifactLocation"`
		Region           *sarifRegion `json:"region,omitempty"`
	}
	sarifFile struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn"`
		EndColumn   int `json:"endColumn"`
	}
)

func (ds Diagnostics) writeSARIF(w io.Writer) error {
	run := sarifRun{ColumnKind: "unicodeCodePoints", Results: []sarifResult{}}
	run.Tool.Driver = sarifDriver{Name: "sessevents", Rules: []sarifRule{}}
	index := map[string]int{}
	for _, d := range ds {
		at, known := index[d.Code]
		if !known {
			at = len(run.Tool.Driver.Rules)
			index[d.Code] = at
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{ID: d.Code, ShortDescription: sarifMessage{codeHelp(d.Code)}})
		}
		text := d.Message
		if d.Hint != "" {
			text += "\n" + d.Hint
		}
		place := sarifPlace{ArtifactLocation: sarifFile{URI: fileURI(d.File)}}
		if d.Line > 0 {
			place.Region = &sarifRegion{StartLine: d.Line, StartColumn: d.Column, EndColumn: d.Column + d.Width}
		}
		run.Results = append(run.Results, sarifResult{
			RuleID: d.Code, RuleIndex: at, Level: string(d.Severity), Message: sarifMessage{text}, Locations: []sarifLocation{{place}},
		})
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}})
}

// fileURI is a path as a URI reference, relative where the path is.
func fileURI(path string) string {
	p := (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath()
	if filepath.IsAbs(path) {
		return "file://" + p
	}
	return p
}
