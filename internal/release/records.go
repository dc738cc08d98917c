package release

import (
	"context"
	"errors"
	"iter"
	"time"

	"dither/internal/ledger"
)

// Records is the ledger without the methods that reserve a price or record a release. It has methods for reading,
// and for the owner's operations.
type Records interface {
	State() (ledger.State, error)
	Find(key string) (ledger.Answer, bool, error)
	AnswerOf(reserved uint64) (ledger.Answer, bool, error)
	Answers(want func(*ledger.About) bool) (iter.Seq[ledger.Answer], error)
	Entries(fn func(ledger.Entry) error) error
	Head() ledger.Head
	VerifyInBackground(ctx context.Context, pause time.Duration, failed func(error))

	MayAdopt(terms ledger.Terms, group int64) error
	Adopt(terms ledger.Terms, group int64, seen ledger.Head) error
	Sealed(table string, version int, sha256 string) error
	Resume() error
}

// Records returns the home's ledger. The concrete type has only the methods of the interface, so no type assertion
// reaches the methods that charge or record.
func (k *Kernel) Records() Records { return records{k.ledger} }

type records struct{ Records }

// HoldLedger runs fn with the state of a home's ledger, before anybody can append to the ledger. It needs no policy. The
// owner's reset uses it.
func HoldLedger(home string, fn func(ledger.State) error) error {
	l, err := ledger.Open(home, time.Now)
	if err != nil {
		return err
	}
	return errors.Join(l.Holding(fn), l.Close())
}
