package policy

import (
	"slices"
	"strings"

	"dither/internal/value"
)

// Origin is a column of a public table that provides the known values of another column. The values are those of
// the public table's sealed version, which is as public as the policy.
type Origin struct {
	Table, Column string
	Version       int    `json:"-"` // the sealed version that provides the values; 0 before they are looked up
	Trouble       string `json:"-"` // the reason why the values are missing; "" if they are not
}

// origin reads an Origin, written table.column.
func (f field) origin() *Origin {
	s, ok := f.text()
	if !ok {
		return nil
	}
	table, column, ok := strings.Cut(s, ".")
	if !ok || table == "" || column == "" {
		f.fail("write, for example, values_from: regions.region", "not a table and its column: %s", quote(s))
		return nil
	}
	return &Origin{Table: table, Column: column}
}

// origins checks, for each column with values_from, that the named column exists, is in a public table, and has the
// same type.
func (r *reader) origins(p *Policy) {
	for _, t := range p.Tables {
		for _, c := range t.Columns {
			if c.ValuesFrom == nil {
				continue
			}
			at, o := r.from[c], c.ValuesFrom
			from := p.Table(o.Table)
			switch {
			case c.Name == t.Unit.Column:
				at.fail("", "the unit column %s must have neither bounds nor values: they would merge persons",
					quote(c.Name))
			case c.Type == value.Real:
				at.fail("", "values of a real column cannot be compared reliably; declare bounds")
			case from == nil:
				at.fail("", "there is no table %s", quote(o.Table))
			case !from.Public:
				at.fail("known values are public: if these are, declare public: true there", "table %s is not public",
					quote(o.Table))
			case from.Column(o.Column) == nil:
				at.fail("", "table %s has no column %s", quote(o.Table), quote(o.Column))
			case from.Column(o.Column).Type != c.Type:
				at.fail("", "column %s is of type %s, and %s of type %s",
					quote(c.Name), c.Type, quote(o.Table+"."+o.Column), from.Column(o.Column).Type)
			}
		}
	}
}

// WithPublic returns a copy of the policy whose PublicValues calls the function values. The digest stays that of p.
func (p *Policy) WithPublic(values func(Origin) (known []value.Value, trouble string)) *Policy {
	out := *p
	out.public = values
	return &out
}

// PublicValues returns the distinct values of a public table's column other than NULL, or the reason why they are missing.
// A question that uses them has them in its plan, so no version of the table is needed to decode its release.
func (p *Policy) PublicValues(o Origin) (values []value.Value, trouble string) {
	if p.public == nil {
		return nil, ""
	}
	return p.public(o)
}

// Filled returns a copy of the policy in which columns with ValuesFrom have their values. The function values
// returns the values of an Origin and the version of its table, or the reason why they are missing. The digest
// stays that of p, because the policy does not name these values.
func (p *Policy) Filled(values func(Origin) (known []value.Value, version int, trouble string)) *Policy {
	out := *p
	out.Tables = slices.Clone(p.Tables)
	for i, t := range out.Tables {
		if !slices.ContainsFunc(t.Columns, func(c *Column) bool { return c.ValuesFrom != nil }) {
			continue
		}
		table := *t
		table.Columns = slices.Clone(t.Columns)
		for j, c := range table.Columns {
			if c.ValuesFrom == nil {
				continue
			}
			column, origin := *c, *c.ValuesFrom
			column.Values, origin.Version, origin.Trouble = values(origin)
			column.ValuesFrom = &origin
			table.Columns[j] = &column
		}
		out.Tables[i] = &table
	}
	return &out
}
