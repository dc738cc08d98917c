package plan

import (
	"slices"
	"strings"

	"dither/internal/bind"
	"dither/internal/policy"
	"dither/internal/query"
	"dither/internal/value"
)

// byDistinctRows returns the question over a subquery if its only aggregate counts distinct combinations of values,
// among them the unit's column. Otherwise it returns the question.
//
//	SELECT city, COUNT(DISTINCT (person, ward)) FROM visits GROUP BY city
//	SELECT city, COUNT(*) FROM (SELECT DISTINCT person, ward, city FROM visits) q GROUP BY city
//
// Both count the same: a combination belongs to one unit, so the subquery has each combination once in each group.
func byDistinctRows(p *policy.Policy, tree *query.Select) (*query.Select, error) {
	count := findAggregate(tree, combines)
	if count == nil {
		return tree, nil
	}
	whole := *tree
	rows, err := bind.RelationOf(p, &whole)
	if err != nil || rows.Table.Unit.IsRow() {
		return tree, nil //nolint:nilerr // the caller binds the question again, and returns the error
	}
	of, ok := combined(rows, count)
	sets := func(x query.Expr) bool { _, sets := x.(*query.Grouping); return sets }
	others := func(c *query.Call) bool { return query.Print(c) != query.Print(count) }
	if !ok || len(count.Named) > 0 || slices.ContainsFunc(tree.GroupBy, sets) || findAggregate(tree, others) != nil {
		return tree, nil
	}
	u := &unitGroups{of: tree, place: map[string]query.Expr{}, counts: true}
	out, err := u.rewrite(rows, of.values...)
	if err != nil {
		return nil, err
	}
	inner := out.From.Relation.(*query.Subquery).Branches[0] //nolint:forcetypeassert // as rewrite made it
	for _, c := range of.conditions {
		inner.Where = and(inner.Where, c)
	}
	return out, nil
}

func and(a, b query.Expr) query.Expr {
	if a == nil {
		return b
	}
	return &query.Binary{At: b.Pos(), Op: query.And, L: a, R: b}
}

// combines reports whether an aggregate is COUNT(DISTINCT (a, b)), or COUNT(DISTINCT a || '-' || b).
func combines(c *query.Call) bool {
	if c.Name != "count" || !c.Distinct || c.Over != nil {
		return false
	}
	if len(c.Args) == 1 {
		b, ok := c.Args[0].(*query.Binary)
		return ok && b.Op == query.Concat
	}
	return len(c.Args) > 1
}

// combination is what a count of distinct combinations counts: the values of rows for which the conditions are true.
type combination struct{ values, conditions []query.Expr }

// combined returns the combination of a count, if the unit's column is among its values.
func combined(rows *bind.Relation, count *query.Call) (out combination, ok bool) {
	if out.values = count.Args; len(count.Args) == 1 {
		if out.values, ok = spelledApart(rows, count.Args[0]); !ok {
			return out, false
		}
		for _, x := range out.values { // the whole text is NULL if some part is
			out.conditions = append(out.conditions, &query.Is{At: x.Pos(), X: x, What: query.IsNull, Not: true})
		}
	}
	if count.Filter != nil {
		out.conditions = append(out.conditions, count.Filter)
	}
	ok = slices.ContainsFunc(out.values, func(x query.Expr) bool {
		c, isColumn := x.(*query.Column)
		return isColumn && rows.IsUnit(c)
	})
	return out, ok
}

// spelledApart returns the parts of a || '-' || b, if different parts give different texts.
//
// Claim: the text determines the parts. Proof: all parts but the last one are whole numbers or dates, and a constant
// that does not begin with a digit stands behind each. So the end of a number is known from the text, as is that of a
// date, which has ten characters. The constants are known too. The last part is the rest. ∎
func spelledApart(rows *bind.Relation, x query.Expr) (parts []query.Expr, ok bool) {
	apart := true // whether a part may follow
	var pieces func(x query.Expr) bool
	pieces = func(x query.Expr) bool {
		if b, ok := x.(*query.Binary); ok && b.Op == query.Concat {
			return pieces(b.L) && pieces(b.R)
		}
		if s, ok := x.(*query.Literal); ok {
			apart = apart || s.Kind == query.StringLiteral && s.Text != "" && !strings.ContainsAny(s.Text[:1], "0123456789")
			return s.Kind == query.StringLiteral
		}
		if !apart {
			return false
		}
		if c, ok := x.(*query.Cast); ok && c.Type == "text" {
			x = c.X
		}
		e, err := rows.Row(x)
		parts = append(parts, x)
		apart = false
		return err == nil && (e.Type == value.Integer || e.Type == value.Date)
	}
	return parts, pieces(x) && len(parts) > 1
}

// asText returns the count of distinct combinations of whole numbers, dates and booleans as a count of distinct texts:
// each combination has a text of its own, also with NULLs. The boolean is false for other values.
func (b *measuring) asText(x *query.Call) (*query.Call, bool) {
	out := *x
	var text query.Expr
	literal := func(s string) query.Expr { return &query.Literal{At: x.At, Kind: query.StringLiteral, Text: s} }
	for _, a := range x.Args {
		e, err := b.Row(a)
		if err != nil || e.Type != value.Integer && e.Type != value.Date && e.Type != value.Boolean {
			return nil, false
		}
		part := query.Expr(&query.Call{
			At: x.At, Name: "coalesce", Args: []query.Expr{&query.Cast{At: x.At, X: a, Type: "text"}, literal("NULL")},
		})
		if text != nil {
			part = &query.Binary{At: x.At, Op: query.Concat, L: &query.Binary{At: x.At, Op: query.Concat, L: text, R: literal("/")}, R: part}
		}
		text = part
	}
	out.Args = []query.Expr{text}
	_, err := b.Row(text) // the values are known
	return &out, err == nil
}

// severalValues refuses a count of distinct combinations that byDistinctRows does not count.
func severalValues(x *query.Call) error {
	var text []string
	for _, a := range x.Args {
		text = append(text, query.Print(a))
	}
	return bind.Refuse(x.At,
		"use a subquery: SELECT COUNT(*) FROM (SELECT DISTINCT "+strings.Join(text, ", ")+" FROM …) q, with the unit's column among them",
		"COUNT(DISTINCT x) takes one value, or several with the unit's column among them if the question has no other aggregate")
}
