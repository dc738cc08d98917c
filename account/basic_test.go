package account

import (
	"math/big"
	"testing"

	"dither/privacy"
)

// Sums of thousands of different fractions stay short, and are rounded up by less than any float tells.
func TestBasicOfManyFractions(t *testing.T) {
	var parts []Repeated
	exactly := new(big.Float).SetPrec(4000)
	for i := range int64(400) {
		e, err := privacy.EpsilonOf(big.NewRat(1, 1_000_003+2*i))
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, Repeated{Approximate{Epsilon: e}, 1})
		exactly.Add(exactly, new(big.Float).SetPrec(4000).SetRat(e.Rat()))
	}
	sum := Basic(parts...).Epsilon.Rat()
	if sum.Denom().BitLen() > 2*shortBits {
		t.Errorf("a denominator of %d bits", sum.Denom().BitLen())
	}
	excess := new(big.Float).SetPrec(4000).SetRat(sum)
	if excess.Sub(excess, exactly); excess.Sign() < 0 && excess.MantExp(nil) > -3900 || excess.Sign() > 0 &&
		excess.MantExp(nil) > -900 {
		t.Errorf("the sum is off by %g", excess)
	}
}
