package derive

import (
	"math/big"

	"dither/internal/reuse"
	"dither/internal/span"
	"dither/noise"
)

// fraction is the number of binary digits after the point of the estimates of spanned.
const fraction = 40

// spanned returns the estimates of a measurement of strategies, or nil if it does not determine all tables.
func (e *Earlier) spanned(follows []reuse.Following) []*fitted {
	out := make([]*fitted, len(follows))
	for i, f := range follows {
		sums, ok := e.Span.Sums(f.Keys, f.Cells)
		if !ok {
			return nil
		}
		out[i] = &fitted{laws: make([]*noise.Combination, len(sums))}
		for j := range sums {
			out[i].laws[j] = sums[j].Error
		}
		out[i].later = func() ([]*big.Int, *big.Int) { return e.combined(sums) }
	}
	return out
}

// combined returns the values of combinations of the released numbers, rounded to multiples of 2^−fraction.
func (e *Earlier) combined(sums []span.Sum) (values []*big.Int, denominator *big.Int) {
	const precision = 128 // so that the sums of large numbers keep their digits
	values = make([]*big.Int, len(sums))
	for i, s := range sums {
		sum := new(big.Float).SetPrec(precision)
		for _, t := range s.Terms {
			term := new(big.Float).SetPrec(precision).SetInt(e.Numbers[0][t.Number])
			sum.Add(sum, term.Mul(term, new(big.Float).SetFloat64(t.Weight)))
		}
		sum.SetMantExp(sum, fraction)
		values[i], _ = sum.Int(nil)
	}
	return values, new(big.Int).Lsh(big.NewInt(1), fraction)
}
