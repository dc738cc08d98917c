package bind

import (
	"slices"

	"dither/internal/bounded"
	"dither/internal/query"
	"dither/internal/value"
)

// conditions sorts the conditions of ON or USING into pairs, further conditions, and conditions on r alone.
func (s *joining) conditions(j *query.Join) error {
	s.l.materialize()
	s.r.materialize()
	s.pairs, s.residual, s.onlyR, s.forward, s.backward, s.together = nil, nil, nil, nil, nil, false
	n := len(s.l.Columns)
	s.both = Relation{
		Scope: Scope{
			Columns: append(slices.Clone(s.l.Columns), s.r.Columns...), Source: &bounded.Source{Op: bounded.Join},
			computed: s.l.computed,
		},
	}
	s.both.Source.Columns = s.both.Columns
	s.both.Names = s.beside(s.both.Source)
	conditions, err := s.conjuncts(j)
	if err != nil {
		return err
	}
	for _, x := range conditions {
		e, err := s.both.Condition(x)
		if err != nil {
			return err
		}
		if e.Weight() > bounded.MaxWeight {
			return Refuse(x.Pos(), "simplify it", "this expression is too large when it is expanded")
		}
		if s.pair(e, n) {
			continue
		}
		switch {
		case !s.left:
			s.residual = Conjunction(s.residual, e)
		case reads(e, n, len(s.both.Columns)):
			s.onlyR = Conjunction(s.onlyR, shifted(e, n, s.r.Source))
		default:
			return Refuse(
				x.Pos(),
				"put other conditions on one side into a subquery: LEFT JOIN (SELECT … WHERE …) ON …",
				"the condition of a LEFT JOIN consists of equalities with columns of its right side, and of conditions on its right side alone",
			)
		}
	}
	return nil
}

// beside returns the names of both sides, over a source that has l's columns and then r's.
func (s *joining) beside(both *bounded.Source) []Name {
	out := append(slices.Clone(s.l.Names), s.r.Names...)
	for i := range out {
		at := out[i].e.Column
		if i >= len(s.l.Names) {
			at += len(s.l.Columns)
		}
		out[i].e = both.Column(at)
	}
	return out
}

// conjuncts returns the operands of AND in ON, or the equalities that USING stands for.
func (s *joining) conjuncts(j *query.Join) ([]query.Expr, error) {
	if j.Using == nil {
		return split(j.On), nil
	}
	var out []query.Expr
	for _, name := range j.Using {
		l, err := s.l.Find(&query.Column{At: s.at, Name: name})
		if err != nil {
			return nil, err
		}
		r, err := s.r.Find(&query.Column{At: s.at, Name: name})
		if err != nil {
			return nil, err
		}
		if l.table == "" || r.table == "" {
			return nil, Refuse(s.at, "give it an alias", "USING is for tables and subqueries that have a name")
		}
		of := func(n *Name) query.Expr { return &query.Column{At: s.at, Table: n.table, Name: n.name} }
		out = append(out, &query.Binary{At: s.at, Op: query.Eq, L: of(l), R: of(r)})
	}
	return out, nil
}

func split(x query.Expr) []query.Expr {
	if b, ok := x.(*query.Binary); ok && b.Op == query.And {
		return append(split(b.L), split(b.R)...)
	}
	return []query.Expr{x}
}

// pair records the condition e if it equates an expression over l with a column of r, and reports whether it does.
// The number n is how many columns l has. Real columns are no join keys: −0 equals 0, and an engine that looks up
// values by their bits may miss that.
func (s *joining) pair(e *bounded.Expr, n int) bool {
	if e.Op != bounded.OpEq || e.Args[0].Type == value.Real {
		return false
	}
	for _, args := range [][2]*bounded.Expr{{e.Args[0], e.Args[1]}, {e.Args[1], e.Args[0]}} {
		a, b := args[0], args[1]
		if b.Op != bounded.OpColumn || b.Column < n || !reads(a, 0, n) {
			continue
		}
		s.pairs = append(s.pairs, bounded.Pair{L: shifted(a, 0, s.l.Source), R: b.Column - n})
		if a.Op == bounded.OpColumn {
			s.meet(nameOf(s.both.Names, a.Column), nameOf(s.both.Names, b.Column), b.Column-n, a.Column)
		}
		return true
	}
	return false
}

// meet records what an equality of two columns implies about units (together). A reference that gives no unit may lead to another unit's row,
// as from a visit to its doctor. Such a join would only keep rows of the same unit, so it needs an explicit
// condition.
func (s *joining) meet(l, r Name, inR, inL int) {
	s.together = s.together || together(l, r)
	if refers(l.of, r.of) {
		s.forward = append(s.forward, inR)
	}
	if refers(r.of, l.of) {
		s.backward = append(s.backward, inL)
	}
}

// refers reports whether the policy declares a reference from column a to column b.
func refers(a, b origin) bool {
	if a.table == nil || b.table == nil {
		return false
	}
	to, ok := a.table.References[a.column]
	return ok && to.Table == b.table.Name && to.Column == b.column
}

// reads reports whether e reads a column, and only columns whose index i satisfies from ≤ i < to.
func reads(e *bounded.Expr, from, to int) bool {
	some, all := false, true
	e.Walk(func(x *bounded.Expr) {
		if x.Op == bounded.OpColumn {
			some, all = true, all && x.Column >= from && x.Column < to
		}
	})
	return some && all
}

// shifted returns e, an expression over both sides, as an expression over the columns of one side, whose first
// column had index n.
func shifted(e *bounded.Expr, n int, side *bounded.Source) *bounded.Expr {
	if e.Op == bounded.OpColumn {
		return side.Column(e.Column - n)
	}
	if len(e.Args) == 0 {
		return e
	}
	out := *e
	out.Args = make([]*bounded.Expr, len(e.Args))
	for i, a := range e.Args {
		out.Args[i] = shifted(a, n, side)
	}
	return &out
}
