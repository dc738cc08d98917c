package postgres

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"

	"dither/internal/bounded"
	"dither/internal/engine"
)

// cellsOfUnits returns a SELECT with one row for each unit and each of its cells (groups) that count. These are the
// first Caps.Groups cells of the unit, in the order of their first rows. If the rows of a unit are not numbered (see
// placed), the order is by a hash of the unit and the keys. If a unit cannot have more cells than Caps.Groups
// (bounded.Statement.GroupsCapped), all of its cells count, and nothing orders them.
//
// The statement sorts rows by unit and cell before it groups them. Without the sort, the planner would choose a
// hash table of all cells, since it expects few. With many cells, that table would exceed its memory, and the cells
// would still have to be sorted by unit. With the sort, the server sorts the few cells of one unit at a time.
func cellsOfUnits(b *bounded.Statement, in *rows, rows string) string {
	keys := engine.KeyNames(b)
	cell := append([]string{"u"}, keys...)
	of, sums, out := slices.Clone(cell), slices.Clone(cell), slices.Clone(keys)
	for i, m := range b.Measures {
		name := "m" + strconv.Itoa(i)
		t := tallied(b, m, contribution(b, i), name)
		if t.row != "" {
			of = append(of, t.row+" AS "+name)
		}
		sums, out = append(sums, t.sum+" AS "+name), append(out, t.bounded(b, m, name)+" AS "+name)
	}
	sorted, capped := "", b.GroupsCapped()
	if capped {
		first := in.hash(list(cell))
		if placed(b, in) {
			of, first = append(of, "q"), "min(q)"
		}
		sums = append(sums, "row_number() OVER (PARTITION BY u ORDER BY "+list([]string{first}, keys)+") AS r")
	}
	if len(keys) > 0 {
		sorted = " ORDER BY " + list(cell) + " OFFSET 0"
	}
	cells := "SELECT " + list(sums) + " FROM (SELECT " + list(of) + " FROM (" + rows + ") AS r" + sorted + ") AS m" +
		engine.GroupBy(cell)
	if capped && b.Caps.Rows == 0 {
		cells = fmt.Sprintf("SELECT * FROM (%s) AS g WHERE r <= %d", cells, b.Caps.Groups)
	}
	return "SELECT " + list(out) + " FROM (" + cells + ") AS f"
}

// tally is the SQL that sums a unit's rows in a cell (group): the contribution of one row ("" if rows are only
// counted), the aggregate, and the type of its result, in which it is exact.
type tally struct{ row, sum, as string }

const (
	asInteger = "bigint"
	asDouble  = "double precision"
	asNumeric = "numeric"
)

// tallied returns the cheapest tally that is exact. The server's sum of bigint is a numeric of any size, and
// creating millions of numerics is slow.
func tallied(b *bounded.Statement, m *bounded.Measure, contribution, name string) tally {
	lo, hi := m.CellBounds(b.Caps)
	small := b.Caps.RowsPerGroup == 0 || lo.IsInt64() && hi.IsInt64()
	switch {
	case m.Kind == bounded.CountUnits && small: // once per cell, however many rows the unit has there
		return tally{"", integer(1), asInteger}
	case m.Kind == bounded.CountUnitsWith:
		return tally{contribution, "max(" + name + ")", asInteger}
	case m.Kind == bounded.CountRows && m.Lo <= 1 && 1 <= m.Hi && small:
		return tally{"", "count(*)", asInteger}
	case exactInDoubles(b, m):
		return tally{"CAST(" + contribution + " AS double precision)", "sum(" + name + ")", asDouble}
	}
	return tally{contribution, "sum(" + name + ")", asNumeric}
}

// integersOfDouble is 2^53: doubles represent all integers of magnitude up to it.
var integersOfDouble = new(big.Int).Lsh(big.NewInt(1), 53)

// exactInDoubles reports whether a unit's sum in a cell, after clamping, is certainly the same in doubles, in any
// order of addition, as in exact arithmetic.
//
// Proof. Let L = 2^53. Doubles represent every integer of magnitude up to L. The server's sum of doubles is a tree
// of additions of two numbers, each rounded to the nearest double. A row's contribution is an integer of magnitude
// below 2^63. The cast to a double is exact up to magnitude L, and keeps the order beyond. NULL contributes 0.
//
// First case: Caps.Rows is n, contributions have magnitude at most M, and n·M ≤ L. Every partial sum is an integer
// of magnitude at most L, so it is exact.
//
// Second case: contributions are not negative, and the sum is clamped to at most hi ≤ L. A computed number is said
// to stand for an integer if the two are equal, or if both are at least L. The cast of a contribution stands for
// the contribution. Let a and b stand for A and B. If A + B ≤ L, then either a = A and b = B, or one of A and B is
// L and the other is 0. In both cases, a + b is exact, or it is at least L and A + B = L. If A + B > L, then a or b
// is at least L, or both are exact and their sum exceeds L. The rounded sum is at least L, since rounding keeps the
// order and L is a double. By induction, the whole sum stands for the exact sum: the two are equal, or both are at
// least L ≥ hi and are clamped to hi. No sum is infinite, because at most 2^32 rows of less than 2^63 are added.
//
// The result, which is clamped in the second case, is an integer of magnitude at most L. So its cast to bigint is
// exact. ∎
func exactInDoubles(b *bounded.Statement, m *bounded.Measure) bool {
	if b.Caps.Rows > 0 && b.Caps.RowsPerGroup == 0 {
		most := new(big.Int).Abs(big.NewInt(m.Lo))
		if hi := new(big.Int).Abs(big.NewInt(m.Hi)); most.Cmp(hi) < 0 {
			most = hi
		}
		return most.Mul(most, big.NewInt(b.Caps.Rows)).Cmp(integersOfDouble) <= 0
	}
	_, hi := m.CellBounds(b.Caps)
	return m.Lo >= 0 && hi.Cmp(integersOfDouble) <= 0
}

// bounded is like cellBounded, for a sum of the tally's type. Unless this type is numeric, the result is a bigint.
func (t tally) bounded(b *bounded.Statement, m *bounded.Measure, name string) string {
	if t.as == asNumeric {
		return cellBounded(b, m, name)
	}
	if b.Caps.RowsPerGroup == 0 {
		if t.as == asDouble {
			name = "CAST(" + name + " AS bigint)"
		}
		return cellBounded(b, m, name)
	}
	lo, hi := m.CellBounds(b.Caps)
	return fmt.Sprintf(
		"CAST(least(greatest(%s, CAST('%s' AS %[4]s)), CAST('%[3]s' AS %[4]s)) AS bigint)",
		name, lo, hi, t.as)
}
