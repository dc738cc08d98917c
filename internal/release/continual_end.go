package release

import (
	"context"

	"dither/internal/ledger"
)

// EndContinual gives the stream of a name up, and returns its record. No further period is released, the releases so far
// remain, and the price stays spent. It needs neither the private file nor the declarations of the policy, so that a
// stream that cannot go on can be ended, too.
func (k *Kernel) EndContinual(ctx context.Context, name string) (*ContinualRecord, error) {
	if k.ledger.ReadOnly() {
		return nil, ledger.ErrReadOnly
	}
	done, _, err := k.underway(ctx, continualKey(name))
	if err != nil {
		return nil, err
	}
	defer done()
	r, err := k.continual(name)
	if err != nil {
		return nil, err
	}
	if err := ongoing(r, name); err != nil {
		return nil, err
	}
	if err := k.ledger.Abandon(r.ID); err != nil {
		return nil, err
	}
	r.GivenUp = true
	return r, nil
}
