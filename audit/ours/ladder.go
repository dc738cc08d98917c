package ours

import (
	"math/big"

	"dither/internal/expsum"
	"dither/mechanism/quantile"
)

// ladderQuantile returns a subject that draws the median v with 3/10 of ε, and then the half-width h of an interval
// around it with the rest. The half-widths are 0, 1 and 2, up to the first that reaches both ends of the domain.
// Half-width k has the weight 2^k·exp(−0.7·ε·d/(2Δ)) with Δ = 1/2 and d = max(0, T − S(h), S(h − 1) − T). S(h) is the
// lesser of (n − 1)/2 − B and A − 1 − (n − 1)/2, where B counts the rows below v − h, and A those at or below v + h. A
// term is infinite if its end of the interval is that of the domain or beyond. T is ln(19)/(0.7·ε), rounded up to
// 1/4096, less 1/2.
func ladderQuantile() Subject {
	m := quantile.Ladder{
		Domain: orderDomain, Unit: orderUnit, Ranks: []*big.Rat{big.NewRat(1, 2)}, Epsilon: epsilonOf(4, 1),
	}
	const infinite = 1 << 20
	margin := big.NewRat(4308-2048, 4096) // 4096·ln(19)/2.8 = 4307.3
	first, rest := big.NewRat(12, 10), big.NewRat(28, 10)
	return orderSubject("ladder-quantile", "the median of at most two rows of 0…2, and the half-width of its interval",
		"Smith 2011, twice", orderUnit, [2][]int64{{0}, {0, 1}}, m.Release,
		func(c *calc, data []int64) (w weights) {
			half := func(n int) *big.Rat { return big.NewRat(int64(n), 2) }
			values, total := chances(c, orderUnit, wholeRows(data), 0, 2, m.Ranks[0], first)
			w.total = total
			for v, x := range values {
				var widths []*expsum.Number
				before := big.NewRat(-infinite, 1)
				for h := range max(v, 2-v) + 1 {
					left, right := len(data)-1, -len(data)-1 // twice the terms of S
					for _, row := range data {
						if int(row) < v-h {
							left -= 2
						}
						if int(row) <= v+h {
							right += 2
						}
					}
					if v-h <= 0 {
						left = infinite
					}
					if v+h >= 2 {
						right = infinite
					}
					slack, d := half(min(left, right)), new(big.Rat)
					for _, off := range []*big.Rat{
						new(big.Rat).Sub(margin, slack), new(big.Rat).Sub(before, margin),
					} {
						if off.Cmp(d) > 0 {
							d.Set(off)
						}
					}
					before = slack
					d.Mul(d, rest).Neg(d)
					widths = append(widths, c.mul(c.rat(1<<h, 1), c.exp(d)))
				}
				all := c.add(widths...)
				for h, y := range widths {
					w.add(c, label(v, h), c.mul(x, c.quo(y, all)))
				}
			}
			return w
		})
}
