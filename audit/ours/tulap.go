package ours

import (
	"math/big"

	"dither/audit"
	"dither/internal/expsum"
	"dither/mechanism"
	"dither/privacy"
)

// tulapNoise is the Tulap distribution: the sum of a two-sided geometric variable and a uniform variable on (−½,
// ½), conditioned on lying between its q/2 quantiles. Here q = 2δb/(1 − b + 2δb) and b = e^(−ε) [Awan & Slavković
// 2018, Theorem 3.8]. Before the conditioning, the distribution function at −(m − ½ + v), for 0 ≤ v < 1, is bᵐ(1 −
// v(1 − b))/(1 + b).
type tulapNoise struct {
	geometric
	q, v  *expsum.Number // the noise is between ±(m − ½ + v)
	m     int64
	split float64 // v as a float
	// The positions of the two ends, relative to the nearest integer, divide each unit interval around an integer
	// into three parts. parts holds their lengths.
	parts [3]*expsum.Number
}

func newTulap(c *calc, e privacy.Epsilon, d privacy.Delta) tulapNoise {
	n := tulapNoise{geometric: geometric{e.Rat()}}
	one, delta := c.rat(1, 1), expsum.Rat(d.Rat())
	b := n.b(c, 1)
	half := c.quo(c.mul(delta, b), c.add(one, c.sub(c.mul(c.rat(2, 1), delta, b), b))) // q/2
	n.q = c.add(half, half)
	edge := c.mul(half, n.total(c)) // edge is bᵐ(1 − v(1 − b))
	for c.err == nil {
		order, err := n.b(c, n.m+1).Cmp(edge)
		if c.keep(edge, err); order < 0 {
			break
		}
		n.m++
	}
	n.v = c.quo(c.sub(one, c.quo(edge, n.b(c, n.m))), c.sub(one, b))
	n.split, _ = n.v.Floats()
	small := n.v
	if n.split > .5 {
		small = c.sub(one, n.v)
	}
	n.parts = [3]*expsum.Number{small, c.sub(one, c.add(small, small)), small}
	return n
}

// part returns the index of the part that contains the fraction f. f is between −½ and ½, relative to the nearest
// integer.
func (n tulapNoise) part(f float64) int {
	edge := n.split - .5
	low, high := min(edge, -edge), max(edge, -edge)
	switch {
	case f < low:
		return 0
	case f < high:
		return 1
	}
	return 2
}

// may reports whether noise with the nearest integer k can be in a part. Around m, only positions up to v − ½ are
// possible, and around −m, only positions from ½ − v on.
func (n tulapNoise) may(k int64, part int) bool {
	parts := 1 // possible parts of an outermost interval, counted from the inner side
	if n.split > .5 {
		parts = 2
	}
	switch k {
	case n.m:
		return part < parts
	case -n.m:
		return part >= 3-parts
	}
	return max(k, -k) < n.m
}

func tulap(name string, d privacy.Delta) Subject {
	m := mechanism.Tulap{Epsilon: epsilonOf(1, 1), Delta: d}
	all, names := vectors(1, 0, 3)
	const low, high = -1, 4
	about := "Tulap noise on one count; the law is of the nearest integers"
	var noise tulapNoise
	if !d.IsZero() {
		about = "Tulap noise on one count, of bounded range"
		noise = newTulap(new(calc), m.Epsilon, d)
	}
	return subject(Subject{
		Name: name, About: about,
		Source: "Awan & Slavković 2018",
		domain: domain{inputs: names, pair: [2]int{0, 1}, draw: func(i int) (drawn, error) {
			out, err := m.Measure(exactly(all[i]...)[0])
			if err != nil {
				return drawn{}, err
			}
			nearest := new(big.Rat).Add(out.Value, big.NewRat(1, 2))
			// Div rounds down, because the denominator is positive
			n := new(big.Int).Div(nearest.Num(), nearest.Denom())
			result := clamped(out.Loss, low, high, n.Int64())
			result.text = out.Value.FloatString(20)
			if !d.IsZero() {
				f, _ := new(big.Rat).Sub(out.Value, new(big.Rat).SetInt(n)).Float64()
				result.folded = label(n.Int64(), int64(noise.part(f)))
			}
			result.claim = &audit.Claim{Epsilon: out.Epsilon, Delta: out.Delta}
			return result, nil
		}},
		// If δ is 0, the noise is unbounded, and the fraction of the output has the same uniform distribution for
		// every count. So only the nearest integer depends on the count.
		law: func() (*Law, error) {
			return lawOf(names, neighbouringNumbers(len(all)), func(c *calc, i int) (w weights) {
				if d.IsZero() {
					return geometric{rate(m.Epsilon, 1)}.noisyVector(c, all[i], low, high)
				}
				n := newTulap(c, m.Epsilon, d)
				w.total = c.mul(n.total(c), c.sub(c.rat(1, 1), n.q))
				for k := -n.m; k <= n.m; k++ {
					for part, length := range n.parts {
						if n.may(k, part) {
							w.add(c, label(all[i][0]+k, int64(part)), c.mul(length, n.at(c, k)))
						}
					}
				}
				return w
			})
		},
	})
}
