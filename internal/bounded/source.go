package bounded

import (
	"fmt"
	"strings"

	"dither/internal/policy"
)

// SourceOp is the operation of a Source.
type SourceOp string

// The operations of a Source. Each assigns every row to one unit, by a rule that reads no other unit's rows.
const (
	// Scan returns a sealed table's rows, with every column cleaned, except rows whose unit is NULL.
	Scan SourceOp = "scan"
	// Owned returns the first input's rows, which have no unit, once for every unit with a row of the second input that
	// has their key. Of one unit it returns at most Stored rows, chosen by that unit's rows alone.
	Owned SourceOp = "owned"
	// Select returns the rows of its input for which Where is true, with Exprs for columns.
	Select SourceOp = "select"
	// Join pairs rows whose Pairs are equal; if both inputs have units, only rows of one unit. Of the second input it
	// uses at most Most rows of one value of Within (and of one unit, if Units).
	Join SourceOp = "join"
	// Union returns the rows of all inputs, whose columns have the same types.
	Union SourceOp = "union"
	// PerUnit returns one row for each unit and value of Exprs, with Inner aggregates over that unit's own rows.
	PerUnit SourceOp = "per unit"
)

// Source is a relation over sealed tables: a tree of the operations above.
//
// Its meaning is a function from each unit's own rows (and the public tables) to rows of that unit: rows of no two
// units ever meet. Proof, by induction. A Scan's row is its unit's. An Owned row stands beside a unit's row that holds
// its key, once for every such unit, and what other units hold adds or removes none of these. Select reads one row.
// Join puts a row beside one of the same unit, or beside a public one; which of the second input's rows it may meet is
// decided among rows of that unit, or among public ones. Union decides nothing. PerUnit reads the rows of one unit. So
// to remove a unit, with its rows in all tables, is to remove its rows of the relation, and to change no other.
//
// Rows that units share. Where a table has its unit through a reference, rows of several units may refer to one row.
// Owned makes a row of it for each of these units, and the row is in the data for as long as one of the units is.
// Claim: to remove a unit w is to remove the rows of w from Owned, and to change no other. Let A be the first input's
// rows, a multiset. For a in A let U(a) be the set of units of which some row of the second input has the key of a. It
// is a set: two rows of one unit make no second copy. Owned is the multiset of the pairs (u, a), for a in A and u in
// U(a). By induction, removing w removes from the second input the rows of w alone, so that U(a) becomes U(a) without
// w. A loses only rows of w alone, with U(a) = {w}, and perhaps rows of nobody, with U(a) empty, which make no pair. So
// each pair (u, a) with u ≠ w is there as often as before, and no pair (w, a) is left. The second input may itself be
// an Owned: the induction covers it. ∎
//
// How many rows a unit has is bounded last, by Caps, as for one table. Where rows are units of their own, no cap is
// enforced in the end: a Join takes at most Most public rows for a row, and a Union each row once an input, so that the
// plan's number of rows a unit holds by itself.
type Source struct {
	Op      SourceOp
	Inputs  []*Source
	Columns []Column // what it gives
	Units   bool     // each row has a unit

	Table string         // Scan
	Unit  *policy.Column // Scan: nil if a row is a unit, is public, or is Owned

	ChildKey, ParentKey int   // Owned: columns of the first and the second input
	Stored              int64 // Owned: the policy's bound; the policy's digest has it, and the canonical text does not

	Where *Expr   // Select: nil for all rows
	Exprs []*Expr // Select: the columns; PerUnit: the keys, which are the first columns

	Left   bool   // Join: rows of the first input without a partner stay, with NULLs
	Pairs  []Pair // Join: at least one, unless Units
	Within []int  // Join: of the second input's columns
	Most   int64  // Join

	Aggregates []Inner // PerUnit: the further columns
	Single     bool    // no unit has more than one row, by construction
}

// Pair is an equality of a Join: column L of the first input, and column R of the second.
type Pair struct {
	L *Expr
	R int
}

// Walk calls f for s and everything below it.
func (s *Source) Walk(f func(*Source)) {
	f(s)
	for _, in := range s.Inputs {
		in.Walk(f)
	}
}

// Expressions calls f for every expression of the source itself.
func (s *Source) Expressions(f func(*Expr)) {
	if s.Where != nil {
		f(s.Where)
	}
	for _, e := range s.Exprs {
		f(e)
	}
	for _, p := range s.Pairs {
		f(p.L)
	}
	for _, a := range s.Aggregates {
		if a.X != nil {
			f(a.X)
		}
	}
}

// String is the source's canonical text: two sources with the same text mean the same, under one policy. Columns of a
// table appear by name, those of any other source by position.
func (s *Source) String() string {
	var b strings.Builder
	s.write(&b)
	return b.String()
}

func (s *Source) write(w *strings.Builder) {
	fmt.Fprintf(w, "(%s", s.Op)
	switch s.Op {
	case Scan:
		fmt.Fprintf(w, " %q", s.Table)
		for _, c := range s.Columns {
			// positions matter to the operations above, but the order in a policy is not part of its digest
			fmt.Fprintf(w, " %q", c.Name)
		}
	case Owned:
		fmt.Fprintf(w, " %d=%d", s.ChildKey, s.ParentKey)
	case Join:
		fmt.Fprintf(w, " left=%t units=%t most=%d within=%v", s.Left, s.Units, s.Most, s.Within)
	default:
	}
	for _, e := range s.Exprs {
		fmt.Fprintf(w, " %s", e)
	}
	for _, p := range s.Pairs {
		fmt.Fprintf(w, " %s=%d", p.L, p.R)
	}
	for _, a := range s.Aggregates {
		fmt.Fprintf(w, " %s", a)
	}
	if s.Where != nil {
		fmt.Fprintf(w, " where %s", s.Where)
	}
	for _, in := range s.Inputs {
		w.WriteByte(' ')
		in.write(w)
	}
	w.WriteByte(')')
}

// Column is an expression for the i-th column.
func (s *Source) Column(i int) *Expr {
	c := s.Columns[i]
	return &Expr{
		Op:       OpColumn,
		Type:     c.Type,
		Column:   i,
		Name:     c.Name,
		Derived:  s.Op != Scan,
		Range:    c.Range,
		Nullable: true,
		size:     c.Weight,
	}
}
