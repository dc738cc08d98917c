package release

import (
	"context"
	"encoding/json"
	"math/big"
	"time"

	"dither/internal/engine"
	"dither/internal/ledger"
	"dither/internal/plan"
	"dither/internal/seal"
	"dither/mechanism"
	"dither/privacy"
)

// Inside gives tests of other packages access to a kernel's internals. TestInsideIsForTests checks that the program
// never uses it.
type Inside struct {
	Engine *engine.Engine
	Clock  *Clock
	Limit  *time.Duration // the time limit of the engine's part of an answer
	Ledger *ledger.Ledger

	Encode       func(*Query, Values) (json.RawMessage, error)
	Most         func(*Look) int64 // the number of bytes that an access records after its reservation
	Noisily      func(*plan.Measure, []mechanism.Exact) (mechanism.Measurement, error)
	Selecting    func(t *plan.Target, name string, best int) (*Selection, error)
	Ranking      func(t *plan.Target, name string, at []*big.Rat) (costs privacy.Loss, e privacy.Epsilon, err error)
	ForgetValues func()                           // forgets the cached values of public tables' columns
	Known        func(seal.Version) engine.Sealed // returns a sealed version in the form that an engine takes
	Underway     func(ctx context.Context, key string) (done func(), waited bool, err error)
	Charge       func(*Look) (id uint64, answered bool, err error)

	RehearsalTime, TurnTime *time.Duration
	Turn                    func(ctx context.Context, analyst string, limit time.Duration) (done func(), err error)
	Idle                    func() bool      // no rehearsal runs or waits
	HandedOver              *func()          // the function that is called when an engine's part of an answer has ended
	CrashPoint              *func(at string) // the function that is called at each point where a training may be killed
}

// OpenForTests returns a kernel's internals for a test. With a nil kernel it returns only what all kernels share.
func OpenForTests(k *Kernel) Inside {
	in := Inside{
		RehearsalTime: &rehearsalTime,
		TurnTime:      &turnTime,
		Turn:          rehearsals.take,
		HandedOver:    &handedOver,
		CrashPoint:    &crashPoint,
		Encode:        (*Query).encode,
		Most:          (*Look).most,
		Noisily:       noisily,
		Selecting:     selecting,
		Ranking: func(t *plan.Target, name string, at []*big.Rat) (privacy.Loss, privacy.Epsilon, error) {
			m, e, err := orderer(t, name, at)
			if err != nil {
				return privacy.Loss{}, e, err
			}
			return m.BoundedRange(), e, nil
		},
		Idle: func() bool {
			rehearsals.mu.Lock()
			defer rehearsals.mu.Unlock()
			return rehearsals.all == 0 && len(rehearsals.running) == 0 && len(rehearsals.waiting) == 0
		},
	}
	if k != nil {
		in.Engine, in.Clock, in.Limit, in.Ledger = &k.engine, &k.clock, &k.limit, k.ledger
		in.Underway, in.Charge = k.underway, k.reserve
		in.Known = k.known
		in.ForgetValues = func() { k.values.known = nil }
	}
	return in
}
