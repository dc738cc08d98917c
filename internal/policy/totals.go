package policy

import (
	"slices"

	"dither/internal/value"
)

// MaxTotal is the largest declared total.
const MaxTotal = 1 << 40

// Total declares how many rows a table has, or how many have one value of a column. It is a public constant, which is
// never compared with rows: tables and marginals take it as given.
type Total struct {
	Column string // "" for all rows
	Value  value.Value
	Count  int64
}

// allRows is the key of the total of all rows.
const allRows = "*"

// totals reads the declared totals of a table: {"*": 20000, region: {north: 8000, south: 12000}}.
func (r *reader) totals(f field, t *Table) (out []Total) {
	if !f.present() {
		return nil
	}
	if !t.Unit.IsRow() && t.Unit.RowsPerUnit != 1 {
		f.failKey("", "totals are declared where each unit has one row: otherwise tables count at most %d rows of a unit",
			t.Unit.RowsPerUnit)
		return nil
	}
	for _, e := range f.entries() {
		if e.name() == allRows {
			if n, ok := e.total(); ok {
				out = append(out, Total{Count: n})
			}
			continue
		}
		c := t.Column(e.name())
		if c == nil {
			e.failKey("the name of a column, or \"*\" for all rows", "%s is not among the columns", quote(e.name()))
			continue
		}
		known, ok := c.Known()
		if !ok {
			e.failKey("declare its values", "totals are declared for known values, and those of %s are not known", quote(c.Name))
			continue
		}
		for _, v := range e.entries() {
			one, err := value.Parse(c.Type, v.name())
			if err != nil || !slices.Contains(known, one) {
				v.failKey("", "%s is not among the known values of %s", quote(v.name()), quote(c.Name))
				continue
			}
			if n, ok := v.total(); ok {
				out = append(out, Total{Column: c.Name, Value: one, Count: n})
			}
		}
	}
	return out
}

// totalsAgree refuses declared totals of a table that no rows can have: those of a column's values add up to at most
// the number of all rows, and to that number if each row has one of them. That number is a total itself, or the
// declared number of units, or the sum for a column of the second kind.
func (r *reader) totalsAgree(f field, t *Table) {
	all, from := int64(-1), ""
	for _, total := range t.Totals {
		if total.Column == "" {
			all = total.Count
		}
	}
	if all < 0 && t.Units > 0 {
		all = t.Units
	}
	type sum struct {
		count    int64
		any, all bool // totals of some values are declared, and each row has one of these values
	}
	sums := make([]sum, len(t.Columns))
	for i, c := range t.Columns {
		known, _ := c.Known()
		n := 0
		for _, total := range t.Totals {
			if total.Column == c.Name {
				sums[i].count, n = sums[i].count+total.Count, n+1
			}
		}
		if sums[i].any, sums[i].all = n > 0, n > 0 && n == len(known) && t.filled(c); sums[i].all && all < 0 {
			all, from = sums[i].count, ", by those declared for "+quote(c.Name)
		}
	}
	for i, c := range t.Columns {
		switch s := sums[i]; {
		case all < 0 || !s.any:
		case s.count > all:
			f.fail("", "the totals declared for %s add up to %d, more than the %d of all rows%s",
				quote(c.Name), s.count, all, from)
		case s.count < all && s.all:
			f.fail("", "the totals declared for %s add up to %d, and all rows are %d%s", quote(c.Name), s.count, all, from)
		}
	}
}

// filled reports whether sealing refuses rows in which a column has none of its known values.
func (t *Table) filled(c *Column) bool {
	if c.Nullable || c.ValuesFrom != nil || t.Source.Live() {
		return false
	}
	return t.Units > 0 || c.Values == nil && (c.Type.Whole() || c.Type == value.Boolean)
}

func (f field) total() (int64, bool) {
	text, ok := f.text()
	if !ok {
		return 0, false
	}
	v, err := value.Parse(value.Integer, text)
	if err != nil || v.Int < 0 || v.Int > MaxTotal {
		f.fail("", "a declared total is a whole number from 0 to %d", int64(MaxTotal))
		return 0, false
	}
	return v.Int, true
}
