package ours

import (
	"math/big"

	"dither/mechanism"
	"dither/mechanism/quantile"
	"dither/mechanism/stream"
	"dither/privacy"
)

// epsilonOf returns the ε num/den for an example.
func epsilonOf(num, den int64) privacy.Epsilon {
	e, _ := privacy.EpsilonOf(big.NewRat(num, den)) // an invalid ε becomes 0, which every mechanism refuses
	return e
}

func exactly(values ...int64) []mechanism.Exact {
	out := make([]mechanism.Exact, len(values))
	for i, v := range values {
		out[i] = mechanism.NewExact(big.NewInt(v))
	}
	return out
}

// integers returns the values of a measurement as int64. The noise of the examples is small enough for that.
func integers(values []*big.Int) []int64 {
	out := make([]int64, len(values))
	for i, v := range values {
		out[i] = v.Int64()
	}
	return out
}

// rate returns ε/sensitivity: the decay rate of the two-sided geometric distribution with scale sensitivity/ε.
func rate(e privacy.Epsilon, sensitivity int64) *big.Rat {
	return new(big.Rat).Quo(e.Rat(), big.NewRat(sensitivity, 1))
}

func additive() []Subject {
	return []Subject{
		laplace(), cube(), staircase("staircase", false), tulap("tulap", privacy.Delta{}), countingTree(),
		quantileTree(), automaticBounds(), smooth(),
	}
}

func laplace() Subject {
	m := mechanism.Laplace{Sensitivity: big.NewInt(2), Epsilon: epsilonOf(1, 1)}
	all, names := vectors(2, 0, 2)
	const low, high = 0, 2
	return subject(Subject{
		Name: "laplace", About: "discrete Laplace noise on two counts that one person moves by 2 together",
		Source: "Dwork, McSherry, Nissim & Smith 2006; Ghosh, Roughgarden & Sundararajan 2009",
		domain: domain{inputs: names, pair: [2]int{0, 2}, draw: func(i int) (drawn, error) {
			out, err := m.Measure(exactly(all[i]...))
			return clamped(out.Loss, low, high, integers(out.Values)...), err
		}},
		law: func() (*Law, error) {
			near := func(i, j int) bool { l1, _ := apart(all[i], all[j]); return l1 <= 2 }
			return lawOf(names, adjacent(len(all), near), func(c *calc, i int) weights {
				return geometric{rate(m.Epsilon, 2)}.noisyVector(c, all[i], low, high)
			})
		},
	})
}

// neighbouringNumbers returns the pairs of numbers below n that differ by 1.
func neighbouringNumbers(n int) [][2]int {
	return adjacent(n, func(i, j int) bool { return i-j == 1 })
}

// counted returns the running sums that a counter releases for a stream, and its loss.
func counted(stream []int64, begin func() (*stream.Counter, error)) (sums []int64, loss privacy.Loss, err error) {
	counter, err := begin()
	if err != nil {
		return nil, loss, err
	}
	for _, x := range exactly(stream...) {
		s, err := counter.Next(x)
		if err != nil {
			return nil, loss, err
		}
		sums = append(sums, s.Int64())
	}
	return sums, counter.Loss(), nil
}

// countingTree returns the subject for running sums of three steps. The blocks of the tree are [1], [1, 2] and [3].
// So the sums are x₁ + a, x₁ + x₂ + b and x₁ + x₂ + b + x₃ + c, with independent noises a, b, c of scale 2Δ/ε,
// where Δ is the sensitivity. The law is the joint distribution of the first two sums and of the difference between
// the third and the second.
func countingTree() Subject {
	m := stream.CountingTree{Steps: 3, Sensitivity: big.NewInt(1)}
	e := epsilonOf(1, 1)
	all, names := vectors(3, 0, 1)
	const low, high = 0, 2
	return subject(Subject{
		Name: "counting-tree", About: "running sums of three steps by the binary tree, with discrete Laplace noise",
		Source: "Dwork, Naor, Pitassi & Rothblum 2010; Chan, Shi & Song 2011",
		domain: domain{inputs: names, pair: [2]int{0, 4}, draw: func(i int) (drawn, error) {
			v, loss, err := counted(all[i], func() (*stream.Counter, error) { return m.Laplace(e) })
			if err != nil {
				return drawn{}, err
			}
			d := clamped(loss, low, high, v[0], v[1], v[2]-v[1])
			d.text = label(v...)
			return d, nil
		}},
		law: func() (*Law, error) {
			near := func(i, j int) bool { l1, _ := apart(all[i], all[j]); return l1 == 1 }
			return lawOf(names, adjacent(len(all), near), func(c *calc, i int) weights {
				x := all[i]
				return geometric{rate(e, 2)}.noisyVector(c, []int64{x[0], x[0] + x[1], x[2]}, low, high)
			})
		},
	})
}

// noisyCounts returns the [Law] of histograms with discrete Laplace noise of scale histograms·Δ/ε on each count,
// where Δ is the sensitivity of one histogram. One row changes one count in each histogram. Neighbours are datasets
// that differ by one row.
func noisyCounts(
	e privacy.Epsilon, data [][]int64, names []string, histograms, low, high int64, counts func(rows []int64) []int64,
) (*Law, error) {
	return lawOf(names, oneRowApart(data), func(c *calc, i int) weights {
		return geometric{rate(e, histograms)}.noisyVector(c, counts(data[i]), low, high)
	})
}

func quantileTree() Subject {
	m := quantile.Tree{
		Domain: quantile.Domain{Lower: 0, Upper: 3}, Unit: mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1},
		Height: 2, Branching: 2, Loss: privacy.PureLoss(epsilonOf(1, 1)),
	}
	data, names := multisets(4, 1)
	const low, high = 0, 1
	return subject(Subject{
		Name: "quantile-tree", About: "noisy counts in a tree of two levels over 0…3, of at most one row",
		Source: "Hay, Rastogi, Miklau & Suciu 2010",
		domain: domain{inputs: names, pair: [2]int{0, 1}, draw: func(i int) (drawn, error) {
			out, err := m.Measure(ordered(data[i]))
			return clamped(out.Loss, low, high, integers(out.Values)...), err
		}},
		law: func() (*Law, error) {
			e, _ := m.Loss.Pure()
			return noisyCounts(e, data, names, 2, low, high, func(rows []int64) []int64 {
				counts := make([]int64, 6)
				for _, x := range rows {
					counts[x/2]++
					counts[2+x]++
				}
				return counts
			})
		},
	})
}

func automaticBounds() Subject {
	m := quantile.AutomaticBounds{
		Domain: quantile.Domain{Lower: 0, Upper: 1}, Unit: mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1},
		Loss: privacy.PureLoss(epsilonOf(1, 1)), FalsePositive: 0.01,
	}
	data, names := multisets(2, 2)
	const low, high = 0, 2
	return subject(Subject{
		Name: "automatic-bounds", About: "bounds for values of 0 and 1, from noisy counts of both, of at most two rows",
		Source: "Wilson et al. 2020, ApproxBounds",
		domain: domain{inputs: names, pair: [2]int{0, 1}, draw: func(i int) (drawn, error) {
			out, err := m.Measure(ordered(data[i]))
			return clamped(out.Loss, low, high, integers(out.Values)...), err
		}},
		law: func() (*Law, error) {
			e, _ := m.Loss.Pure()
			return noisyCounts(e, data, names, 1, low, high, func(rows []int64) []int64 {
				counts := make([]int64, 2)
				for _, x := range rows {
					counts[x]++
				}
				return counts
			})
		},
	})
}
