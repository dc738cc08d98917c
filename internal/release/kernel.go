// Package release is the kernel: the only way from a question to rows, and the only code that charges for an access.
//
// A [Primitive] is one kind of access to rows. Its constructor, a method of [Kernel], takes a plan, and computes
// the price, the mechanisms and the replay key. [Kernel.Release] runs it: replay, rehearsal, reservation, access,
// noise, record, delay, return. [Kernel.reserve] is the only function that charges for an access. A stream or a training is paid
// when it begins, and its steps are accesses under that reservation.
//
// Errors have types, and depend on the question, the policy, the ledger and the clock. Error text of an engine goes
// to the owner only. docs/design/trusted.md lists what this package imports, and what each part promises.
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

// Kernel gives access to the rows and the ledger of an open home. Several goroutines may use it, and several
// processes may open one home.
type Kernel struct {
	home      string
	policy    *policy.Policy
	ledger    *ledger.Ledger
	engine    engine.Engine // reads all tables; no code outside this package can reach it
	clock     Clock         // the computer's clock, except in tests
	limit     time.Duration // the time limit of the engine's part of one answer; 0 is DefaultTimeout
	owner     func(error)   // receives errors of engines, which may quote rows; may be nil
	checks    seal.Checks
	values    publicValues
	rows      publicRows
	trainings PaidTrainings
}

// DefaultTimeout is the time limit of a kernel that was opened without one.
const DefaultTimeout = 10 * time.Minute

// Open opens the ledger of a home, and its engines. owner receives the errors of engines, which may quote rows.
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

// Close releases what the kernel holds. A process that ends without it loses nothing.
func (k *Kernel) Close() error { return errors.Join(k.engine.Close(), k.ledger.Close()) }

// Timeout returns the time limit of the engine's part of an answer.
func (k *Kernel) Timeout() time.Duration {
	if k.limit == 0 {
		return DefaultTimeout
	}
	return k.limit
}

// tellOwner passes an engine's error to the owner.
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
