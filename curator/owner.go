package curator

import (
	"errors"
	"fmt"
	"math/big"

	"dither/internal/exact"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/query"
	"dither/internal/release"
	"dither/internal/seal"
	"dither/internal/value"
)

// Tables lists what may be asked about. It is read from the policy, free.
func (c *Session) Tables() ([]Table, error) {
	state, err := c.ledger.State()
	if err != nil {
		return nil, c.public(err)
	}
	var out []Table
	for _, t := range c.filled().Tables {
		table := Table{
			Name:         t.Name,
			Description:  t.Description,
			Public:       t.Public,
			Unit:         t.Unit.Column,
			Through:      t.Unit.Through,
			ExpectedRows: t.ExpectedRows,
		}
		table.ManyRows = t.Unit.RowsPerUnit > 1 || t.Unit.PersonRows > 1
		if owner := c.policy.Owner(t); owner != nil {
			table.Unit = owner.Unit.Column
		}
		if t.Part != nil {
			table.Part, table.PartsPerUnit = t.Part.Column, t.Part.PerUnit
		}
		v, err := seal.Current(c.home, t)
		if err == nil {
			table.Version = v.Number
		}
		table.NeverSealed = errors.Is(err, seal.ErrNotSealed) && state.Sealed[t.Name].Version == 0
		for _, column := range t.Columns {
			described := tableColumn(column)
			if to, ok := t.References[column.Name]; ok {
				described.References = to.String()
			}
			described.RowsPerValue = t.RowsPerValue[column.Name]
			table.Columns = append(table.Columns, described)
		}
		out = append(out, table)
	}
	return out, nil
}

// Table describes a table as the policy declares it.
type Table struct {
	Name, Description string
	Public            bool
	// the column that identifies a unit, of this table or of the one that Through leads to; "" where each row is
	// one
	Unit    string
	Through string // the reference through which a row belongs to a unit; "" where it needs none
	// a person may have several rows that count, so that rows are not independent: by rows_per_unit, or person_rows
	ManyRows     bool
	ExpectedRows int64  // as declared; 0 if not
	Part         string // the column by whose values questions may be charged; "" if none
	PartsPerUnit int64  // in how many of these one unit counts; 0 without
	Version      int    // the sealed version in force; 0 if there is none
	NeverSealed  bool   // no version was ever sealed: the first use may
	Columns      []TableColumn
}

// TableColumn describes a column as the policy declares it.
type TableColumn struct {
	Name, Description, Type string
	Lower, Upper            string   // declared bounds, or ""
	Values                  []string // declared values, or nil
	ValuesFrom              string   // the table and column whose values these are, or ""
	Nullable                bool
	References              string // table.column of what its value names, or ""
	// of a public table: a join takes at most so many rows of one value; 0 if that is not declared
	RowsPerValue int64
}

// SQLName is a table's or a column's name as a question writes it: in double quotes if it needs them.
func SQLName(name string) string { return query.QuoteName(name) }

// Thousands writes a number with commas.
func Thousands(n int64) string { return plan.Thousands(n) }

func bound(t value.Type, r *big.Rat) string {
	if t == value.Date {
		return value.OfDay(r.Num().Int64()).String()
	}
	return exact.FormatRat(r)
}

func tableColumn(c *policy.Column) TableColumn {
	out := TableColumn{Name: c.Name, Description: c.Description, Type: c.Type.String(), Nullable: c.Nullable}
	if c.Lower != nil {
		out.Lower, out.Upper = bound(c.Type, c.Lower), bound(c.Type, c.Upper)
	}
	if o := c.ValuesFrom; o != nil {
		out.ValuesFrom = o.Table + "." + o.Column
	}
	for _, v := range c.Values {
		out.Values = append(out.Values, v.String())
	}
	return out
}

// apart says of a table that its unit is found in a table that is elsewhere: then every question about it is refused.
func apart(p *policy.Policy, t *policy.Table) string {
	for of := t; of != nil && of.Unit.Through != ""; {
		of = p.Table(of.References[of.Unit.Through].Table)
		if of != nil && release.ServerOf(of) != release.ServerOf(t) {
			return fmt.Sprintf(
				"its unit is found through table %s, which is elsewhere: no question about it can be answered until both are on one server, or both are sealed from files",
				of.Name,
			)
		}
	}
	return ""
}
