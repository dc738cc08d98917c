package plan

import (
	"math/big"
	"testing"

	"dither/internal/bounded"
	"dither/mechanism/linear"
)

// The bytes of a number hold the sum of the largest answer and of 2¹⁰ scales of noise, with a sign, and are at most one
// more than these need.
func TestNumberBytes(t *testing.T) {
	for _, c := range []struct {
		hi      int64
		entry   int64
		noise   Noise
		numbers *big.Rat // the noise's parameter
	}{
		{1, 1, Laplace, big.NewRat(1, 3)},
		{1, 1, Gaussian, big.NewRat(1, 3)},
		{1, 1 << 30, Gaussian, big.NewRat(1<<40, 7)},
		{1 << 20, 5, Laplace, big.NewRat(1<<62, 3)},
		{1, 1, Laplace, new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 150))},
		{1, 1, Gaussian, new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(3), 299))},
	} {
		m, err := linear.Dense([][]int64{{c.entry, c.entry, -c.entry}})
		if err != nil {
			t.Fatal(err)
		}
		s, err := linear.NewStrategy(linear.Product{m})
		if err != nil {
			t.Fatal(err)
		}
		part := &MeasuredPart{LinearPart: LinearPart{Strategy: s}}
		part.Answers = Measure{Measure: bounded.Measure{Hi: c.hi}, Noise: c.noise, Parameter: c.numbers}
		got := (&Linear{Parts: []*MeasuredPart{part}}).NumberBytes()
		largest := new(big.Int).Mul(big.NewInt(3*c.entry), big.NewInt(c.hi*MaxRows))
		scale := new(big.Float).SetPrec(400).SetRat(c.numbers)
		if c.noise == Gaussian {
			scale.Sqrt(scale)
		}
		noise, _ := scale.Mul(scale, big.NewFloat(1<<tailBits)).Int(nil)
		largest.Add(largest, noise)
		if need := largest.BitLen()/8 + 1; got < need || got > need+1 {
			t.Errorf("%+v takes %d bytes, and needs %d", c, got, need)
		}
	}
}
