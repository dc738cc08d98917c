package plan

import (
	"strconv"

	"dither/internal/bind"
	"dither/internal/policy"
	"dither/internal/query"
)

// unitsFirst suggests to aggregate each unit's rows in a subquery: at best the aggregates that the question asks for,
// with its other groups, and else the number of rows.
func unitsFirst(p *policy.Policy, tree *query.Select) []suggestion {
	probe := *tree
	rows, err := bind.RelationOf(p, &probe)
	if err != nil {
		return nil
	}
	unit, err := rows.UnitColumn(query.Pos{})
	if err != nil {
		return nil
	}
	var keys, asked []query.Item
	names := map[string]bool{}
	for _, item := range tree.Items {
		switch c, column := item.Expr.(*query.Column); {
		case column && rows.IsUnit(c):
		case column && len(tree.GroupBy) > 0:
			keys = append(keys, item)
		case measuresRows(item.Expr):
			item.Alias = valueName(item, names)
			asked = append(asked, item)
		}
	}
	counted := []query.Item{{Expr: countOfRows(), Alias: "n"}}
	var out []suggestion
	try := func(keys, values []query.Item, having query.Expr) {
		if len(values) > 0 {
			s := averaged(tree, unit, keys, values, having)
			out = append(out, suggestion{s, s.String()})
		}
	}
	if len(keys) > 0 {
		try(keys, asked, tree.Having)
	}
	try(nil, asked, tree.Having)
	try(nil, asked, nil)
	try(nil, counted, nil)
	return out
}

// averaged returns the average over units of the values of a subquery, which has a row of each unit that HAVING keeps.
func averaged(tree *query.Select, unit query.Expr, keys, values []query.Item, having query.Expr) *query.Select {
	inner, out := over(tree), &query.Select{}
	inner.Having = having
	for _, k := range keys {
		name := k.Alias
		if name == "" {
			name = k.Expr.(*query.Column).Name
		}
		of := &query.Column{Name: name}
		inner.Items, inner.GroupBy = append(inner.Items, k), append(inner.GroupBy, k.Expr)
		out.Items, out.GroupBy = append(out.Items, query.Item{Expr: of}), append(out.GroupBy, of)
	}
	inner.Items, inner.GroupBy = append(inner.Items, query.Item{Expr: unit}), append(inner.GroupBy, unit)
	for _, v := range values {
		inner.Items = append(inner.Items, v)
		mean := &query.Call{Name: "avg", Args: []query.Expr{&query.Column{Name: v.Alias}}}
		out.Items = append(out.Items, query.Item{Expr: mean})
	}
	out.From = query.From{Relation: &query.Subquery{Branches: []*query.Select{inner}, Alias: "q"}}
	return out
}

// measuresRows reports whether an expression has an aggregate of rows.
func measuresRows(x query.Expr) bool {
	found := false
	query.Replace(x, func(e query.Expr) (query.Expr, bool) {
		if c, ok := e.(*query.Call); ok && c.Over == nil {
			name := bind.Renamed(c).Name
			found = found || bind.IsAggregate(name) || name == "min" || name == "max"
		}
		return e, found
	})
	return found
}

// valueName returns the name of a unit's value in a subquery, and takes it: that of the question, or a letter.
func valueName(item query.Item, taken map[string]bool) string {
	first := item.Alias
	if first == "" {
		first = "x"
		if c, ok := item.Expr.(*query.Call); ok {
			if letter := map[string]string{"count": "n", "sum": "s", "avg": "m"}[c.Name]; letter != "" {
				first = letter
			}
		}
	}
	name := first
	for i := 2; taken[name]; i++ {
		name = first + strconv.Itoa(i)
	}
	taken[name] = true
	return name
}
