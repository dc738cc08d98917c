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

// A training is paid when it begins, and can continue while its replay key stays the same. The key includes the
// policy's digest, the versions of the tables that are read, and the versions of the public tables that give
// columns their values. So a change of any of these loses every unfinished training that depends on it. Such a
// change is refused until the training is finished, or the owner gives it up.

// UnfinishedTraining is a training that was paid and has steps left.
type UnfinishedTraining struct {
	id      uint64
	paid    ledger.Reservation
	steps   int
	givenUp bool // by the owner
}

// ID returns the number of the training's reservation in the ledger.
func (u UnfinishedTraining) ID() uint64 { return u.id }

// Steps returns the number of recorded steps.
func (u UnfinishedTraining) Steps() int { return u.steps }

// GivenUp reports whether the owner gave the training up.
func (u UnfinishedTraining) GivenUp() bool { return u.givenUp }

func (u UnfinishedTraining) String() string {
	steps := fmt.Sprintf("%d steps", u.steps)
	if u.steps == 1 {
		steps = "1 step"
	}
	return fmt.Sprintf("r%d (%s recorded)", u.id, steps)
}

// isTraining reports whether a reservation pays for a training.
func isTraining(r ledger.Reservation) bool {
	return len(r.Mechanisms) == 1 && strings.HasPrefix(r.Mechanisms[0].Name, SubsampledGaussian+",")
}

// pinned returns the unfinished trainings that can continue now: they were paid under the policy in force, and read
// the newest versions.
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

// Pinned returns the unfinished trainings that can continue under the policy and the versions in s.
func (k *Kernel) Pinned(s ledger.State) ([]UnfinishedTraining, error) {
	return pinned(k.ledger, &k.trainings, s)
}

// PinnedIn is [Kernel.Pinned] for a home that is not open. It opens the home's ledger for reading.
func PinnedIn(home string, s ledger.State) ([]UnfinishedTraining, error) {
	l, err := ledger.Open(home, time.Now)
	if err != nil {
		return nil, err
	}
	defer func() { _ = l.Close() }()
	return pinned(l, new(PaidTrainings), s)
}

// PinnedOn returns the pinned trainings (unfinished ones that can continue now) that depend on a table's newest
// version: they read the table, or one of their columns may take its values from it.
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

// takesFrom reports whether a column of t takes its values from the given table.
func takesFrom(t *policy.Table, table string) bool {
	return t != nil &&
		slices.ContainsFunc(
			t.Columns,
			func(c *policy.Column) bool { return c.ValuesFrom != nil && c.ValuesFrom.Table == table },
		)
}

// Abandon records that the owner gives up trainings, after the change that ends them. It skips a training that is
// finished or has failed.
func (k *Kernel) Abandon(trainings []UnfinishedTraining) error {
	for _, u := range trainings {
		if err := k.ledger.Abandon(u.id); err != nil && !errors.Is(err, ledger.ErrNotReserved) {
			return err
		}
	}
	return nil
}

// Unsurprising returns an error if this training was paid before and was ended by a change of the owner's. So an
// analyst does not pay twice without knowing.
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
					"this training was paid for before, as %s, and cannot continue: since then the owner changed "+
						"the policy or sealed a table again",
					u,
				),
				Hint: "ask with Fresh (--fresh) to pay for a new training in full",
			}
		}
	}
	return nil
}

// Dependencies returns the newest version of every table that a training's replay key includes, by table. It is 0
// for a table without a version.
func (k *Kernel) Dependencies(tables []string) map[string]int {
	out := map[string]int{}
	note := func(name string) {
		v, _ := k.Current(name) // reading the table reports the error
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
