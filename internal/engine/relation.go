package engine

import (
	"fmt"
	"slices"
	"strings"

	"dither/internal/bounded"
	"dither/internal/value"
)

// The parts that statements over a bounded.Source share: which of a unit's rows count, when not all do, is the same on
// every engine.

// Content is a column by which rows are ordered.
type Content struct {
	Name string
	Type value.Type
}

// Contents are a row's keys and values. Rows of a unit with equal contents add the same, whichever of them count.
func Contents(b *bounded.Statement) (out []Content) {
	for i, k := range b.Keys {
		out = append(out, Content{fmt.Sprintf("k%d", i), k.Expr.Type})
	}
	if b.Other {
		out = append(out, Content{"o", value.Boolean})
	}
	for i, m := range b.Measures {
		of := value.Integer // on a grid
		if m.Kind == bounded.CountDistinct {
			of = m.X.Type
		}
		out = append(out, Content{fmt.Sprintf("v%d", i), of})
	}
	return out
}

// Digested is the text whose SHA-256 comes first in the order: the unit as a text, if there is one, and the contents.
// The digest favours neither small nor large values. Since the unit is part of it, it does not favour the same values
// for all units either, which would bias sums and quantiles however many units there are. It omits reals, because each
// engine writes them in its own way. It is "" if nothing remains.
func Digested(unit string, contents []Content) string {
	var parts []string
	if unit != "" {
		parts = append(parts, unit)
	}
	for _, c := range contents {
		if c.Type != value.Real {
			parts = append(parts, "coalesce(CAST("+c.Name+" AS VARCHAR), '~')")
		}
	}
	return strings.Join(parts, " || '|' || ")
}

// WithinOnce are the columns by which a join partitions its second input's rows, each once. ON a.k = r.k AND a.i = r.k
// names r.k twice; that partitions no further, and a name that a subselect has twice is ambiguous.
func WithinOnce(s *bounded.Source) []int {
	out := slices.Clone(s.Within)
	slices.Sort(out)
	return slices.Compact(out)
}

// Enough is a number of rows of a unit that all count, with their groups, whatever their order. Statements do not rank
// a unit with so few rows: the place q of each of its rows is 0.
//
// Claim: every consumer of q keeps all rows and cells of such a unit, as it would with true places. Let the unit have n
// ≤ Enough remaining rows. The places in one unit are all 0, or are all true ones: 1, 2, …. No consumer compares
// the places of two units.
//   - A cap on rows keeps q ≤ Rows. It keeps 0; and true places are at most n ≤ Rows.
//   - A cap on groups orders a unit's cells by their least q, numbers them by row_number or dense_rank, and keeps
//     the numbers up to Groups. The unit has at most n ≤ Groups cells, so each number is at most Groups, however ties
//     fall. This includes Groups beside a cap on rows, which is for counts of units.
//   - Rows in order are numbered within a cell, and the numbers up to RowsPerGroup are kept. A cell has at most n ≤
//     RowsPerGroup rows of the unit.
//   - A join takes the rows of its second input with q ≤ Most, and ranks the parts of more than Most rows: as a cap
//     on rows. So does a bounded.Owned with q ≤ Stored.
//
// Nothing else reads q. What a unit adds is a sum or a count over the kept rows, which no order changes. So it is the
// same function of the unit's own rows as with true places. ∎
func Enough(b *bounded.Statement) int64 {
	least := b.Caps.Rows
	if b.Caps.Groups > 0 && (least == 0 || b.Caps.Groups < least) {
		least = b.Caps.Groups
	}
	if b.Ordered && b.Caps.Groups > 0 { // then the rows in a group are counted too
		least = min(least, b.Caps.RowsPerGroup)
	}
	return least
}
