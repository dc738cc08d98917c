// Package bounded defines the bounded statement: all that an engine knows of a question. It contains the relation
// that the statement reads, and its expressions, keys, measures and caps. This package defines what a statement
// means. Package plan decides which statement a question becomes, and an engine decides how to read the rows.
package bounded

import (
	"cmp"
	"slices"

	"dither/internal/value"
)

// Statement is the aggregate that an engine runs over one sealed table, or over a Source of several tables. It is
// the only form of access to rows.
//
// Its meaning: take the rows whose unit is not NULL, with every column cleaned. Drop the rows that Part drops. Keep the
// rows for which Where is true and every key has one of its known values. Bound the contribution of each unit by Caps;
// which rows count depends on that unit's own rows alone. Return, for every cell (group), the integer sum of each
// measure.
type Statement struct {
	Table    string
	Source   *Source // if set, Table is the relation's first table with units, and Columns are those of Source
	Unit     *Column // nil if each row is a unit
	Unranked bool    // a unit's rows are ordered by the columns that Reads returns, because sealing did not number them
	Columns  []Column
	Where    *Expr // nil keeps all rows
	Keys     []Key // in canonical order
	Measures []*Measure
	Caps     Caps
	Part     *Part // the parts (subsets of the units) to which the question is confined; nil if it is not confined
	// Ordered asks for the distribution of values in place of sums. The result states, for every cell (group), how
	// often each gridded value of the one measure occurs, in increasing order of the values, without NULLs. Caps.Groups
	// then keeps the cells in which a unit's first rows lie. Caps.RowsPerGroup keeps the unit's first rows in each
	// cell. "First" refers to the ranks, by which sealing numbers a unit's rows. For a measure of kind UnitRows, the
	// values are the numbers of rows that the units have left, clamped to Lo and Hi: one value for each unit with a
	// row. No cap applies to them.
	Ordered bool
	// Chosen holds the released groups if some keys are Open: for each group the values of all keys. If Other is
	// set, the answer has one more group, of all rows that are in none of the Chosen groups.
	Chosen [][]value.Value
	Other  bool
	// RowVectors, if set, replaces the sums of Measures by sums of vectors. The measures are then the vectors'
	// coordinates.
	RowVectors *Vectors

	// the result of Reads, if not nil; all statements of a plan share it, so that the same rows of a unit count in
	// each
	reads []int
}

// Tables returns the names of the tables that b reads, without repetition, sorted.
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

// Reads returns the indices of the columns that the conditions, keys and measures read, in the order of the
// columns' names. Statements with the same canonical text read the same columns. After [Statement.ReadingToo],
// Reads includes the columns of the further expressions.
func (b *Statement) Reads() []int {
	if b.reads != nil {
		return b.reads
	}
	return b.readBy(nil)
}

// ReadingToo returns a copy of b whose Reads includes the columns of the expressions in `more`. All statements of a
// plan then read the same columns, so that the same rows of a unit count in each.
func (b *Statement) ReadingToo(more []*Expr) Statement {
	out := *b
	out.reads = b.readBy(more)
	return out
}

// Weigh computes the weights of all expressions of b. Later calls of [Expr.Weight] then only read, so they are safe
// for concurrent use.
func (b *Statement) Weigh() { b.own(func(e *Expr) { e.Weight() }) }

// readBy returns the indices of the columns that b and the expressions in `more` read, in the order of the columns'
// names.
func (b *Statement) readBy(more []*Expr) []int {
	out := []int{}
	gather := func(x *Expr) {
		if x.Op == OpColumn && !slices.Contains(out, x.Column) {
			out = append(out, x.Column)
		}
	}
	b.own(func(e *Expr) { e.Walk(gather) })
	for _, e := range more {
		e.Walk(gather)
	}
	slices.SortFunc(out, func(i, j int) int { return cmp.Compare(b.Columns[i].Name, b.Columns[j].Name) })
	return out
}

// Expressions calls f for every expression of b and of its Source, without their subexpressions.
func (b *Statement) Expressions(f func(*Expr)) {
	b.own(f)
	if b.Source != nil {
		b.Source.Walk(func(s *Source) { s.Expressions(f) })
	}
}

// own calls f for every expression that b evaluates on its rows, without their subexpressions.
func (b *Statement) own(f func(*Expr)) {
	if b.Where != nil {
		f(b.Where)
	}
	for i := range b.Keys {
		f(b.Keys[i].Expr)
	}
	for _, m := range b.Measures {
		if m.X != nil {
			f(m.X)
		}
	}
}

// Constants returns the constants, except NULL, in b's expressions and in those of its Source.
func Constants(b *Statement) (out []value.Value) {
	gather := func(x *Expr) {
		if x.Op == OpConst && !x.Const.Null {
			out = append(out, x.Const)
		}
	}
	b.Expressions(func(e *Expr) { e.Walk(gather) })
	return out
}

// Cells returns the number of cells (groups) of the answer. If all keys are known, it is the product of their numbers
// of values. If some are unknown, it is the number of released groups. If rows are assigned to centres
// (Vectors.Centres), it is the number of centres.
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

// GroupsCapped reports whether a unit's rows that count can lie in more cells (groups) of the answer than Caps.Groups.
// If not, a unit adds to each cell of the answer at most what the caps allow, and to at most Caps.Groups cells, without
// a choice among its cells.
func (b *Statement) GroupsCapped() bool {
	few := b.Caps.Rows > 0 && b.Caps.Rows <= b.Caps.Groups // each row is in one cell
	return len(b.Keys) > 0 && !few && (b.Open() || int64(b.Cells()) > b.Caps.Groups)
}

// CellKeys returns the key values of the i-th cell (group). The last key changes fastest. If rows are assigned to
// centres (Vectors.Centres), the only key value is i.
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

// KeyTypes returns the types of the values that CellKeys returns.
func (b *Statement) KeyTypes() []value.Type {
	var out []value.Type
	for _, k := range b.Keys {
		out = append(out, k.Expr.Type)
	}
	if b.Other {
		out = append(out, value.Boolean)
	}
	if b.Centred() { // the index of the centre
		out = append(out, value.Integer)
	}
	return out
}

// Open reports whether the values of some key are unknown.
func (b *Statement) Open() bool {
	return slices.ContainsFunc(b.Keys, func(k Key) bool { return k.Open })
}

// chosenCells returns the number of released groups, including the group Other.
func (b *Statement) chosenCells() int {
	if b.Other {
		return len(b.Chosen) + 1
	}
	return len(b.Chosen)
}

// chosenKeys returns the keys of the i-th released group. If Other is set, each group has a further boolean key,
// which is true for the group of Other alone. That group comes last, and its other keys are NULL.
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

// Counting returns a copy of b with one more measure: the number of units in each group. Private key selection
// reads it.
func (b *Statement) Counting() *Statement {
	out := *b
	out.Measures = append(slices.Clone(b.Measures), &Measure{Kind: CountUnits, Hi: 1})
	return &out
}

// CellsClamped reports whether some measure has Cells: bounds on what a unit adds to a cell (group). The engine must
// then sum a unit's rows in a cell before it adds the sum to the cell, even if each unit has one row.
func (b *Statement) CellsClamped() bool {
	return slices.ContainsFunc(b.Measures, func(m *Measure) bool { return m.Cells != nil })
}

// CountsRows reports whether b asks for the numbers of rows of its units, by a measure of kind UnitRows.
func (b *Statement) CountsRows() bool {
	return len(b.Measures) == 1 && b.Measures[0].Kind == UnitRows
}

// Width returns how many numbers each cell (group) has.
func (b *Statement) Width() int {
	if b.RowVectors == nil {
		return len(b.Measures)
	}
	return len(b.RowVectors.AllTerms())
}

// Centred reports whether b assigns each row to the cell of its nearest centre.
func (b *Statement) Centred() bool { return b.RowVectors != nil && len(b.RowVectors.Centres) > 0 }

// Confinement returns the table and those of its parts (subsets of the units) to which the question is charged, or ""
// and nil if it is not confined.
func (b *Statement) Confinement() (table string, parts []string) {
	if b.Part == nil {
		return "", nil
	}
	return b.Table, b.Part.Names()
}
