package curator

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"dither/internal/ledger"
	"dither/internal/policy"
)

// A training is paid when it begins, and can go on for as long as its replay key stays what it was. The key has the policy's digest, the versions of the
// tables that are read, and the versions of the public tables that give columns their values. So a change of any of these loses every unfinished training that
// depends on it, and is refused until the training is finished, or the owner gives it up on purpose.

// unfinished is a training that was paid and has steps left.
type unfinished struct {
	id      uint64
	paid    ledger.Reservation
	steps   int
	givenUp bool // by the owner
}

func (u unfinished) String() string {
	return fmt.Sprintf("r%d (%s recorded)", u.id, plural(u.steps, "step"))
}

// isTraining reports a reservation that Train made.
func isTraining(r ledger.Reservation) bool {
	return len(r.Mechanisms) == 1 && strings.HasPrefix(r.Mechanisms[0].Name, SubsampledGaussian+",")
}

// pinned are the trainings that can go on as the ledger stands: paid under the terms in force, about the newest
// versions.
func pinned(l *ledger.Ledger, known *paidTrainings, s ledger.State) ([]unfinished, error) {
	all, err := known.unfinished(l, func(r ledger.Reservation) bool {
		older := func(of ledger.Source) bool { return s.Sealed[of.Table].Version != of.Version }
		return r.Policy == s.Terms.Digest && !slices.ContainsFunc(r.Sources, older)
	})
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(u unfinished) bool { return u.givenUp })
	return all, known.counted(l, all)
}

// pinnedOn are those of them that depend on a table's newest version: they read it, or a column of theirs may take its values from it.
func (c *Curator) pinnedOn(table string) ([]unfinished, error) {
	s, err := c.ledger.State()
	if err != nil {
		return nil, err
	}
	all, err := pinned(c.ledger, &c.trainings, s)
	return slices.DeleteFunc(all, func(u unfinished) bool {
		return !slices.ContainsFunc(u.paid.Sources, func(of ledger.Source) bool {
			return of.Table == table || takesFrom(c.policy.Table(of.Table), table)
		})
	}), err
}

// takesFrom reports that a column of t takes its values from another table.
func takesFrom(t *policy.Table, table string) bool {
	return t != nil && slices.ContainsFunc(t.Columns, func(c *policy.Column) bool { return c.ValuesFrom != nil && c.ValuesFrom.Table == table })
}

// wouldLose refuses a change that trainings do not survive; nil where there are none.
func wouldLose(change string, trainings []unfinished, hint string) *Error {
	if len(trainings) == 0 {
		return nil
	}
	var names []string
	for _, u := range trainings {
		names = append(names, u.String())
	}
	return &Error{Code: CodeUnfinished, Message: fmt.Sprintf("%s would lose what is paid and unfinished: training %s", change, strings.Join(names, ", ")), Hint: hint}
}

// abandon records that the owner gives trainings up, once the change that loses them is made. One that is finished or failed by now needs no record.
func (c *Curator) abandon(trainings []unfinished) error {
	for _, u := range trainings {
		if err := c.ledger.Abandon(u.id); err != nil && !errors.Is(err, ledger.ErrNotReserved) {
			return err
		}
	}
	return nil
}

// namesOf are the trainings' names.
func namesOf(trainings []unfinished) (names []string) {
	for _, u := range trainings {
		names = append(names, fmt.Sprintf("r%d", u.id))
	}
	return names
}

// unsurprising refuses to pay again for a training that was paid before and was lost by a change that its analyst did not make.
func (t *Trainer) unsurprising() error {
	known, l := &t.curator.trainings, t.curator.ledger
	all, err := known.unfinished(l, func(r ledger.Reservation) bool {
		return r.Question == t.look.question && slices.Equal(r.Mechanisms, t.look.mechanisms)
	})
	if err != nil {
		return err
	}
	digest, sources := t.curator.policy.Digest(), t.look.sources()
	for i, u := range slices.Backward(all) {
		if u.givenUp || u.paid.Policy != digest || !slices.Equal(u.paid.Sources, sources) {
			if err := known.counted(l, all[i:i+1]); err != nil {
				return err
			}
			u = all[i]
			return &Error{
				Code: CodeUnfinished, Message: fmt.Sprintf("this training was paid before, as %s, and cannot go on: the owner changed the policy or sealed a table again since", u),
				Hint: "ask for it afresh (--fresh) to pay for a new one in full",
			}
		}
	}
	return nil
}

// dependencies are the newest versions of everything that a training's replay key names, by table; 0 of what has none.
func (c *Curator) dependencies(tables []string) map[string]int {
	out := map[string]int{}
	note := func(name string) {
		v, _ := c.current(name) // an error is told where the table is read
		out[name] = v.Number
	}
	for _, name := range tables {
		note(name)
		for _, column := range c.policy.Table(name).Columns {
			if o := column.ValuesFrom; o != nil {
				note(o.Table)
			}
		}
	}
	return out
}

// sealing keeps a new version of a table from being published while an unfinished training depends on the newest: no training begins between the check and the publishing.
func (c *Curator) sealing(table string, abandon bool, lost *[]unfinished) func(func() error) error {
	return func(publish func() error) error {
		turn, err := takeTurn(c.home)
		if err != nil {
			return err
		}
		defer func() { _ = turn.Close() }() // which gives the lock back
		if *lost, err = c.pinnedOn(table); err != nil {
			return err
		}
		if !abandon {
			if err := wouldLose("a new version of table "+table, *lost, "finish it first; `dither seal --abandon "+table+"` gives it up: its price stays spent"); err != nil {
				return err
			}
		}
		return publish()
	}
}
