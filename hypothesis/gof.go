package hypothesis

import (
	"math"

	"dither/noise"
)

// GoodnessOfFit tests the hypothesis that noisy counts of categories are counts of people drawn with given
// probabilities p. The counts are H̃ = H + noise of variance s², where H is multinomial with n people and
// probabilities p, and d is the number of categories.
//
// If n is known, the projected statistic is that of Rogers & Kifer [2017, Theorem 4.6]. Let v = √n(H̃/n − p). Its
// covariance is Σ = Diag(p) − ppᵀ + (s²/n)I. The vector 1 is an eigenvector of Σ, and its direction contains only
// noise. Π = I − 11ᵀ/d projects to the other directions. There the quadratic form vᵀΠΣ⁻¹Πv is χ² with d − 1 degrees
// of freedom in the limit.
//
// If n is not known, for example because neighbours differ by one person, it is a parameter. The statistic is
//
//	min over m of Σ (H̃ᵢ − m·pᵢ)²/(n̂pᵢ + s²), n̂ = ΣH̃ᵢ.
//
// This is the minimum over m of (H̃ − mp)ᵀ(n(Diag(p) − ppᵀ) + s²I)⁻¹(H̃ − mp), with n̂ for n. The reason is that a
// multiple of ppᵀ in the covariance adds variance along p only, and m absorbs that direction. So in the limit the
// statistic is again χ² with d − 1 degrees of freedom. An error of n̂ shifts weight between sampling and noise. If
// the noise is so large that n̂ is inaccurate, the noise dominates the terms n̂pᵢ + s², so the error matters
// little.
//
// If the noise is not Gaussian, or if an expected count is below 100, the statistic is the same, but its null
// distribution is simulated: multinomial counts with p and n (or n̂), and noise from its exact distribution. If n
// is known, such a test is valid for every n.
type GoodnessOfFit struct {
	Counts []float64          // may be negative
	Noise  noise.Distribution // of each count, independently; nil means no noise
	Null   []float64          // the probabilities p: all above 0, with sum 1; nil means all equal
	N      float64            // the number of people, if it is public; otherwise 0
	How
}

// Test runs the test. It does not reject, and warns, if the noisy total is at most 0. The same holds if an expected
// count is below 5, unless N is given and Simulate is set.
func (g GoodnessOfFit) Test() (*Test, error) {
	how, err := g.check()
	if err != nil {
		return nil, err
	}
	if len(g.Counts) < 2 || len(g.Counts) > MaxCells {
		return nil, wrong("goodness of fit needs 2 to %d counts, not %d", MaxCells, len(g.Counts))
	}
	if err := checkNumbers("counts", g.Counts...); err != nil {
		return nil, err
	}
	if err := checkTotal("n", g.N); err != nil {
		return nil, err
	}
	p, err := distribution(g.Null, len(g.Counts))
	if err != nil {
		return nil, err
	}
	f := fit{p: p, s2: variance(g.Noise), n: g.N, how: how}
	out := &Test{
		Name: "goodness of fit", Method: how.Method, Alternative: "any", DF: len(p) - 1, Null: "χ²",
		N: f.total(g.Counts), Known: g.N > 0, P: 1, Estimate: math.NaN(),
	}
	if how.Method == Unprojected {
		if g.N == 0 {
			return nil, wrong("the unprojected statistic needs n")
		}
		if g.Noise == nil {
			return nil, wrong("the unprojected statistic needs noise")
		}
		out.DF++
	}
	least := p[0]
	for _, q := range p {
		least = min(least, q)
	}
	if few := out.N * least; few < fewExpected {
		exact := how.Simulate && g.N > 0 // if n is known, simulation is valid for all expected counts
		if !exact {
			out.tooFew(few)
			if how.Method != Naive && g.N > 0 {
				out.warn("with simulation, the test is valid for smaller counts too")
			}
			return out, nil
		}
		out.warn("the smallest expected count is %s: the null distribution is simulated", short(few))
	}
	out.Statistic = f.statistic(g.Counts)
	out.P = chiSquaredTail(out.Statistic, out.DF)
	if how.simulated(g.Noise, out.N*least) {
		out.simulated(how.Simulations)
		s, l, x := newStream(how.Seed), newLaw(g.Noise), make([]float64, len(p))
		out.P = simulate(how.Simulations, out.Statistic, func() float64 {
			draw(s, l, x, int64(math.Round(out.N)), p)
			return f.statistic(x)
		})
	}
	out.finish()
	return out, nil
}

// draw fills the slice out with simulated noisy counts of n people with probabilities p.
func draw(s *stream, l *law, out []float64, n int64, p []float64) {
	s.multinomial(out, n, p)
	for i := range out {
		out[i] += l.draw(s)
	}
}

// distribution checks a hypothesis of d probabilities and returns it. If p is nil, all probabilities are equal.
func distribution(p []float64, d int) ([]float64, error) {
	if p == nil {
		p = make([]float64, d)
		for i := range p {
			p[i] = 1 / float64(d)
		}
		return p, nil
	}
	if len(p) != d {
		return nil, wrong("there are %d probabilities for %d counts", len(p), d)
	}
	sum := 0.0
	for _, q := range p {
		if !(q > 0 && q <= 1) {
			return nil, wrong("each probability must be above 0 and at most 1")
		}
		sum += q
	}
	if math.Abs(sum-1) > 1e-9 {
		return nil, wrong("the probabilities sum to %s, not 1", short(sum))
	}
	return p, nil
}

// fit is a goodness-of-fit test without its counts.
type fit struct {
	p   []float64
	s2  float64 // variance of the noise
	n   float64 // the number of people; 0 if it is not known
	how How
}

// total returns the number of people: the known one, or the sum of the noisy counts, but at least 0.
func (f fit) total(x []float64) float64 {
	if f.n > 0 {
		return f.n
	}
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return math.Max(0, sum)
}

// statistic returns the test statistic of noisy counts. It returns 0 if the total is 0.
func (f fit) statistic(x []float64) float64 {
	n := f.total(x)
	if !(n > 0) {
		return 0
	}
	t := 0.0
	switch {
	case f.how.Method == Naive || f.how.Method == Corrected:
		for i, p := range f.p {
			t += (x[i] - n*p) * (x[i] - n*p) / (n * p)
		}
	case f.n == 0:
		above, below := 0.0, 0.0
		for i, p := range f.p {
			above, below = above+x[i]*p/(n*p+f.s2), below+p*p/(n*p+f.s2)
		}
		m := above / below
		for i, p := range f.p {
			t += (x[i] - m*p) * (x[i] - m*p) / (n*p + f.s2)
		}
	default:
		y := make([]float64, len(x))
		for i, p := range f.p {
			y[i] = x[i] - n*p
		}
		z := multinomialForm{n, f.p, f.s2}.project(y)
		for i := range y {
			t += y[i] * z[i]
		}
		if f.how.Method == Unprojected { // add the direction of the vector 1, which has variance s²
			sum := 0.0
			for _, v := range y {
				sum += v
			}
			t += sum * sum / (f.s2 * float64(len(y)))
		}
	}
	return max(0, t)
}

// multinomialForm is the covariance C = n(Diag(p) − ppᵀ) + s²I of multinomial counts with noise.
type multinomialForm struct {
	n  float64
	p  []float64
	s2 float64
}

// project returns ΠC⁻¹Πy. With D = Diag(np + s²), C⁻¹ = D⁻¹ + nD⁻¹ppᵀD⁻¹/(1 − npᵀD⁻¹p). For a vector y with sum 0,
// C⁻¹y is
//
//	D⁻¹(y − p·Σ(yᵢ/Dᵢ)/Σ(pᵢ/Dᵢ)),
//
// because 1 − npᵀD⁻¹p = s²Σpᵢ/Dᵢ and npᵀD⁻¹y = −s²Σyᵢ/Dᵢ. So s² cancels, and may be 0.
func (f multinomialForm) project(y []float64) []float64 {
	d, mean := float64(len(y)), 0.0
	for _, v := range y {
		mean += v / d
	}
	a, b := 0.0, 0.0
	for i, v := range y {
		w := f.n*f.p[i] + f.s2
		a, b = a+(v-mean)/w, b+f.p[i]/w
	}
	z, middle := make([]float64, len(y)), 0.0
	for i, v := range y {
		z[i] = (v - mean - f.p[i]*a/b) / (f.n*f.p[i] + f.s2)
		middle += z[i] / d
	}
	for i := range z {
		z[i] -= middle
	}
	return z
}
