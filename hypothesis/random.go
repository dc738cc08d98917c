package hypothesis

import (
	"math"
	"math/big"
	"sort"

	"dither/internal/splitmix"
	"dither/noise"
)

// stream makes up samples and noise for simulations. It is reproducible, and predictable by anybody.
type stream struct {
	words splitmix.Stream
	spare float64 // a normal deviate that was left over
	has   bool
}

func newStream(seed uint64) *stream {
	return &stream{words: splitmix.At(splitmix.Mix(seed + splitmix.Step))}
}

// uniform is uniform in (0, 1), on the middles of 2⁵³ cells.
func (s *stream) uniform() float64 { return (float64(s.words.Word()>>11) + 0.5) / (1 << 53) }

// normal is a standard normal deviate, by Marsaglia's polar method.
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

// binomial draws a number of successes among n ≥ 0 trials: by inversion if few are expected, otherwise by transformed
// rejection [Hörmann 1993, "The generation of binomial random variates", algorithm BTRS].
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

// few draws by inversion, from 0 on.
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

// multinomial puts n people into cells.
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

// tableCells bounds the cells of each half of a law's table.
const tableCells = 4096

// law draws from a noise, in floats: a discrete Laplace as the difference of two exponentials' whole parts, a rounded
// Gaussian as one that is rounded, and others by a table of their distribution function, up to where 1e-12 is beyond.
// Where a table of all integers is too long it is of cells, within which draws are uniform, or of the discrete Gaussian
// the rounded one, from which it can then not be told.
type law struct {
	scale float64   // of a Laplace
	sigma float64   // of a Gaussian that is rounded
	below []float64 // P(X ≤ the last of each cell)
	first float64   // of the first cell
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

// tabled is a law by a table.
func tabled(d noise.Distribution) *law {
	reach, _ := new(big.Float).SetInt(d.Quantile(1e-12)).Float64()
	step := math.Max(1, math.Ceil((reach+1)/tableCells))
	half := int(math.Ceil((reach + 1) / step))
	l := &law{first: -step * float64(half), step: step}
	x := new(big.Int)
	if g, ok := d.(noise.DiscreteGaussian); ok { // of masses, which is quicker
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

// draw is a draw; of no noise it is 0.
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

// simulate is the Monte-Carlo p-value of a statistic that was reached in atLeast of n simulations. If these follow the
// null distribution itself, the probability of rejecting at α is at most α [Davison & Hinkley 1997, section 4.2].
func simulate(times int, observed float64, once func() float64) float64 {
	above := 0
	for range times {
		if once() >= observed*(1-1e-12) {
			above++
		}
	}
	return float64(above+1) / float64(times+1)
}
