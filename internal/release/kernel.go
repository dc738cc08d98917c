// Package release is the kernel: the only way from a question to rows, and the only place that charges for it.
//
// A Primitive is one way to look at rows. Its constructor, a method of Kernel, takes a plan, and computes from it the
// price, the mechanisms and the replay key. Kernel.Release carries it out: replay, rehearsal, reservation, access,
// noise, record, delay, return. Kernel.reserve is the one function that charges. A stream and a training are paid when
// they begin; each of their steps is an access that was paid before.
//
// Errors are typed, and follow from the question, the policy, the ledger and the clock. What an engine says goes to the
// owner alone. docs/design/trusted.md lists what this package imports, and what each part promises.
package release

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"dither/internal/engine"
	"dither/internal/entropy"
	"dither/internal/ledger"
	"dither/internal/policy"
	"dither/internal/seal"
)

// Kernel is an open home's rows and ledger. It may be used by several goroutines, and several processes may open one
// home.
type Kernel struct {
	home      string
	policy    *policy.Policy
	ledger    *ledger.Ledger
	engine    engine.Engine // of all tables; nothing outside of this package reaches it
	clock     Clock         // the computer's, but in tests
	limit     time.Duration // what the engine's part of one answer may take; 0 is defaultTimeout
	owner     func(error)   // hears what an engine said, which may quote rows; nil where nobody does
	checks    seal.Checks
	values    publicValues
	trainings PaidTrainings
}

// DefaultTimeout is the Timeout of a kernel that was opened without a limit.
const DefaultTimeout = 10 * time.Minute

// Open opens the ledger of a home, and its engines. Owner hears what engines say.
func Open(home string, p *policy.Policy, limit time.Duration, owner func(error)) (*Kernel, error) {
	l, err := ledger.Open(home, time.Now)
	if err != nil {
		return nil, err
	}
	sealed, tmp := filepath.Join(home, "sealed"), filepath.Join(home, "tmp")
	return &Kernel{
		home: home, policy: p, ledger: l, engine: newEngines(p, sealed, tmp), clock: wall{}, limit: limit, owner: owner,
	}, nil
}

// Close gives back what the kernel holds. Nothing is lost by not closing.
func (k *Kernel) Close() error { return errors.Join(k.engine.Close(), k.ledger.Close()) }

// Timeout is the time that the engine's part of an answer may take.
func (k *Kernel) Timeout() time.Duration {
	if k.limit == 0 {
		return DefaultTimeout
	}
	return k.limit
}

// tellOwner hands over what an engine said.
func (k *Kernel) tellOwner(err error) {
	if k.owner != nil {
		k.owner(err)
	}
}

// NewID returns 128 random bits in hexadecimal.
func NewID() string {
	source := entropy.System()
	return fmt.Sprintf("%016x%016x", source.Uint64(), source.Uint64())
}
