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

// totals reads the declared totals of a table: {"*": 20000, region: {north: 8000, south: 12000}}. Contradictory ones
// are errors.
func (r *reader) totals(f field, t *Table) (out []Total) {
	if !f.present() {
		return nil
	}
	if !t.Unit.IsRow() && t.Unit.RowsPerUnit != 1 {
		f.failKey("", "totals are declared where each unit has one row: otherwise tables count at most %d rows of a unit",
			t.Unit.RowsPerUnit)
		return nil
	}
	all := int64(-1)
	for _, e := range f.entries() {
		if e.name() == allRows {
			if n, ok := e.total(); ok {
				all = n
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
	for _, c := range t.Columns {
		sum, n := int64(0), 0
		for _, total := range out {
			if total.Column == c.Name {
				sum, n = sum+total.Count, n+1
			}
		}
		known, _ := c.Known()
		switch {
		case n == 0 || all < 0:
		case sum > all:
			f.fail("", "the totals declared for %s add up to %d, more than the %d of all rows", quote(c.Name), sum, all)
		case sum < all && n == len(known) && !c.Nullable && c.Values == nil && c.Type.Whole():
			f.fail("", "the totals declared for %s add up to %d, and all rows are %d", quote(c.Name), sum, all)
		}
	}
	return out
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
