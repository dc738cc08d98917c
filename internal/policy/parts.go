package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/big"
	"slices"

	"dither/internal/value"
)

// MaxPartBytes is the longest text of a part's value, in bytes. The limit exists because charges name their parts.
const MaxPartBytes = 256

// Part divides a table's units into parts by the values of a column, for parallel composition. A question that is
// confined to some parts is charged to these alone. In such a question, a unit counts only in its own parts: at
// most PerUnit of them, which are the same in every question.
type Part struct {
	Column  string
	PerUnit int64 // 1 for a property of the unit, such as a party; more for a property of its rows, such as a day
}

// Parting describes a table's Part in the ledger. Two divisions with different Partings are different divisions.
type Parting struct {
	Term string // the column with its type, values and cleaning; a change of any of these may change a unit's own parts
	Most int64  // largest number of parts of one unit
}

func (r *reader) part(f field, t *Table) *Part {
	if !f.present() {
		return nil
	}
	if t.Public {
		f.failKey("", "a public table has no privacy unit")
		return nil
	}
	keys, ok := f.keys("column", "per_unit")
	if !ok {
		return nil
	}
	p := &Part{PerUnit: 1}
	keys["column"].need(f, "write, for example, part: {column: party}")
	if p.Column, ok = keys["column"].text(); !ok {
		return nil
	}
	if keys["per_unit"].present() {
		p.PerUnit, _ = keys["per_unit"].count(MaxKeys)
	}
	if t.Unit.Through != "" {
		f.failKey(
			"",
			"a table that belongs to its units through a reference has no parts: "+
				"questions about it are relations, which are charged to everybody",
		)
		return nil
	}
	if t.Unit.IsRow() && p.PerUnit != 1 {
		keys["per_unit"].fail("", "a row belongs to one part")
	}
	c := t.Column(p.Column)
	if c == nil {
		keys["column"].fail("the name of a column", "%s is not among the columns", quote(p.Column))
		return nil
	}
	if c.ValuesFrom != nil { // its values may change, and then a unit's own parts would change
		keys["column"].fail("declare its values", "the parts must be fixed: %s takes its values from a table",
			quote(p.Column))
		return nil
	}
	values, ok := c.Known()
	if !ok {
		keys["column"].fail(fmt.Sprintf("declare its values, or bounds of at most %d values", MaxKeys),
			"the parts must be known: %s declares neither values nor narrow enough bounds", quote(p.Column))
		return nil
	}
	for _, v := range values {
		if text := v.String(); text == "" || len(text) > MaxPartBytes {
			keys["column"].fail("", "a part's value has 1 to %d bytes", MaxPartBytes)
			return nil
		}
	}
	return p
}

// Known returns, sorted, the values that the column's cleaned value can have, except NULL. ok is false if they are
// not declared, or if there are more than MaxKeys.
func (c *Column) Known() ([]value.Value, bool) {
	switch {
	case c.Type == value.Boolean && c.Values == nil:
		return []value.Value{value.OfBool(false), value.OfBool(true)}, true
	case c.Values != nil:
		out := slices.Clone(c.Values)
		slices.SortFunc(out, value.Compare)
		return out, c.Type != value.Real
	case !c.Type.Whole(), c.Lower == nil:
		return nil, false
	}
	width := new(big.Rat).Sub(c.Upper, c.Lower)
	if width.Cmp(big.NewRat(MaxKeys-1, 1)) > 0 {
		return nil, false
	}
	var out []value.Value
	for n := c.Lower.Num().Int64(); n <= c.Upper.Num().Int64(); n++ {
		out = append(out, value.Value{Type: c.Type, Int: n})
	}
	return out, true
}

// parting returns the description that the ledger keeps of how the table's units are divided into parts. ok is false if
// they are not divided.
func (t *Table) parting() (p Parting, ok bool) {
	if t.Part == nil {
		return p, false
	}
	c := t.Column(t.Part.Column)
	term := fmt.Sprintf("%s %s", c.Name, c.Type)
	switch {
	case c.Values != nil: // other values become NULL, which is in no part
		values, _ := c.Known()
		sum := sha256.New()
		for _, v := range values {
			_, _ = fmt.Fprintf(sum, "%q\n", v.String()) // never fails
		}
		term += fmt.Sprintf(" of %d values, %s", len(values), hex.EncodeToString(sum.Sum(nil)[:8]))
	case c.Lower != nil: // values outside the bounds become the bound, and are in its part
		bound := func(r *big.Rat) value.Value { return value.Value{Type: c.Type, Int: r.Num().Int64()} }
		term += fmt.Sprintf(" from %s to %s", bound(c.Lower), bound(c.Upper))
	}
	return Parting{Term: term, Most: t.Part.PerUnit}, true
}
