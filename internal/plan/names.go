package plan

import (
	"cmp"
	"slices"

	"dither/internal/bounded"
	"dither/internal/policy"
	"dither/internal/query"
)

// Names in a relation. A name that several columns have must be qualified; which one was meant is never guessed.

// find is the name that a reference means.
func (l *lowering) find(c *query.Column) (*named, error) {
	var found *named
	known := c.Table == ""
	for i := range l.names {
		n := &l.names[i]
		known = known || n.table == c.Table
		if n.name != c.Name || c.Table == "" && n.merged || c.Table != "" && n.table != c.Table {
			continue
		}
		if found != nil {
			hint := "give one of them another name, with AS"
			if found.table != n.table && n.table != "" && found.table != "" {
				hint = "write " + query.QuoteName(found.table) + "." + query.QuoteName(n.name) + " or " + query.QuoteName(n.table) + "." + query.QuoteName(n.name)
			}
			return nil, refuse(c.At, hint, "column %q is ambiguous", c.Name)
		}
		found = n
	}
	switch {
	case !known:
		return nil, refuse(c.At, suggestion(c.Table, l.tables()), "there is no table %q in this question", c.Table)
	case found == nil:
		var names []string
		for _, n := range l.names {
			if n.name != "" && (c.Table == "" || n.table == c.Table) && !slices.Contains(names, n.name) {
				names = append(names, n.name)
			}
		}
		return nil, refuse(c.At, noColumn(c.Name, names), "there is no column %q here", c.Name)
	}
	return found, nil
}

// tables are the names of a relation's tables.
func (l *lowering) tables() (out []string) {
	for _, n := range l.names {
		if n.table != "" && !slices.Contains(out, n.table) {
			out = append(out, n.table)
		}
	}
	return out
}

// resolve is the expression that a reference means.
func (l *lowering) resolve(c *query.Column) (*bounded.Expr, error) {
	n, err := l.find(c)
	if err != nil {
		return nil, err
	}
	l.reads(n.e)
	return n.e, n.unfilled(c.At)
}

// reads notes which columns an expression reads that a name stands for. Names are the one way from a question to columns.
func (l *lowering) reads(e *bounded.Expr) {
	e.Walk(func(x *bounded.Expr) {
		if x.Op == bounded.OpColumn && l.read != nil {
			l.read[l.columns[x.Column].Column] = true
		}
	})
}

// unfilled refuses a column whose values are those of a public table that tells none.
func (n *named) unfilled(at query.Pos) error {
	if n.of.table == nil {
		return nil
	}
	return unfilled(n.of.table.Column(n.of.column), at)
}

func unfilled(c *policy.Column, at query.Pos) error {
	o := c.ValuesFrom
	if o == nil || c.Values != nil {
		return nil
	}
	return refuse(at, "the owner can seal it: dither seal "+o.Table, "the values of column %q are those of %s.%s, and %s", c.Name, o.Table, o.Column, cmp.Or(o.Trouble, "they are not known here"))
}

// nameOf is the first name of a column.
func nameOf(names []named, column int) named {
	i := slices.IndexFunc(names, func(n named) bool { return n.e.Op == bounded.OpColumn && n.e.Column == column })
	if i < 0 {
		return named{}
	}
	return names[i]
}

// declared is a column of the one table, which the engine cleans.
func (l *lowering) declared(c *policy.Column) *bounded.Expr {
	index := slices.IndexFunc(l.columns, func(o bounded.Column) bool { return o.Name == c.Name })
	if index < 0 {
		index = len(l.columns)
		l.columns = append(l.columns, bounded.Column{Column: c, Range: bounded.CleanRange(c)})
	}
	return &bounded.Expr{Op: bounded.OpColumn, Type: c.Type, Column: index, Name: c.Name, Range: l.columns[index].Range, Nullable: true}
}

// has reports that a name is a column's.
func (l *lowering) has(name string) bool {
	if l.names == nil {
		return l.table.Column(name) != nil
	}
	return slices.ContainsFunc(l.names, func(n named) bool { return n.name == name })
}

// unitStands reports that an expression is the unit's column itself.
func (l *lowering) unitStands(e *bounded.Expr) bool {
	if l.names == nil {
		return e.Name == l.table.Unit.Column
	}
	return slices.ContainsFunc(l.names, func(n named) bool { return n.unit && n.e.Op == bounded.OpColumn && n.e.Column == e.Column })
}

// isUnit reports that a reference means the unit's column.
func (l *lowering) isUnit(c *query.Column) bool {
	if l.names == nil {
		return c.Name == l.table.Unit.Column
	}
	n, err := l.find(c)
	return err == nil && n.unit
}
