package plan

import (
	"cmp"
	"slices"

	"dither/internal/bounded"
)

// MaxCells bounds the cells of one answer, and MaxNumbers its released numbers: cells times measures. A release must fit
// into memory, and into one entry of the ledger.
const (
	MaxCells   = 100_000
	MaxNumbers = 200_000
)

// sortKeys puts keys in canonical order without repeats, and returns the place of each original one.
func sortKeys(keys []bounded.Key) (sorted []bounded.Key, place []int) {
	sorted = slices.Clone(keys)
	slices.SortStableFunc(sorted, func(a, b bounded.Key) int { return cmp.Compare(a.Expr.String(), b.Expr.String()) })
	sorted = slices.CompactFunc(sorted, func(a, b bounded.Key) bool { return a.Expr.Same(b.Expr) })
	for _, k := range keys {
		place = append(place, slices.IndexFunc(sorted, func(s bounded.Key) bool { return s.Expr.Same(k.Expr) }))
	}
	return sorted, place
}
