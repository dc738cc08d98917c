package plan

import (
	"slices"
	"strconv"

	"dither/internal/bind"
	"dither/internal/policy"
	"dither/internal/query"
)

// GoogleSQL's AVG(x, contribution_bounds_per_group => (low, high)) averages the rows of each unit in a group, clamps
// that average, and averages over units. So such a question is one over a subquery that has one row for each unit and
// group:
//
//	SELECT k, AVG(x, contribution_bounds_per_group => (l, h)) FROM t WHERE c GROUP BY k
//	SELECT k, AVG(a, contribution_bounds_per_row => (l, h))
//	FROM (SELECT unit, k, AVG(x) AS a FROM t WHERE c GROUP BY unit, k) GROUP BY k
//
// Beside such an average, SUM and COUNT with bounds per group become sums over these rows.
//
// Claim: the rewritten question has the bounds and the sensitivity of the same question with a subquery, and it is
// planned as that question. Proof: the rewriting is of syntax alone. It reads the policy and no row, and everything
// after it plans, bounds and proves the question that it returns. A unit has at most one row in each group there. So a
// bound of n rows is a bound of n groups, which groupsAsRows sets. ∎

// unitGroups is a question that is rewritten to aggregate each unit's rows in a group first.
type unitGroups struct {
	of    *query.Select
	keys  []query.Expr          // what the question groups by
	items []query.Item          // of the subquery
	place map[string]query.Expr // the columns of the subquery, by the text of what they have
	// counts is whether the aggregates count the rows of the subquery (see byDistinctRows)
	counts bool
}

// byUnitGroups returns the question over a subquery if it has an average with bounds per group, and its unit is a
// column. Otherwise it returns the question, and false.
func byUnitGroups(p *policy.Policy, tree *query.Select) (*query.Select, bool, error) {
	average := findAggregate(tree, func(c *query.Call) bool { return c.Name == "avg" && perGroupBounds(c) != nil })
	if average == nil {
		return tree, false, nil
	}
	whole := *tree
	rows, err := bind.RelationOf(p, &whole)
	if err != nil || rows.Table.Unit.IsRow() {
		return tree, false, nil //nolint:nilerr // the caller binds the question again, and returns the error
	}
	if err := rows.UnitQualified(tree); err != nil {
		return nil, false, err
	}
	if other := findAggregate(tree, func(c *query.Call) bool { return !ofUnitGroups(c) }); other != nil {
		return nil, false, bind.Refuse(
			other.At,
			"ask for the average in a question of its own",
			"an average with bounds per group averages each %s first, so the other aggregates need contribution_bounds_per_group, "+
				"and are COUNT, SUM or AVG", rows.Table.Unit.Column,
		)
	}
	if rows.Keyed != nil {
		return nil, false, bind.Refuse(average.At, "write contribution_bounds_per_row => (low, high)",
			"an average with bounds per group takes no join for PUBLIC_GROUPS")
	}
	unit, err := rows.UnitColumn(average.At)
	if err != nil {
		return nil, false, err
	}
	u := &unitGroups{of: tree, place: map[string]query.Expr{}, items: []query.Item{{Expr: unit, Alias: hiddenName("unit", 0)}}}
	out, err := u.rewrite(rows)
	return out, err == nil, err
}

func hiddenName(what string, i int) string { return "\x00" + what + strconv.Itoa(i) }

// perGroupBounds returns the bounds per group of an aggregate, or nil if it has none.
func perGroupBounds(c *query.Call) *query.Argument {
	for i := range c.Named {
		if c.Named[i].Name == "contribution_bounds_per_group" {
			return &c.Named[i]
		}
	}
	return nil
}

// ofUnitGroups reports whether an aggregate is a function of one number for each unit and group.
func ofUnitGroups(c *query.Call) bool {
	return perGroupBounds(c) != nil && !c.Distinct && c.Over == nil && slices.Contains([]string{"avg", "sum", "count"}, c.Name)
}

// findAggregate returns the first aggregate of a question for which is returns true, or nil. is gets a call with its
// name in this dialect.
func findAggregate(tree *query.Select, is func(*query.Call) bool) (found *query.Call) {
	in := func(x query.Expr) {
		query.Replace(x, func(e query.Expr) (query.Expr, bool) {
			if c, ok := e.(*query.Call); ok && found == nil {
				if c := bind.Renamed(c); bind.IsAggregate(c.Name) && is(c) {
					found = c
				}
			}
			return e, found != nil
		})
	}
	for _, i := range tree.Items {
		in(i.Expr)
	}
	in(tree.Having)
	for _, o := range tree.OrderBy {
		in(o.Expr)
	}
	return found
}

// rewrite returns the question over the subquery, which is also grouped by some values.
func (u *unitGroups) rewrite(rows *bind.Relation, by ...query.Expr) (*query.Select, error) {
	inner := &query.Select{At: u.of.From.At, From: u.of.From, Where: u.of.Where}
	for _, item := range u.items {
		inner.GroupBy = append(inner.GroupBy, item.Expr)
	}
	first := len(inner.GroupBy)
	out := *u.of
	out.Where, out.Items, out.GroupBy, out.OrderBy = nil, nil, nil, slices.Clone(u.of.OrderBy)
	if u.of.Options.Heads(u.of) {
		out.Options = u.of.Options.Outermost()
	}
	for i, x := range u.of.GroupBy {
		x = resolveAlias(&rows.Scope, u.of, x)
		if _, several := x.(*query.Grouping); several {
			return nil, bind.Refuse(x.Pos(), "write contribution_bounds_per_row => (low, high)",
				"an average with bounds per group takes no grouping sets")
		}
		inner.GroupBy = append(inner.GroupBy, x)
		out.GroupBy = append(out.GroupBy, u.column(x, hiddenName("key", i), x))
	}
	u.keys = slices.Clone(inner.GroupBy[first:])
	for i, x := range by {
		inner.GroupBy = append(inner.GroupBy, x)
		u.column(x, hiddenName("value", i), x)
	}
	for _, item := range u.of.Items {
		over := query.Item{Expr: u.over(item.Expr), Alias: item.Alias}
		if over.Expr != item.Expr {
			over.Alias = outputName(item)
		}
		out.Items = append(out.Items, over)
	}
	out.Having = u.over(query.Unaliased(u.of, u.of.Having, rows.Has))
	for i, o := range out.OrderBy {
		if x := resolveOutput(u.of, o.Expr); x == o.Expr {
			out.OrderBy[i].Expr = u.over(o.Expr)
		}
	}
	if err := u.outside(rows, &out); err != nil {
		return nil, err
	}
	inner.Items = u.items
	out.From = query.From{At: u.of.From.At, Relation: &query.Subquery{
		At: u.of.From.At, Branches: []*query.Select{inner}, Alias: hiddenName("groups", 0),
	}}
	return &out, nil
}

// outside refuses a column that is neither a key nor in an aggregate.
func (u *unitGroups) outside(rows *bind.Relation, out *query.Select) (err error) {
	check := func(x query.Expr) {
		query.Replace(x, func(e query.Expr) (query.Expr, bool) {
			c, ok := e.(*query.Column)
			if !ok || err != nil || c.Name[0] == 0 {
				return e, false
			}
			if _, err = rows.Column(c); err == nil {
				err = bind.Refuse(c.At, "add it to GROUP BY, or use COUNT, SUM or AVG of it", "column %q stands outside any aggregate", c.Name)
			}
			return e, true
		})
	}
	for _, i := range out.Items {
		check(i.Expr)
	}
	check(out.Having)
	for _, o := range out.OrderBy {
		if resolveOutput(u.of, o.Expr) == o.Expr {
			check(o.Expr)
		}
	}
	return err
}

// outputName returns the name that an item of a question without a subquery has.
func outputName(item query.Item) string {
	if item.Alias != "" {
		return item.Alias
	}
	switch x := item.Expr.(type) {
	case *query.Column:
		return x.Name
	case *query.Call:
		return x.Name
	}
	return ""
}

// column returns the subquery's column for an expression, and adds it if it is new.
func (u *unitGroups) column(x query.Expr, name string, at query.Expr) query.Expr {
	text := query.Print(x)
	if u.place[text] == nil {
		u.items = append(u.items, query.Item{Expr: x, Alias: name})
		u.place[text] = &query.Column{At: at.Pos(), Name: name}
	}
	return u.place[text]
}

// over returns an expression over the columns of the subquery. It leaves what is neither a key nor an aggregate, which
// the planner refuses.
func (u *unitGroups) over(x query.Expr) query.Expr {
	return query.Replace(x, func(e query.Expr) (query.Expr, bool) {
		text := query.Print(e)
		for _, k := range u.keys {
			if query.Print(k) == text {
				return u.place[text], true
			}
		}
		c, ok := e.(*query.Call)
		if !ok || !bind.IsAggregate(bind.Renamed(c).Name) {
			return e, false
		}
		return u.aggregate(bind.Renamed(c)), true
	})
}

// aggregate returns the aggregate over the units' numbers in a group.
func (u *unitGroups) aggregate(c *query.Call) query.Expr {
	if u.counts {
		return &query.Call{At: c.At, Name: "count", Star: true}
	}
	first := *c
	first.Named = nil
	out := &query.Call{
		At: c.At, Name: c.Name, Args: []query.Expr{u.column(&first, hiddenName("of", len(u.items)), &first)},
		Named: slices.Clone(c.Named),
	}
	if c.Name == "count" {
		out.Name = "sum"
	}
	for i := range out.Named {
		if out.Named[i].Name == "contribution_bounds_per_group" {
			out.Named[i].Name = "contribution_bounds_per_row"
		}
	}
	return out
}

// groupsAsRows bounds the rows of the subquery of byUnitGroups, of which a unit has one in each group.
func (r *Request) groupsAsRows(t *policy.Table, tree *query.Select) error {
	switch unlimited := unlimitedGroups(tree.Options); {
	case r.AutoRows || r.MaxRows > 0 && !unlimited:
		return bind.Refuse(
			tree.From.At,
			"write max_groups_contributed in its place: it bounds the groups in which a unit counts",
			"a bound on rows and an average with bounds per group exclude each other: the average is of all rows of a unit in a group",
		)
	case unlimited:
	case r.MaxGroups > 0:
		r.MaxRows, r.MaxGroups = r.MaxGroups, 0
	default:
		r.MaxRows = t.Unit.MaxGroups
	}
	return nil
}

// unlimitedGroups reports whether the clause has max_groups_contributed = NULL.
func unlimitedGroups(o *query.Options) bool {
	return o != nil && slices.ContainsFunc(o.List, func(o query.Option) bool {
		return (o.Name == "max_groups_contributed" || o.Name == "kappa") && isNull(o.Value)
	})
}

// onlyUnlimited reports whether the clause has max_groups_contributed = NULL, and no bound on rows beside it.
func onlyUnlimited(o *query.Options) bool {
	return unlimitedGroups(o) && !slices.ContainsFunc(o.List, func(o query.Option) bool {
		return o.Name == "max_rows_contributed" || o.Name == "max_rows_quantile"
	})
}
