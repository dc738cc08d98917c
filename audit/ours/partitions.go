package ours

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"dither/audit"
	"dither/internal/expsum"
	"dither/mechanism"
	"dither/mechanism/partition"
	"dither/privacy"
)

func deltaOf(num, den int64) privacy.Delta {
	d, _ := privacy.DeltaOf(big.NewRat(num, den))
	return d
}

func partitions() []Subject {
	one := partition.Parameters{Epsilon: epsilonOf(1, 2), Delta: deltaOf(1, 20), Keys: 1}
	return []Subject{
		partitionSelection("partition-selection", one, 12), partitionCounts("partition-counts", one, 12),
		thresholdLaplace("threshold-laplace", 1, 8),
		thresholdGaussian(),
	}
}

// keyed returns one partition for each positive number of units.
func keyed(units []int64) (out []mechanism.Partition) {
	for i, n := range units {
		if n > 0 {
			out = append(out, mechanism.NewPartition(fmt.Sprint("key ", i+1), mechanism.NewExact(big.NewInt(n))))
		}
	}
	return out
}

const dropped = "dropped"

// left returns the output of a partition mechanism. For each key it contains "dropped", or "kept" with the noisy
// number if there is one. Folding clamps numbers to at most the argument most. A kept key that is not in the input
// is listed separately. No law contains such an output, so a comparison with the law fails.
func left(keys int, kept []partition.Kept, most int64) drawn {
	text := slices.Repeat([]string{dropped}, keys)
	folded := slices.Clone(text)
	for _, p := range kept {
		told, near := "kept", "kept"
		if p.Value != nil {
			told, near = fmt.Sprint("kept ", p.Value), fmt.Sprint("kept ", min(p.Value.Int64(), most))
		}
		var key int
		if _, err := fmt.Sscanf(p.Key, "key %d", &key); err != nil || key < 1 || key > keys {
			text, folded = append(text, p.Key+" "+told), append(folded, p.Key+" "+near)
			continue
		}
		text[key-1], folded[key-1] = told, near
	}
	return drawn{text: strings.Join(text, "; "), folded: strings.Join(folded, "; ")}
}

// units returns all inputs of the given number of partitions, each with at most `most` units, their names, and the
// pairs of neighbours. Neighbours differ by at most one unit in each partition.
func units(keys int, most int64) (all [][]int64, names []string, pairs [][2]int) {
	all, names = vectors(keys, 0, most)
	for i, v := range all {
		names[i] = label(v...) + " units"
	}
	return all, names, adjacent(len(all), func(i, j int) bool { _, most := apart(all[i], all[j]); return most <= 1 })
}

// partitioned returns the subject for a mechanism that treats each partition separately. The function one returns
// the output distribution for a single partition with n units.
func partitioned(
	name, about, source string, keys int, most int64, draw func(x []mechanism.Partition, keys int) (drawn, error),
	one func(c *calc, n int64) weights,
) Subject {
	all, names, pairs := units(keys, most)
	return subject(Subject{
		Name: name, About: about, Source: source,
		domain: domain{
			inputs: names, pair: [2]int{0, place(all, slices.Repeat([]int64{1}, keys)...)},
			draw: func(i int) (drawn, error) { return draw(keyed(all[i]), keys) },
			many: func(i, runs int) (outputs []string, err error) {
				// partitions are independent, so one call with many partitions makes many draws
				out, err := draw(keyed(slices.Repeat(all[i], runs)), keys*runs)
				for each := range slices.Chunk(strings.Split(out.folded, "; "), keys) {
					outputs = append(outputs, strings.Join(each, "; "))
				}
				return outputs, err
			},
		},
		law: func() (*Law, error) {
			return lawOf(names, pairs, func(c *calc, i int) weights {
				w := weights{of: map[string]*expsum.Number{"": c.rat(1, 1)}, total: c.rat(1, 1)}
				for key, n := range all[i] {
					next := one(c, n)
					product := weights{total: c.mul(w.total, next.total)}
					for before, p := range w.of {
						for output, q := range next.of {
							if key > 0 {
								output = before + "; " + output
							}
							product.add(c, output, c.mul(p, q))
						}
					}
					w = product
				}
				return w
			})
		},
	})
}

// perKey returns the shares of ε and δ for one key.
func perKey(m partition.Parameters) (e, d *big.Rat) {
	keys := big.NewRat(m.Keys, 1)
	return new(big.Rat).Quo(m.Epsilon.Rat(), keys), new(big.Rat).Quo(m.Delta.Rat(), keys)
}

func partitionSelection(name string, of partition.Parameters, most int64) Subject {
	m := partition.Selection{Parameters: of}
	e, d := perKey(of)
	return partitioned(name, fmt.Sprintf("whether a partition of 0 to %d units is kept", most),
		"Desfontaines, Voss, Gipson & Mandayam 2022", int(of.Keys), most,
		func(x []mechanism.Partition, keys int) (drawn, error) {
			loss, err := m.Loss()
			if err != nil {
				return drawn{}, err
			}
			names, err := m.Select(x)
			var kept []partition.Kept
			for _, name := range names {
				kept = append(kept, partition.Kept{Key: name})
			}
			out := left(keys, kept, 0)
			out.loss, out.claim, out.shares = loss, &audit.Claim{Epsilon: of.Epsilon, Delta: of.Delta}, of.Keys
			return out, err
		},
		// A partition with n units is kept with probability p_n, where p₀ = 0 and p_n = min(e^ε·p_{n−1} + δ, 1 −
		// e^(−ε)·(1 − p_{n−1} − δ), 1) [ibid., Theorem 1].
		func(c *calc, n int64) (w weights) {
			one, delta, p := c.rat(1, 1), expsum.Rat(d), c.rat(0, 1)
			for range n {
				up := c.add(c.mul(c.power(e, 1), p), delta)
				down := c.sub(one, c.mul(c.power(e, -1), c.sub(c.sub(one, p), delta)))
				p = c.least(up, down, one)
			}
			w.total = one
			w.add(c, "kept", p)
			w.add(c, dropped, c.sub(one, p))
			return w
		})
}

func partitionCounts(name string, of partition.Parameters, most int64) Subject {
	m := partition.Counts{Parameters: of}
	e, d := perKey(of)
	const greatest = 40 // larger than any possible n + V
	g := geometric{e}
	// V is the two-sided geometric variable conditioned on |V| ≤ k, for the smallest k with P(V = k) ≤ δ. A
	// partition of n units is kept if n + V > k.
	reach := func(c *calc) (k int64) {
		for c.above(c.quo(g.at(c, k), c.within(g, k)), d) {
			k++
		}
		return k
	}
	return partitioned(name, fmt.Sprintf("the noisy number of units of a partition, if it is kept, of 0 to %d units",
		most), "Desfontaines, Voss, Gipson & Mandayam 2022", int(of.Keys), most,
		func(x []mechanism.Partition, keys int) (drawn, error) {
			found, err := m.Select(x)
			out := left(keys, found.Kept, greatest)
			out.loss, out.claim, out.shares = found.Loss, &audit.Claim{Epsilon: of.Epsilon, Delta: of.Delta}, of.Keys
			return out, err
		},
		func(c *calc, n int64) (w weights) {
			k := reach(c)
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
}

// thresholdLaplace returns a subject in which one unit adds at most 1 to each of the keys, so the sensitivity is
// the number of keys.
func thresholdLaplace(name string, keys, most int64) Subject {
	m := partition.ThresholdLaplace{
		Laplace:   mechanism.Laplace{Sensitivity: big.NewInt(keys), Epsilon: epsilonOf(1, 1)},
		Threshold: partition.Threshold{MaxPerCell: big.NewInt(1), Keys: keys, Delta: deltaOf(1, 100)},
	}
	g := geometric{rate(m.Epsilon, keys)}
	// above every number of units and above the threshold; from there on, the ratios of probabilities are constant
	greatest := most + 4*keys
	// least returns the smallest threshold τ with P(1 + Z > τ) ≤ δ/keys, for the noise Z.
	least := func(c *calc) int64 {
		limit, t := new(big.Rat).Quo(m.Delta.Rat(), big.NewRat(keys, 1)), int64(1)
		for c.above(c.quo(g.above(c, t), g.total(c)), limit) {
			t++
		}
		return t
	}
	return partitioned(name,
		fmt.Sprintf("a partition's number of units with discrete Laplace noise, if above a threshold, of 0 to %d units",
			most), "Korolova, Kenthapadi, Mishra & Ntoulas 2009", int(keys), most,
		func(x []mechanism.Partition, keys int) (drawn, error) {
			found, err := m.Measure(x)
			out := left(keys, found.Kept, greatest)
			out.loss, out.claim = found.Loss, &audit.Claim{Epsilon: m.Epsilon, Delta: m.Delta}
			return out, err
		},
		func(c *calc, n int64) (w weights) {
			threshold := least(c)
			w.total = g.total(c)
			if n == 0 {
				w.add(c, dropped, w.total)
				return w
			}
			for y := threshold + 1; y < greatest; y++ {
				w.add(c, fmt.Sprint("kept ", y), g.at(c, y-n))
			}
			w.add(c, fmt.Sprint("kept ", greatest), g.above(c, greatest-n))
			w.add(c, dropped, c.sub(w.total, g.above(c, threshold+1-n)))
			return w
		})
}
