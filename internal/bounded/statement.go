// Package bounded is all that an engine knows of a question: the bounded statement, with the relation that it reads, its expressions,
// keys, measures and caps. What it means is said here; which statement a question becomes is for package plan to decide, and how rows are
// read for an engine.
package bounded

import (
	"cmp"
	"slices"

	"dither/internal/value"
)

// Statement is the aggregate that an engine runs over one sealed table, or a Source of several: the only form of access to rows that there is.
//
// Its meaning: take the rows whose unit is not NULL, with every column cleaned, and of them what Part leaves; keep those where Where is true and every
// key is one of its known values; bound what each unit adds, by Caps, by a choice that reads that unit's own rows alone;
// give, for every cell, each measure's integer sum.
type Statement struct {
	Table    string
	Source   *Source // where the rows are not one table's: then Table is the first table of persons, and Columns are Source's
	Unit     *Column // nil where each row is a unit
	Unranked bool    // a unit's rows are in an order that Reads makes, and in none that was sealed
	Columns  []Column
	Where    *Expr // nil for all rows
	Keys     []Key // in canonical order
	Measures []*Measure
	Caps     Caps
	Part     *Part // what the question is confined to, with the rows that it drops; nil for everything
	// Ordered asks for rows in place of sums: in every cell, how often each gridded value of the one measure occurs, in
	// increasing order, without those that are NULL. Then RowsPerGroup caps a unit's rows in a cell, the first in the order of their
	// sealed rank, and Groups its cells, in the order of the first row of each. Of UnitRows the values are the units' numbers of rows
	// that are left, clamped to Lo and Hi, one of each unit that has any; nothing caps these.
	Ordered bool
	// Chosen are the groups of keys of which some are Open, once they have been released: of each the values of all keys. Other
	// asks for one group more, of all rows in none of them.
	Chosen [][]value.Value
	Other  bool
	// RowVectors are added up in place of the measures, which then are their coordinates.
	RowVectors *Vectors

	reads []int // a plan's, which its looks have too, so that the same rows of a unit count
}

// Tables are the tables that b reads, each once, sorted by name.
func (b *Statement) Tables() []string {
	if b.Source == nil {
		return []string{b.Table}
	}
	var out []string
	b.Source.Walk(func(s *Source) {
		if s.Op == Scan {
			out = append(out, s.Table)
		}
	})
	slices.Sort(out)
	return slices.Compact(out)
}

// Reads are the columns that conditions, keys and measures read, in the order of their names: the same for all that have one canonical text.
func (b *Statement) Reads() []int {
	if b.reads != nil {
		return b.reads
	}
	return b.readBy(nil)
}

// ReadToo makes Reads tell what further expressions read, too: a plan's looks read the same columns, so that the same rows of a unit count.
func (b *Statement) ReadToo(more []*Expr) { b.reads = b.readBy(more) }

// readBy are those that further expressions read, too.
func (b *Statement) readBy(more []*Expr) []int {
	out := []int{}
	gather := func(x *Expr) {
		if x.Op == OpColumn && !slices.Contains(out, x.Column) {
			out = append(out, x.Column)
		}
	}
	b.walk(gather)
	for _, e := range more {
		e.Walk(gather)
	}
	slices.SortFunc(out, func(i, j int) int { return cmp.Compare(b.Columns[i].Name, b.Columns[j].Name) })
	return out
}

// walk calls f for everything that is read of b's rows: conditions, keys and measures.
func (b *Statement) walk(f func(*Expr)) {
	if b.Where != nil {
		b.Where.Walk(f)
	}
	for _, k := range b.Keys {
		k.Expr.Walk(f)
	}
	for _, m := range b.Measures {
		if m.X != nil {
			m.X.Walk(f)
		}
	}
}

// Constants are the constants that b's expressions name.
func Constants(b *Statement) (out []value.Value) {
	gather := func(x *Expr) {
		if x.Op == OpConst && !x.Const.Null {
			out = append(out, x.Const)
		}
	}
	b.walk(gather)
	if b.Source != nil {
		b.Source.Walk(func(s *Source) { s.Expressions(func(e *Expr) { e.Walk(gather) }) })
	}
	return out
}

// Cells is how many cells an answer has: the product of the keys' numbers of values.
func (b *Statement) Cells() int {
	if b.Open() {
		return b.chosenCells()
	}
	if b.Centred() {
		return len(b.RowVectors.Centres)
	}
	n := 1
	for i := range b.Keys {
		n *= len(b.Keys[i].Values)
	}
	return n
}

// CellKeys gives the values of the keys of the i-th cell: the last key runs fastest.
func (b *Statement) CellKeys(i int) []value.Value {
	if b.Open() {
		return b.chosenKeys(i)
	}
	if b.Centred() {
		return []value.Value{value.OfInt(int64(i))}
	}
	out := make([]value.Value, len(b.Keys))
	for j := len(out) - 1; j >= 0; j-- {
		values := b.Keys[j].Values
		out[j] = values[i%len(values)]
		i /= len(values)
	}
	return out
}

// KeyTypes are the types of CellKeys.
func (b *Statement) KeyTypes() []value.Type {
	var out []value.Type
	for _, k := range b.Keys {
		out = append(out, k.Expr.Type)
	}
	if b.Other {
		out = append(out, value.Boolean)
	}
	if b.Centred() { // the centre's number
		out = append(out, value.Integer)
	}
	return out
}

// Open reports that the groups are not known beforehand: some key's values are not.
func (b *Statement) Open() bool {
	return slices.ContainsFunc(b.Keys, func(k Key) bool { return k.Open })
}

// chosenCells is how many groups have been released.
func (b *Statement) chosenCells() int {
	if b.Other {
		return len(b.Chosen) + 1
	}
	return len(b.Chosen)
}

// chosenKeys are the keys of the i-th of them, the last being Other: with it, a boolean more that says whether it is.
func (b *Statement) chosenKeys(i int) []value.Value {
	if i < len(b.Chosen) {
		if b.Other {
			return append(slices.Clone(b.Chosen[i]), value.OfBool(false))
		}
		return b.Chosen[i]
	}
	out := make([]value.Value, len(b.Keys), len(b.Keys)+1)
	for j, k := range b.Keys {
		out[j] = value.NullOf(k.Expr.Type)
	}
	return append(out, value.OfBool(true))
}

// Counting is b with a measure more: how many units count in each group. It is what the groups of open keys are selected by.
func (b *Statement) Counting() *Statement {
	out := *b
	out.Measures = append(slices.Clone(b.Measures), &Measure{Kind: CountUnits, Hi: 1})
	return &out
}

// CellsClamped reports that some measure is bounded per unit and cell, so that what a unit adds to a cell must be known before it
// is added, even where each unit has one row.
func (b *Statement) CellsClamped() bool {
	return slices.ContainsFunc(b.Measures, func(m *Measure) bool { return m.Cells != nil })
}

// CountsRows reports that b asks for the units' numbers of rows, in order.
func (b *Statement) CountsRows() bool {
	return len(b.Measures) == 1 && b.Measures[0].Kind == UnitRows
}

// Width is how many numbers a cell has.
func (b *Statement) Width() int {
	if b.RowVectors == nil {
		return len(b.Measures)
	}
	return len(b.RowVectors.AllTerms())
}

// Centred holds where a row's cell is the nearest of some centres.
func (b *Statement) Centred() bool { return b.RowVectors != nil && len(b.RowVectors.Centres) > 0 }

// Confinement is the table and the parts that a charge is to, or "" and none.
func (b *Statement) Confinement() (table string, parts []string) {
	if b.Part == nil {
		return "", nil
	}
	return b.Table, b.Part.Names()
}
