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

// Inside is what tests of other packages reach of a kernel. TestInsideIsForTests keeps it out of the program.
type Inside struct {
	Engine *engine.Engine
	Clock  *Clock
	Limit  *time.Duration // of the engine's part of an answer
	Ledger *ledger.Ledger

	Encode       func(*Query, Values) (json.RawMessage, error)
	Most         func(*Look) int64 // bytes that follow its reservation
	Noisily      func(*plan.Measure, []mechanism.Exact) (mechanism.Measurement, error)
	Selecting    func(t *plan.Target, name string, best int) (*Selection, error)
	Ranking      func(t *plan.Target, name string, at []*big.Rat) (costs privacy.Loss, e privacy.Epsilon, err error)
	ForgetValues func()                           // those of public tables' columns
	Known        func(seal.Version) engine.Sealed // versions, as an engine takes them
	Underway     func(ctx context.Context, key string) (done func(), waited bool, err error)
	Charge       func(*Look) (id uint64, answered bool, err error)

	RehearsalTime, TurnTime *time.Duration
	Turn                    func(ctx context.Context, analyst string, limit time.Duration) (done func(), err error)
	Idle                    func() bool      // no rehearsal runs or waits
	HandedOver              *func()          // what is called once an engine's part of an answer has ended
	CrashPoint              *func(at string) // what is called where a training may be killed
}

// OpenForTests opens a kernel to a test. Without a kernel it opens what all kernels share.
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
