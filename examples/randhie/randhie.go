// Package randhie contains an example home: the RAND Health Insurance Experiment, with a policy.
package randhie

import "embed"

// Files holds policy.yaml, the source that it names, and their README.
//
//go:embed policy.yaml randhie.csv README.md
var Files embed.FS
