package postgres

import (
	"dither/internal/engine"
	"dither/internal/seal"
)

// Known is the copy that a version has, with what was recorded when it was made. Of a table that is read where it is, nothing that was recorded of rows is relied
// on: they may have changed since.
func Known(v seal.Version) engine.Sealed {
	return engine.Sealed{Table: v.Table, Copy: (*engine.Copy)(v.Copy), Complete: v.Facts.Complete()}
}
