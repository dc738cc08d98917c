// Package bounded is all that an engine knows of a question: the bounded statement, with the relation that it reads,
// its expressions, keys, measures and caps. This package defines what a statement means. Package plan decides which
// statement a question becomes, and an engine decides how to read the rows.
package bounded

import (
	"cmp"
	"slices"

	"dither/internal/value"
)

// Statement is the aggregate that an engine runs over one sealed table, or a Source of several. It is the only form of
// access to rows.
//
// Its meaning: take the rows whose unit is not NULL, with every column cleaned, and of these the rows that Part leaves.
// Keep those for which Where is true and every key has one of its known values. Bound what each unit adds, by Caps,
// with a choice that reads that unit's own rows alone. Return, for every cell, each measure's integer sum.
type Statement struct {
	Table    string
	Source   *Source // set for a relation: then Table is the first table of persons, and Columns are Source's
	Unit     *Column // nil if each row is a unit
	Unranked bool    // Reads orders a unit's rows, and not a sealed rank
	Columns  []Column
	Where    *Expr // nil for all rows
	Keys     []Key // in canonical order
	Measures []*Measure
	Caps     Caps
	Part     *Part // the parts to which the question is confined; nil for everything
	// Ordered asks for rows in place of sums: for every cell, how often each gridded value of the one measure occurs,
	// in increasing order, without NULLs. Then RowsPerGroup caps a unit's rows in a cell, by sealed rank, and Groups
	// its cells, by the first row of each. For UnitRows the values are the units' remaining numbers of rows, clamped to
	// Lo and Hi, one for each unit that has any; no cap applies.
	Ordered bool
	// Chosen are the released groups of keys of which some are Open: for each group the values of all keys. Other asks
	// for one more group, of all rows in none of them.
	Chosen [][]value.Value
	Other  bool
	// RowVectors are added up in place of the measures, which are then their coordinates.
	RowVectors *Vectors

	reads []int // the plan's reads, shared by all its statements so that the same rows of a unit count
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

// Reads are the columns that conditions, keys and measures read, in the order of their names: the same for all
// statements with one canonical text.
func (b *Statement) Reads() []int {
	if b.reads != nil {
		return b.reads
	}
	return b.readBy(nil)
}

// ReadingToo returns b with the columns of further expressions included in Reads: all statements of a plan read the
// same columns, so that the same rows of a unit count.
func (b *Statement) ReadingToo(more []*Expr) Statement {
	out := *b
	out.reads = b.readBy(more)
	return out
}

// Weigh computes the weights of all expressions that b reads, so that Weight writes nothing later.
func (b *Statement) Weigh() {
	if b.Where != nil {
		b.Where.Weight()
	}
	for i := range b.Keys {
		b.Keys[i].Expr.Weight()
	}
	for _, m := range b.Measures {
		if m.X != nil {
			m.X.Weight()
		}
	}
}

// readBy are the columns that b and further expressions read.
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

// CellKeys returns the key values of the i-th cell; the last key runs fastest.
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

// Open reports whether the groups are unknown: some key's values are.
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

// chosenKeys are the keys of the i-th released group. With Other, which comes last, each has a boolean more that says
// whether it is Other.
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

// Counting is b with one more measure: how many units count in each group. Groups of unknown keys are selected by it.
func (b *Statement) Counting() *Statement {
	out := *b
	out.Measures = append(slices.Clone(b.Measures), &Measure{Kind: CountUnits, Hi: 1})
	return &out
}

// CellsClamped reports whether some measure is bounded per unit and cell. Then a unit's total in a cell must be known
// before it is added, even if each unit has one row.
func (b *Statement) CellsClamped() bool {
	return slices.ContainsFunc(b.Measures, func(m *Measure) bool { return m.Cells != nil })
}

// CountsRows reports whether b asks for the units' numbers of rows, in order.
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

// Centred reports whether a row's cell is that of its nearest centre.
func (b *Statement) Centred() bool { return b.RowVectors != nil && len(b.RowVectors.Centres) > 0 }

// Confinement returns the table and the parts to which a charge is confined, or "" and none.
func (b *Statement) Confinement() (table string, parts []string) {
	if b.Part == nil {
		return "", nil
	}
	return b.Table, b.Part.Names()
}
