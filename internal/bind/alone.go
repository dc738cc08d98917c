package bind

import (
	"dither/internal/bounded"
	"dither/internal/policy"
	"dither/internal/query"
	"dither/internal/value"
)

// Declarations is the scope of one table's declarations: which values its columns may have. It is for questions that no row
// answers, so the table may be public.
type Declarations struct {
	*Scope
	policy *policy.Policy
}

// DeclarationsOf returns the declarations of the one table that a question names. The boolean is false if FROM is
// anything else.
func DeclarationsOf(p *policy.Policy, tree *query.Select) (*Declarations, bool) {
	t := p.Table(tree.From.Table)
	if tree.From.Relation != nil || t == nil || Catalogs(p, tree) != nil {
		return nil, false
	}
	return &Declarations{
		Scope:  &Scope{Table: t, alias: aliasOf(tree), Resolved: map[*policy.Column]bool{}},
		policy: p,
	}, true
}

// Name returns the name by which the question refers to the table.
func (d *Declarations) Name() string { return d.alias }

// ValuesOf lists the values that a column of a public table has, if some column takes its values from there. They are
// the only rows' values that are known without noise.
func (d *Declarations) ValuesOf(e *bounded.Expr) ([]value.Value, bool) {
	if e.Op != bounded.OpColumn || !d.Table.Public {
		return nil, false
	}
	for _, t := range d.policy.Tables {
		for _, c := range t.Columns {
			if o := c.ValuesFrom; o != nil && o.Table == d.Table.Name && o.Column == e.Name && c.Values != nil {
				return c.Values, true
			}
		}
	}
	return nil, false
}

// IsTheUnit is the reason that [Scope.OneUnit] returns for the unit's column.
const IsTheUnit = "the column identifies the unit"

// OneUnit returns why each group by a column belongs to one unit, by the policy's declarations, or "" if it need not.
func (l *Scope) OneUnit(p *policy.Policy, e *bounded.Expr) string {
	if e.Op != bounded.OpColumn {
		return ""
	}
	table, column := l.Table, e.Name
	if l.Names != nil {
		n := nameOf(l.Names, e.Column)
		if n.unit {
			return IsTheUnit
		}
		if table, column = n.of.table, n.of.column; table == nil {
			return ""
		}
	}
	switch {
	case table.Public:
		return ""
	case column == table.Unit.Column:
		return IsTheUnit
	case column == table.Unit.Through:
		return "each row belongs to the unit of the row that " + query.QuoteName(column) + " refers to"
	}
	for _, t := range p.Tables {
		for name, to := range t.References {
			if to.Table == table.Name && to.Column == column {
				return query.QuoteName(column) + " identifies a row, because " + query.QuoteName(t.Name) + "." + query.QuoteName(name) +
					" refers to it"
			}
		}
	}
	return ""
}
