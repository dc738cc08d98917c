package request

import (
	"math/big"
	"testing"

	"dither/curator"

	"pgregory.net/rapid"
)

// The parts of a price and what is left of it are the price, whatever it is: nothing is paid twice, and nothing lost.
func TestPartsOfAPrice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		price := big.NewRat(rapid.Int64Range(1, 1<<40).Draw(t, "numerator"),
			rapid.Int64Range(1, 1<<40).Draw(t, "denominator"))
		inRho := rapid.Bool().Draw(t, "in rho")
		q := Priced(curator.Request{Analyst: "ann", Epsilon: "7"}, price, inRho)
		l := curator.Loss{Epsilon: q.Epsilon, Rho: q.Rho}
		if (q.Rho != "") != inRho || (q.Epsilon != "") == inRho || q.Analyst != "ann" {
			t.Fatalf("%s is written as %+v", price, q)
		}
		shares := make([]*big.Rat, rapid.IntRange(0, 4).Draw(t, "shares"))
		for i := range shares {
			shares[i] = big.NewRat(rapid.Int64Range(1, 240).Draw(t, "share"), 1000)
		}
		parts, rest, err := Divide(l, shares...)
		if err != nil {
			t.Fatal(err)
		}
		var losses []curator.Loss
		for i, p := range append(parts, rest) {
			each := curator.Loss{Epsilon: p.Epsilon, Rho: p.Rho}
			if paid, _, err := Price(each); err != nil || paid.Sign() <= 0 || i < len(shares) &&
				paid.Cmp(new(big.Rat).Mul(price, shares[i])) > 0 {
				t.Fatalf("part %d of %s is %s: %v", i, price, paid, err)
			}
			losses = append(losses, each)
		}
		sum, in, err := Sum(losses...)
		if err != nil || in != inRho || sum.Cmp(price) != 0 || !Affordable(l, losses...) ||
			Affordable(l, append(losses, l)...) {
			t.Fatalf("the parts of %s are %s together: %v", price, sum, err)
		}
	})
	for name, l := range map[string]curator.Loss{"none": {}, "no number": {Epsilon: "much"}} {
		if Affordable(curator.Loss{Epsilon: "1"}, l) || Affordable(l, curator.Loss{Epsilon: "1"}) {
			t.Errorf("%s is taken for a price", name)
		}
		if _, _, err := Divide(l); err == nil {
			t.Errorf("%s is divided", name)
		}
	}
}
