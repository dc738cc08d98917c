// Package randhie carries an example home: the RAND Health Insurance Experiment and a policy for it.
package randhie

import "embed"

// Files holds policy.yaml, the source that it names, and their README.
//
//go:embed policy.yaml randhie.csv README.md
var Files embed.FS
