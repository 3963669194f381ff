// Package examples holds the specs that ship. They are also the built-in specs: `--spec NAME` finds them last.
package examples

import "embed"

// Files are the specs, each as NAME.yaml.
//
//go:embed *.yaml
var Files embed.FS
