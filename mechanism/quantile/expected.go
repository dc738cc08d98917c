package quantile

import (
	"math"
	"math/big"
)

// The functions below state about how far the outputs will be from the quantiles, in rows. They compute from public
// parameters, and assume values that are spread evenly around each quantile, far from the ends of the domain. They are
// for choosing a method, so floats suffice.

// Expected returns about the mean rank error of the outputs.
func (m Independent) Expected() float64 {
	target, err := m.check()
	if err != nil {
		return math.NaN()
	}
	sum := 0.0
	st := m.stage(target)
	for _, rate := range st.rates {
		sum += meanOffset(rate)
	}
	return sum / float64(len(st.rates))
}

// meanOffset returns the mean distance of a draw with probability ∝ exp(−rate·d) from a middle value, in rows. With
// equal gaps between the values, d is j + ½ in gap j to one side, if the sought rank is that of a value, and j if it is
// that of a gap. The result is the mean of both cases. It is 1/rate if rate is small.
func meanOffset(rate *big.Rat) float64 {
	c, _ := rate.Float64()
	return offsetOf(c)
}

func offsetOf(c float64) float64 {
	if c > 1e3 {
		return 3. / 8
	}
	x := math.Exp(-c)
	each := x / -math.Expm1(-c)            // Σ_{j≥1} exp(−cj)
	far := each / -math.Expm1(-c)          // Σ_{j≥1} j·exp(−cj)
	ofGap := (0.25 + 2*far) / (1 + 2*each) // the middle of the gap is off by ¼ on average
	return (0.5 + 1/math.Expm1(c) + ofGap) / 2
}

// Expected returns about the mean rank error of the outputs: that of Laplace variables with the variances of
// cutOrder.
func (m Approximate) Expected() float64 {
	target, err := m.check()
	if err != nil {
		return math.NaN()
	}
	rows := new(big.Rat).Quo(big.NewRat(steps(m.Unit), 1), m.Epsilon.Rat())
	if len(m.Ranks) == 1 {
		return meanOffset(rateOf(m.Epsilon, delta(m.Unit, m.root(target))))
	}
	o := newCutOrder(target, m.Squares)
	k := len(target.at)
	squares := o.choose(1, k, levelsOf(k)).sum / float64(k)
	scale, _ := rows.Float64()
	of := float64(m.order(target).of) / cutParts
	return offsetOf(1 / (math.Sqrt(squares/2) * scale * of))
}

// Expected returns about the mean rank error of the outputs. The numbers of rows between them are off like Laplace
// variables of scale 2Δ/ε whose sum is 0, so the outputs are off like a bridge. However small the noise is, a sought
// rank lies between the rows, and an output somewhere between their values: about a quarter of a row, which adds in
// squares.
func (m Joint) Expected() float64 {
	target, err := targetsOf(m.Ranks)
	if err != nil || m.Epsilon.IsZero() || len(target.at) == 0 {
		return math.NaN()
	}
	least, last := target.den, int64(0)
	for _, at := range append(target.at, target.den) {
		least, last = min(least, at-last), at
	}
	e, _ := m.Epsilon.Rat().Float64()
	step := 4 * float64(steps(m.Unit)) * (1 - float64(least)/float64(target.den)) / e
	sum, k := 0.0, len(target.at)
	for i := range k {
		sum += 2 * step * step * float64((i+1)*(k-i)) / float64(k+1)
	}
	return math.Hypot(0.65*math.Sqrt(sum/float64(k)), 1./4) // 0.65 fits simulations: the variables are not normal
}

// Expected returns about the mean rank error of the values.
func (m Ladder) Expected() float64 { return m.values().Expected() }

// ExpectedHalfWidth returns about the mean half-width of the intervals, in rows.
func (m Ladder) ExpectedHalfWidth() float64 {
	widths, err := m.widths()
	if err != nil {
		return math.NaN()
	}
	sum, off := 0.0, m.Expected()
	for _, w := range widths {
		sum += w.expected(off)
	}
	return sum / float64(len(widths))
}

// ExpectedHalfWidth returns about the mean half-width of the interval of position i in a cell, in rows. It is NaN for
// parameters that Release refuses, and if the position has no interval.
func (m Cells) ExpectedHalfWidth(i int) float64 {
	if m.check() != nil || m.Sought[i].Width.IsZero() {
		return math.NaN()
	}
	widths, _ := m.widths()
	s := m.Sought[i]
	return widths[i].expected(meanOffset(rateOf(s.Epsilon, m.Sensitivity(s.Rank))))
}

// expected returns about the mean half-width of the interval around a value that is off by the given number of rows.
// Rungs have the ratio 5/4, and are measured in rows.
func (h halfWidths) expected(off float64) float64 {
	rate, _ := new(big.Rat).Mul(h.rate, new(big.Rat).SetInt64(h.den*h.finer)).Float64()
	margin := float64(h.margin) / float64(h.den*h.finer)
	total, sum := 0.0, 0.0
	before := math.Inf(-1)
	for k := range 200 {
		w := (off + margin + 1) * math.Pow(1.25, float64(k-150))
		slack := w - off - 0.5
		p := math.Pow(2, float64(k-150)) * math.Exp(-rate*max(0, margin-slack, before-margin))
		total, sum, before = total+p, sum+p*w, slack
	}
	return sum / total
}

// Expected returns about the mean error for an even spread of the given number of rows over the domain, in units of
// the distance between neighbouring rows. The noise is a Cauchy variable whose scale is that of S̃, clamped to the
// domain. Most of the mean is of rare values far away, so the means of a few hundred simulations are mostly below it:
// [Smooth.ExpectedMedian] is what half of the releases are off by at most.
func (m Smooth) Expected(rows int64) float64 {
	scale, half := m.expectedScale(), float64(rows)/2
	if math.IsNaN(scale) || rows < 1 {
		return math.NaN()
	}
	return scale/math.Pi*math.Log1p(half/scale*half/scale) + half*(1-2/math.Pi*math.Atan(half/scale))
}

// ExpectedMedian returns about the median of the error whose mean is [Smooth.Expected]: the scale of the Cauchy variable.
func (m Smooth) ExpectedMedian(rows int64) float64 {
	if rows < 1 {
		return math.NaN()
	}
	return min(m.expectedScale(), float64(rows)/2)
}

// expectedScale returns the scale of the noise, in units of the distance between neighbouring rows of an even spread.
func (m Smooth) expectedScale() float64 {
	if checkRelease(m.Domain, m.Unit, m.Epsilon) != nil {
		return math.NaN()
	}
	p := m.parameters()
	beta, _ := p.beta.Float64()
	alpha, _ := p.alpha.Float64()
	k := max(0, 1/beta-1) // the maximum of (k + 1)·exp(−βk)
	return (k + 1) / 2 * math.Exp(-beta*k) / alpha
}
