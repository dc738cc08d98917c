package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"dither/internal/nearest"
)

// Reference is the target of a referring column: a column of another table that identifies the row referred to.
type Reference struct{ Table, Column string }

// String returns the reference as written in a policy: table.column.
func (r Reference) String() string { return r.Table + "." + r.Column }

// MaxThrough is the largest number of references from a table to the table with its unit column.
const MaxThrough = 4

// pending is a reference as written in the policy. resolve resolves it when all tables are known.
type pending struct {
	table   *Table
	field   field
	column  string
	written string
}

// references reads the references of a table's columns.
func (r *reader) references(keys map[string]field, t *Table) {
	if t.Public && keys["references"].present() {
		keys["references"].failKey("a join of public rows needs only rows_per_value",
			"a public table cannot have references")
		return
	}
	for _, e := range keys["references"].entries() {
		if e.columnOf(t) == nil {
			continue
		}
		if text, ok := e.text(); ok {
			r.pending = append(r.pending, pending{t, e, e.key.Value, text})
		}
	}
}

// rowsPerValue reads rows_per_value of a public table: for some columns, the most rows with one value.
func (r *reader) rowsPerValue(f field, t *Table) {
	if f.present() && !t.Public {
		f.failKey("use rows_per_unit for private tables", "applies only to public tables")
		return
	}
	for _, e := range f.entries() {
		c := e.columnOf(t)
		n, ok := e.count(MaxRowsPerUnit)
		if c == nil || !ok {
			continue
		}
		if t.RowsPerValue == nil {
			t.RowsPerValue = map[string]int64{}
		}
		t.RowsPerValue[c.Name] = n
	}
}

// columnOf returns the column that the key of f names. If there is none, it records an error and returns nil.
func (f field) columnOf(t *Table) *Column {
	c := t.Column(f.key.Value)
	if c == nil {
		names := make([]string, len(t.Columns))
		for i, c := range t.Columns {
			names[i] = c.Name
		}
		hint := ""
		if near := nearest.Name(f.key.Value, names); near != "" {
			hint = "did you mean " + near + "?"
		}
		f.failKey(hint, "not among the columns")
	}
	return c
}

// through reads the key through: each row belongs to the unit of the row that the named reference refers to. ok is
// false if the key is absent.
func (r *reader) through(keys map[string]field, t *Table) (u Unit, ok bool) {
	f := keys["through"]
	if !f.present() {
		return u, false
	}
	if keys["unit"].present() || keys["person_rows"].present() {
		f.failKey("write one of them", "a table declares its unit, or gets it through a reference, not both")
	}
	name, _ := f.text()
	if !slices.ContainsFunc(r.pending, func(p pending) bool { return p.table == t && p.column == name }) {
		f.fail("references: {"+clip(name)+": table.column}", "%s is not among the table's references", quote(name))
	}
	u.Through = name
	return u, true
}

// resolve resolves the pending references. A referring column and its target must have the same type, because they
// hold the same identifiers.
func (r *reader) resolve(tables []*Table) {
	for _, p := range r.pending {
		to, found := target(p.written, tables)
		switch {
		case !found:
			p.field.fail("write table.column", "%s is not a column of another table", quote(p.written))
			continue
		case to.table == p.table:
			p.field.fail("", "a table cannot refer to itself")
			continue
		case to.table.Public:
			p.field.fail("a join of public rows needs rows_per_value there, and no reference",
				"%s is public: it belongs to nobody", quote(to.table.Name))
			continue
		case to.table.Unit.IsRow():
			p.field.fail("give that table a unit column", "each row of %s is a unit of its own, so rows of other "+
				"tables cannot belong to it",
				quote(to.table.Name))
			continue
		}
		from := p.table.Column(p.column)
		if from.Type != to.column.Type || !identifies(from.Type) {
			p.field.fail("declare both as integer, text or date", "%s is %s, and %s is %s, so they cannot identify the same row",
				quote(p.column), from.Type, quote(p.written), to.column.Type)
			continue
		}
		if bound(from) || bound(to.column) {
			p.field.fail("leave out bounds and values of both", "bounds or values would merge several keys")
			continue
		}
		if tidied(from) || tidied(to.column) {
			p.field.fail("leave out trim and case of both", "trim or case would merge several keys")
			continue
		}
		if p.table.References == nil {
			p.table.References = map[string]Reference{}
		}
		p.table.References[p.column] = Reference{to.table.Name, to.column.Name}
	}
	if len(r.errs) > 0 {
		return
	}
	p := &Policy{Tables: tables}
	for _, t := range tables {
		if t.Unit.Through == "" {
			continue
		}
		if p.Owner(t) == nil {
			r.report(nil, t.Name, "let the references lead to a table with a unit column",
				"the unit of table %s is not found through at most %d references", quote(t.Name), MaxThrough)
		}
	}
}

// bound reports whether the column has bounds or declared values, so that cleaning may map several of its values to
// one.
func bound(c *Column) bool { return c.Lower != nil || c.Values != nil || c.ValuesFrom != nil }

type place struct {
	table  *Table
	column *Column
}

func target(written string, tables []*Table) (place, bool) {
	for _, t := range tables {
		for _, c := range t.Columns {
			if written == t.Name+"."+c.Name {
				return place{t, c}, true
			}
		}
	}
	return place{}, false
}

// Owner returns the table whose unit column identifies the owners of t's rows: t itself, or the table to which its
// references lead. It returns nil if there is none.
func (p *Policy) Owner(t *Table) *Table {
	for range MaxThrough + 1 {
		if t == nil || t.Public || t.Unit.Through == "" {
			break
		}
		t = p.Table(t.References[t.Unit.Through].Table)
	}
	if t == nil || t.Unit.Column == "" {
		return nil
	}
	return t
}

// canonicalReferences returns the references for the digest, sorted by column. canonicalRows does the same for
// RowsPerValue.
func canonicalReferences(t *Table) (out []string) {
	for _, name := range slices.Sorted(maps.Keys(t.References)) {
		out = append(out, fmt.Sprintf("%q -> %q %q", name, t.References[name].Table, t.References[name].Column))
	}
	return out
}

func canonicalRows(t *Table) (out []string) {
	for _, name := range slices.Sorted(maps.Keys(t.RowsPerValue)) {
		out = append(out, fmt.Sprintf("%q %d", name, t.RowsPerValue[name]))
	}
	return out
}

// throughTerm returns the text in Terms of a unit that is reached through a reference. A change of the reference
// changes this text, and Reread refuses it, because the units could be others.
func throughTerm(t *Table) string {
	return throughPrefix + t.Unit.Through + " " + t.References[t.Unit.Through].String() + fmt.Sprintf("≤%d",
		t.Unit.RowsPerUnit)
}

const throughPrefix = "through "

func isThrough(term string) bool { return strings.HasPrefix(term, throughPrefix) }
