package posterior

import (
	"math"

	"dither/synth/model"
)

// random draws from a source of words.
type random struct {
	words model.Words
	spare float64
	has   bool
}

// uniform returns a number in (0, 1).
func (r *random) uniform() float64 { return (float64(r.words.Word()>>11) + 0.5) / (1 << 53) }

// normal draws from the standard normal distribution [Box & Muller 1958].
func (r *random) normal() float64 {
	if r.has {
		r.has = false
		return r.spare
	}
	radius, angle := math.Sqrt(-2*math.Log(r.uniform())), 2*math.Pi*r.uniform()
	r.spare, r.has = radius*math.Sin(angle), true
	return radius * math.Cos(angle)
}

// logGamma draws the logarithm of a number with a gamma distribution [Marsaglia & Tsang 2000]. Logarithms do not underflow.
func (r *random) logGamma(shape float64) float64 {
	if shape < 1 {
		return r.logGamma(shape+1) + math.Log(r.uniform())/shape
	}
	d := shape - 1.0/3
	for {
		x := r.normal()
		v := 1 + x/math.Sqrt(9*d)
		if v <= 0 {
			continue
		}
		v = v * v * v
		if math.Log(r.uniform()) < x*x/2+d-d*v+d*math.Log(v) {
			return math.Log(d * v)
		}
	}
}

// dirichlet fills out with a draw whose parameters are counts + prior.
func (r *random) dirichlet(out, counts []float64) {
	most := math.Inf(-1)
	for i, n := range counts {
		out[i] = r.logGamma(n + prior)
		most = max(most, out[i])
	}
	sum := 0.0
	for i, v := range out {
		out[i] = math.Exp(v - most)
		sum += out[i]
	}
	for i := range out {
		out[i] /= sum
	}
}
