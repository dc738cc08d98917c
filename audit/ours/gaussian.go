package ours

import (
	"math/big"

	"dither/audit"
	"dither/internal/exact"
	"dither/mechanism"
	"dither/privacy"
)

// The masses of Gaussian noise are no finite sums of exponentials: their laws are certified sums, in intervals of so many
// binary digits, over integers up to so many from 0. What is beyond is bounded, and counted against the claim.
const (
	gaussianBits  = 128
	gaussianReach = 40
)

func gaussians() []Subject {
	return []Subject{gaussian(), analyticGaussian(), countingFactorization()}
}

// masses are the probabilities of the integers −gaussianReach … gaussianReach, and of all others together.
type masses struct {
	at     []exact.Interval
	beyond exact.Interval
}

// mass is that of z; 0 beyond the reach, where beyond has it.
func (m masses) mass(z int64) exact.Interval {
	if z < -gaussianReach || z > gaussianReach {
		return exact.IntervalOf(new(big.Rat), gaussianBits)
	}
	return m.at[z+gaussianReach]
}

func whole(n int64) exact.Interval { return exact.IntervalOf(big.NewRat(n, 1), gaussianBits) }

// discreteGaussian is P(z) ∝ exp(−z²/(2σ²)) [Canonne, Kamath & Steinke 2020, Definition 1]. Beyond r = gaussianReach, with q =
// exp(−r/σ²), exp(−(r + j)²/(2σ²)) ≤ exp(−r²/(2σ²))·qʲ, so that both tails are at most 2·exp(−r²/(2σ²))·q/(1 − q).
func discreteGaussian(sigma2 *big.Rat) masses {
	term := func(z int64) exact.Interval {
		x := new(big.Rat).Quo(big.NewRat(-z*z, 2), sigma2)
		return exact.IntervalOf(x, gaussianBits).Exp()
	}
	q := exact.IntervalOf(new(big.Rat).Quo(big.NewRat(-gaussianReach, 1), sigma2), gaussianBits).Exp()
	tails := exact.Hull(whole(0), whole(2).Mul(term(gaussianReach)).Mul(q).Quo(whole(1).Sub(q)))
	total := tails
	var m masses
	for z := int64(-gaussianReach); z <= gaussianReach; z++ {
		m.at = append(m.at, term(z))
		total = total.Add(term(z))
	}
	for i := range m.at {
		m.at[i] = m.at[i].Quo(total)
	}
	m.beyond = tails.Quo(total)
	return m
}

// roundedGaussian is the mass of round(σN): Φ((z + ½)/σ) − Φ((z − ½)/σ), N standard normal.
func roundedGaussian(sigma2 *big.Rat) masses {
	sigma := exact.IntervalOf(sigma2, gaussianBits).Sqrt()
	tail := func(twice int64) exact.Interval { // P(σN > twice/2), twice > 0
		return exact.IntervalOf(big.NewRat(twice, 2), gaussianBits).Quo(sigma).NormalTail()
	}
	var m masses
	for z := int64(-gaussianReach); z <= gaussianReach; z++ {
		k := max(z, -z)
		if k == 0 {
			m.at = append(m.at, whole(1).Sub(whole(2).Mul(tail(1))))
		} else {
			m.at = append(m.at, tail(2*k-1).Sub(tail(2*k+1)))
		}
	}
	m.beyond = whole(2).Mul(tail(2*gaussianReach + 1))
	return m
}

// excess bounds Σ max(0, p − e^ε·q), the least δ at ε of one output distribution beside another, of the outputs that are listed.
func excess(e privacy.Epsilon, p, q []exact.Interval) exact.Interval {
	grown := exact.IntervalOf(e.Rat(), gaussianBits).Exp()
	zero, total := whole(0), whole(0)
	for i := range p {
		d := p[i].Sub(grown.Mul(q[i]))
		switch {
		case d.Lo().Sign() >= 0:
			total = total.Add(d)
		case d.Hi().Sign() > 0:
			total = total.Add(exact.Hull(zero, exact.PointOf(d.Hi(), gaussianBits)))
		}
	}
	return total
}

// unlisted adds to an excess over listed outputs what the others may count for: all of their probability beyond the reach, or, where
// q's was taken for 0, less by e^ε times as much.
func (m masses) unlisted(e privacy.Epsilon, listed exact.Interval) (lower, upper float64) {
	less := exact.IntervalOf(e.Rat(), gaussianBits).Exp().Mul(m.beyond)
	lower, _ = listed.Sub(less).Floats()
	_, upper = listed.Add(m.beyond).Floats()
	return max(0, lower), upper
}

// shifted is the least δ at ε of noise on integers that are up to most apart.
func (m masses) shifted(e privacy.Epsilon, most int64) (lower, upper float64) {
	for by := int64(1); by <= most; by++ {
		var p, q []exact.Interval
		for y := int64(-gaussianReach); y <= gaussianReach; y++ {
			p, q = append(p, m.mass(y)), append(q, m.mass(y-by))
		}
		low, high := m.unlisted(e, excess(e, p, q))
		lower, upper = max(lower, low), max(upper, high)
	}
	return lower, upper
}

// atDelta is what a zCDP loss promises at a δ.
func atDelta(l privacy.Loss, d privacy.Delta) (audit.Claim, error) {
	e, err := l.EpsilonAt(d)
	return audit.Claim{Epsilon: e, Delta: d}, err
}

// gaussianDelta is the δ at which losses of zCDP are converted here: one that runs can come near to.
func gaussianDelta() privacy.Delta { return deltaOf(1, 1000) }

func rhoOf(den int64) privacy.Rho {
	r, _ := privacy.RhoOf(big.NewRat(1, den))
	return r
}

func gaussian() Subject {
	m := mechanism.Gaussian{L2Squared: big.NewInt(4), Rho: rhoOf(2)}
	all, names := vectors(1, 0, 2)
	claim, err := atDelta(privacy.ZCDPLoss(m.Rho, privacy.Delta{}), gaussianDelta())
	s := subject(Subject{
		Name: "gaussian", About: "discrete Gaussian noise on one number that one person moves by 2, ρ = ½, read at δ = 1/1000",
		Source: "Canonne, Kamath & Steinke 2020",
		Claim:  claim,
		domain: domain{inputs: names, pair: [2]int{0, 2}, draw: func(i int) (drawn, error) {
			out, err := m.Measure(exactly(all[i]...))
			return plain(out.Loss, integers(out.Values)...), err
		}},
		certify: func(e privacy.Epsilon) (lower, upper float64, err error) {
			sigma2, err := m.Sigma2()
			if err != nil {
				return 0, 1, err
			}
			lower, upper = discreteGaussian(sigma2).shifted(e, 2)
			return lower, upper, nil
		},
	})
	return s.orError(err)
}

func analyticGaussian() Subject {
	m, err := mechanism.NewAnalyticGaussian(big.NewInt(4), epsilonOf(1, 1), deltaOf(1, 100))
	e, d := m.Guarantee()
	all, names := vectors(1, 0, 2)
	s := subject(Subject{
		Name: "analytic-gaussian", About: "rounded Gaussian noise on one number that one person moves by 2",
		Source: "Balle & Wang 2018",
		Claim:  audit.Claim{Epsilon: e, Delta: d},
		domain: domain{inputs: names, pair: [2]int{0, 2}, draw: func(i int) (drawn, error) {
			out, err := m.Measure(exactly(all[i]...))
			return plain(out.Loss, integers(out.Values)...), err
		}},
		certify: func(e privacy.Epsilon) (lower, upper float64, err error) {
			dist, err := m.Noise()
			if err != nil {
				return 0, 1, err
			}
			lower, upper = roundedGaussian(dist.Sigma2()).shifted(e, 2)
			return lower, upper, nil
		},
	})
	return s.orError(err)
}

// countingFactorization has no law here: its noise is the rounding of a combination of integers of some 2³⁰. What it releases is
// computed from R̃x + z alone, of which package mechanism tests that, and that the squared sensitivity is that of R̃'s columns.
func countingFactorization() Subject {
	m := mechanism.CountingFactorization{Steps: 3, Sensitivity: big.NewInt(1), Rho: rhoOf(2)}
	all, names := vectors(3, 0, 1)
	claim, err := atDelta(privacy.ZCDPLoss(m.Rho, privacy.Delta{}), gaussianDelta())
	s := subject(Subject{
		Name: "counting-factorization", About: "running sums of three steps by the square root of prefix sums, ρ = ½, read at δ = 1/1000",
		Source: "Fichtenberger, Henzinger & Upadhyay 2023",
		Claim:  claim,
		domain: domain{inputs: names, pair: [2]int{0, 4}, draw: func(i int) (drawn, error) {
			counter, err := m.Begin()
			if err != nil {
				return drawn{}, err
			}
			var sums []*big.Int
			for _, x := range exactly(all[i]...) {
				s, err := counter.Next(x)
				if err != nil {
					return drawn{}, err
				}
				sums = append(sums, s)
			}
			return plain(counter.Loss(), integers(sums)...), nil
		}},
	})
	return s.orError(err)
}

// orError is s, or s with an error of its making.
func (s Subject) orError(err error) Subject {
	if s.err == nil {
		s.err = err
	}
	return s
}

func thresholdGaussian() Subject {
	m := mechanism.ThresholdGaussian{
		Gaussian:  mechanism.Gaussian{L2Squared: big.NewInt(1), Rho: rhoOf(2)},
		Threshold: mechanism.Threshold{MaxPerCell: big.NewInt(1), Keys: 1, Delta: deltaOf(1, 100)},
	}
	claim, err := atDelta(privacy.ZCDPLoss(m.Rho, m.Delta), deltaOf(2, 100))
	names := numbersOf(8)
	s := subject(Subject{
		Name: "threshold-gaussian", About: "a partition's number of units with discrete Gaussian noise, if above a threshold, of 0 to 8 units, ρ = ½ and δ = 1/100, read at δ = 1/50",
		Source: "Bun & Steinke 2016; Korolova, Kenthapadi, Mishra & Ntoulas 2009",
		Claim:  claim,
		domain: domain{inputs: names, pair: [2]int{0, 1}, draw: func(i int) (drawn, error) {
			out, err := m.Measure(key(int64(i)))
			return keptAs(out.Kept, gaussianReach), err
		}},
		certify: func(e privacy.Epsilon) (lower, upper float64, err error) {
			sigma2, err := m.Sigma2()
			if err != nil {
				return 0, 1, err
			}
			at, err := m.At()
			if err != nil {
				return 0, 1, err
			}
			noise := discreteGaussian(sigma2)
			row := func(n int64) []exact.Interval { // dropped, and then each number that may be kept
				kept, all := whole(0), []exact.Interval{{}}
				for y := at.Int64() + 1; y <= gaussianReach; y++ {
					p := whole(0)
					if n > 0 {
						p = noise.mass(y - n)
					}
					kept, all = kept.Add(p), append(all, p)
				}
				all[0] = whole(1).Sub(kept)
				return all
			}
			for n := range int64(len(names) - 1) {
				for _, pair := range [][2]int64{{n, n + 1}, {n + 1, n}} {
					low, high := noise.unlisted(e, excess(e, row(pair[0]), row(pair[1])))
					lower, upper = max(lower, low), max(upper, high)
				}
			}
			return lower, upper, nil
		},
	})
	return s.orError(err)
}
