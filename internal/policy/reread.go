package policy

import (
	"fmt"
	"maps"
	"slices"

	"dither/internal/value"
	"dither/privacy"
)

// Check is a fact about sealed rows that a change may depend on: no value of Column occurs in more than Rows rows of
// any version of Table that a question ever read. Sealing finds it. It is exact, and for the owner alone.
type Check struct {
	Table, Column string
	Type          value.Type // of the column
	Rows          int64
}

// ChangeError refuses a change of terms whose effect on past losses cannot be proved.
type ChangeError struct {
	Change, Reason string
	Missing        *Check // if set, the change is possible once this holds
}

func (e *ChangeError) Error() string { return "cannot change " + e.Change + ": " + e.Reason }

// Reread computes what a change of terms means for past losses: under the new terms each counts as its guarantee for
// groups of group (≥ 1) old units, that is group times ε, or group² times ρ. Reread lists every change for the
// record, and returns a *ChangeError for a change that it cannot prove.
//
// Theorem. Let past answers be ε-DP together under the old relation. If any two databases that are neighbours under
// the new terms are joined by a chain of at most k old neighbours, the answers are kε-DP under the new terms [Dwork &
// Roth 2014, Theorem 2.2: group privacy]. Under zCDP each past answer, given those before it, was ρ_i-zCDP, hence is
// k²ρ_i-zCDP for the new neighbours [Bun & Steinke 2016, Proposition 1.9], and privacy.Filter's proof applies to the
// k²ρ_i. So a case is allowed exactly where such a chain is shown, for answers that may have read any of the tables
// together:
//
//   - add-remove → change-one: k = 2. Replacing a unit is removing it, then adding the other.
//   - change-one → add-remove: refused. No chain of replacements changes the number of units, about which nothing was
//     promised.
//   - Row → person column of at most m rows: k = m, the person's rows one by one. The cap rows_per_unit is enforced
//     in new answers only, past ones counted every row, so m must hold in the sealed rows themselves: this needs a
//     Check, and the promise is for databases in which nobody has more than m rows of that table, the sealed ones being
//     among them. (That such a change was admitted says so much of the data, to whoever sees the owner's policy.) Of
//     several such tables the m add up: one answer may have read them all.
//   - Person column → row: k = 2. A row goes by removing the person, then adding the person without the row. It is
//     not 1: with rows_per_unit 1 and a row's value within ±B, a person's sum moves from 0 to ±B as the person comes,
//     and from −B to B as one row goes and another takes its place.
//   - The same column with another rows_per_unit: k = 1. Each old answer bounded a person of any number of rows, by
//     rows or by groups.
//   - Another column, or another type of it: refused. Nothing says how many old units meet in a new one.
//   - A person all of whose tables keep their unit is one old unit: k = 1. If some other table goes row → person, the
//     chain has both: 1 + Σm; if some other goes person → row, its rows stay when the person leaves: 2 + Σm.
//   - Personal ↔ public: refused. Public answers cost nothing and promised nothing.
//   - A table added, or removed: k = 1. Answers about it are yet to come, or stay charged; a removed table's rows
//     remain covered by its unit (see Terms.After), and a table that comes back, or whose source comes back, or moves,
//     under another name, is compared with what it was: the rows of a source are those of the table that last had it.
//   - Population renamed, budget or maximum price changed, source replaced: k = 1. The relation is the same.
//
// Under change-one, which keeps numbers of units, every change of a unit but of rows_per_unit is refused, and so is a
// further table with a person column beside one: replacing a person could then add or remove one in the tables that
// were there.
//
// Changes of units and of neighbours multiply: k old steps are one step of the new unit, two of which are a
// replacement.
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
				Reason: "past answers promised nothing about how many units there are",
			}
		}
		k *= 2
	}
	return k, c.notes, nil
}

// change is a comparison of two terms in progress.
type change struct {
	old, next Terms
	checked   []Check
	notes     []string

	gathered    int64 // Σm over the tables that go from row to person
	kept        bool  // some table keeps, or kept, persons as its unit
	split       bool  // some table goes from person to row
	hadPersons  bool  // some old table has persons, whatever it becomes
	addsPersons bool  // some new table with persons was never there
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

// tables compares every new table with the old tables that it continues, and then counts the tables that are only
// remembered.
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
			c.note("table %s: back again", name)
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
			Reason: "with a further table of persons, replacing one could change how many are in the old ones",
		}
	}
	return nil
}

// earlier returns the old tables that a new one continues: its namesake, and the table that last had its source, even
// if that table still exists. An answer concerns the rows of a source, whatever its table is called since.
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

// table compares the unit of one table with what it was, under its earlier name.
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
		return refuse("change-one promises nothing about a unit that comes or goes")
	case was.through || now.through:
		return refuse("nothing says how the units of a table are joined through another one")
	case was.kind == columnUnit && now.kind == columnUnit:
		return refuse("nothing says how many of the old units meet in a new one")
	case now.kind == rowUnit:
		c.split = true
		c.note("table %s: unit %s → %s (past losses ×2)", name, from, to)
		return nil
	}
	if now.placed {
		return refuse("without a header nothing says that the column is the one that was sealed under its name")
	}
	need := Check{Table: earlier, Column: now.column, Type: now.of, Rows: now.rows}
	if !slices.ContainsFunc(c.checked, func(k Check) bool {
		return k.Table == need.Table && k.Column == need.Column && k.Type == need.Type && k.Rows <= need.Rows
	}) {
		return &ChangeError{
			Change: fmt.Sprintf("the unit of table %s from %s to %s", name, from, to),
			Reason: fmt.Sprintf(
				"it is not known that nobody has more than %d rows in it; past answers counted them all", now.rows),
			Missing: &need,
		}
	}
	c.gathered += now.rows // ≤ MaxRowsPerUnit each: the sum over a policy cannot overflow
	c.note("table %s: unit %s → %s (past losses ×%d)", name, from, to, now.rows)
	return nil
}

// steps is the longest chain of old neighbours between new ones, at least 1.
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
