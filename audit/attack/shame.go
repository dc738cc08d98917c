package attack

import (
	"fmt"
	"math"
	"math/big"
)

// NameAndShame is the mechanism that, for each person, publishes the whole record with probability δ, and otherwise
// nothing. It shows what a δ permits. It is (0, δ)-differentially private: a change of a person's record makes no
// event more probable by more than δ. But it keeps no ε with a smaller δ, because it publishes a given record with
// probability δ if that is the person's record, and with probability 0 if not. So δ must be far below 1 over the
// number of people.
type NameAndShame struct {
	People int      // at most 10⁹
	Delta  *big.Rat // in [0, 1)
}

func (n NameAndShame) check() (float64, error) {
	if n.People < 1 || n.People > 1e9 {
		return 0, fmt.Errorf("%w: the number of people must be 1 to 1e9, not %d", ErrParameter, n.People)
	}
	if n.Delta == nil || n.Delta.Sign() < 0 || n.Delta.Cmp(big.NewRat(1, 1)) >= 0 {
		return 0, fmt.Errorf("%w: δ must be at least 0 and below 1", ErrParameter)
	}
	f, _ := n.Delta.Float64()
	return math.Min(f, 1-0x1p-53), nil
}

// Simulate runs the mechanism, and returns the share of runs that published some record. Its expectation is 1 −
// (1−δ)ⁿ for n people (interpret.Shamed). The draws come from SplitMix64 with the given seed.
func (n NameAndShame) Simulate(runs int, seed uint64) (Rate, error) {
	delta, err := n.check()
	if err != nil {
		return Rate{}, err
	}
	if runs < 1 || runs > 1e6 || int64(n.People) > mostCells/int64(runs) {
		return Rate{}, fmt.Errorf("%w: people × runs must be at most %d", ErrParameter, mostCells)
	}
	leaked := make([]float64, runs)
	limit := threshold(delta)
	for run := range leaked {
		s := newStream(seed, uint64(run))
		for range n.People {
			if s.Word() < limit {
				leaked[run] = 1
				break
			}
		}
	}
	return rateOf(leaked), nil
}

// Channel returns the mechanism on one person's record, which is "0" or "1", as a matrix of probabilities. For each
// record it has the probability of publishing nothing, of publishing "0", and of publishing "1".
func (n NameAndShame) Channel() (outputs []string, records [2][]*big.Rat, err error) {
	if _, err := n.check(); err != nil {
		return nil, records, err
	}
	rest, none := new(big.Rat).Sub(big.NewRat(1, 1), n.Delta), new(big.Rat)
	return []string{"nothing", "0", "1"}, [2][]*big.Rat{{rest, n.Delta, none}, {rest, none, n.Delta}}, nil
}
