package release

import (
	"context"
	"iter"
	"time"

	"dither/internal/ledger"
)

// Records is the ledger as everybody else sees it: what it has, and the owner's acts. Nothing of it reserves a price or
// records a release.
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

// Records is the home's ledger. It is held to be nothing more: no type assertion finds what pays or records.
func (k *Kernel) Records() Records { return records{k.ledger} }

type records struct{ Records }
