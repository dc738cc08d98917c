package duckdb

import (
	"dither/internal/engine"
	"dither/internal/seal"
)

// Known is a sealed file with what was recorded when it was sealed.
func Known(v seal.Version) engine.Sealed {
	return engine.Sealed{Table: v.Table, File: v.File, OneRowEach: v.Facts.MaxRowsPerUnit <= 1, Complete: v.Facts.Complete()}
}
