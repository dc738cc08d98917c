package ours

import (
	"fmt"
	"math/big"

	"dither/audit"
	"dither/internal/expsum"
	"dither/mechanism"
	"dither/privacy"
)

func deltaOf(num, den int64) privacy.Delta {
	d, _ := privacy.DeltaOf(big.NewRat(num, den))
	return d
}

func partitions() []Subject {
	return []Subject{partitionSelection(), partitionCounts(), thresholdLaplace(), thresholdGaussian()}
}

// key is the partition of the examples, of so many units, if any.
func key(units int64) []mechanism.Partition {
	if units == 0 {
		return nil
	}
	return []mechanism.Partition{mechanism.NewPartition("key", mechanism.NewExact(big.NewInt(units)))}
}

const dropped = "dropped"

// keptAs is what leaves of the one partition, of the numbers above most as one.
func keptAs(kept []mechanism.KeptPartition, most int64, loss privacy.Loss, claim *audit.Claim) drawn {
	d := drawn{text: dropped, folded: dropped, loss: loss, claim: claim}
	if len(kept) > 0 {
		n := kept[0].Value.Int64()
		d.text, d.folded = fmt.Sprint("kept ", n), fmt.Sprint("kept ", min(n, most))
	}
	return d
}

var example = mechanism.Partitions{Epsilon: epsilonOf(1, 2), Delta: deltaOf(1, 20), Keys: 1}

// numbersOf are partitions of 0 to most units, and their names.
func numbersOf(most int64) (names []string) {
	for n := range most + 1 {
		names = append(names, fmt.Sprint(n, " units"))
	}
	return names
}

func partitionSelection() Subject {
	m := mechanism.PartitionSelection{Partitions: example}
	names := numbersOf(12)
	return subject(Subject{
		Name: "partition-selection", About: "whether a partition of 0 to 12 units is kept",
		Source: "Desfontaines, Voss, Gipson & Mandayam 2022",
		domain: domain{inputs: names, pair: [2]int{0, 1}, draw: func(i int) (drawn, error) {
			loss, err := m.Loss()
			if err != nil {
				return drawn{}, err
			}
			d := drawn{text: dropped, folded: dropped, loss: loss, claim: &audit.Claim{Epsilon: m.Epsilon, Delta: m.Delta}}
			kept, err := m.Select(key(int64(i)))
			if len(kept) > 0 {
				d.text, d.folded = "kept", "kept"
			}
			return d, err
		}},
		// p₀ = 0, p_n = min(e^ε·p_{n−1} + δ, 1 − e^(−ε)·(1 − p_{n−1} − δ), 1) [ibid., Theorem 1].
		law: func() (*Law, error) {
			return lawOf(names, neighbouringNumbers(len(names)), func(c *calc, i int) (w weights) {
				one, delta, p := c.rat(1, 1), c.parse(m.Delta.Rat().RatString()), c.rat(0, 1)
				for range i {
					up := c.add(c.mul(c.power(m.Epsilon.Rat(), 1), p), delta)
					down := c.sub(one, c.mul(c.power(m.Epsilon.Rat(), -1), c.sub(c.sub(one, p), delta)))
					p = c.least(up, down, one)
				}
				w.total = one
				w.add(c, "kept", p)
				w.add(c, dropped, c.sub(one, p))
				return w
			})
		},
	})
}

func partitionCounts() Subject {
	m := mechanism.PartitionCounts{Partitions: example}
	const most = 40
	names := numbersOf(12)
	return subject(Subject{
		Name: "partition-counts", About: "the noisy number of units of a partition, if it is kept, of 0 to 12 units",
		Source: "Desfontaines, Voss, Gipson & Mandayam 2022",
		domain: domain{inputs: names, pair: [2]int{0, 1}, draw: func(i int) (drawn, error) {
			out, err := m.Select(key(int64(i)))
			return keptAs(out.Kept, most, out.Loss, &audit.Claim{Epsilon: m.Epsilon, Delta: m.Delta}), err
		}},
		// V is the two-sided geometric variable given |V| ≤ k, k the least with P(V = k) ≤ δ; kept is n + V > k.
		law: func() (*Law, error) {
			g, delta := geometric{m.Epsilon.Rat()}, m.Delta.Rat().RatString()
			c := new(calc)
			k := int64(0)
			for ; k < most && c.err == nil; k++ {
				p := c.quo(g.at(c, k), c.within(g, k))
				if order, err := p.Cmp(c.parse(delta)); c.keep(p, err) == nil || order <= 0 {
					break
				}
			}
			if c.err != nil {
				return nil, c.err
			}
			return lawOf(names, neighbouringNumbers(len(names)), func(c *calc, i int) (w weights) {
				n := int64(i)
				w.total = c.within(g, k)
				for v := -k; v <= k; v++ {
					if n > 0 && n+v > k {
						w.add(c, fmt.Sprint("kept ", n+v), g.at(c, v))
					} else {
						w.add(c, dropped, g.at(c, v))
					}
				}
				return w
			})
		},
	})
}

func thresholdLaplace() Subject {
	m := mechanism.ThresholdLaplace{
		Laplace:   mechanism.Laplace{Sensitivity: big.NewInt(1), Epsilon: epsilonOf(1, 1)},
		Threshold: mechanism.Threshold{MaxPerCell: big.NewInt(1), Keys: 1, Delta: deltaOf(1, 100)},
	}
	names := numbersOf(8)
	const most = 12
	return subject(Subject{
		Name: "threshold-laplace", About: "a partition's number of units with discrete Laplace noise, if above a threshold, of 0 to 8 units",
		Source: "Korolova, Kenthapadi, Mishra & Ntoulas 2009",
		domain: domain{inputs: names, pair: [2]int{0, 1}, draw: func(i int) (drawn, error) {
			out, err := m.Measure(key(int64(i)))
			return keptAs(out.Kept, most, out.Loss, &audit.Claim{Epsilon: m.Epsilon, Delta: m.Delta}), err
		}},
		// τ is the least for which 1 + Z > τ has a probability of at most δ [Korolova, Kenthapadi, Mishra & Ntoulas 2009].
		law: func() (*Law, error) {
			g, threshold := geometric{rate(m.Epsilon, 1)}, int64(1)
			for c := new(calc); ; threshold++ {
				tail := c.quo(g.above(c, threshold), g.total(c))
				order, err := tail.Cmp(expsum.Rat(m.Delta.Rat()))
				if c.keep(tail, err); c.err != nil {
					return nil, c.err
				}
				if order <= 0 {
					break
				}
			}
			return lawOf(names, neighbouringNumbers(len(names)), func(c *calc, i int) (w weights) {
				n := int64(i)
				w.total = g.total(c)
				if n == 0 {
					w.add(c, dropped, w.total)
					return w
				}
				for y := threshold + 1; y < most; y++ {
					w.add(c, fmt.Sprint("kept ", y), g.at(c, y-n))
				}
				w.add(c, fmt.Sprint("kept ", most), g.above(c, most-n))
				w.add(c, dropped, c.sub(w.total, g.above(c, threshold+1-n)))
				return w
			})
		},
	})
}
