package curator

import (
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"

	"dither/internal/exact"
	"dither/internal/policy"
	"dither/internal/query"
	"dither/internal/seal"
	"dither/internal/value"
)

// Tables lists what may be asked about. It is read from the policy, free.
func (c *Curator) Tables() ([]Table, error) {
	state, err := c.ledger.State()
	if err != nil {
		return nil, public(err)
	}
	var out []Table
	for _, t := range c.policy.Tables {
		table := Table{Name: t.Name, Description: t.Description, Public: t.Public, Unit: t.Unit.Column, ExpectedRows: t.ExpectedRows}
		v, err := seal.Current(c.home, t)
		if err == nil {
			table.Version = v.Number
		}
		table.NeverSealed = errors.Is(err, seal.ErrNotSealed) && state.Sealed[t.Name].Version == 0
		for _, column := range t.Columns {
			table.Columns = append(table.Columns, tableColumn(column))
		}
		out = append(out, table)
	}
	return out, nil
}

// Table describes a table as the policy declares it.
type Table struct {
	Name, Description string
	Public            bool
	Unit              string // the column that identifies a unit; "" where each row is one
	ExpectedRows      int64  // as declared; 0 if not
	Version           int    // the sealed version in force; 0 if there is none
	NeverSealed       bool   // no version was ever sealed: the first use may
	Columns           []TableColumn
}

// TableColumn describes a column as the policy declares it.
type TableColumn struct {
	Name, Description, Type string
	Lower, Upper            string   // declared bounds, or ""
	Values                  []string // declared values, or nil
	Nullable                bool
}

// SQLName is a table's or a column's name as a question writes it: in double quotes if it needs them.
func SQLName(name string) string { return query.QuoteName(name) }

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
	for _, v := range c.Values {
		out.Values = append(out.Values, v.String())
	}
	return out
}

// CheckPolicy reads a home's policy file and says, for its owner, what it allows and what it leaves open. Of a
// source it reads no more than a CSV file's header, and it spends nothing.
func CheckPolicy(home string) ([]string, error) {
	p, err := policy.Load(filepath.Join(home, policy.FileName))
	if err != nil {
		return nil, homeError(err)
	}
	lines := []string{fmt.Sprintf("population %s (%s), budget %s, a question costs %s by default, %s at least and %s at most",
		p.Population.Name, p.Population.Neighbours, p.Budget.Loss, p.Price.Default, p.Price.Minimum, p.Price.Maximum)}
	if p.Budget.Loss.Within(p.Price.Maximum) {
		lines = append(lines, "one question may cost the whole budget; and a write that a power cut tears counts as one: price.maximum bounds both")
	}
	for _, t := range p.Tables {
		lines = append(lines, fmt.Sprintf("table %s: %d columns", t.Name, len(t.Columns)))
		if _, err := os.Stat(t.Source.File); err != nil {
			lines = append(lines, fmt.Sprintf("  its source %s is not there", t.Source.Path))
		} else if text := doubt(t); text != "" {
			lines = append(lines, "  "+text)
		}
		for _, c := range t.Columns {
			if gap := gapOf(t, c); gap != "" {
				lines = append(lines, fmt.Sprintf("  %s: %s", c.Name, gap))
			}
		}
	}
	return lines, nil
}

// gapOf says what cannot be asked of a column as it is declared.
func gapOf(t *policy.Table, c *policy.Column) string {
	switch {
	case t.Public || c.Name == t.Unit.Column || c.Lower != nil || c.Values != nil || c.Type == value.Boolean:
		return ""
	case c.Type == value.Text || c.Type == value.Date:
		return "no values declared: it may be compared, but not grouped by"
	}
	return "no bounds declared: it may be compared, but not summed, averaged or grouped by"
}
