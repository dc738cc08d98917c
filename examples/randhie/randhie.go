// Package randhie contains an example home: the RAND Health Insurance Experiment, with a policy.
package randhie

import "embed"

// Files contains policy.yaml, the source file that it names, and a README.
//
//go:embed policy.yaml randhie.csv README.md
var Files embed.FS
