package enginetest

import (
	"math"
	"math/big"

	"dither/internal/bounded"
	"dither/internal/value"
)

// vectors returns what rows contribute to sums of vectors, within the cap on rows.
func vectors(b *bounded.Statement, pieces []piece) (out []piece) {
	if b.Unit != nil {
		pieces = capped(pieces, b.Caps.Rows)
	}
	for _, p := range pieces {
		x := make([]int64, len(p.sums)) // the clamped coordinates
		for i, s := range p.sums {
			x[i] = s.Int64()
		}
		counts := true
		for _, k := range b.RowVectors.Blocks {
			counts = counts && scale(k, x[k.First:k.First+k.Size])
		}
		if !counts {
			continue
		}
		if b.Centred() {
			p.keys = []value.Value{value.OfInt(nearestCentre(b.RowVectors.Centres, x))}
		}
		p.sums = nil
		for _, t := range b.RowVectors.AllTerms() {
			n := big.NewInt(1)
			if t.A >= 0 {
				n.SetInt64(x[t.A])
			}
			if t.B >= 0 {
				n.Mul(n, big.NewInt(x[t.B]))
			}
			p.sums = append(p.sums, n)
		}
		out = append(out, p)
	}
	return out
}

// scale scales a block down to its Scale. It reports whether the result is no longer than Most.
func scale(k bounded.Block, x []int64) bool {
	if k.Scale == 0 {
		return true
	}
	norm := 0.0
	for _, a := range x {
		if k.Norm == bounded.NormL2 {
			square := float64(a) * float64(a)
			norm += float64(square) // the conversion prevents a fused multiplication and addition
		} else {
			norm += math.Abs(float64(a))
		}
	}
	if k.Norm == bounded.NormL2 {
		norm = math.Sqrt(norm)
	}
	factor := 1.0
	if norm > float64(k.Scale) {
		factor = float64(k.Scale) / norm
	}
	sum, most := new(big.Int), big.NewInt(k.Most)
	if k.Norm == bounded.NormL2 {
		most.Mul(most, most)
	}
	for i := range x {
		x[i] = int64(math.RoundToEven(float64(x[i]) * factor))
		a := new(big.Int).Abs(big.NewInt(x[i]))
		if k.Norm == bounded.NormL2 {
			a.Mul(a, a)
		}
		sum.Add(sum, a)
	}
	return sum.Cmp(most) <= 0
}

// nearestCentre returns the index of the centre nearest to x, the first if several are equally near.
func nearestCentre(centres [][]int64, x []int64) int64 {
	best, least := 0, (*big.Int)(nil)
	for i, c := range centres {
		sum := new(big.Int)
		for j, a := range c {
			d := big.NewInt(x[j] - a)
			sum.Add(sum, d.Mul(d, d))
		}
		if least == nil || sum.Cmp(least) < 0 {
			best, least = i, sum
		}
	}
	return int64(best)
}
