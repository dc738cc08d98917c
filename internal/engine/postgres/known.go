package postgres

import (
	"dither/internal/engine"
	"dither/internal/policy"
	"dither/internal/seal"
)

// Known is the copy of t that a version has, with what was recorded when it was made. Of a table that is read where it
// is, nothing that was recorded of rows is relied on: they may have changed since. t is nil where the policy no longer
// has the table.
func Known(v seal.Version, t *policy.Table) engine.Sealed {
	out := engine.Sealed{Table: v.Table, Copy: (*engine.Copy)(v.Copy), Complete: v.Facts.Complete()}
	out.MostRows, out.MostPerKey, out.Stored = v.Bounds(t)
	return out
}
