package engine

import (
	"context"

	"dither/internal/bounded"
	"dither/mechanism"
)

// Historian is an engine that can name the rows of a sealed version, so that a mechanism of continual release can
// decide which of them are new. Only engines that read sealed files are.
type Historian interface {
	// Arrivals returns all rows of a sealed version that have a unit, with digests of the unit and of the row's
	// identity. The identity is the values of the named columns, as they were sealed. The digests cover the secret
	// salt. A row's cell is its index in the order of [bounded.Statement.CellKeys]. It is −1 for a row that b does not
	// keep (Where, and known values of keys) or does not count (a measure of kind CountValue whose value is NULL).
	// b's caps and parts have no effect: the mechanism bounds what a unit contributes. b must have a unit column that
	// is not real, no Source, known keys, and one measure that counts rows or values. Its error may quote rows.
	Arrivals(
		ctx context.Context, b *bounded.Statement, identity []string, salt string, from Sealed,
	) (mechanism.Arrivals, error)
}
