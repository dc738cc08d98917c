package postgres

import (
	"dither/internal/engine"
	"dither/internal/policy"
	"dither/internal/seal"
)

// Known is a version's copy of t, with the facts recorded when it was made. For a table that is read in place no
// recorded fact is used, because its rows may have changed since. t is nil if the policy no longer has the table.
func Known(v seal.Version, t *policy.Table) engine.Sealed {
	out := engine.Sealed{Table: v.Table, Copy: (*engine.Copy)(v.Copy), Complete: v.Facts.Complete()}
	out.MostRows, out.MostPerKey, out.Stored = v.Bounds(t)
	return out
}
