package curator

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

// kernel is an open home's rows and ledger. It may be used by several goroutines, and several processes may open one home.
type kernel struct {
	home      string
	policy    *policy.Policy
	ledger    *ledger.Ledger
	engine    engine.Engine // of all tables; nothing outside of this package reaches it
	clock     clock         // the computer's, but in tests
	limit     time.Duration // what the engine's part of one answer may take; 0 is defaultTimeout
	owner     func(error)   // hears what an engine said, which may quote rows; nil where nobody does
	checks    seal.Checks
	values    publicValues
	trainings paidTrainings
}

const defaultTimeout = 10 * time.Minute

// openKernel opens the ledger of a home, and its engines. Owner hears what engines say.
func openKernel(home string, p *policy.Policy, limit time.Duration, owner func(error)) (*kernel, error) {
	l, err := ledger.Open(home, time.Now)
	if err != nil {
		return nil, err
	}
	sealed, tmp := filepath.Join(home, "sealed"), filepath.Join(home, "tmp")
	return &kernel{
		home: home, policy: p, ledger: l, engine: newEngines(p, sealed, tmp), clock: wall{}, limit: limit, owner: owner,
	}, nil
}

// Close gives back what the kernel holds. Nothing is lost by not closing.
func (k *kernel) Close() error { return errors.Join(k.engine.Close(), k.ledger.Close()) }

// timeout is the time that the engine's part of an answer may take.
func (k *kernel) timeout() time.Duration {
	if k.limit == 0 {
		return defaultTimeout
	}
	return k.limit
}

// tellOwner hands over what an engine said.
func (k *kernel) tellOwner(err error) {
	if k.owner != nil {
		k.owner(err)
	}
}

// newID is 128 random bits in hexadecimal.
func newID() string {
	source := entropy.System()
	return fmt.Sprintf("%016x%016x", source.Uint64(), source.Uint64())
}
