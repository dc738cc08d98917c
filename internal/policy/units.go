package policy

import (
	"fmt"
	"maps"
	"slices"

	"dither/privacy"
)

// MaxUnits is the largest declared number of units, and the most rows that a sealed table may have.
const MaxUnits = 1 << 32

// units reads the declared number of units of a table. It is a public constant. Sealing refuses a version with another
// number, and a version that was sealed under another declaration is not read (package seal).
//
// Claim: under change-one, neighbouring databases have the same number of units in such a table. Proof. A neighbour has
// the rows of one unit replaced by those of another unit that has none, or by other rows of the same unit. If each row is
// a unit, one row of the table replaces one row of the table. Otherwise the unit is a person, and the table is the only one
// of persons, among the present tables (unitsBeside) and those that past answers may have read (UnitsBeside). A unit has
// rows, so each of the two has rows in this table, and counts once. Rows without a unit do not exist. ∎
func (r *reader) units(f field, t *Table, neighbours privacy.Neighbours) int64 {
	if !f.present() {
		return 0
	}
	before := len(r.errs)
	n, _ := f.count(MaxUnits)
	switch {
	case t.Public: // refused with the other keys of units
	case neighbours != privacy.ChangeOne:
		f.failKey("declare population.neighbours: change-one, under which the number of units is public",
			"applies only under change-one: add-remove hides whether any one unit is in the data, so their number is secret")
	case t.Source.Live():
		f.failKey("leave it out", "applies only to sealed tables: the rows of a table on a server may change between two questions")
	case !t.Unit.IsRow() && (t.Unit.Through != "" || t.Unit.RowsPerUnit != 1):
		f.failKey("declare unit: row, or rows_per_unit: 1", "is declared where each unit has one row")
	}
	for _, all := range t.Totals {
		if all.Column == "" && all.Count != n && n > 0 {
			f.fail("", "the totals declare %d rows, and units %d", all.Count, n)
		}
	}
	if len(r.errs) > before {
		return 0
	}
	return n
}

// unitsBeside refuses the number of units of a table of persons beside another one. entries are the tables in the policy.
func (r *reader) unitsBeside(entries []field, tables []*Table) {
	for i, t := range tables {
		if t.Units == 0 || t.Unit.IsRow() {
			continue
		}
		for _, o := range tables {
			if o != t && !o.Public && !o.Unit.IsRow() {
				entries[i].failKey("leave out units", "units: a person may have rows in table %s alone, so the number of persons here "+
					"is not fixed", quote(o.Name))
			}
		}
	}
}

// UnitsBeside returns an error if the policy declares the number of units of a table of persons, and recorded terms have
// another table of persons, which past answers may have read. An answer about either table protects a person who has rows
// in the other alone, and who may exchange them for rows in both. That changes the number of persons in one table.
func (p *Policy) UnitsBeside(old Terms) error {
	for _, t := range p.Tables {
		if t.Units == 0 || t.Unit.Column == "" {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(old.Units)) {
			if was, err := parseUnit(old.Units[name]); err != nil || name != t.Name && was.kind == columnUnit {
				return &ChangeError{
					Change: fmt.Sprintf("the units of table %s", t.Name),
					Reason: fmt.Sprintf("past answers may have read table %s, whose persons need no row in %s", name, t.Name),
				}
			}
		}
	}
	return nil
}
