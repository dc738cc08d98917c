// Package enginetest is the reference engine: the plainest possible implementation of a bounded statement, over rows in
// memory. It stands in for a database in tests of the plan, and the databases' answers are compared with it.
package enginetest

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"

	"dither/internal/bounded"
	"dither/internal/value"
)

// Row is one row: its values by column, and its Rank if units have several rows.
type Row map[string]value.Value

// Rank is the name under which a row holds its rank among its unit's rows.
const Rank = "__dither_rank"

// Ranked gives each row a rank among its unit's rows, by content alone.
func Ranked(rows []Row, unit string) []Row {
	sorted := slices.Clone(rows)
	text := func(r Row) string { delete(r, Rank); return fmt.Sprint(r) } // maps print in key order
	slices.SortStableFunc(sorted, func(a, b Row) int { return cmp.Compare(text(a), text(b)) })
	seen := map[string]int64{}
	for _, r := range sorted {
		who := r[unit].String()
		seen[who]++
		r[Rank] = value.OfInt(seen[who])
	}
	return sorted
}

// piece is what one row, or one unit in one cell, contributes.
type piece struct {
	unit    value.Value
	keys    []value.Value
	values  []*int64 // gridded, before clamping; nil for NULL
	sums    []*big.Int
	names   []string      // of the values of distinct counts
	counted []value.Value // these values
	place   int64         // in the order of its unit's rows or cells
}

// Order counts how often each value of b's one measure occurs.
func Order(b *bounded.Statement, rows []Row) map[int64]int64 {
	out := map[int64]int64{}
	for _, p := range contributions(b, rows) {
		if p.values[0] != nil {
			out[p.sums[0].Int64()]++
		}
	}
	return out
}

// OrderCells counts, by cell, how often each value of b's one measure occurs, and passes it with the cell's keys.
func OrderCells(b *bounded.Statement, rows []Row, add func(keys []value.Value, v int64)) {
	for _, p := range contributions(b, rows) {
		if p.values[0] != nil {
			add(p.keys, p.sums[0].Int64())
		}
	}
}

// Sum passes each cell's exact sums to add.
func Sum(b *bounded.Statement, rows []Row, add func(keys []value.Value, sums []*big.Int)) {
	for _, p := range contributions(b, rows) {
		add(p.keys, p.sums)
	}
}

// contributions are what rows, or units in cells, add within the caps.
func contributions(b *bounded.Statement, rows []Row) []piece {
	var pieces []piece
	for _, r := range owned(b, rows) {
		if p, ok := evaluate(b, r); ok {
			pieces = append(pieces, p)
		}
	}
	return counted(b, pieces)
}

// counted returns the pieces that count.
func counted(b *bounded.Statement, pieces []piece) []piece {
	if b.CountsRows() {
		return rowsOfUnits(b, pieces)
	}
	for i := range pieces {
		pieces[i].sums = contribution(b, pieces[i])
	}
	if b.RowVectors != nil {
		return vectors(b, pieces)
	}
	if b.Unit != nil && b.Ordered && b.Caps.Groups > 0 {
		return cappedCells(b, pieces)
	}
	if b.Unit != nil {
		if b.Caps.Rows > 0 {
			pieces = capped(pieces, b.Caps.Rows)
		}
		distinct(b, pieces)
		if b.Caps.Groups > 0 {
			pieces = cellsOf(b, pieces)
			if b.Caps.Rows == 0 {
				pieces = capped(pieces, b.Caps.Groups)
			} else {
				uncounted(b, pieces)
			}
		}
	} else {
		distinct(b, pieces)
	}
	return pieces
}

// distinct counts each value of a cell in the first row that has it.
func distinct(b *bounded.Statement, pieces []piece) {
	seen := map[string]bool{}
	for _, p := range pieces {
		for j, m := range b.Measures {
			if m.Kind != bounded.CountDistinct {
				continue
			}
			name := fmt.Sprintf("%d %s %s", j, bounded.GroupName(p.keys), p.names[j])
			p.sums[j].SetInt64(0)
			if p.values[j] != nil && !seen[name] {
				seen[name] = true
				p.sums[j].SetInt64(1)
			}
		}
	}
}

// evaluate returns one row's keys and gridded values, or false if the row does not count.
func evaluate(b *bounded.Statement, r Row) (piece, bool) {
	row := make([]value.Value, len(b.Columns))
	var unit value.Value
	for i, c := range b.Columns {
		v, ok := r[c.Name]
		if !ok {
			v = value.NullOf(c.Type)
		}
		row[i] = clean(c, v)
		if b.Unit != nil && c.Name == b.Unit.Name {
			unit = row[i]
		}
	}
	p, ok := evaluateRow(b, unit, row)
	p.place = r[Rank].Int
	return p, ok
}

// evaluateRow is evaluate for cleaned columns.
func evaluateRow(b *bounded.Statement, unit value.Value, row []value.Value) (piece, bool) {
	p := piece{unit: unit}
	if b.Unit != nil && p.unit.Null {
		return p, false
	}
	if b.Where != nil {
		if v := eval(b.Where, row); v.Null || !v.Bool {
			return p, false
		}
	}
	for i := range b.Keys {
		v := eval(b.Keys[i].Expr, row)
		if k := &b.Keys[i]; k.Open && v.Null && !k.Null || !k.Open && k.Index(v) < 0 {
			return p, false
		}
		p.keys = append(p.keys, v)
	}
	p.keys = relabelled(b, p.keys)
	for _, m := range b.Measures {
		p.values = append(p.values, gridded(m, row))
		v := distinctValue(m, row)
		p.names, p.counted = append(p.names, v.String()), append(p.counted, v)
		if b.RowVectors != nil && p.values[len(p.values)-1] == nil {
			return p, false
		}
	}
	return p, true
}

func gridded(m *bounded.Measure, row []value.Value) *int64 {
	one := int64(1)
	if m.Kind == bounded.CountRows || m.Kind == bounded.CountUnits || m.Kind == bounded.UnitRows {
		return &one
	}
	v := eval(m.X, row)
	if v.Null {
		return nil
	}
	if m.Kind == bounded.CountValue || m.Kind == bounded.CountDistinct {
		return &one
	}
	n := v.Int
	if m.Rounds() {
		n = int64(math.RoundToEven(math.Ldexp(v.Real, -m.Grid)))
	} else {
		n <<= -m.Grid
	}
	n -= m.Centre
	return &n
}

// distinctValue is the value that a distinct count counts.
func distinctValue(m *bounded.Measure, row []value.Value) value.Value {
	if m.Kind != bounded.CountDistinct {
		return value.Value{}
	}
	v := eval(m.X, row)
	if v.Real == 0 {
		v.Real = 0 // 0 and −0 are one value
	}
	return v
}

func contribution(b *bounded.Statement, p piece) []*big.Int {
	out := make([]*big.Int, len(p.values))
	for i, v := range p.values {
		out[i] = new(big.Int)
		if v != nil {
			out[i].SetInt64(min(max(*v, b.Measures[i].Lo), b.Measures[i].Hi))
		}
	}
	return out
}

// capped keeps each unit's first n pieces.
func capped(pieces []piece, n int64) []piece {
	slices.SortStableFunc(pieces, func(a, b piece) int {
		return cmp.Or(value.Compare(a.unit, b.unit), cmp.Compare(a.place, b.place))
	})
	var out []piece
	kept := int64(0)
	for i, p := range pieces {
		if i == 0 || value.Compare(p.unit, pieces[i-1].unit) != 0 {
			kept = 0
		}
		if kept++; kept <= n {
			out = append(out, p)
		}
	}
	return out
}

// cappedCells keeps each unit's first rows in each cell, and its first cells in the order of their first rows.
func cappedCells(b *bounded.Statement, rows []piece) (out []piece) {
	byCell := map[string][]piece{}
	var cells []piece
	for _, p := range rows {
		name := fmt.Sprintf("%q %q", p.unit, p.keys)
		byCell[name] = append(byCell[name], p)
	}
	for _, of := range byCell {
		slices.SortFunc(of, func(x, y piece) int { return cmp.Compare(x.place, y.place) })
		cells = append(cells, of[0])
	}
	for _, p := range capped(cells, b.Caps.Groups) {
		of := byCell[fmt.Sprintf("%q %q", p.unit, p.keys)]
		out = append(out, of[:min(int64(len(of)), b.Caps.RowsPerGroup)]...)
	}
	return out
}

// uncounted removes units from cells beyond their first Caps.Groups, where units are counted.
func uncounted(b *bounded.Statement, cells []piece) {
	if len(b.Measures) == 0 {
		return
	}
	kept := map[*big.Int]bool{} // by the first sum, which identifies the cell
	for _, p := range capped(slices.Clone(cells), b.Caps.Groups) {
		kept[p.sums[0]] = true
	}
	for _, p := range cells {
		for j, m := range b.Measures {
			if m.Kind == bounded.CountUnits && !kept[p.sums[0]] {
				p.sums[j].SetInt64(0)
			}
		}
	}
}

// cellsOf adds a unit's rows up within each cell, and clamps the total; a unit counts once per cell.
func cellsOf(b *bounded.Statement, pieces []piece) []piece {
	byCell := map[string]int{}
	var out []piece
	for _, p := range pieces {
		cell := bounded.GroupName(append([]value.Value{p.unit}, p.keys...)) // NULL is not the text NULL
		i, ok := byCell[cell]
		if !ok {
			byCell[cell] = len(out)
			out = append(out, p)
			continue
		}
		out[i].place = min(out[i].place, p.place) // a cell's place is that of its first row
		for j, s := range p.sums {
			if b.Measures[j].Kind != bounded.CountUnits {
				out[i].sums[j].Add(out[i].sums[j], s)
			}
		}
	}
	for _, p := range out {
		for j, m := range b.Measures {
			if b.Caps.RowsPerGroup == 0 {
				continue
			}
			lo, hi := m.CellBounds(b.Caps)
			if p.sums[j].Cmp(lo) < 0 {
				p.sums[j].Set(lo)
			}
			if p.sums[j].Cmp(hi) > 0 {
				p.sums[j].Set(hi)
			}
		}
	}
	return out
}
