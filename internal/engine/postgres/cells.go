package postgres

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"

	"dither/internal/bounded"
	"dither/internal/engine"
)

// cellsOfUnits writes one row for each unit and each cell that it keeps: the first Caps.Groups cells by their first row
// or, if rows have no places, by a hash of unit and keys.
//
// Rows are sorted by unit and cell, and then added up as they come. The planner would prefer a hash table of all cells,
// since it expects few. With many cells that table outgrows its memory, and the cells would still have to be sorted by
// unit. This way only a unit's few cells are sorted at a time.
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
	sorted := ""
	if len(keys) > 0 {
		first := in.hash(list(cell))
		if placed(b, in) {
			of, first = append(of, "q"), "min(q)"
		}
		sums = append(sums, "row_number() OVER (PARTITION BY u ORDER BY "+list([]string{first}, keys)+") AS r")
		sorted = " ORDER BY " + list(cell) + " OFFSET 0"
	}
	cells := "SELECT " + list(sums) + " FROM (SELECT " + list(of) + " FROM (" + rows + ") AS r" + sorted + ") AS m" +
		engine.GroupBy(cell)
	if len(keys) > 0 && b.Caps.Rows == 0 {
		cells = fmt.Sprintf("SELECT * FROM (%s) AS g WHERE r <= %d", cells, b.Caps.Groups)
	}
	return "SELECT " + list(out) + " FROM (" + cells + ") AS f"
}

// tally is how a unit's rows in a cell are added up: each row's contribution (empty if rows are only counted), its
// aggregate, and the type in which that is exact.
type tally struct{ row, sum, as string }

const (
	asInteger = "bigint"
	asDouble  = "double precision"
	asNumeric = "numeric"
)

// tallied chooses the cheapest exact way. Sums of bigint are numeric, of any size, and creating millions of numerics is
// what costs.
func tallied(b *bounded.Statement, m *bounded.Measure, contribution, name string) tally {
	lo, hi := m.CellBounds(b.Caps)
	small := b.Caps.RowsPerGroup == 0 || lo.IsInt64() && hi.IsInt64()
	switch {
	case m.Kind == bounded.CountUnits && small: // once per cell, however many rows
		return tally{"", integer(1), asInteger}
	case m.Kind == bounded.CountRows && m.Lo <= 1 && 1 <= m.Hi && small:
		return tally{"", "count(*)", asInteger}
	case exactInDoubles(b, m):
		return tally{"CAST(" + contribution + " AS double precision)", "sum(" + name + ")", asDouble}
	}
	return tally{contribution, "sum(" + name + ")", asNumeric}
}

// integersOfDouble is the size up to which doubles hold all integers.
var integersOfDouble = new(big.Int).Lsh(big.NewInt(1), 53)

// exactInDoubles reports that what a unit adds to a cell, clamped, is the same whether it is added up in doubles, in
// any order, or exactly.
//
// Proof. Let L = 2^53. Doubles hold every integer of size up to L, and L itself. The server's sum of doubles is a tree
// of additions of two numbers, each rounded to the nearest double. A row's contribution is an integer of size below
// 2^63; it is cast to a double, which is exact up to size L and keeps the order beyond. NULL contributes 0.
//
// With a cap of n rows of size at most M and n·M ≤ L, every partial sum is an integer of size at most L, and so
// exact.
//
// Otherwise the contributions are not negative, and the sum is clamped to at most hi ≤ L. Say that a computed number
// stands for an integer if it equals it, or if both are at least L. A cast stands for its row's contribution. Let a and
// b stand for A and B. If A + B ≤ L, then a = A and b = B, or one of A and B is L and the other 0, and a + b is exact
// or at least L with A + B = L. If A + B > L, then a or b is at least L, or both are exact and their sum exceeds L; the
// rounded sum is at least L, since rounding keeps the order and L is a double. By induction the whole sum stands for
// the exact one: both are equal, or both are at least L ≥ hi and are clamped to hi. No sum is infinite: at most 2^32
// rows of less than 2^63 are added. The clamped number, or in the first case the sum, is an integer of size at most L,
// and its cast to bigint is exact. ∎
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

// bounded is cellBounded in the tally's type, as an integer.
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
		name,
		lo,
		hi,
		t.as,
	)
}
