package hypothesis

import (
	"math"
)

// Design describes a planned test of counts. n people are drawn with probabilities Truth, and the hypothesis is
// Null. If Rows is set, the test is that of independence in a table with that many rows, and Null is not used.
type Design struct {
	Null, Truth []float64 // one entry for each cell; a nil Null means all equal
	Rows        int       // 0 means goodness of fit
	Alpha       float64   // 0 means 0.05
	Known       bool      // whether n is public
}

// Power returns the probability that the projected test rejects, for n people and noise of the given variance. It
// is the limit for large n, from the noncentral χ² distribution [Rogers & Kifer 2017, Theorem 4.8]. It is 0 if the
// hypothesis expects a count below 5, because the test then rejects nothing.
func (d Design) Power(n float64, noiseVariance float64) (float64, error) {
	if d.Alpha == 0 {
		d.Alpha = 0.05
	}
	if !(d.Alpha > 0 && d.Alpha < 1) {
		return 0, wrong("the level must be between 0 and 1")
	}
	if !(n > 0 && n <= MaxCount) || !(noiseVariance >= 0) || math.IsInf(noiseVariance, 1) {
		return 0, wrong("the number of people must be above 0 and finite, and the noise finite")
	}
	if len(d.Truth) < 2 || len(d.Truth) > MaxCells {
		return 0, wrong("a design must have 2 to %d cells", MaxCells)
	}
	q, err := distribution(d.Truth, len(d.Truth))
	if err != nil {
		return 0, err
	}
	x := make([]float64, len(q))
	for i, p := range q {
		x[i] = n * p
	}
	if d.Rows > 0 {
		return d.tablePower(x, n, noiseVariance)
	}
	p, err := distribution(d.Null, len(q))
	if err != nil {
		return 0, err
	}
	for _, v := range p {
		if n*v < fewExpected {
			return 0, nil
		}
	}
	f := fit{p: p, s2: noiseVariance, how: How{Method: Projected}}
	if d.Known {
		f.n = n
	}
	t := f.statistic(x)
	return noncentralTail(chiSquaredQuantile(d.Alpha, len(p)-1), len(p)-1, t), nil
}

// tablePower returns the power of the test of independence. It is computed from a noncentral χ² distribution, whose
// noncentrality is the test statistic of the expected counts x.
func (d Design) tablePower(x []float64, n, noiseVariance float64) (float64, error) {
	if d.Rows < 2 || len(x)%d.Rows != 0 || len(x)/d.Rows < 2 {
		return 0, wrong("%d cells do not form a table of %d rows", len(x), d.Rows)
	}
	m := model{rows: d.Rows, columns: len(x) / d.Rows, s2: noiseVariance, method: Projected}
	if d.Known {
		m.n = n
	}
	t, ok := m.statistic(x)
	if !ok || m.drowned(m.estimate(x)) {
		return 0, nil
	}
	df := (m.rows - 1) * (m.columns - 1)
	return noncentralTail(chiSquaredQuantile(d.Alpha, df), df, t), nil
}

// People returns the smallest n with at least the given power. The bool is false if n would exceed MaxCount.
func (d Design) People(power, noiseVariance float64) (float64, bool, error) {
	return Least(power, MaxCount, func(n float64) (float64, error) { return d.Power(n, noiseVariance) })
}

// Least returns the smallest integer n, from 1 to about most, with of(n) ≥ enough. The values of(n) must increase
// with n. Least searches by doubling and halving. The bool is false if there is no such n. Least returns ErrInput
// if enough is not between 0 and 1, or the error that of(n) returns.
func Least(enough, most float64, of func(n float64) (float64, error)) (float64, bool, error) {
	if !(enough > 0 && enough < 1) {
		return 0, false, wrong("the power must be between 0 and 1")
	}
	low, high := 0.0, 1.0
	for {
		v, err := of(high)
		if err != nil {
			return 0, false, err
		}
		if v >= enough {
			break
		}
		low, high = high, 2*high
		if high > most {
			return 0, false, nil
		}
	}
	for high-low > 1 {
		middle := math.Floor((low + high) / 2)
		v, err := of(middle)
		if err != nil {
			return 0, false, err
		}
		if v >= enough {
			high = middle
		} else {
			low = middle
		}
	}
	return high, true, nil
}

// Noise returns the largest standard deviation of noise with which the test has at least the given power for n
// people. ok is false if the power is too small even without noise.
func (d Design) Noise(power, n float64) (sd float64, ok bool, err error) {
	if !(power > 0 && power < 1) {
		return 0, false, wrong("the power must be between 0 and 1")
	}
	p, err := d.Power(n, 0)
	if err != nil || p < power {
		return 0, false, err
	}
	low, high := 0.0, math.Max(1, 10*n)
	for range 100 {
		middle := (low + high) / 2
		if p, err = d.Power(n, middle*middle); err != nil {
			return 0, false, err
		}
		if p >= power {
			low = middle
		} else {
			high = middle
		}
	}
	return low, true, nil
}

// NullPValues simulates p-values of goodness of fit under the hypothesis, for n people and the noise of g, for a QQ
// plot. It does so for each of the given methods, on the same simulated samples.
func (g GoodnessOfFit) NullPValues(n int, times int, methods []Method) (map[Method][]float64, error) {
	p, err := distribution(g.Null, len(g.Counts))
	if err != nil {
		return nil, err
	}
	if n < 1 || times < 1 || times > MaxSimulations {
		return nil, wrong("simulating p-values needs at least one person and one sample")
	}
	s, l, x, out := newStream(g.Seed+1), newLaw(g.Noise), make([]float64, len(p)), map[Method][]float64{}
	for range times {
		draw(s, l, x, int64(n), p)
		for _, m := range methods {
			g := g
			g.Counts, g.Method, g.Seed = x, m, s.words.Word()
			t, err := g.Test()
			if err != nil {
				return nil, err
			}
			out[m] = append(out[m], t.P)
		}
	}
	return out, nil
}
