package release

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"dither/internal/ledger"
	"dither/internal/policy"
)

// A training is paid when it begins, and can go on for as long as its replay key stays what it was. The key has the
// policy's digest, the versions of the tables that are read, and the versions of the public tables that give columns
// their values. So a change of any of these loses every unfinished training that depends on it, and is refused until
// the training is finished, or the owner gives it up on purpose.

// UnfinishedTraining is a training that was paid and has steps left.
type UnfinishedTraining struct {
	id      uint64
	paid    ledger.Reservation
	steps   int
	givenUp bool // by the owner
}

// ID is the number of its reservation in the ledger.
func (u UnfinishedTraining) ID() uint64 { return u.id }

// Steps is the number of its recorded steps.
func (u UnfinishedTraining) Steps() int { return u.steps }

// GivenUp reports that its owner gave it up.
func (u UnfinishedTraining) GivenUp() bool { return u.givenUp }

func (u UnfinishedTraining) String() string {
	steps := fmt.Sprintf("%d steps", u.steps)
	if u.steps == 1 {
		steps = "1 step"
	}
	return fmt.Sprintf("r%d (%s recorded)", u.id, steps)
}

// isTraining reports a reservation that Train made.
func isTraining(r ledger.Reservation) bool {
	return len(r.Mechanisms) == 1 && strings.HasPrefix(r.Mechanisms[0].Name, SubsampledGaussian+",")
}

// pinned are the trainings that can go on as the ledger stands: paid under the terms in force, about the newest
// versions.
func pinned(l *ledger.Ledger, known *PaidTrainings, s ledger.State) ([]UnfinishedTraining, error) {
	all, err := known.Unfinished(l, func(r ledger.Reservation) bool {
		older := func(of ledger.Source) bool { return s.Sealed[of.Table].Version != of.Version }
		return r.Policy == s.Terms.Digest && !slices.ContainsFunc(r.Sources, older)
	})
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(u UnfinishedTraining) bool { return u.givenUp })
	return all, known.Counted(l, all)
}

// Pinned are the trainings that can go on as the ledger stands.
func (k *Kernel) Pinned(s ledger.State) ([]UnfinishedTraining, error) {
	return pinned(k.ledger, &k.trainings, s)
}

// PinnedIn returns the pinned trainings of a home that is not open, and opens its ledger to read them.
func PinnedIn(home string, s ledger.State) ([]UnfinishedTraining, error) {
	l, err := ledger.Open(home, time.Now)
	if err != nil {
		return nil, err
	}
	defer func() { _ = l.Close() }() // nothing was written
	return pinned(l, new(PaidTrainings), s)
}

// PinnedOn returns the pinned trainings that depend on a table's newest version: they read the table, or one of their
// columns may take its values from it.
func (k *Kernel) PinnedOn(table string) ([]UnfinishedTraining, error) {
	s, err := k.ledger.State()
	if err != nil {
		return nil, err
	}
	all, err := k.Pinned(s)
	return slices.DeleteFunc(all, func(u UnfinishedTraining) bool {
		return !slices.ContainsFunc(u.paid.Sources, func(of ledger.Source) bool {
			return of.Table == table || takesFrom(k.policy.Table(of.Table), table)
		})
	}), err
}

// takesFrom reports that a column of t takes its values from another table.
func takesFrom(t *policy.Table, table string) bool {
	return t != nil &&
		slices.ContainsFunc(
			t.Columns,
			func(c *policy.Column) bool { return c.ValuesFrom != nil && c.ValuesFrom.Table == table },
		)
}

// Abandon records that the owner gives trainings up, once the change that loses them is made. One that is finished or
// failed by now needs no record.
func (k *Kernel) Abandon(trainings []UnfinishedTraining) error {
	for _, u := range trainings {
		if err := k.ledger.Abandon(u.id); err != nil && !errors.Is(err, ledger.ErrNotReserved) {
			return err
		}
	}
	return nil
}

// Unsurprising refuses to pay again for a training that was paid before and was lost by a change that its analyst did
// not make.
func (t *Training) Unsurprising() error {
	known, l := &t.kernel.trainings, t.kernel.ledger
	all, err := known.Unfinished(l, func(r ledger.Reservation) bool {
		return r.Question == t.look.question && slices.Equal(r.Mechanisms, t.look.mechanisms)
	})
	if err != nil {
		return err
	}
	digest, sources := t.kernel.policy.Digest(), t.look.Sources()
	for i, u := range slices.Backward(all) {
		if u.givenUp || u.paid.Policy != digest || !slices.Equal(u.paid.Sources, sources) {
			if err := known.Counted(l, all[i:i+1]); err != nil {
				return err
			}
			u = all[i]
			return &EndedError{
				How: LostBefore,
				Message: fmt.Sprintf(
					"this training was paid before, as %s, and cannot go on: the owner changed the policy or sealed a table again since",
					u,
				),
				Hint: "ask for it afresh (--fresh) to pay for a new one in full",
			}
		}
	}
	return nil
}

// Dependencies are the newest versions of everything that a training's replay key names, by table; 0 of what has none.
func (k *Kernel) Dependencies(tables []string) map[string]int {
	out := map[string]int{}
	note := func(name string) {
		v, _ := k.Current(name) // an error is told where the table is read
		out[name] = v.Number
	}
	for _, name := range tables {
		note(name)
		for _, column := range k.policy.Table(name).Columns {
			if o := column.ValuesFrom; o != nil {
				note(o.Table)
			}
		}
	}
	return out
}
