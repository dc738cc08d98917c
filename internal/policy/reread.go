package policy

import (
	"fmt"
	"maps"
	"slices"

	"dither/internal/value"
	"dither/privacy"
)

// Check is a fact about sealed rows that a change of terms may require: no value of Column occurs in more than Rows
// rows of any version of Table that a question has read. Sealing establishes it from the exact rows. Only the owner
// may see it.
type Check struct {
	Table, Column string
	Type          value.Type // type of the column
	Rows          int64
}

// ChangeError reports a change of terms under which past losses cannot be bounded.
type ChangeError struct {
	Change, Reason string
	Missing        *Check // if set, the change is allowed once this fact is established
}

func (e *ChangeError) Error() string { return "cannot change " + e.Change + ": " + e.Reason }

// Reread determines how past losses count after a change of terms. Under the new terms, each past loss counts as
// the loss for a group of group ≥ 1 old units: group times ε, or group² times ρ. changes describes every change,
// for the record. If no bound is proved for a change, Reread returns a *ChangeError.
//
// Theorem. Let the past answers together be ε-DP under the old relation. Suppose that any two databases that are
// neighbours under the new terms are joined by a chain of at most k old neighbours. Then the answers are kε-DP
// under the new terms [Dwork & Roth 2014, Theorem 2.2: group privacy]. Under zCDP, each past answer was ρ_i-zCDP
// given those before it. Hence it is k²ρ_i-zCDP for the new neighbours [Bun & Steinke 2016, Proposition 1.9], and
// the proof of privacy.Filter applies to the k²ρ_i.
//
// So a change is allowed exactly if such a chain is shown below. A chain must hold for answers that may have read
// any of the tables together. The cases are:
//
//   - add-remove → change-one: k = 2. Replacing a unit means removing it, then adding the other.
//   - change-one → add-remove: refused. No chain of replacements changes the number of units, and change-one
//     promised nothing about that number.
//   - Row → person column with at most m rows: k = m, one step for each row of the person. The limit rows_per_unit
//     applies to new answers only, and past answers counted every row. So m must hold in the sealed rows
//     themselves, which needs a Check. The promise is then for databases in which nobody has more than m rows of
//     that table, which include the sealed one. (Anybody who sees the owner's policy learns this fact about the
//     data, because the change was admitted.) For several such tables the m add up, because one answer may have
//     read them all.
//   - Person column → row: k = 2. To remove one row, remove the person, then add the person without the row. k = 1
//     does not suffice. Let rows_per_unit be 1 and values lie within ±B. Adding a person changes a sum by at most
//     B. Removing one row of a person can change it by 2B, from −B to B, because another row of the person then
//     counts instead.
//   - The same column with another rows_per_unit: k = 1. Each old answer bounded the contribution of a person with
//     any number of rows, by rows or by groups.
//   - Another column, or another type of the column: refused. Nobody knows how many old units make up a new one.
//   - A person all of whose tables keep their unit is one old unit: k = 1. If another table changes from row to
//     person, the chain has the steps for both: 1 + Σm. If another table changes from person to row, its rows stay
//     when the person leaves: 2 + Σm.
//   - Private ↔ public: refused. Answers about a public table cost nothing and promised nothing.
//   - A table added or removed: k = 1. Answers about an added table are still to come, and charges for a removed
//     one stay. The rows of a removed table remain protected by its unit (see Terms.After). If the table or its
//     source comes back or moves, also under another name, it is compared with its former unit: the rows of a
//     source are those of the table that had it last.
//   - Population renamed, budget or maximum price changed, source replaced: k = 1. The relation is the same.
//
// Change-one keeps the number of units fixed. So under change-one, every change of a unit except of rows_per_unit
// is refused. Adding a table with a person column beside another such table is refused too: replacing a person
// could then add a person to the old tables or remove one from them.
//
// Changes of units and of neighbours multiply: k old steps make one step of the new unit, and a replacement takes
// two of these.
func Reread(old, next Terms, checked ...Check) (group int64, changes []string, err error) {
	c := change{old: old, next: next, checked: checked}
	c.scalars()
	if err := c.tables(); err != nil {
		return 0, nil, err
	}
	k := c.steps()
	if old.Neighbours != next.Neighbours {
		if old.Neighbours != privacy.AddRemove || next.Neighbours != privacy.ChangeOne {
			return 0, nil, &ChangeError{
				Change: fmt.Sprintf("neighbours from %v to %v", old.Neighbours, next.Neighbours),
				Reason: "past answers promised nothing about the number of units",
			}
		}
		k *= 2
	}
	return k, c.notes, nil
}

// change is the state of a comparison of two Terms.
type change struct {
	old, next Terms
	checked   []Check
	notes     []string

	gathered int64 // sum of m over the tables that change from row to person
	// whether some table has persons as its unit before and after, or was removed with persons as its unit
	kept        bool
	split       bool // whether some table changes from person to row
	hadPersons  bool // whether some old table has persons as its unit
	addsPersons bool // whether some new table with persons as its unit continues no old one
}

func (c *change) note(format string, args ...any) {
	c.notes = append(c.notes, fmt.Sprintf(format, args...))
}

func same(a, b privacy.Loss) bool {
	return a.Accountant() == b.Accountant() && a.Within(b) && b.Within(a)
}

func (c *change) scalars() {
	if c.old.Population != c.next.Population {
		c.note("population: %s → %s", c.old.Population, c.next.Population)
	}
	if c.old.Neighbours != c.next.Neighbours {
		c.note("neighbours: %v → %v (past losses ×2)", c.old.Neighbours, c.next.Neighbours)
	}
	if !same(c.old.Budget, c.next.Budget) {
		c.note("budget: %v → %v", c.old.Budget, c.next.Budget)
	}
	if !same(c.old.Maximum, c.next.Maximum) {
		c.note("maximum price: %v → %v", c.old.Maximum, c.next.Maximum)
	}
	c.shares()
}

// tables compares every new table with the old tables that it continues. Then it takes account of the old tables
// that were removed.
func (c *change) tables() error {
	for _, name := range slices.Sorted(maps.Keys(c.next.Units)) {
		if !c.next.has(name) {
			continue
		}
		now, err := parseUnit(c.next.Units[name])
		if err != nil {
			return err
		}
		earlier := c.earlier(name)
		for _, e := range earlier {
			if err := c.table(name, e, now); err != nil {
				return err
			}
		}
		switch {
		case len(earlier) == 0:
			c.note("table %s: added, unit %s", name, c.next.Units[name])
			c.addsPersons = c.addsPersons || now.kind == columnUnit
		case !slices.Contains(earlier, name):
			c.note("table %s: continues %s", name, earlier[0])
		case !c.old.has(name):
			c.note("table %s: added again", name)
		}
		if was, known := c.old.Sources[name]; known && was != c.next.Sources[name] {
			c.note("table %s: source %s → %s", name, was, c.next.Sources[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.old.Units)) {
		was, err := parseUnit(c.old.Units[name])
		if err != nil {
			return err
		}
		c.hadPersons = c.hadPersons || was.kind == columnUnit
		if c.next.has(name) {
			continue
		}
		c.kept = c.kept || was.kind == columnUnit
		if c.old.has(name) {
			c.note("table %s: removed, its charges stay", name)
		}
	}
	if c.old.Neighbours == privacy.ChangeOne && c.hadPersons && c.addsPersons {
		return &ChangeError{
			Change: "the tables of a change-one population",
			Reason: "with another table of persons, replacing one person could change the number of persons in the old tables",
		}
	}
	return nil
}

// earlier returns the old tables that a new table continues: the one with the same name, and the one that last had
// its source. The latter counts even if it still exists, because answers concern the rows of a source under
// whatever table name.
func (c *change) earlier(name string) []string {
	var found []string
	if _, ok := c.old.Units[name]; ok {
		found = append(found, name)
	}
	if e, ok := c.old.Held[c.next.Sources[name]]; ok && e != name {
		found = append(found, e)
	}
	return found
}

// table compares the unit of a table with the unit of the old table whose name is the parameter `earlier`.
func (c *change) table(name, earlier string, now unit) error {
	from, to := c.old.Units[earlier], c.next.Units[name]
	was, err := parseUnit(from)
	if err != nil {
		return err
	}
	refuse := func(reason string) error {
		return &ChangeError{Change: fmt.Sprintf("the unit of table %s from %s to %s", name, from, to), Reason: reason}
	}
	same := was.kind == now.kind && was.kept == now.kept
	switch {
	case same:
		c.kept = c.kept || now.kind == columnUnit
		if was.rows != now.rows {
			c.note("table %s: unit %s → %s", name, from, to)
		}
		return nil
	case was.kind == publicUnit:
		return refuse("questions about its rows were free")
	case now.kind == publicUnit:
		return refuse("its rows were promised privacy, and questions about them would be free")
	case c.old.Neighbours == privacy.ChangeOne:
		return refuse("change-one promises nothing about adding or removing a unit")
	case was.through || now.through:
		return refuse("it is not known how the units of a table are joined through another table")
	case was.kind == columnUnit && now.kind == columnUnit:
		return refuse("it is not known how many old units one new unit contains")
	case now.kind == rowUnit:
		c.split = true
		c.note("table %s: unit %s → %s (past losses ×2)", name, from, to)
		return nil
	}
	if now.placed {
		return refuse("without a header, nothing shows that the column is the one that was sealed under its name")
	}
	need := Check{Table: earlier, Column: now.column, Type: now.of, Rows: now.rows}
	if !slices.ContainsFunc(c.checked, func(k Check) bool {
		return k.Table == need.Table && k.Column == need.Column && k.Type == need.Type && k.Rows <= need.Rows
	}) {
		return &ChangeError{
			Change: fmt.Sprintf("the unit of table %s from %s to %s", name, from, to),
			Reason: fmt.Sprintf(
				"a person may have more than %d rows in it, and past answers counted all of them", now.rows),
			Missing: &need,
		}
	}
	c.gathered += now.rows // ≤ MaxRowsPerUnit for each table, so the sum cannot overflow
	c.note("table %s: unit %s → %s (past losses ×%d)", name, from, to, now.rows)
	return nil
}

// steps returns the length of the longest chain of old neighbours that joins two new neighbours, at least 1.
func (c *change) steps() int64 {
	person, row := c.gathered, int64(1)
	if c.kept {
		person++
		if c.split {
			person++
		}
	}
	if c.split {
		row = 2
	}
	return max(person, row)
}
