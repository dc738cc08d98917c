package hypothesis

import (
	"math"
	"math/big"
	"sort"

	"dither/internal/splitmix"
	"dither/noise"
)

// stream is the source of random samples and noise for simulations. The same seed gives the same draws. It is
// predictable, so its noise protects nobody.
type stream struct {
	words splitmix.Stream
	spare float64 // the second normal deviate of a pair, for the next call
	has   bool
}

func newStream(seed uint64) *stream {
	return &stream{words: splitmix.At(splitmix.Mix(seed + splitmix.Step))}
}

// uniform returns a number uniform on the middles of 2⁵³ equal cells of (0, 1).
func (s *stream) uniform() float64 { return (float64(s.words.Word()>>11) + 0.5) / (1 << 53) }

// normal returns a standard normal deviate, by Marsaglia's polar method.
func (s *stream) normal() float64 {
	if s.has {
		s.has = false
		return s.spare
	}
	for {
		x, y := 2*s.uniform()-1, 2*s.uniform()-1
		r := x*x + y*y
		if r >= 1 || r == 0 {
			continue
		}
		f := math.Sqrt(-2 * math.Log(r) / r)
		s.spare, s.has = y*f, true
		return x * f
	}
}

// binomial returns a random number of successes in n ≥ 0 trials. It uses inversion if few successes are expected,
// and otherwise transformed rejection [Hörmann 1993, "The generation of binomial random variates", algorithm BTRS].
func (s *stream) binomial(n int64, p float64) int64 {
	switch {
	case n <= 0 || p <= 0:
		return 0
	case p >= 1:
		return n
	case p > 0.5:
		return n - s.binomial(n, 1-p)
	case float64(n)*p < 10:
		return s.few(n, p)
	}
	size := float64(n)
	spread := math.Sqrt(size * p * (1 - p))
	b := 1.15 + 2.53*spread
	a, c := -0.0873+0.0248*b+0.01*p, size*p+0.5
	squeeze, alpha := 0.92-4.2/b, (2.83+5.1/b)*spread
	odds, mode := math.Log(p/(1-p)), math.Floor((size+1)*p)
	top := logGamma(mode+1) + logGamma(size-mode+1)
	for {
		v, u := s.uniform(), s.uniform()-0.5
		near := 0.5 - math.Abs(u)
		k := math.Floor((2*a/near+b)*u + c)
		if k < 0 || k > size {
			continue
		}
		if near >= 0.07 && v <= squeeze {
			return int64(k)
		}
		if math.Log(v*alpha/(a/(near*near)+b)) <= top-logGamma(k+1)-logGamma(size-k+1)+(k-mode)*odds {
			return int64(k)
		}
	}
}

// few returns a random number of successes by inversion, starting from 0.
func (s *stream) few(n int64, p float64) int64 {
	u, mass, odds := s.uniform(), math.Exp(float64(n)*math.Log1p(-p)), p/(1-p)
	for k := int64(0); k < n; k++ {
		if u -= mass; u < 0 {
			return k
		}
		mass *= odds * float64(n-k) / float64(k+1)
		if mass == 0 {
			return k
		}
	}
	return n
}

// multinomial distributes n people over the cells, with probabilities p.
func (s *stream) multinomial(out []float64, n int64, p []float64) {
	rest := 1.0
	for i, q := range p {
		k := n
		if i < len(p)-1 {
			k = s.binomial(n, min(1, q/rest))
		}
		out[i] = float64(k)
		n, rest = n-k, rest-q
		if !(rest > 0) {
			rest = 1e-300
		}
	}
}

func logGamma(x float64) float64 { v, _ := math.Lgamma(x); return v }

// tableCells is the largest number of cells in each half of the table of a [law].
const tableCells = 4096

// law draws from a noise distribution, in floats. A discrete Laplace variable is the difference of two rounded
// exponential variables. A rounded Gaussian variable is a normal one, rounded. Other distributions use a table of
// the distribution function, up to tails of 1e-12.
//
// If a table of all integers would be too long, each of its cells has several integers, and draws are uniform
// within a cell. A wide discrete Gaussian is replaced by the rounded Gaussian, which is practically the same
// distribution.
type law struct {
	scale float64   // scale of a discrete Laplace distribution
	sigma float64   // standard deviation of a Gaussian that is rounded
	below []float64 // P(X ≤ x) for the last integer x of each cell
	first float64   // first integer of the first cell
	step  float64
}

func newLaw(d noise.Distribution) *law {
	switch d := d.(type) {
	case nil:
		return nil
	case noise.DiscreteLaplace:
		scale, _ := d.Scale().Float64()
		return &law{scale: scale}
	case noise.RoundedGaussian:
		s2, _ := d.Sigma2().Float64()
		return &law{sigma: math.Sqrt(s2)}
	case noise.DiscreteGaussian:
		s2, _ := d.Sigma2().Float64()
		if reach := math.Ceil(8 * math.Sqrt(s2)); reach > tableCells {
			return &law{sigma: math.Sqrt(s2)}
		}
	}
	return tabled(d)
}

// tabled returns a law that uses a table of the distribution function of d.
func tabled(d noise.Distribution) *law {
	reach, _ := new(big.Float).SetInt(d.Quantile(1e-12)).Float64()
	step := math.Max(1, math.Ceil((reach+1)/tableCells))
	half := int(math.Ceil((reach + 1) / step))
	l := &law{first: -step * float64(half), step: step}
	x := new(big.Int)
	// summing probabilities is faster than computing the distribution function
	if g, ok := d.(noise.DiscreteGaussian); ok {
		s2, _ := g.Sigma2().Float64()
		sum := 0.0
		for i := -half; i <= half; i++ {
			sum += math.Exp(-float64(i) * float64(i) / (2 * s2))
			l.below = append(l.below, sum)
		}
		for i := range l.below {
			l.below[i] /= sum
		}
		return l
	}
	for i := 0; i < 2*half+1; i++ {
		last, _ := big.NewFloat(l.first + step*float64(i+1) - 1).Int(x)
		l.below = append(l.below, d.CDF(last))
	}
	return l
}

// draw returns a random value of the noise. For a nil law it returns 0.
func (l *law) draw(s *stream) float64 {
	switch {
	case l == nil:
		return 0
	case l.scale > 0:
		return math.Floor(-l.scale*math.Log(s.uniform())) - math.Floor(-l.scale*math.Log(s.uniform()))
	case l.sigma > 0:
		return math.Round(l.sigma * s.normal())
	}
	i := sort.SearchFloat64s(l.below, s.uniform())
	i = min(i, len(l.below)-1)
	x := l.first + l.step*float64(i)
	if l.step > 1 {
		x += math.Floor(l.step * s.uniform())
	}
	return x
}

// simulated notes that the null distribution is simulated.
func (t *Test) simulated(times int) {
	t.Null, t.Simulations, t.Least = "Monte Carlo", times, 1/float64(times+1)
}

// simulate returns the Monte Carlo p-value of the observed statistic. The function once returns the statistic of
// one simulation. If the simulations follow the null distribution, the probability of rejecting at level α is at
// most α [Davison & Hinkley 1997, section 4.2].
func simulate(times int, observed float64, once func() float64) float64 {
	above := 0
	for range times {
		if once() >= observed*(1-1e-12) {
			above++
		}
	}
	return float64(above+1) / float64(times+1)
}
