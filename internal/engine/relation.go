package engine

import (
	"fmt"
	"slices"
	"strings"

	"dither/internal/bounded"
	"dither/internal/value"
)

// The parts of statements over a bounded.Source that all engines share. They decide which of a unit's rows count if
// not all do, so all engines must decide alike.

// Content is a column of a row's contents, by which rows are ordered.
type Content struct {
	Name string
	Type value.Type
}

// Contents returns the columns of a row's contents: its keys and values. Rows of one unit with equal contents
// contribute the same, so it does not matter which of them count.
func Contents(b *bounded.Statement) (out []Content) {
	for i, k := range b.Keys {
		out = append(out, Content{fmt.Sprintf("k%d", i), k.Expr.Type})
	}
	if b.Other {
		out = append(out, Content{"o", value.Boolean})
	}
	for i, m := range b.Measures {
		of := value.Integer // sums and counts are integers on a grid
		if m.Kind == bounded.CountDistinct {
			of = m.X.Type
		}
		out = append(out, Content{fmt.Sprintf("v%d", i), of})
	}
	return out
}

// Digested returns the SQL of the text whose SHA-256 orders the rows of a unit. The text consists of the unit, if
// the SQL for it is not "", and of the contents. A digest prefers neither small nor large values. Without the unit,
// it would prefer the same values in all units, which would bias sums and quantiles. The text omits reals, because
// engines write them differently. Digested returns "" if nothing remains.
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

// WithinOnce returns the columns Within of a join without repetition. ON a.k = r.k AND a.i = r.k, for example,
// lists r.k twice. A repetition would not change the partition, but SQL refuses a subselect with two columns of the
// same name.
func WithinOnce(s *bounded.Source) []int {
	out := slices.Clone(s.Within)
	slices.Sort(out)
	return slices.Compact(out)
}

// Enough returns the largest number of rows of a unit for which no order of the rows matters: all these rows count, and
// all their groups. Statements do not number the rows of a unit with so few rows. The column q, a row's place in the
// order of its unit's rows, is 0 in each of them.
//
// Claim: everything that reads q keeps all rows and cells of such a unit, as it would with true places. Let the
// unit have n ≤ Enough rows left. Within one unit, either all places are 0, or all are the true ones, 1, 2, ….
// Nothing compares the places of two units.
//   - A cap on rows keeps q ≤ Rows. It keeps q = 0. True places are at most n ≤ Rows, so it keeps them too.
//   - A cap on groups orders a unit's cells by their least q, numbers them by row_number or dense_rank, and keeps
//     the numbers up to Groups. The unit has at most n ≤ Groups cells, so each number is at most Groups, whatever
//     the order of ties. This includes a cap Groups beside a cap on rows, which is for counts of units.
//   - An ordered statement numbers the unit's rows in a cell, and keeps the numbers up to RowsPerGroup. A cell has
//     at most n ≤ RowsPerGroup rows of the unit.
//   - A join keeps the rows of its second input with q ≤ Most. Within a part, the rows with one unit or one value of
//     the columns Within, it numbers the rows if there are more than Most, as a cap on rows does. So does a
//     bounded.Owned with q ≤ Stored.
//
// Nothing else reads q. The contribution of a unit is a sum or a count over the kept rows, which no order changes.
// So it is the same function of the unit's own rows as with true places. ∎
func Enough(b *bounded.Statement) int64 {
	least := b.Caps.Rows
	if b.Caps.Groups > 0 && (least == 0 || b.Caps.Groups < least) {
		least = b.Caps.Groups
	}
	if b.Ordered && b.Caps.Groups > 0 { // the rows of each cell are capped too
		least = min(least, b.Caps.RowsPerGroup)
	}
	return least
}
