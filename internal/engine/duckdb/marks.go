package duckdb

import (
	"fmt"
	"slices"
	"strings"

	"dither/internal/bounded"
	"dither/internal/engine"
	"dither/internal/value"
)

// Counting units by grouping rows by unit and cell (group) keeps a hash table of all these pairs. If there are few
// cells, an integer has a bit for each of them. Then the table has one integer for each unit, which takes a third of
// the memory and of the time. Units with equal integers are counted together.
//
// Claim: a unit adds 1 to each cell that has a row of it that counts, and nothing else. Proof. A row sets the bit of
// its cell: key i has the place p in the list of its n values, or NULL if it is none of them, and the bit is the
// number of these places as digits, of base n + 1 each. So different cells have different bits, and a row with a place
// NULL sets no bit. The integer of a unit is the OR of its rows' bits: a bit is set or not, however many rows
// set it. It is added to the cell of each of its bits. ∎
//
// The claim bounds a unit as the caps on cells do: no unit is in more cells than there are (marks needs that no
// choice of cells is to be made).

// mostBits is the number of bits of a BIGINT that DuckDB sets by a shift without an error.
const mostBits = 63

// marks reports whether b only counts units by a few cells, without a choice among a unit's cells.
func marks(b *bounded.Statement, known engine.Sealed) bool {
	other := func(m *bounded.Measure) bool { return m.Kind != bounded.CountUnits }
	if b.Unit == nil || known.OneRowEach || b.Caps.Groups == 0 || b.GroupsCapped() || b.Open() || b.Other || b.Ordered ||
		b.RowVectors != nil || len(b.Keys) == 0 || len(b.Measures) == 0 || slices.ContainsFunc(b.Measures, other) ||
		b.CellsClamped() {
		return false
	}
	bits := 1
	for _, k := range b.Keys {
		if bits *= len(k.Values) + 1; bits > mostBits {
			return false
		}
	}
	return true
}

// markedCells returns the statement that counts units by cells.
func markedCells(b *bounded.Statement, scan string, known engine.Sealed) string {
	cleaned := func(i int) bool { return b.Keys[i].NullGroup() || b.Keys[i].Expr.Type != value.Text }
	raw, scan := withRaw(b, scan, slices.DeleteFunc(lateKeys(b), cleaned), known)
	few, many := capped(b, raw, scan, known)
	bits := "SELECT u, " + bitOf(b) + " AS bit FROM "
	rows := bits + "(" + few + ")"
	if many != "" {
		rows += " UNION ALL " + bits + "(" + many + ")"
	}
	cells := make([]string, b.Cells())
	for i := range cells {
		row, number := []string{}, 0
		for j, v := range b.CellKeys(i) {
			row, number = append(row, constant(v)), digit(number, b.Keys[j], b.Keys[j].Index(v)+1)
		}
		cells[i] = fmt.Sprintf("(%d, %s)", number, strings.Join(row, ", "))
	}
	out := engine.KeyNames(b)
	for i := range b.Measures {
		out = append(out, fmt.Sprintf("n AS m%d", i))
	}
	return dialect.SumUp(b, fmt.Sprintf("SELECT %s FROM (SELECT bits, count(*) AS n FROM "+
		"(SELECT bit_or(bit) AS bits FROM (%s) GROUP BY u) GROUP BY bits) "+
		"JOIN (VALUES %s) AS cells(cell, %s) ON ((bits >> cell) & 1) = 1",
		strings.Join(out, ", "), rows, strings.Join(cells, ", "), strings.Join(engine.KeyNames(b), ", ")))
}

// digit returns a number with the digit of a key appended.
func digit(number int, k bounded.Key, place int) int { return number*(len(k.Values)+1) + place }

// bitOf returns the SQL of the bit of a row's cell, by its keys k0, k1, …. It is NULL if a key is NULL and NULL is no
// group.
func bitOf(b *bounded.Statement) string {
	number := ""
	for i, k := range b.Keys {
		listed := k.Values
		if k.NullGroup() {
			listed = listed[:len(listed)-1]
		}
		place := fmt.Sprintf("list_position([%s], k%d)", constants(listed), i)
		switch {
		case len(listed) == 0:
			place = fmt.Sprintf("CASE WHEN k%d IS NULL THEN 1 ELSE 0 END", i)
		case k.NullGroup():
			place = fmt.Sprintf("CASE WHEN k%d IS NULL THEN %d ELSE %s END", i, len(k.Values), place)
		}
		if number != "" {
			number = fmt.Sprintf("(%s) * %d + ", number, len(k.Values)+1)
		}
		number += place
	}
	return "CAST(1 AS BIGINT) << CAST(" + number + " AS BIGINT)"
}
