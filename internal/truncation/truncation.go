// Package truncation writes the statement that counts the units that a question's caps cut: those with more rows, or
// more groups, than count. It builds the statement from relations and aggregates inside a unit, so engines need
// nothing new. Package plan gives the statement its share of a price and its noise.
package truncation

import (
	"dither/internal/bounded"
	"dither/internal/policy"
	"dither/internal/value"
)

// Bounds are the caps of a question, as far as they can leave out anything of a unit. A field is 0 if no cap of its
// kind can. A unit is cut if it exceeds one of them.
type Bounds struct {
	Rows         int64 // rows that WHERE leaves and that are in a group
	Groups       int64 // groups with a row of the unit
	RowsPerGroup int64 // rows of the unit in one group
}

// None reports whether nothing can be cut.
func (b Bounds) None() bool { return b == Bounds{} }

// Least returns the smallest number of rows that a cut unit has.
func (b Bounds) Least() int64 {
	least := int64(0)
	for _, n := range []int64{b.Rows, b.Groups, b.RowsPerGroup} {
		if n > 0 && (least == 0 || n+1 < least) {
			least = n + 1
		}
	}
	return least
}

// Of returns the bounds of a statement with caps of its own, for a question that groups by the same keys. A unit has
// at most as many groups as there are, so a cap on groups that is no smaller cuts nothing. If no unit has more than
// one row by construction, no cap cuts anything.
func Of(b *bounded.Statement, c bounded.Caps, measures []*bounded.Measure) (out Bounds) {
	if b.Unit == nil || b.Source != nil && single(b.Source) {
		return out
	}
	units, others := false, len(measures) == 0
	for _, m := range measures {
		units = units || m.OfUnits()
		others = others || !m.OfUnits()
	}
	switch {
	case others && len(b.Keys) == 0: // all rows are in one group
		out.Rows = max(c.Rows, c.RowsPerGroup)
	case others:
		out.Rows, out.RowsPerGroup = c.Rows, c.RowsPerGroup
	}
	if len(b.Keys) > 0 && (units || c.Rows == 0) && (b.Open() || c.Groups < int64(b.Cells())) {
		out.Groups = c.Groups
	}
	return out
}

// And returns the bounds for a question that has b and o: the smaller of two caps of one kind.
func (b Bounds) And(o Bounds) Bounds {
	smaller := func(x, y int64) int64 {
		if x == 0 || y > 0 && y < x {
			return y
		}
		return x
	}
	return Bounds{smaller(b.Rows, o.Rows), smaller(b.Groups, o.Groups), smaller(b.RowsPerGroup, o.RowsPerGroup)}
}

// single reports whether no unit has more than one row in s by construction.
func single(s *bounded.Source) bool {
	switch {
	case s.Single:
		return true
	case s.Op == bounded.Select, s.Op == bounded.Window, s.Op == bounded.Join && s.Most == 1:
		return s.Units && single(s.Inputs[0])
	}
	return false
}

// Units is the index of the first measure of the statement that Statement returns: the number of units that are cut.
const Units = 0

// mostRows bounds the number of rows of one unit in a group, so that an engine's integers hold it.
const mostRows = 1 << 40

// Asked are the counts that a statement has, beside the number of units that are cut.
type Asked struct {
	// if above Bounds.Rows: the rows that the cap on rows leaves out, of the first Most rows of each unit
	Most int64
	// for each of these conditions, the rows that satisfy it, at most Clamped of each unit
	Clamps  []*bounded.Expr
	Clamped int64
}

// Rows returns the index of the measure that counts the rows that are left out, or −1 if there is none.
func (a Asked) Rows(b Bounds) int {
	if b.Rows > 0 && a.Most > b.Rows {
		return 1
	}
	return -1
}

// Statement returns the statement that counts the units that b cuts, among the rows of main that satisfy where. Its
// further measures are those of a: first the rows that are left out, and then a count for each of the clamps. The
// unit of main must be a column.
//
// Claim: under both neighbour relations, the number of units changes by at most 1, the number of rows that are left
// out by at most a.Most − b.Rows, and the count of a clamp by at most a.Clamped.
//
// Proof. Let n, g and r be a unit's numbers of rows, of groups, and of rows in its largest group. They depend on
// that unit's own rows alone (bounded.Source has the proof). The source has one row for each unit that has rows,
// and none for any other. So the first measure is the sum over all units of c: 1 if n, g or r is above its bound,
// and 0 otherwise. The rows that are left out are the sum of l, which is clamp(n, b.Rows, a.Most) − b.Rows: an
// integer from 0 to a.Most − b.Rows. The count of a clamp is the sum of an integer from 0 to a.Clamped. A unit
// without rows adds 0 to all. Adding or removing a unit changes the sums by what this unit adds. Changing a unit
// changes them by the difference of two numbers of the same range. A difference of two numbers in [0, k] is at most
// k in magnitude, so the bounds hold for both relations. No bound can be smaller: a unit with one row can become
// one with a.Most rows, all of them clamped. ∎
//
// The planner reads the sensitivity from the measures by sensitivity.OfMeasure, with one row for each unit. That
// function has a proof of its own.
func Statement(main *bounded.Statement, where *bounded.Expr, b Bounds, a Asked) bounded.Statement {
	rows := selected(main, where, a.Clamps)
	if b.Groups > 0 || b.RowsPerGroup > 0 {
		rows = perGroup(rows, len(main.Keys))
	}
	per := perUnit(rows, b, a)
	out := bounded.Statement{
		Table:    main.Table,
		Source:   per,
		Unit:     &bounded.Column{Column: &policy.Column{Name: main.Unit.Name}},
		Unranked: main.Unranked,
		Columns:  per.Columns,
		Caps:     bounded.Caps{Rows: 1},
		Measures: []*bounded.Measure{{Kind: bounded.CountValue, X: cut(per, b), Hi: 1}},
	}
	if a.Rows(b) > 0 {
		out.Measures = append(out.Measures, &bounded.Measure{
			Kind: bounded.Sum, X: per.Column(0), Centre: b.Rows, Hi: a.Most - b.Rows,
		})
	}
	for i := range a.Clamps {
		out.Measures = append(out.Measures, &bounded.Measure{
			Kind: bounded.Sum, X: per.Column(len(per.Columns) - len(a.Clamps) + i), Hi: a.Clamped,
		})
	}
	return out
}

// selected returns the rows of main that satisfy where, with the values of its keys, and a 1 for each clamp that
// holds.
func selected(main *bounded.Statement, where *bounded.Expr, clamps []*bounded.Expr) *bounded.Source {
	in := main.Source
	if in == nil {
		in = &bounded.Source{
			Op:      bounded.Scan,
			Table:   main.Table,
			Columns: main.Columns,
			Unit:    main.Unit.Column,
			Units:   true,
		}
	}
	out := &bounded.Source{Op: bounded.Select, Inputs: []*bounded.Source{in}, Units: true, Where: where}
	for _, k := range main.Keys {
		out.Exprs = append(out.Exprs, k.Expr)
		out.Columns = append(out.Columns, bounded.Column{
			Column: &policy.Column{Name: "key", Type: k.Expr.Type, Nullable: true},
			Range:  k.Expr.Range,
			Weight: k.Expr.Weight(),
		})
	}
	for _, c := range clamps {
		one := oneIf(c)
		clamped := counted("clamped", 1, 1)
		clamped.Nullable, clamped.Weight = true, one.Weight()
		out.Exprs, out.Columns = append(out.Exprs, one), append(out.Columns, clamped)
	}
	return out
}

// perGroup returns one row for each unit and each of its groups, with the number of rows, and for each clamp the
// number of rows that satisfy it. The first columns of rows are the keys.
func perGroup(rows *bounded.Source, keys int) *bounded.Source {
	out := &bounded.Source{Op: bounded.PerUnit, Inputs: []*bounded.Source{rows}, Units: true, Loose: true}
	for i := range keys {
		out.Exprs = append(out.Exprs, rows.Column(i))
	}
	out.Columns = append(out.Columns, rows.Columns[:keys]...)
	out.Aggregates = []bounded.Inner{{Func: bounded.InnerRows, Lo: 1, Hi: mostRows, Type: value.Integer}}
	out.Columns = append(out.Columns, counted("rows", 1, mostRows))
	for i := keys; i < len(rows.Columns); i++ {
		out.Aggregates = append(out.Aggregates, bounded.Inner{
			Func: bounded.InnerCount, X: rows.Column(i), Hi: mostRows, Type: value.Integer,
		})
		out.Columns = append(out.Columns, counted("clamped", 0, mostRows))
	}
	return out
}

// perUnit returns one row for each unit. Its columns are, for each bound of b that is set: the number of the unit's
// rows, groups, and rows in its largest group. Each number is exact from its bound up to one above it at least. The
// number of rows is exact up to a.Most. The last columns are the counts of the clamps.
func perUnit(rows *bounded.Source, b Bounds, a Asked) *bounded.Source {
	most := max(a.Most, b.Rows+1)
	out := &bounded.Source{Op: bounded.PerUnit, Inputs: []*bounded.Source{rows}, Units: true, Loose: true, Single: true}
	add := func(f bounded.InnerFunc, x *bounded.Expr, lo, hi int64) {
		out.Aggregates = append(out.Aggregates, bounded.Inner{Func: f, X: x, Lo: lo, Hi: hi, Type: value.Integer})
		if f == bounded.InnerMax { // no engine clamps it
			lo, hi = x.Range.IntLo, x.Range.IntHi
		}
		out.Columns = append(out.Columns, counted(string(f), lo, hi))
	}
	grouped := b.Groups > 0 || b.RowsPerGroup > 0
	var inGroup *bounded.Expr
	if grouped {
		inGroup = rows.Column(len(rows.Columns) - 1 - len(a.Clamps))
	}
	switch {
	case b.Rows > 0 && grouped:
		add(bounded.InnerSum, inGroup, b.Rows, most)
	case b.Rows > 0:
		add(bounded.InnerRows, nil, b.Rows, most)
	}
	if b.Groups > 0 {
		add(bounded.InnerRows, nil, b.Groups, b.Groups+1)
	}
	if b.RowsPerGroup > 0 {
		add(bounded.InnerMax, inGroup, 0, 0)
	}
	for i := range a.Clamps {
		x, f := rows.Column(len(rows.Columns)-len(a.Clamps)+i), bounded.InnerCount
		if grouped {
			f = bounded.InnerSum
		}
		add(f, x, 0, a.Clamped)
	}
	return out
}

// counted returns the column of an integer from lo to hi.
func counted(name string, lo, hi int64) bounded.Column {
	return bounded.Column{
		Column: &policy.Column{Name: name, Type: value.Integer},
		Range:  bounded.Range{IntLo: lo, IntHi: hi},
		Weight: 2,
	}
}

// cut returns 1 for a unit that exceeds one of the bounds, and NULL for any other.
func cut(per *bounded.Source, b Bounds) *bounded.Expr {
	var over []*bounded.Expr
	for _, n := range []int64{b.Rows, b.Groups, b.RowsPerGroup} {
		if n > 0 {
			over = append(over, &bounded.Expr{
				Op: bounded.OpGt, Type: value.Boolean, Nullable: true,
				Args: []*bounded.Expr{per.Column(len(over)), whole(n)},
			})
		}
	}
	condition := over[0]
	if len(over) > 1 {
		condition = &bounded.Expr{Op: bounded.OpOr, Type: value.Boolean, Nullable: true, Args: over}
	}
	return oneIf(condition)
}

// oneIf returns 1 if the condition holds, and NULL otherwise.
func oneIf(condition *bounded.Expr) *bounded.Expr {
	null := &bounded.Expr{Op: bounded.OpConst, Type: value.Integer, Const: value.NullOf(value.Integer), Nullable: true}
	null.Range = bounded.Range{IntLo: 1, IntHi: 1}
	return &bounded.Expr{
		Op: bounded.OpCase, Type: value.Integer, Nullable: true,
		Range: bounded.Range{IntLo: 1, IntHi: 1},
		Args:  []*bounded.Expr{condition, whole(1), null},
	}
}

func whole(n int64) *bounded.Expr {
	return &bounded.Expr{
		Op: bounded.OpConst, Type: value.Integer, Const: value.OfInt(n), Range: bounded.Range{IntLo: n, IntHi: n},
	}
}

// Clamp returns the condition that the clamp of x changes a row's value, or nil if x has no clamp. A clamp is what
// an aggregate's own bounds make of its argument: CASE WHEN e IS NOT NULL THEN LEAST(GREATEST(e, low), high) END,
// in which one of the two functions may be missing.
func Clamp(x *bounded.Expr) *bounded.Expr {
	if x.Op != bounded.OpCase || len(x.Args) != 3 || !isNull(x.Args[2]) || x.Args[0].Op != bounded.OpNot ||
		x.Args[0].Args[0].Op != bounded.OpNil {
		return nil
	}
	e, of := x.Args[0].Args[0].Args[0], x.Args[1]
	var beyond []*bounded.Expr
	for _, end := range []struct{ clamp, beyond bounded.Op }{
		{bounded.OpLeast, bounded.OpGt}, {bounded.OpGreatest, bounded.OpLt},
	} {
		if of.Op == end.clamp && len(of.Args) == 2 && of.Args[1].Op == bounded.OpConst && !of.Args[1].Const.Null {
			beyond = append(beyond, &bounded.Expr{
				Op: end.beyond, Type: value.Boolean, Nullable: true, Args: []*bounded.Expr{e, of.Args[1]},
			})
			of = of.Args[0]
		}
	}
	switch {
	case len(beyond) == 0 || !of.Same(e):
		return nil
	case len(beyond) == 1:
		return beyond[0]
	}
	return &bounded.Expr{Op: bounded.OpOr, Type: value.Boolean, Nullable: true, Args: beyond}
}

func isNull(e *bounded.Expr) bool { return e.Op == bounded.OpConst && e.Const.Null }
