package ours

import (
	"fmt"
	"math/big"
	"sync"

	"dither/audit"
	"dither/internal/exact"
	"dither/mechanism"
	"dither/mechanism/analytic"
	"dither/mechanism/partition"
	"dither/mechanism/stream"
	"dither/privacy"
)

func gaussians() []Subject {
	return []Subject{gaussian(), analyticGaussian(), countingTreeGaussian(), countingFactorization()}
}

func gaussian() Subject {
	m := mechanism.Gaussian{L2Squared: big.NewInt(4), Rho: rhoOf(2)}
	all, names := vectors(1, 0, 2)
	noise := func() masses { return discreteGaussian(big.NewRat(4, 1)) } // σ² = Δ₂²/(2ρ)
	return subject(Subject{
		Name:   "gaussian",
		About:  "discrete Gaussian noise on one number that one person moves by 2, ρ = ½, read at δ = 1/1000",
		Source: "Canonne, Kamath & Steinke 2020",
		at:     gaussianDelta(),
		domain: domain{inputs: names, pair: [2]int{0, 2}, draw: func(i int) (drawn, error) {
			out, err := m.Measure(exactly(all[i]...))
			return plain(out.Loss, integers(out.Values)...), err
		}},
		certify: func(e privacy.Epsilon) (lower, upper float64, err error) {
			lower, upper = noise().shifted(e, 2)
			return lower, upper, nil
		},
		near: func() (*Law, error) { return noise().on(all, names) },
	})
}

// analyticGaussian returns a subject whose law uses a number from the mechanism: σ², which the mechanism finds by a
// search. The law certifies that this σ² suffices. A comparison with draws tests that the mechanism uses it.
func analyticGaussian() Subject {
	m, err := analytic.NewGaussian(big.NewInt(4), epsilonOf(1, 1), deltaOf(1, 100))
	all, names := vectors(1, 0, 2)
	noise := sync.OnceValues(func() (masses, error) {
		dist, err := m.Noise()
		if err != nil {
			return masses{}, err
		}
		return roundedGaussian(dist.Sigma2()), nil
	})
	s := subject(Subject{
		Name: "analytic-gaussian", About: "rounded Gaussian noise on one number that one person moves by 2",
		Source: "Balle & Wang 2018",
		domain: domain{inputs: names, pair: [2]int{0, 2}, draw: func(i int) (drawn, error) {
			out, err := m.Measure(exactly(all[i]...))
			d := plain(out.Loss, integers(out.Values)...)
			e, delta := m.Guarantee()
			d.claim = &audit.Claim{Epsilon: e, Delta: delta}
			return d, err
		}},
		certify: func(e privacy.Epsilon) (lower, upper float64, err error) {
			n, err := noise()
			if err != nil {
				return 0, 1, err
			}
			lower, upper = n.shifted(e, 2)
			return lower, upper, nil
		},
		near: func() (*Law, error) {
			n, err := noise()
			if err != nil {
				return nil, err
			}
			return n.on(all, names)
		},
	})
	return s.orError(err)
}

// countingTreeGaussian returns a subject like that of [countingTree], with Gaussian noise of variance σ² = LΔ²/(2ρ)
// on each block, where Δ is the sensitivity and L = 2. The first step is in two of the three blocks, and each other
// step is in one.
func countingTreeGaussian() Subject {
	m := stream.CountingTree{Steps: 3, Sensitivity: big.NewInt(1)}
	all, names := vectors(3, 0, 1)
	noise := func() masses { return discreteGaussian(big.NewRat(2, 1)) }
	return subject(Subject{
		Name: "counting-tree-gaussian",
		About: "running sums of three steps by the binary tree, with discrete Gaussian noise, ρ = ½, read at δ " +
			"= 1/1000",
		Source: "Dwork, Naor, Pitassi & Rothblum 2010; Chan, Shi & Song 2011",
		at:     gaussianDelta(),
		domain: domain{inputs: names, pair: [2]int{0, place(all, 1, 0, 0)}, draw: func(i int) (drawn, error) {
			v, loss, err := counted(all[i], func() (*stream.Counter, error) { return m.Gaussian(rhoOf(2)) })
			if err != nil {
				return drawn{}, err
			}
			const most = treeReach
			d := clamped(loss, -most, most, v[0], v[1], v[2]-v[1])
			d.text = label(v...)
			return d, nil
		}},
		// The blocks are [1], [1, 2] and [3], so one step shifts their sums by (1, 1, 0), (0, 1, 0) or (0, 0, 1).
		// The last two are equivalent, and δ rises with the shifts.
		certify: func(e privacy.Epsilon) (lower, upper float64, err error) {
			n := noise()
			for _, by := range [][2]int64{{1, 1}, {0, 1}} {
				var p, q []exact.Interval
				listed := whole(0)
				for a := int64(-treeReach); a <= treeReach; a++ {
					for b := int64(-treeReach); b <= treeReach; b++ {
						x := n.mass(a).Mul(n.mass(b))
						p, q, listed = append(p, x), append(q, n.mass(a-by[0]).Mul(n.mass(b-by[1]))), listed.Add(x)
					}
				}
				low, high := unlisted(e, excess(e, p, q), whole(1).Sub(listed))
				lower, upper = max(lower, low), max(upper, high)
			}
			return lower, upper, nil
		},
		near: func() (*Law, error) {
			n := noise()
			grid, outputs := vectors(3, -4, 4)
			for i, y := range grid {
				outputs[i] = label(y...)
			}
			return roundedLaw(names, nil, append(outputs, other), func(i int) (p []exact.Interval) {
				x := all[i]
				for _, y := range grid {
					p = append(p, n.mass(y[0]-x[0]).Mul(n.mass(y[1]-x[0]-x[1])).Mul(n.mass(y[2]-x[2])))
				}
				return p
			})
		},
	})
}

// treeReach is the largest absolute value of a block's noise in the sums.
const treeReach = 14

func thresholdGaussian() Subject {
	m := partition.ThresholdGaussian{
		Gaussian:  mechanism.Gaussian{L2Squared: big.NewInt(1), Rho: rhoOf(2)},
		Threshold: partition.Threshold{MaxPerCell: big.NewInt(1), Keys: 1, Delta: deltaOf(1, 100)},
	}
	all, names, _ := units(1, 8)
	// row returns the probabilities of the outputs: dropped first, then each number that may be kept.
	row := func() (func(n int64) []exact.Interval, masses, int64, error) {
		noise := discreteGaussian(big.NewRat(1, 1)) // σ² = Δ₂²/(2ρ)
		at, err := noise.threshold(m.Delta)
		return func(n int64) []exact.Interval {
			kept, all := whole(0), []exact.Interval{{}}
			for y := at + 1; y <= gaussianReach; y++ {
				p := whole(0)
				if n > 0 {
					p = noise.mass(y - n)
				}
				kept, all = kept.Add(p), append(all, p)
			}
			all[0] = whole(1).Sub(kept)
			return all
		}, noise, at, err
	}
	return subject(Subject{
		Name: "threshold-gaussian",
		About: "a partition's number of units with discrete Gaussian noise, if above a threshold, of 0 to 8 " +
			"units, ρ = ½ and δ = 1/100, read at δ = 1/50",
		Source: "Bun & Steinke 2016; Korolova, Kenthapadi, Mishra & Ntoulas 2009",
		at:     deltaOf(2, 100),
		domain: domain{inputs: names, pair: [2]int{0, 1}, draw: func(i int) (drawn, error) {
			found, err := m.Measure(keyed(all[i]))
			out := left(1, found.Kept, gaussianReach)
			out.loss = found.Loss
			return out, err
		}},
		certify: func(e privacy.Epsilon) (lower, upper float64, err error) {
			row, noise, _, err := row()
			if err != nil {
				return 0, 1, err
			}
			for n := range int64(len(names) - 1) {
				for _, pair := range [][2]int64{{n, n + 1}, {n + 1, n}} {
					low, high := unlisted(e, excess(e, row(pair[0]), row(pair[1])), noise.beyond)
					lower, upper = max(lower, low), max(upper, high)
				}
			}
			return lower, upper, nil
		},
		near: func() (*Law, error) {
			row, _, at, err := row()
			if err != nil {
				return nil, err
			}
			var outputs []string
			for y := at + 1; y <= gaussianReach; y++ {
				outputs = append(outputs, fmt.Sprint("kept ", y))
			}
			return roundedLaw(names, nil, append(outputs, dropped),
				func(i int) []exact.Interval { return row(int64(i))[1:] })
		},
	})
}
