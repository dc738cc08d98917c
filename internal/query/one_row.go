package query

import "slices"

// OneRow reports whether a relation is a subquery of constants without FROM, such as (SELECT DATE '2025-06-01' AS cut) c.
// It has one row, so its columns are constants wherever it is joined to other relations.
func OneRow(r Relation) bool {
	q, ok := r.(*Subquery)
	return ok && len(q.Branches) == 1 && q.Branches[0].From.None() && plainSelect(q.Branches[0])
}

// plainSelect reports whether a SELECT has neither conditions nor other clauses after FROM.
func plainSelect(s *Select) bool {
	return s.Where == nil && len(s.GroupBy) == 0 && s.Having == nil && len(s.OrderBy) == 0 && s.Limit == nil && s.Offset == nil &&
		!s.Distinct
}

// tableless reports whether a relation is a subquery without FROM.
func tableless(r Relation) bool {
	q, ok := r.(*Subquery)
	if !ok {
		j, ok := r.(*Join)
		return ok && tableless(j.L) && tableless(j.R)
	}
	for _, s := range q.Branches {
		if s.From.None() {
			return true
		}
	}
	return false
}

// fromless reports whether no SELECT of a subquery has FROM. Others may unite constants with an answer, as the filters of
// dashboards do: SELECT 'all' UNION SELECT DISTINCT city FROM visits.
func fromless(q *Subquery) bool {
	return !slices.ContainsFunc(q.Branches, func(s *Select) bool { return !s.From.None() })
}

func noTable(at Pos) *Error {
	return &Error{Pos: at, Message: "the subquery has no table", Hint: "add FROM and a table's name"}
}

// constantOf returns the constant that (SELECT x FROM q) stands for, where q is a subquery of constants, or nil. The
// constant is short, because it may be written again in another subquery.
func constantOf(q *Subquery) Expr {
	x := itemOf(q)
	if x == nil || !small(x) {
		return nil
	}
	return x
}

func itemOf(q *Subquery) Expr {
	if len(q.Branches) != 1 || !plainSelect(q.Branches[0]) || len(q.Branches[0].Items) != 1 {
		return nil
	}
	s := q.Branches[0]
	if s.From.None() {
		return s.Items[0].Expr
	}
	of, ok := s.From.Relation.(*Subquery)
	c, column := s.Items[0].Expr.(*Column)
	if !ok || !column || !OneRow(of) || c.Table != "" && c.Table != of.Alias {
		return nil
	}
	for _, item := range of.Branches[0].Items {
		if item.Alias == c.Name {
			return item.Expr
		}
	}
	return nil
}
