package duckdb

import (
	"fmt"
	"strings"

	"dither/internal/bounded"
	"dither/internal/engine"
)

// To read and test every row's rank takes half as long as a count by group. If few rows have a rank above the cap,
// the statement adds up all rows, and subtracts those few. Sealing puts the units with many rows at the end of the
// file, so DuckDB reads only that end for them.
//
// Claim: the sums are those of the rows with ranks up to the cap. Proof. Of the rows of a group, each has a rank up
// to the cap or above it, and contributes an integer. So the sum over all rows is that over the ones plus that over
// the others, and HUGEINT holds each of the three. ∎
//
// The proof does not need that these rows are few. The fact selects the form where about a quarter of all rows are
// beyond the cap. There both forms take about as long, so the time of an answer hardly depends on the rows of one
// unit that decide this fact.

// subtracts reports whether the rows beyond the cap are subtracted, for b as in dropsLate. The caller makes sure that
// nothing but missing units and keys drops rows.
func subtracts(b *bounded.Statement, known engine.Sealed) bool {
	return b.Unit != nil && !known.OneRowEach && !everyRowCounts(b, known) && known.Stored == 0 &&
		known.FewBeyond > 0 && known.FewBeyond <= b.Caps.Rows
}

// beyond returns the rows of raw over scan whose rank is above the cap.
func beyond(raw *bounded.Statement, scan string, known engine.Sealed) string {
	return evaluated(raw, fmt.Sprintf("(SELECT * FROM %s WHERE %s > %d)", scan, rankColumn, raw.Caps.Rows), known)
}

// subtracted returns the SELECT of the groups of all rows, less those of the further rows. The columns of both are
// the keys and then the sums, in this order.
func subtracted(all, further string, keys, sums []string) string {
	out, minus := append([]string{}, keys...), append([]string{}, keys...)
	for _, s := range sums {
		out, minus = append(out, fmt.Sprintf("sum(%[1]s) AS %[1]s", s)), append(minus, fmt.Sprintf("-%[1]s AS %[1]s", s))
	}
	return "SELECT " + strings.Join(out, ", ") + " FROM (" + all + " UNION ALL SELECT " + strings.Join(minus, ", ") +
		" FROM (" + further + "))" + engine.GroupBy(keys)
}
