package ours

import (
	"fmt"
	"math/big"

	"dither/internal/exact"
	"dither/privacy"
)

// Probabilities of Gaussian noise are not finite sums of exponentials. They are computed in intervals of
// gaussianBits binary digits, for integers up to gaussianReach in absolute value. The probability of all other
// integers is bounded, and the bound is added to the computed δ.
const (
	gaussianBits  = 128
	gaussianReach = 40
)

// masses holds the probabilities of the integers −gaussianReach … gaussianReach, and the total probability of all
// other integers.
type masses struct {
	at     []exact.Interval
	beyond exact.Interval
}

// mass returns the probability of z. It returns 0 for |z| > gaussianReach, whose probability is part of beyond.
func (m masses) mass(z int64) exact.Interval {
	if z < -gaussianReach || z > gaussianReach {
		return exact.IntervalOf(new(big.Rat), gaussianBits)
	}
	return m.at[z+gaussianReach]
}

func whole(n int64) exact.Interval { return exact.IntervalOf(big.NewRat(n, 1), gaussianBits) }

// discreteGaussian returns the distribution P(z) ∝ exp(−z²/(2σ²)) [Canonne, Kamath & Steinke 2020, Definition 1].
// To bound the tails, let r = gaussianReach and q = exp(−r/σ²). Then exp(−(r + j)²/(2σ²)) ≤ exp(−r²/(2σ²))·qʲ, so
// both tails together are at most 2·exp(−r²/(2σ²))·q/(1 − q).
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

// roundedGaussian returns the distribution of round(σN) for a standard normal N: P(z) = Φ((z + ½)/σ) − Φ((z −
// ½)/σ).
func roundedGaussian(sigma2 *big.Rat) masses {
	sigma := exact.IntervalOf(sigma2, gaussianBits).Sqrt()
	tail := func(twice int64) exact.Interval { // P(σN > twice/2), for twice > 0
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

// excess returns an interval that contains Σ max(0, p − e^ε·q) over the listed outputs, where p and q are their
// probabilities under two inputs. Over all outputs, this sum is the smallest δ at ε.
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

// unlisted returns bounds on the smallest δ at ε, given the sum of [excess] over the listed outputs. beyond is the
// probability of the outputs that are not listed. They add at most beyond. If q was taken as 0 for an output whose
// true q is part of beyond, the sum is too large by at most e^ε·beyond.
func unlisted(e privacy.Epsilon, listed, beyond exact.Interval) (lower, upper float64) {
	less := exact.IntervalOf(e.Rat(), gaussianBits).Exp().Mul(beyond)
	lower, _ = listed.Sub(less).Floats()
	_, upper = listed.Add(beyond).Floats()
	return max(0, lower), upper
}

// shifted returns bounds on the smallest δ at ε, for this noise on integers that differ by at most the given
// number.
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

// on returns the law of one number with this noise. Its probabilities are rounded.
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

// gaussianDelta is the δ at which zCDP losses of these subjects are converted to ε. It is large enough for an audit
// of runs to come near the claim.
func gaussianDelta() privacy.Delta { return deltaOf(1, 1000) }

func rhoOf(den int64) privacy.Rho {
	r, _ := privacy.RhoOf(big.NewRat(1, den))
	return r
}

// orError returns s with err set, unless s already has an error.
func (s Subject) orError(err error) Subject {
	if s.err == nil {
		s.err = err
	}
	return s
}

// threshold returns the smallest τ with P(1 + Z > τ) ≤ δ, for this noise Z [Korolova, Kenthapadi, Mishra & Ntoulas
// 2009].
func (m masses) threshold(d privacy.Delta) (int64, error) {
	limit := exact.IntervalOf(d.Rat(), gaussianBits)
	tail := m.beyond.Mul(exact.IntervalOf(big.NewRat(1, 2), gaussianBits))
	for z := int64(gaussianReach); z >= 0; z-- {
		next := tail.Add(m.mass(z)) // next is P(Z ≥ z), and tail is P(Z > z)
		if next.Lo().Cmp(limit.Hi()) > 0 && tail.Hi().Cmp(limit.Lo()) <= 0 {
			return z + 1, nil
		}
		tail = next
	}
	return 0, fmt.Errorf("no threshold for a delta of %s", d)
}
