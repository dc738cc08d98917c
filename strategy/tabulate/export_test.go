package tabulate

import (
	"math/big"
	"testing"

	"dither/strategy/table"
)

// Otherwise makes divisions of a price round differently until the test ends, as another processor would: each candidate
// moves one part of the price from its largest share to another one.
func Otherwise(tb testing.TB) {
	before := divideAmong
	tb.Cleanup(func() { divideAmong = before })
	divideAmong = func(s *table.Space, goals []table.Goal, options []table.Option, p table.Power) (*table.Choice, error) {
		c, err := before(s, goals, options, p)
		if err != nil {
			return nil, err
		}
		part := big.NewRat(1, table.Parts)
		for i := range c.Candidates {
			shares := append([]*big.Rat(nil), c.Candidates[i].Shares...)
			most, other := 0, -1
			for j, x := range shares {
				if x.Cmp(shares[most]) > 0 {
					most = j
				}
			}
			for j, x := range shares {
				if j != most && x.Sign() > 0 {
					other = j
				}
			}
			if other >= 0 {
				shares[most], shares[other] = new(big.Rat).Sub(shares[most], part), new(big.Rat).Add(shares[other], part)
				c.Candidates[i].Shares = shares
			}
		}
		return c, nil
	}
}
