package ledger

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"dither/privacy"
)

// ErrUnits reports ledgers whose losses cannot be converted to one common unit.
var ErrUnits = errors.New("the ledgers protect different units")

// Merged is what several ledgers together have spent on people who are in all of them.
type Merged struct {
	Neighbours privacy.Neighbours `json:"neighbours"` // the relation of Spent
	Unit       string             `json:"unit"`       // "person", or "row" if all ledgers protect rows alone
	Spent      privacy.Loss       `json:"spent"`
	Homes      []Part             `json:"homes"`
	// Twice lists the ids of ledgers whose spending is in Spent more than once, because it was charged to another
	// merged ledger (Opened). Spent is then an upper bound.
	Twice []string `json:"twice,omitempty"`
}

// Part is one of the merged ledgers.
type Part struct {
	Origin
	Population string       `json:"population"`
	Group      int64        `json:"group"`  // Spent and Budget are for groups of this many of the ledger's own units
	Spent      privacy.Loss `json:"spent"`  // loss so far, for such groups
	Budget     privacy.Loss `json:"budget"` // budget, for such groups; its δ is set to 0 if Group is above 1
	// Over reports that the total exceeds this budget. Unknown reports that the total is in ρ and this budget is a
	// pure ε, so they cannot be compared.
	Over    bool `json:"over"`
	Unknown bool `json:"unknown"`
}

// Merge adds up what separate ledgers have spent on people who are in all of them, under common neighbours and
// units. It only reads the ledgers, and it cannot undo overspending.
//
// Merge first converts each ledger's losses to the common relation, as Adopt would:
//
//   - If any ledger uses change-one, add-remove becomes change-one, which doubles the group.
//   - If any ledger protects persons, or rows is above 0, each row becomes a part of a person who has at most rows
//     rows in each table. The group is rows times the number of tables whose unit is a row, plus 1 if the ledger also
//     protects persons.
//
// (policy.Reread has the proof: new neighbours are joined by a chain of that many old neighbours.) Then Merge adds
// the losses, as zCDP if any ledger is in zCDP. The answers of several curators about one person form one
// adaptively chosen sequence, and each ledger's own filter admitted its answers. So the total holds for all answers
// so far. Nothing bounds it from now on, because no curator knows the others' later answers.
//
// Merge returns ErrUnits if some ledgers protect rows and others persons, but rows is 0. It also returns ErrUnits
// if rows under change-one would have to count as persons, because change-one promises nothing about how many rows
// a person has.
func Merge(dirs []string, rows int64) (Merged, error) {
	if len(dirs) < 2 || rows < 0 || rows > maxRows {
		return Merged{}, invalid("a merge takes two or more ledgers, and at most a million rows of one person")
	}
	logs := make([]*log, len(dirs))
	m := Merged{Neighbours: privacy.AddRemove, Unit: rowUnit}
	by := privacy.Pure
	for i, dir := range dirs {
		l, _, err := load(system{}, dir, usual, false)
		if err != nil {
			return Merged{}, fmt.Errorf("%s: %w", dir, err)
		}
		if l.terms == nil {
			return Merged{}, fmt.Errorf("%s: %w", dir, ErrNoPolicy)
		}
		logs[i] = l
		if l.terms.Neighbours == privacy.ChangeOne {
			m.Neighbours = privacy.ChangeOne
		}
		if _, persons := l.terms.units(); persons || rows > 0 {
			m.Unit = "person"
		}
		if l.impure || l.by() == privacy.ZCDP {
			by = privacy.ZCDP
		}
	}
	m.Spent = lossOf(by, nil)
	counted := map[string]int{}
	for i, l := range logs {
		counted[l.id]++
		for id := range l.origins {
			counted[id]++
		}
		p, err := l.counted(m, by, rows)
		if err != nil {
			return Merged{}, fmt.Errorf("%s: %w", dirs[i], err)
		}
		for _, other := range m.Homes {
			if other.ID == p.ID {
				return Merged{}, fmt.Errorf("%s: %w", dirs[i], invalid("the same ledger twice"))
			}
		}
		m.Homes = append(m.Homes, p)
		m.Spent = m.Spent.Plus(p.Spent)
	}
	for _, id := range slices.Sorted(maps.Keys(counted)) {
		if counted[id] > 1 {
			m.Twice = append(m.Twice, id)
		}
	}
	for i := range m.Homes {
		p := &m.Homes[i]
		p.Unknown = m.Spent.Accountant() != privacy.Pure && p.Budget.Accountant() == privacy.Pure
		p.Over = !p.Unknown && !m.Spent.Within(p.Budget)
	}
	return m, nil
}

const (
	rowUnit = "row"
	maxRows = 1_000_000 // the largest bound that a policy may declare
)

// units returns the number of tables whose unit is a row, and whether any table has persons.
func (t *Terms) units() (rows int64, persons bool) {
	for _, unit := range t.Units {
		switch unit {
		case rowUnit:
			rows++
		case "public":
		default:
			persons = true
		}
	}
	return rows, persons
}

// counted returns a ledger's spending and budget, converted to the relation and unit of m, and to the given accountant.
func (l *log) counted(m Merged, by privacy.Accountant, rows int64) (Part, error) {
	tip, _ := l.tip()
	p := Part{Origin: Origin{ID: l.id, Head: tip.String()}, Population: l.terms.Population, Group: 1}
	tables, persons := l.terms.units()
	if m.Unit != rowUnit && tables > 0 {
		if rows < 1 {
			return p, fmt.Errorf(
				"%w: this one protects rows and another one persons: give the largest number of rows of one person "+
					"in a table", ErrUnits)
		}
		if l.terms.Neighbours == privacy.ChangeOne {
			return p, fmt.Errorf("%w: change-one promises nothing about the number of rows of a person", ErrUnits)
		}
		if p.Group = tables * rows; persons {
			p.Group++
		}
	}
	if l.terms.Neighbours != m.Neighbours {
		p.Group *= 2
	}
	spent, budget := l.spentIn(by), l.budget()
	if l.owes() {
		spent = spent.Plus(l.fragmentCharge())
	}
	if rho, kept := budget.ZCDP(); p.Group > 1 && !kept.IsZero() {
		// Leave out the budget's δ. Either no δ was spent, or the conversion of the spent loss below fails.
		budget = privacy.ZCDPLoss(rho, privacy.Delta{})
	}
	var err error
	if p.Spent, err = group(spent, p.Group); err != nil {
		return p, fmt.Errorf("%w: %w", ErrIncompatible, err)
	}
	if p.Budget, err = group(budget, p.Group); err != nil {
		return p, fmt.Errorf("%w: %w", ErrIncompatible, err)
	}
	return p, nil
}
