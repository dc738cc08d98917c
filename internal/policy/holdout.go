package policy

import (
	"slices"
	"strings"

	"dither/internal/value"
)

// holdout reads the share of units that a column holds out.
func (r *reader) holdout(keys map[string]field, c *Column) {
	f := keys["holdout"]
	r.holdoutPrice(keys["holdout_price"], f, c)
	s, ok := f.text()
	if !ok {
		return
	}
	share, err := percentage(s)
	switch {
	case err != nil || !strings.HasSuffix(strings.TrimSpace(s), "%"):
		f.fail("write, for example, 20%", "not a share of the units: %s", quote(s))
	case c.Type != value.Boolean || c.Nullable || c.ValuesFrom != nil || len(c.Values) > 0 || c.Invalid != InvalidRefused:
		f.failKey("declare it as {type: boolean, holdout: 20%}", "a column that holds units out is boolean, and has no other keys")
	default:
		c.Holdout = share
	}
}

// holdoutPrice reads the price of a test on the units that a column holds out.
func (r *reader) holdoutPrice(f, share field, c *Column) {
	if !f.present() {
		return
	}
	if !share.present() {
		f.failKey("declare it as {type: boolean, holdout: 20%, holdout_price: 0.5}", "the column holds nobody out")
		return
	}
	price, ok := f.price(r.allowed)
	switch {
	case !ok || r.allowed.Loss.IsZero(): // already reported
	case price.IsZero():
		f.fail("write, for example, 0.5", "must be above 0")
	case !price.Within(r.most):
		f.fail("", "the price of a test (%s) is above the maximum price (%s)", r.allowed.declared(price), r.allowed.declared(r.most))
	default:
		c.HoldoutPrice = price
	}
}

// holdouts refuses a column that holds units out in a table whose sealing cannot set it.
func (r *reader) holdouts(f field, t *Table) {
	n := 0
	for _, c := range t.Columns {
		if c.Holdout == nil {
			continue
		}
		switch n++; {
		case n > 1:
			f.failKey("", "a table has at most one column that holds units out")
		case t.Public:
			f.failKey("", "a public table has no units to hold out")
		case t.Unit.Through != "":
			f.failKey("declare the holdout in the table that the reference leads to", "table %s has no column that identifies its units", quote(t.Name))
		case t.Unit.Column == c.Name:
			f.failKey("", "the column that holds units out does not identify them")
		case t.Source.Live():
			f.failKey("export the table to Parquet, and seal the file",
				"questions read this table on its server, which would need the secret key of the holdout")
		}
	}
}

// SourceColumns returns the columns that a table's source has: all but one that holds units out.
func (t *Table) SourceColumns() []*Column {
	return slices.DeleteFunc(slices.Clone(t.Columns), func(c *Column) bool { return c.Holdout != nil })
}

// HoldoutColumns returns the columns that decide whether a row is held out: that of the unit, or all columns of the source if
// each row is a unit.
func (t *Table) HoldoutColumns() []*Column {
	return slices.DeleteFunc(t.SourceColumns(), func(c *Column) bool { return !t.Unit.IsRow() && c.Name != t.Unit.Column })
}
