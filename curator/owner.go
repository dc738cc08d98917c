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

// Tables lists the tables that the policy declares, at no cost.
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
			Units:        t.Units,
			Totals:       totalsOf(t),
		}
		table.ManyRows = t.Unit.RowsPerUnit > 1 || t.Unit.PersonRows > 1
		if owner := c.policy.Owner(t); owner != nil {
			table.Unit = owner.Unit.Column
		}
		if !t.Public {
			table.Limits = tableLimits(t, table.Unit)
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
			described := c.tableColumn(column)
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
	// the column that identifies a unit, in this table or in the one that Through leads to; "" if each row is a
	// unit
	Unit    string
	Through string // the reference through which a row belongs to a unit; "" if none is needed
	// a person may have several rows that count, by rows_per_unit or person_rows. Then rows are not independent
	ManyRows     bool
	Limits       *Limits // what bounds the answers to questions about this table; nil for a public table
	ExpectedRows int64   // the declared number of rows; 0 if none is declared
	Units        int64   // the declared number of units, or 0; COUNT(*) returns it
	Part         string  // the column whose values are the parts that questions may be charged to; "" if none
	Totals       []DeclaredTotal
	PartsPerUnit int64 // the number of parts in which one unit counts; 0 without parts
	Version      int   // the number of the newest sealed version; 0 if there is none
	NeverSealed  bool  // no version was ever sealed, so its first use may seal the table
	Columns      []TableColumn
}

// TableColumn describes a column as the policy declares it.
type TableColumn struct {
	Name, Description, Type string
	Lower, Upper            string   // declared bounds, or ""
	Values                  []string // declared values, or nil
	ValuesFrom              string   // the public column, as table.column, whose values are this column's values; or ""
	Nullable                bool
	Holdout                 bool // the column says which units are held out
	// the default and the largest price of a test on the held-out units; zero if the policy has none
	HoldoutPrice Loss
	References   string // the column, as table.column, that a value of this column refers to; or ""
	// for a public table: the largest number of rows with the same value of this column that a join uses; 0 if the
	// policy has no such limit
	RowsPerValue int64
}

// SQLName returns a table's or a column's name as a question writes it, in double quotes if needed.
func SQLName(name string) string { return query.QuoteName(name) }

// SQLText returns a text constant as a question writes it.
func SQLText(text string) string { return query.QuoteText(text) }

// Thousands writes a number with commas, such as 12,345.
func Thousands(n int64) string { return plan.Thousands(n) }

func bound(t value.Type, r *big.Rat) string {
	if t.Whole() && t != value.Integer {
		return value.Value{Type: t, Int: r.Num().Int64()}.String()
	}
	return exact.FormatRat(r)
}

func (s *Session) tableColumn(c *policy.Column) TableColumn {
	out := TableColumn{Name: c.Name, Description: c.Description, Type: c.Type.String(), Nullable: c.Nullable, Holdout: c.Holdout != nil}
	if !c.HoldoutPrice.IsZero() {
		out.HoldoutPrice = s.loss(c.HoldoutPrice)
	}
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

// apart returns an explanation if a table's unit is found through a table on another server or in a file, and else
// "". Every question about such a table is refused.
func apart(p *policy.Policy, t *policy.Table) string {
	for of := t; of != nil && of.Unit.Through != ""; {
		of = p.Table(of.References[of.Unit.Through].Table)
		if of != nil && release.ServerOf(of) != release.ServerOf(t) {
			return fmt.Sprintf(
				"its unit is found through table %s, which is stored elsewhere: questions about it are refused "+
					"until both tables are on one server, or both are sealed from files",
				of.Name,
			)
		}
	}
	return ""
}
