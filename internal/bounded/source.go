package bounded

import (
	"fmt"
	"strings"

	"dither/internal/policy"
)

// SourceOp is the operation of a Source.
type SourceOp string

// The operations of a Source. Each assigns every row to at most one unit, by a rule that reads no other unit's
// rows.
const (
	// Scan returns the rows of a sealed table, with every column cleaned. It drops rows whose unit is NULL.
	Scan SourceOp = "scan"
	// Owned assigns units to the rows of the first input, which have none. A row of the first input is returned
	// once for each unit that has a row with the same key in the second input. At most Stored rows of one unit are
	// returned, chosen by that unit's rows alone.
	Owned SourceOp = "owned"
	// Select returns the rows of its input for which Where is true. Its columns are Exprs.
	Select SourceOp = "select"
	// Join pairs rows of its two inputs whose Pairs are equal. If both inputs have units, it pairs rows of the same
	// unit only. It uses at most Most rows of the second input for each value of the columns Within, and for each
	// unit if the second input has units.
	Join SourceOp = "join"
	// Union returns the rows of all inputs. The inputs have columns of the same types.
	Union SourceOp = "union"
	// PerUnit returns one row for each unit and each value of Exprs, with Aggregates over that unit's rows with
	// this value.
	PerUnit SourceOp = "per unit"
	// Window returns the rows of its input, with Windows as further columns: what each row's place says among the rows
	// of its part. See [Windowed].
	Window SourceOp = "window"
)

// Source is a relation over sealed tables: a tree of the operations above.
//
// Claim: a source maps each unit's own rows, together with the public tables, to rows of that unit; rows of two
// units never meet. Proof, by induction over the tree. A row of a Scan belongs to its unit. Owned puts a row beside
// a unit if a row of that unit holds its key, once for every such unit; the rows that other units hold add or
// remove none of these. Select reads one row. Join puts a row beside a row of the same unit, or beside a public
// row. Which rows of the second input it may use is decided among rows of that unit, or among public rows. Union
// decides nothing. PerUnit reads the rows of one unit, and so does Window (see Windowed). So removing a unit, with its rows in all tables, removes the
// unit's rows from the relation and changes no other row.
//
// Rows that units share. If a table has its unit through a reference, rows of several units may refer to one row.
// Owned makes a copy of this row for each of these units, and the row is in the data as long as one of the units
// is.
//
// Claim: removing a unit w removes the rows of w from Owned and changes no other row. Let A be the first input's
// rows, a multiset. For a in A let U(a) be the set of units with a row of the second input that has the key of a.
// It is a set: two rows of one unit make no second copy. Before Stored applies, Owned is the multiset of the pairs
// (u, a) for a in A and u in U(a). By induction, removing w removes only the rows of w from the second input, so
// U(a) becomes U(a) without w. A loses only rows a with U(a) = {w}, and perhaps rows with U(a) empty, which make no
// pair. So each pair (u, a) with u ≠ w occurs as often as before, and no pair (w, a) is left. Stored then chooses
// among the rows of one unit. The second input may itself be an Owned, which the induction covers. ∎
//
// Caps bounds a unit's number of rows after the whole relation, as for one table. If each row is a unit, no cap is
// enforced at the end. Then a Join pairs a row with at most Most public rows, and a Union uses each row once for
// each of its inputs, so the planned number of rows of a unit holds by construction.
type Source struct {
	Op      SourceOp
	Inputs  []*Source
	Columns []Column // the columns of the rows that the source returns
	Units   bool     // whether each row has a unit

	Table string // for Scan
	// for Scan: the column of the unit; nil if each row is a unit, if the table is public, or if an Owned assigns
	// the units
	Unit *policy.Column

	ChildKey, ParentKey int // for Owned: the key's column in the first and in the second input
	// for Owned: the policy's bound; it is in the policy's digest, so the canonical text omits it
	Stored int64

	Where *Expr   // for Select: nil keeps all rows
	Exprs []*Expr // for Select: the columns; for PerUnit: the keys, which are its first columns

	Left   bool   // for Join: keep rows of the first input without a partner, with NULLs for the second input's columns
	Pairs  []Pair // for Join: at least one, unless both inputs have units
	Within []int  // for Join: indices of columns of the second input; for Window: of the only input
	Most   int64  // for Join: the cap on rows of the second input

	Aggregates []Inner // for PerUnit: the columns after the keys
	Single     bool    // by construction, no unit has more than one row
	Loose      bool    // for PerUnit: the unit's column is not among Exprs

	Order   []Ordering // for Window; Within is for Window too: the columns that divide the rows of a unit into parts
	Windows []Windowed // for Window: the columns after those of the input
}

// Pair is an equality of a Join: expression L over the first input equals column R of the second.
type Pair struct {
	L *Expr
	R int
}

// Walk calls f for s and for every source below it.
func (s *Source) Walk(f func(*Source)) {
	f(s)
	for _, in := range s.Inputs {
		in.Walk(f)
	}
}

// Expressions calls f for every expression of s itself, without those of its inputs.
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

// String returns the source's canonical text. Under one policy, two sources with the same text have the same rows.
// A table's columns appear by name, and the columns of any other source by index.
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
			// Operations refer to columns by index, so their order matters. The policy's digest does not fix the
			// order.
			fmt.Fprintf(w, " %q", c.Name)
		}
	case Owned:
		fmt.Fprintf(w, " %d=%d", s.ChildKey, s.ParentKey)
	case Join:
		fmt.Fprintf(w, " left=%t units=%t most=%d within=%v", s.Left, s.Units, s.Most, s.Within)
	case Window:
		fmt.Fprintf(w, " within=%v order=%v %v", s.Within, s.Order, s.Windows)
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

// Column returns the expression that reads the i-th column of s.
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
