package postgres

import (
	"dither/internal/engine"
	"dither/internal/policy"
	"dither/internal/seal"
)

// Known returns the sealed version v: its copy, with the facts recorded when the copy was made. Statements over a
// table that is read in place use no recorded fact, because its rows may have changed since sealing. t is the table
// in the current policy, or nil if the policy no longer has it.
func Known(v seal.Version, t *policy.Table) engine.Sealed {
	out := engine.Sealed{Table: v.Table, Copy: (*engine.Copy)(v.Copy), Complete: v.Facts.Complete()}
	out.MostRows, out.MostPerKey, out.Stored = v.Bounds(t)
	return out
}
