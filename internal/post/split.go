package post

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"

	"dither/internal/bind"
	"dither/internal/query"
)

// Split returns the ways to read a question as SELECTs over an answer, the outermost first: each SELECT of its chain of
// subqueries that aggregates may be the one that is measured. The caller takes the first whose measured question is
// answered. has reports whether the rows that a SELECT reads have a column of a name.
func Split(tree *query.Select, has func(of *query.Select, name string) bool) (out []*Program) {
	var around []*query.Select
	for s := tree; s != nil; s = below(s) {
		if measured(s) && tree.Options.Heads(s) {
			p := divide(s, func(name string) bool { return has(s, name) })
			p.Measured.Options, p.Measured.Catalogs = tree.Options.Outermost(), tree.Catalogs
			p.over, p.level = append([]*query.Select{p.split}, reversed(around)...), len(around)
			out = append(out, p)
		}
		around = append(around, s)
	}
	return out
}

func reversed(list []*query.Select) []*query.Select {
	out := slices.Clone(list)
	slices.Reverse(out)
	return out
}

// below returns the SELECT whose rows s reads, if FROM is one subquery.
func below(s *query.Select) *query.Select {
	q, ok := s.From.Relation.(*query.Subquery)
	if !ok || len(q.Branches) != 1 {
		return nil
	}
	return q.Branches[0]
}

// measured reports whether a SELECT may be measured: whether it aggregates or lists values.
func measured(s *query.Select) bool {
	if s.From.None() {
		return false
	}
	if len(s.GroupBy) > 0 || s.Distinct || s.Having != nil {
		return true
	}
	return slices.ContainsFunc(s.Items, func(i query.Item) bool { return contains(i.Expr, isMeasure) })
}

// contains reports whether x has a subexpression for which is returns true. It looks into windows too.
func contains(x query.Expr, is func(query.Expr) bool) bool {
	found := false
	query.Replace(x, func(e query.Expr) (query.Expr, bool) {
		found = found || is(e)
		return e, found
	})
	return found
}

// isMeasure reports whether x is an aggregate over rows of persons.
func isMeasure(x query.Expr) bool {
	c, ok := x.(*query.Call)
	return ok && c.Over == nil && aggregates(c)
}

// aggregates reports whether a call is of an aggregate, even of one that dither refuses over rows of persons.
func aggregates(c *query.Call) bool {
	return c.Filter != nil || c.Within != nil || c.Star || c.Distinct || bind.IsAggregate(bind.Renamed(c).Name) ||
		others[c.Name] != nil || c.Name == "string_agg" || c.Name == "array_agg"
}

// position returns the name by which a SELECT over an answer refers to the answer's column i. No other name begins with
// a NUL, because no question has one.
func position(i int) string { return "\x00" + strconv.Itoa(i) }

// worded returns a refusal in which the columns of the measured question have the question's words again.
func (p *Program) worded(err error) error {
	refusal := (*bind.Error)(nil)
	if !errors.As(err, &refusal) {
		return err
	}
	out := *refusal
	for i, item := range p.Measured.Items {
		name := query.QuoteName(position(i))
		out.Hint = strings.ReplaceAll(out.Hint, name, query.Print(item.Expr))
		out.Message = strings.ReplaceAll(out.Message, name, query.Print(item.Expr))
	}
	return &out
}

// divider collects the columns of the measured question.
type divider struct {
	keys  map[string]bool // the GROUP BY expressions, without the names of tables
	items []query.Item
	known map[string]int
}

// divide splits a SELECT over rows of persons into one that is measured, whose items are GROUP BY expressions and
// aggregates, and one over its answer.
func divide(s *query.Select, has func(string) bool) *Program {
	inner, outer := *s, *s
	d := &divider{keys: map[string]bool{}, known: map[string]int{}}
	inner.GroupBy = nil
	for _, x := range s.GroupBy {
		inner.GroupBy = append(inner.GroupBy, d.key(resolved(s, x, has)))
	}
	list := s.Distinct && len(s.GroupBy) == 0 &&
		!slices.ContainsFunc(s.Items, func(i query.Item) bool { return contains(i.Expr, isMeasure) })
	outer.Items = nil
	for _, item := range s.Items {
		if list {
			if _, constant := item.Expr.(*query.Literal); !constant {
				d.keys[plain(item.Expr)] = true
			}
		}
		named := query.Item{Expr: d.over(item.Expr), Alias: nameOf(item)}
		if c, ok := named.Expr.(*query.Column); ok && c.Table == "" && item.Alias != "" {
			d.name(c.Name, item.Alias)
		}
		outer.Items = append(outer.Items, named)
	}
	outer.Where, outer.Having = d.optional(query.Unaliased(s, s.Having, has)), nil
	outer.OrderBy = slices.Clone(s.OrderBy)
	for i, o := range s.OrderBy {
		if c, ok := o.Expr.(*query.Column); ok && c.Table == "" && slices.ContainsFunc(outer.Items,
			func(item query.Item) bool { return item.Alias == c.Name }) {
			continue
		}
		if _, ok := o.Expr.(*query.Literal); !ok {
			outer.OrderBy[i].Expr = d.over(o.Expr)
		}
	}
	if len(d.items) == 0 && len(inner.GroupBy) > 0 {
		for _, x := range inner.GroupBy {
			if _, several := x.(*query.Grouping); !several {
				d.column(x)
				break
			}
		}
	}
	inner.Items, inner.Distinct = d.items, list
	inner.Having, inner.OrderBy, inner.Limit, inner.Offset = nil, nil, nil, nil
	outer.GroupBy, outer.From, outer.Options, outer.Catalogs = nil, query.From{At: s.From.At}, nil, nil
	p := &Program{Measured: &inner, as: s.String(), split: &outer}
	for _, item := range d.items {
		p.names = append(p.names, unique(nameOf(item), p.names))
	}
	return p
}

// unique returns a name that is not among those taken.
func unique(name string, taken []string) string {
	out := name
	for i := 2; slices.Contains(taken, out); i++ {
		out = name + "_" + strconv.Itoa(i)
	}
	return out
}

// key returns a GROUP BY expression, and remembers its keys.
func (d *divider) key(x query.Expr) query.Expr {
	if g, ok := x.(*query.Grouping); ok {
		for _, a := range g.Args {
			d.key(a)
		}
		return x
	}
	d.keys[plain(x)] = true
	return x
}

// resolved returns what an item of GROUP BY stands for: an output column, if it is a number or an alias, or itself. A
// column of the rows takes precedence over an alias.
func resolved(s *query.Select, x query.Expr, has func(string) bool) query.Expr {
	switch x := x.(type) {
	case *query.Literal:
		if n, err := strconv.Atoi(x.Text); x.Kind == query.IntegerLiteral && err == nil && n >= 1 && n <= len(s.Items) {
			return s.Items[n-1].Expr
		}
	case *query.Column:
		for _, item := range s.Items {
			if x.Table == "" && item.Alias == x.Name && !has(x.Name) {
				return item.Expr
			}
		}
	case *query.Grouping:
		out := *x
		out.Args = nil
		for _, a := range x.Args {
			out.Args = append(out.Args, resolved(s, a, has))
		}
		return &out
	}
	return x
}

// plain returns the text of an expression without the names of tables, which may be left out. If two columns have the
// same plain text, the planner refuses the measured question, because one of them is no key.
func plain(x query.Expr) string {
	return query.Print(query.Replace(x, func(e query.Expr) (query.Expr, bool) {
		c, ok := e.(*query.Column)
		if !ok {
			return e, false
		}
		return &query.Column{At: c.At, Name: c.Name}, true
	}))
}

// over returns an expression over the answer: it replaces keys, aggregates and columns by columns of the answer.
func (d *divider) over(x query.Expr) query.Expr {
	return query.Replace(x, func(e query.Expr) (query.Expr, bool) {
		c, call := e.(*query.Call)
		_, column := e.(*query.Column)
		switch {
		case column, isMeasure(e), call && c.Name == "grouping", d.keys[plain(e)]:
			return d.column(e), true
		}
		n, nested := e.(*query.Nested)
		if nested && len(n.X) > 0 { // the subquery has names of its own
			out := *n
			out.X = nil
			for _, x := range n.X {
				out.X = append(out.X, d.over(x))
			}
			return &out, true
		}
		return e, nested
	})
}

func (d *divider) optional(x query.Expr) query.Expr {
	if x == nil {
		return nil
	}
	return d.over(x)
}

// column returns the column of the answer for an expression, and adds it if it is new.
func (d *divider) column(x query.Expr) *query.Column {
	text := query.Print(x)
	i, ok := d.known[text]
	if !ok {
		i = len(d.items)
		d.known[text] = i
		d.items = append(d.items, query.Item{Expr: x})
	}
	return &query.Column{At: x.Pos(), Name: position(i)}
}

// name gives a column of the answer the alias of an item that is this column.
func (d *divider) name(column, alias string) {
	for i := range d.items {
		if position(i) == column && d.items[i].Alias == "" && !slices.ContainsFunc(d.items,
			func(o query.Item) bool { return o.Alias == alias }) {
			d.items[i].Alias = alias
		}
	}
}

// nameOf returns the name of an output column: its alias, or the name that PostgreSQL would give it.
func nameOf(item query.Item) string {
	if item.Alias != "" {
		return item.Alias
	}
	switch x := item.Expr.(type) {
	case *query.Column:
		return x.Name
	case *query.Call:
		return x.Name
	case *query.Case:
		return "case"
	case *query.Cast:
		if item.Name == "" {
			return nameOf(query.Item{Expr: x.X})
		}
	}
	return cmp.Or(item.Name, "expr")
}
