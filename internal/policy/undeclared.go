package policy

import "slices"

// Undeclared returns a copy of the policy that bounds nothing that an owner may change freely: the columns of its
// private tables have no bounds, all sealed rows of a unit may count, and no share of a price estimates what bounds
// cut. A column that divides a table into parts keeps its bounds, because they define the parts.
//
// The promise is that of p: the units, the neighbours and the budget. Sensitivities are computed from a statement, so
// they hold under both policies. The digest is another one, unless p declares nothing of this. It stays the same
// when the bounds of p change, because it does not contain them.
func (p *Policy) Undeclared() *Policy {
	out := *p
	out.Tables = slices.Clone(p.Tables)
	out.Price.Truncation = nil
	for i, t := range out.Tables {
		if t.Public {
			continue
		}
		table := *t
		table.Units = 0
		if !t.Unit.IsRow() {
			table.StoredRows = t.Stored()
			all := min(table.StoredRows, MaxRowsPerUnit)
			table.Unit.RowsPerUnit, table.Unit.MaxGroups, table.Unit.RowsPerGroup = all, all, all
		}
		table.Columns = slices.Clone(t.Columns)
		for j, c := range table.Columns {
			if c.Lower == nil || len(c.Values) > 0 || t.Part != nil && t.Part.Column == c.Name {
				continue
			}
			column := *c
			column.Lower, column.Upper = nil, nil
			table.Columns[j] = &column
		}
		out.Tables[i] = &table
	}
	out.Fix()
	return &out
}
