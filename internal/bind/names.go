package bind

import (
	"cmp"
	"slices"

	"dither/internal/bounded"
	"dither/internal/policy"
	"dither/internal/query"
)

// Names in a relation: a name that several columns have must be qualified with a table's name. dither never guesses
// which column is meant.

// Find returns the name that a reference means. It refuses a reference to no name or to several names.
func (l *Scope) Find(c *query.Column) (*Name, error) {
	var found *Name
	known := c.Table == ""
	for i := range l.Names {
		n := &l.Names[i]
		known = known || n.table == c.Table
		if n.name != c.Name || c.Table == "" && n.merged || c.Table != "" && n.table != c.Table {
			continue
		}
		if found != nil {
			hint := "give one of them another name, with AS"
			if found.table != n.table && n.table != "" && found.table != "" {
				hint = "write " + query.QuoteName(
					found.table,
				) + "." + query.QuoteName(
					n.name,
				) + " or " + query.QuoteName(
					n.table,
				) + "." + query.QuoteName(
					n.name,
				)
			}
			return nil, Refuse(c.At, hint, "column %q is ambiguous", c.Name)
		}
		found = n
	}
	switch {
	case !known:
		return nil, Refuse(c.At, suggestion(c.Table, l.tables()), "there is no table %q in this question", c.Table)
	case found == nil:
		var names []string
		for _, n := range l.Names {
			if n.name != "" && (c.Table == "" || n.table == c.Table) && !slices.Contains(names, n.name) {
				names = append(names, n.name)
			}
		}
		return nil, Refuse(c.At, noColumn(c.Name, names), "there is no column %q here", c.Name)
	}
	return found, nil
}

// tables returns the names or aliases of the relation's tables.
func (l *Scope) tables() (out []string) {
	for _, n := range l.Names {
		if n.table != "" && !isHidden(n.table) && !slices.Contains(out, n.table) {
			out = append(out, n.table)
		}
	}
	return out
}

// resolve returns the expression that a reference means.
func (l *Scope) resolve(c *query.Column) (*bounded.Expr, error) {
	n, err := l.Find(c)
	if err != nil {
		return nil, err
	}
	l.reads(n.e)
	return n.e, n.unfilled(c.At)
}

// reads marks the columns that an expression reads as resolved. A question reaches columns only through names.
func (l *Scope) reads(e *bounded.Expr) {
	e.Walk(func(x *bounded.Expr) {
		if x.Op == bounded.OpColumn && l.Resolved != nil {
			l.Resolved[l.Columns[x.Column].Column] = true
		}
	})
}

// unfilled refuses a column that takes its values from a public table whose values are not known.
func (n *Name) unfilled(at query.Pos) error {
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
	return Refuse(
		at,
		"the owner can seal it: dither seal "+o.Table,
		"column %q takes its values from %s.%s, and %s",
		c.Name,
		o.Table,
		o.Column,
		cmp.Or(o.Trouble, "they are not known here"),
	)
}

// nameOf returns the first name that stands for the column with this index, or a zero Name if there is none.
func nameOf(names []Name, column int) Name {
	i := slices.IndexFunc(names, func(n Name) bool { return n.e.Op == bounded.OpColumn && n.e.Column == column })
	if i < 0 {
		return Name{}
	}
	return names[i]
}

// Declared returns the expression of a column of the one table, and makes the engine clean the column.
func (l *Scope) Declared(c *policy.Column) *bounded.Expr {
	index := slices.IndexFunc(l.Columns, func(o bounded.Column) bool { return o.Name == c.Name })
	if index < 0 {
		index = len(l.Columns)
		l.Columns = append(l.Columns, bounded.Column{Column: c, Range: bounded.CleanRange(c)})
	}
	return &bounded.Expr{
		Op:       bounded.OpColumn,
		Type:     c.Type,
		Column:   index,
		Name:     c.Name,
		Range:    l.Columns[index].Range,
		Nullable: true,
	}
}

// Has reports whether some column has this name.
func (l *Scope) Has(name string) bool {
	if l.Names == nil {
		return l.Table.Column(name) != nil
	}
	return slices.ContainsFunc(l.Names, func(n Name) bool { return n.name == name })
}

// UnitStands reports whether the column e is the unit's column.
func (l *Scope) UnitStands(e *bounded.Expr) bool {
	if l.Names == nil {
		return e.Name == l.Table.Unit.Column
	}
	return slices.ContainsFunc(
		l.Names,
		func(n Name) bool { return n.unit && n.e.Op == bounded.OpColumn && n.e.Column == e.Column },
	)
}

// UnitColumn returns a reference to the unit's column, or a refusal at a position if the rows have none.
func (l *Scope) UnitColumn(at query.Pos) (query.Expr, error) {
	if l.Names == nil {
		return &query.Column{At: at, Name: l.Table.Unit.Column}, nil
	}
	for _, n := range l.Names {
		if n.unit && n.name != "" {
			return &query.Column{At: at, Table: n.table, Name: n.name}, nil
		}
	}
	return nil, Refuse(at, "join the table that has the unit's column", "these rows have no column of the unit")
}

// IsUnit reports whether a reference means the unit's column.
func (l *Scope) IsUnit(c *query.Column) bool {
	if l.Names == nil {
		return c.Name == l.Table.Unit.Column
	}
	n, err := l.Find(c)
	return err == nil && n.unit
}

// Placed refuses an integer x in GROUP BY or ORDER BY that refers to no item of the SELECT list, which is so if
// resolved is still x. PostgreSQL does not take such an integer for a constant either, and ignoring it would leave
// the intended grouping or order out.
func Placed(x, resolved query.Expr) error {
	if l, ok := x.(*query.Literal); ok && l.Kind == query.IntegerLiteral && resolved == x {
		return Refuse(l.At, "name the expression itself, or its position in SELECT, counted from 1", "SELECT has no item %s", l.Text)
	}
	return nil
}
