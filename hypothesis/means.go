package hypothesis

import (
	"math"
	"sort"

	"gonum.org/v1/gonum/mathext"

	"dither/noise"
)

// Sample is a release about a sample of numbers that were clamped to [Low, High]. Tests and intervals are about the
// clamped numbers.
type Sample struct {
	Count     Noisy // how many numbers there are; its Noise is nil if the count is public
	Sum       Noisy // sum of the numbers, each minus Centre
	Squares   Noisy // if HasSquares: sum of (number − About)² − SquareCentre, over the numbers
	Low, High float64

	Centre, About, SquareCentre float64
	HasSquares                  bool // if false, the numbers are assumed to vary as much as the bounds allow
}

// Noisy is a released number with the distribution of its noise.
type Noisy struct {
	Value float64
	Noise noise.Distribution // in units of Unit; nil means no noise
	Unit  float64            // the unit of Noise; 0 means 1
}

// error returns the standard deviation of the noise.
func (x Noisy) error() float64 { return unitOr1(x.Unit) * math.Sqrt(variance(x.Noise)) }

// Comparison states a test of one mean, or of the difference of two means, with its interval.
type Comparison struct {
	Null        float64 // the tested value of the mean or the difference
	Alternative string  // "" means two-sided
	Confidence  float64 // of the interval; 0 means 0.95
	Simulations int     // used if noise is not Gaussian; 0 means 99,999
	Seed        uint64
}

// noisy is a noise distribution multiplied by a coefficient.
type noisy struct {
	by float64
	d  noise.Distribution
}

// meanOf is an estimated mean with its errors from sampling and from noise.
type meanOf struct {
	value    float64
	sampling float64 // variance of the sampling error
	df       float64 // degrees of freedom of the estimate of that variance
	noises   []noisy
	bad      bool // the count is too small compared with its noise
}

func unitOr1(x float64) float64 {
	if x == 0 {
		return 1
	}
	return x
}

func (s Sample) check() error {
	if err := checkNumbers("counts and bounds", s.Count.Value, s.Low, s.High); err != nil {
		return err
	}
	if !(s.High-s.Low > 1e-100) {
		return wrong("the bounds are missing, or the lower bound is not below the upper")
	}
	for _, x := range []float64{
		s.Sum.Value, s.Squares.Value, s.Centre, s.About, s.SquareCentre, s.Sum.Unit,
		s.Squares.Unit,
	} {
		if !(math.Abs(x) <= MaxCount*MaxCount) {
			return wrong("sums, centres and units must be numbers of at most %g", float64(MaxCount*MaxCount))
		}
	}
	if s.Sum.Unit < 0 || s.Squares.Unit < 0 || s.Count.Unit != 0 && s.Count.Unit != 1 {
		return wrong("a unit must not be negative, and the unit of a count must be 1")
	}
	if n := s.Count.Value; s.Count.Noise == nil && (n < 2 || n != math.Trunc(n)) {
		return wrong("a public count must be a whole number of at least 2")
	}
	return nil
}

// secure is how many standard deviations of its noise a count must be above 0. Then a quotient with this count is
// close to normal.
const secure = 4

// mean returns Sum/Count with its error. To first order, this error is the error of (Sum − m·Count)/Count, where m
// is the mean minus Centre. Let n be the count, and let s_S and s_N be the standard deviations of the noise of the
// sum and of the count. The variance of the error is σ²/n from sampling, plus (s_S² + m²s_N²)/n² from noise.
//
// The variance σ² of the numbers is estimated from above. One estimate is the noisy squares plus two standard
// deviations of their noise. The other is (High − mean)(mean − Low), which no variance exceeds [Bhatia & Davis
// 2000]. mean uses the smaller one, or the second one if there are no squares.
func (s Sample) mean() meanOf {
	n, unit := s.Count.Value, unitOr1(s.Sum.Unit)
	if n < 2 || n < secure*s.Count.error() {
		return meanOf{bad: true}
	}
	m := min(max(s.Sum.Value/n, s.Low-s.Centre), s.High-s.Centre)
	out := meanOf{
		value: min(max(s.Centre+m, s.Low), s.High), df: n - 1,
		noises: []noisy{{unit / n, s.Sum.Noise}, {m / n, s.Count.Noise}},
	}
	spread := (s.High - out.value) * (out.value - s.Low)
	if err := s.Sum.error() / n; err > 0 { // noise may have moved the mean towards a bound
		inside := min(max(out.value, s.Low+2*err), s.High-2*err)
		if inside < s.Low || inside > s.High || s.High-s.Low < 4*err {
			inside = (s.Low + s.High) / 2
		}
		spread = max(spread, (s.High-inside)*(inside-s.Low))
	}
	if s.HasSquares {
		above, off := s.Squares.Value+2*s.Squares.error(), out.value-s.About
		if by := s.SquareCentre + above/n - off*off; by >= -1e-9*(s.High-s.Low)*(s.High-s.Low) {
			// rounding may make the variance slightly negative; if it is clearly negative, noise dominates the
			// squares, and they are ignored
			spread = min(spread, max(0, by)*n/(n-1))
		}
	}
	out.sampling = max(spread, 1e-12*(s.High-s.Low)*(s.High-s.Low)) / n
	return out
}

// Mean tests one mean. For paired numbers, this is the mean of their differences. The statistic is (mean −
// Null)/error, and everything else is as in [Means].
func Mean(s Sample, c Comparison) (*Test, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	m := s.mean()
	return c.compare("mean", m, s.Low, s.High, math.Max(0, s.Count.Value), s.Count.Noise == nil)
}

// Means tests the difference of two means: the mean of a minus the mean of b. The error comes from sampling and
// from noise. The null distribution of the statistic is Student's with Welch's degrees of freedom, to which
// Gaussian noise contributes infinitely many. It is simulated if the noise is not Gaussian. Both null distributions
// are accurate in the limit of large samples. If a count is not well above its noise, Means rejects nothing, and
// the interval contains all possible values.
func Means(a, b Sample, c Comparison) (*Test, error) {
	if err := a.check(); err != nil {
		return nil, err
	}
	if err := b.check(); err != nil {
		return nil, err
	}
	x, y := a.mean(), b.mean()
	d := meanOf{value: x.value - y.value, sampling: x.sampling + y.sampling, bad: x.bad || y.bad, noises: x.noises}
	for _, n := range y.noises {
		d.noises = append(d.noises, noisy{-n.by, n.d})
	}
	if !d.bad { // degrees of freedom by Welch and Satterthwaite
		p, q := x.sampling/d.sampling, y.sampling/d.sampling
		d.df = 1 / (p*p/x.df + q*q/y.df)
	}
	return c.compare("difference of means", d, a.Low-b.High, a.High-b.Low,
		math.Max(0, a.Count.Value)+math.Max(0, b.Count.Value), a.Count.Noise == nil && b.Count.Noise == nil)
}

// error returns the standard error of the mean, and the degrees of freedom of its estimate.
func (m meanOf) error() (se, df float64) {
	v := m.sampling
	for _, n := range m.noises {
		v += n.by * n.by * variance(n.d)
	}
	return math.Sqrt(v), min(1e9, m.df*(v/m.sampling)*(v/m.sampling))
}

func (m meanOf) simulated() bool {
	for _, n := range m.noises {
		if !gaussian(n.d) {
			return true
		}
	}
	return false
}

// errors returns simulated errors of the mean, divided by its standard error, in ascending order.
func (m meanOf) errors(times int, seed uint64) []float64 {
	s, se := newStream(seed), 0.0
	laws := make([]*law, len(m.noises))
	for i, n := range m.noises {
		laws[i] = newLaw(n.d)
	}
	se, _ = m.error()
	spread := math.Sqrt(m.sampling)
	if m.df > 4 { // a normal distribution with the variance of Student's distribution, which it approximates
		spread *= math.Sqrt(m.df / (m.df - 2))
	} else {
		spread *= 3
	}
	out := make([]float64, times)
	for i := range out {
		e := spread * s.normal()
		for j, n := range m.noises {
			e += n.by * laws[j].draw(s)
		}
		out[i] = e / se
	}
	sort.Float64s(out)
	return out
}

// studentTail returns P(T ≥ t) for a variable T with Student's distribution and df degrees of freedom.
func studentTail(t, df float64) float64 {
	if t < 0 {
		return 1 - studentTail(-t, df)
	}
	if df > 1e6 {
		return math.Erfc(t/math.Sqrt2) / 2
	}
	return mathext.RegIncBeta(df/2, 0.5, df/(df+t*t)) / 2
}

// meanSimulations is the default number of simulated errors.
const meanSimulations = 99_999

// tail returns the function t ↦ P(error ≥ t·se) under the hypothesis, where se is the standard error. It uses
// Student's distribution.
func (m meanOf) tail() func(t float64) float64 {
	_, df := m.error()
	return func(t float64) float64 { return studentTail(t, df) }
}

func (c Comparison) compare(name string, m meanOf, low, high, n float64, known bool) (*Test, error) {
	if c.Alternative == "" {
		c.Alternative = TwoSided
	}
	if c.Confidence == 0 {
		c.Confidence = 0.95
	}
	if c.Simulations == 0 {
		c.Simulations = meanSimulations
	}
	if c.Simulations < 99 || c.Simulations > MaxSimulations {
		return nil, wrong("the number of simulations must be 99 to %d, not %d", MaxSimulations, c.Simulations)
	}
	if !(c.Confidence > 0 && c.Confidence < 1) {
		return nil, wrong("the confidence must be between 0 and 1")
	}
	if c.Alternative != TwoSided && c.Alternative != Greater && c.Alternative != Less {
		return nil, wrong("the alternative must be %s, %s or %s, not %q", TwoSided, Greater, Less, c.Alternative)
	}
	if err := checkNumbers("the null hypothesis", c.Null); err != nil {
		return nil, err
	}
	out := &Test{
		Name: name, Method: "Wald with noise", Null: "normal", Alternative: c.Alternative, N: n,
		Known: known, P: 1,
	}
	out.Interval = Interval{low, high, c.Confidence}
	if m.bad {
		out.Null, out.Estimate = "none", math.NaN()
		out.warn("a noisy count is not well above its noise, so the test does not reject")
		return out, nil
	}
	se, _ := m.error()
	out.Estimate, out.Statistic = m.value, (m.value-c.Null)/se
	tail := m.tail()
	if m.simulated() {
		all := m.errors(c.Simulations, c.Seed)
		out.simulated(len(all))
		tail = func(t float64) float64 {
			return float64(len(all)-sort.SearchFloat64s(all, t)+1) / float64(len(all)+1)
		}
	}
	beyond, within := 1-c.Confidence, func(x float64) float64 { return min(max(x, low), high) }
	switch c.Alternative {
	case Greater:
		out.P = tail(out.Statistic)
		out.Interval.Low = within(m.value - se*inverse(tail, beyond))
	case Less:
		out.P = tail(-out.Statistic) // the errors are symmetric
		out.Interval.High = within(m.value + se*inverse(tail, beyond))
	default:
		out.P = 2 * tail(math.Abs(out.Statistic))
		out.Least *= 2
		q := se * inverse(tail, beyond/2)
		out.Interval.Low, out.Interval.High = within(m.value-q), within(m.value+q)
	}
	out.finish()
	return out, nil
}

// inverse returns the smallest t with tail(t) ≤ p.
func inverse(tail func(t float64) float64, p float64) float64 {
	low, high := -1e3, 1e3
	for range 60 {
		middle := (low + high) / 2
		if tail(middle) <= p {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}

// Difference tests whether the share of the first column is equal in both rows of a table with two rows and two
// columns. It estimates the share in the first row minus the share in the second. The sampling error is computed as
// if each row had one more success and one more failure [Agresti & Caffo 2000]. The error from noise is added.
func (t Table) Difference(confidence float64) (*Test, error) {
	if _, err := t.flat(true); err != nil {
		return nil, err
	}
	if len(t.Counts) != 2 || len(t.Counts[0]) != 2 {
		return nil, wrong("the difference of two shares needs a table with two rows and two columns")
	}
	var shares [2]meanOf
	total := 0.0
	for i, row := range t.Counts {
		a, n := row[0], row[0]+row[1]
		if t.Sizes != nil {
			a, n = (row[0]-row[1]+t.Sizes[i])/2, t.Sizes[i]
		}
		total += math.Max(0, n)
		if n < 2 || t.Sizes == nil && n < secure*math.Sqrt(2*variance(t.Noise)) {
			shares[i].bad = true
			continue
		}
		p := min(1, max(0, a/n))
		near := (p*n + 1) / (n + 2)
		if err := math.Sqrt(variance(t.Noise)) / n; math.Abs(p-0.5) > 0.5-err {
			// noise may have moved the share towards 0 or 1
			near = min(max(near, err), 1-err)
			if err > 0.5 {
				near = 0.5
			}
		}
		m := meanOf{
			value: near, sampling: near * (1 - near) / (n + 2), df: 1e9,
			noises: []noisy{{(1 - p) / n, t.Noise}, {p / n, t.Noise}},
		}
		if t.Sizes != nil {
			m.noises = []noisy{{0.5 / n, t.Noise}, {0.5 / n, t.Noise}}
		}
		shares[i] = m
	}
	d := meanOf{
		value: shares[0].value - shares[1].value, sampling: shares[0].sampling + shares[1].sampling, df: 1e9,
		bad: shares[0].bad || shares[1].bad, noises: append(shares[0].noises, shares[1].noises...),
	}
	return Comparison{
		Confidence: confidence, Seed: t.Seed,
		Simulations: t.Simulations,
	}.compare("difference of proportions", d, -1, 1, total, t.Sizes != nil)
}
