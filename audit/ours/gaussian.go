package ours

import (
	"fmt"
	"math/big"

	"dither/internal/exact"
	"dither/privacy"
)

// The masses of Gaussian noise are not finite sums of exponentials. Their laws are certified sums, in intervals of a
// fixed number of binary digits, over integers up to gaussianReach. The rest is bounded, and counted against the claim.
const (
	gaussianBits  = 128
	gaussianReach = 40
)

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

// discreteGaussian is P(z) ∝ exp(−z²/(2σ²)) [Canonne, Kamath & Steinke 2020, Definition 1]. Beyond r =
// gaussianReach, with q = exp(−r/σ²), exp(−(r + j)²/(2σ²)) ≤ exp(−r²/(2σ²))·qʲ, so that both tails
// are at most 2·exp(−r²/(2σ²))·q/(1 − q).
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

// excess bounds Σ max(0, p − e^ε·q) over the listed outputs: the least δ at ε between two output distributions.
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

// unlisted adds to an excess over listed outputs the largest contribution of the others: all of their probability,
// beyond; or, if q's was taken as 0, less by e^ε times as much.
func unlisted(e privacy.Epsilon, listed, beyond exact.Interval) (lower, upper float64) {
	less := exact.IntervalOf(e.Rat(), gaussianBits).Exp().Mul(beyond)
	lower, _ = listed.Sub(less).Floats()
	_, upper = listed.Add(beyond).Floats()
	return max(0, lower), upper
}

// shifted is the least δ at ε of noise on integers that are up to most apart.
func (m masses) shifted(e privacy.Epsilon, most int64) (lower, upper float64) {
	for by := int64(1); by <= most; by++ {
		var p, q []exact.Interval
		for y := int64(-gaussianReach); y <= gaussianReach; y++ {
			p, q = append(p, m.mass(y)), append(q, m.mass(y-by))
		}
		low, high := unlisted(e, excess(e, p, q), m.beyond)
		lower, upper = max(lower, low), max(upper, high)
	}
	return lower, upper
}

// on is the law of one number with this noise, rounded.
func (m masses) on(all [][]int64, names []string) (*Law, error) {
	var outputs []string
	for y := int64(-gaussianReach); y <= gaussianReach; y++ {
		outputs = append(outputs, label(y))
	}
	return roundedLaw(names, nil, append(outputs, other), func(i int) (p []exact.Interval) {
		for y := int64(-gaussianReach); y <= gaussianReach; y++ {
			p = append(p, m.mass(y-all[i][0]))
		}
		return p
	})
}

// gaussianDelta is the δ at which zCDP losses are converted here, chosen so that runs can come near it.
func gaussianDelta() privacy.Delta { return deltaOf(1, 1000) }

func rhoOf(den int64) privacy.Rho {
	r, _ := privacy.RhoOf(big.NewRat(1, den))
	return r
}

// orError is s, or s with an error of its making.
func (s Subject) orError(err error) Subject {
	if s.err == nil {
		s.err = err
	}
	return s
}

// threshold is the least τ for which 1 + Z > τ has a probability of at most δ [Korolova, Kenthapadi, Mishra &
// Ntoulas 2009].
func (m masses) threshold(d privacy.Delta) (int64, error) {
	limit := exact.IntervalOf(d.Rat(), gaussianBits)
	tail := m.beyond.Mul(exact.IntervalOf(big.NewRat(1, 2), gaussianBits))
	for z := int64(gaussianReach); z >= 0; z-- {
		next := tail.Add(m.mass(z)) // P(Z ≥ z), and tail is P(Z > z)
		if next.Lo().Cmp(limit.Hi()) > 0 && tail.Hi().Cmp(limit.Lo()) <= 0 {
			return z + 1, nil
		}
		tail = next
	}
	return 0, fmt.Errorf("no threshold for a delta of %s", d)
}
