package duckdb

import (
	"dither/internal/engine"
	"dither/internal/policy"
	"dither/internal/seal"
)

// Known returns the sealed version v with the facts that sealing recorded about it, such as the most rows of one unit.
// t is its table in the current policy, or nil if the policy no longer has the table.
func Known(v seal.Version, t *policy.Table) engine.Sealed {
	out := engine.Sealed{
		Table:      v.Table,
		File:       v.File,
		OneRowEach: v.Facts.MaxRowsPerUnit <= 1,
		Complete:   v.Facts.Complete(),
	}
	out.MostRows, out.MostPerKey, out.Stored = v.Bounds(t)
	return out
}
