// Package enginetest contains the reference engine: the plainest implementation of bounded statements, over rows in
// memory. It replaces a database in tests of the planner, and tests compare the results of the real engines with it.
// The package also has the conformance tests, the replay audit, and generators of questions and rows. The replay audit
// asks an engine the same questions about two neighbouring databases, and checks that no exact result differs by more
// than the sensitivity that the planner computed.
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

// Row holds the values of a row by column. If units have several rows, it also holds the row's rank, its number among
// its unit's rows, under the name Rank.
type Row map[string]value.Value

// Rank is the name of the column that holds a row's rank among its unit's rows.
const Rank = "__dither_rank"

// Ranked gives each row a rank among its unit's rows, which depends on the content of these rows alone. It returns
// the rows in sorted order.
func Ranked(rows []Row, unit string) []Row {
	order, texts := make([]int, len(rows)), make([]string, len(rows))
	for i, r := range rows {
		delete(r, Rank)
		order[i], texts[i] = i, fmt.Sprint(r) // fmt prints maps in the order of their keys
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(texts[a], texts[b]) })
	sorted := make([]Row, len(rows))
	for to, from := range order {
		sorted[to] = rows[from]
	}
	seen := map[string]int64{}
	for _, r := range sorted {
		who := r[unit].String()
		seen[who]++
		r[Rank] = value.OfInt(seen[who])
	}
	return sorted
}

// piece is the contribution of one row, or of one unit in one cell (group).
type piece struct {
	unit    value.Value
	keys    []value.Value
	values  []*int64 // gridded values before clamping; nil for NULL
	sums    []*big.Int
	names   []string      // for distinct counts: the texts of the values
	counted []value.Value // for distinct counts: the values
	place   int64         // position in the order of the unit's rows or cells
}

// Order returns how often each value of b's one measure occurs.
func Order(b *bounded.Statement, rows []Row) map[int64]int64 {
	out := map[int64]int64{}
	for _, p := range contributions(b, rows) {
		if p.values[0] != nil {
			out[p.sums[0].Int64()]++
		}
	}
	return out
}

// OrderCells passes each value of b's one measure to the function add, with the key values of its cell (group), once
// for each row that counts.
func OrderCells(b *bounded.Statement, rows []Row, add func(keys []value.Value, v int64)) {
	for _, p := range contributions(b, rows) {
		if p.values[0] != nil {
			add(p.keys, p.sums[0].Int64())
		}
	}
}

// Sum passes contributions to the function add, with the key values of their cells (groups). Their sum over a cell is
// the cell's exact sum.
func Sum(b *bounded.Statement, rows []Row, add func(keys []value.Value, sums []*big.Int)) {
	for _, p := range contributions(b, rows) {
		add(p.keys, p.sums)
	}
}

// contributions returns the contributions within the caps: of each row, or of each unit in each cell (group).
func contributions(b *bounded.Statement, rows []Row) []piece {
	var pieces []piece
	for _, r := range owned(b, rows) {
		if p, ok := evaluate(b, r); ok {
			pieces = append(pieces, p)
		}
	}
	return counted(b, pieces)
}

// counted applies the caps of b to pieces (contributions of rows, or of units in cells), and returns the pieces that
// count.
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
	spread(b, pieces)
	return pieces
}

// distinct sets the distinct counts and sums: each value in a cell (group) contributes 1, or itself, in the first row that
// has it, and 0 in all others.
func distinct(b *bounded.Statement, pieces []piece) {
	seen := map[string]bool{}
	for _, p := range pieces {
		for j, m := range b.Measures {
			if !m.Distinct() {
				continue
			}
			if m.Kind == bounded.SumDistinct { // the sum is the clamped value
				p.names[j] = p.sums[j].String()
			}
			name := fmt.Sprintf("%d %s %s", j, bounded.GroupName(p.keys), p.names[j])
			if p.values[j] == nil || seen[name] {
				p.sums[j].SetInt64(0)
				continue
			}
			seen[name] = true
			if m.Kind == bounded.CountDistinct {
				p.sums[j].SetInt64(1)
			}
		}
	}
}

// evaluate returns the keys and gridded values of one row. It returns false if WHERE, a key or a NULL drops the
// row.
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

// evaluateRow is evaluate for a row whose columns are cleaned already.
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
	if m.Kind == bounded.CountValue || m.Kind == bounded.CountDistinct || m.Kind == bounded.CountUnitsWith {
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

// distinctValue returns the value that a distinct count counts in a row.
func distinctValue(m *bounded.Measure, row []value.Value) value.Value {
	if m.Kind != bounded.CountDistinct {
		return value.Value{}
	}
	v := eval(m.X, row)
	if v.Real == 0 {
		v.Real = 0 // 0 and −0 count as one value
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

// capped keeps the first n pieces of each unit, in the order of their places.
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

// cappedCells keeps the first rows of each unit in each cell (group), and the first cells of each unit in the order of
// their first rows.
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

// uncounted sets counts of units to 0 in the cells (groups) beyond a unit's first Caps.Groups cells.
func uncounted(b *bounded.Statement, cells []piece) {
	if len(b.Measures) == 0 {
		return
	}
	kept := map[*big.Int]bool{} // by the pointer to the first sum, which identifies the piece
	for _, p := range capped(slices.Clone(cells), b.Caps.Groups) {
		kept[p.sums[0]] = true
	}
	for _, p := range cells {
		for j, m := range b.Measures {
			if m.OfUnits() && !kept[p.sums[0]] {
				p.sums[j].SetInt64(0)
			}
		}
	}
}

// cellsOf sums the contributions of each unit within each cell (group), and clamps the sums. A unit counts once in a
// cell.
func cellsOf(b *bounded.Statement, pieces []piece) []piece {
	byCell := map[string]int{}
	var out []piece
	for _, p := range pieces {
		// GroupName distinguishes NULL from the text 'NULL'
		cell := bounded.GroupName(append([]value.Value{p.unit}, p.keys...))
		i, ok := byCell[cell]
		if !ok {
			byCell[cell] = len(out)
			out = append(out, p)
			continue
		}
		out[i].place = min(out[i].place, p.place) // a cell's position in the order of its unit is that of its first row
		for j, s := range p.sums {
			switch sum := out[i].sums[j]; {
			case !b.Measures[j].OfUnits():
				sum.Add(sum, s)
			case s.Cmp(sum) > 0:
				sum.Set(s)
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
