package local

import (
	"errors"

	"dither/account"
	"dither/privacy"
)

// Shuffler declares a separate party that collects reports in batches, removes everything but the reports
// (identities, addresses, times, order), and forwards each batch in random order.
//
// Its guarantee, amplified by shuffling, holds against those who see only what leaves it. It does not hold against the
// shuffler itself, or against a collector who receives the reports from their senders. For these, the local ε holds
// alone.
type Shuffler struct {
	LeastBatch     int64           // the least number of honest reports in a batch; senders who collude do not count
	LargestEpsilon privacy.Epsilon // the largest ε of a report in a batch
}

// Epsilon returns an ε, rounded up, at which a shuffled batch is (ε, δ)-differentially private if one person's value
// is replaced by another (change-one). See account.Shuffle, which has the theorem and its source. The error is
// ErrParameter.
func (s Shuffler) Epsilon(d privacy.Delta) (privacy.Epsilon, error) {
	shuffle, err := account.NewShuffle(s.LeastBatch, s.LargestEpsilon)
	if err != nil {
		return privacy.Epsilon{}, errors.Join(ErrParameter, err)
	}
	return shuffle.Epsilon(d), nil
}
