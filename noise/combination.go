package noise

import (
	"math"
	"slices"

	"dither/internal/exact"
)

// Combination is the distribution of a sum of independent noises, each multiplied by a coefficient. It is the error
// of an estimate that is computed from several noisy numbers. The zero value is the constant 0. A Combination
// caches results and must not be used concurrently.
type Combination struct {
	terms  []combined
	limits map[float64]float64 // cache: the quantiles found so far, by alpha
	square float64             // cache: the variance, valid if found
	found  bool                // whether square is valid
}

// combined is a number of independent noises of one kind with the same coefficient. Noises are symmetric, so only
// the coefficient's magnitude matters.
type combined struct {
	coefficient float64 // the magnitude, rounded up
	noise       Distribution
	times       float64
}

// Add adds times independent noises with the distribution d, each multiplied by coefficient. The caller rounds the
// coefficient away from 0.
func (c *Combination) Add(coefficient float64, d Distribution, times float64) {
	if coefficient != 0 && times > 0 {
		c.terms = append(c.terms, combined{math.Abs(coefficient), d, times})
		c.limits, c.found = nil, false
	}
}

// Plus returns the distribution of c plus coefficient times an independent o.
func (c *Combination) Plus(o *Combination, coefficient float64) *Combination {
	out := &Combination{terms: slices.Clone(c.terms)}
	for _, t := range o.terms {
		out.Add(exact.MulUp(t.coefficient, math.Abs(coefficient)), t.noise, t.times)
	}
	return out
}

// Times returns the distribution of a sum of n independent copies of c.
func (c *Combination) Times(n float64) *Combination {
	out := &Combination{terms: slices.Clone(c.terms)}
	for i := range out.terms {
		out.terms[i].times *= n
	}
	return out
}

// Variance returns the variance, as a float near the exact value.
func (c *Combination) Variance() float64 {
	if !c.found {
		c.square, c.found = 0, true
		for _, t := range c.terms {
			c.square += t.times * t.coefficient * t.coefficient * t.noise.Variance()
		}
	}
	return c.square
}

// StdDev returns the standard deviation, as a float near the exact value.
func (c *Combination) StdDev() float64 { return math.Sqrt(c.Variance()) }

// Quantile returns a y with P(|X| > y) ≤ alpha, where X has the distribution c and 0 < alpha < 1. It is +Inf if no
// bound is known. For alpha ≥ 1 it is 0.
func (c *Combination) Quantile(alpha float64) float64 {
	if y, ok := c.limits[alpha]; ok {
		return y
	}
	y := c.quantile(alpha)
	if c.limits == nil {
		c.limits = map[float64]float64{}
	}
	c.limits[alpha] = y
	return y
}

func (c *Combination) quantile(alpha float64) float64 {
	switch {
	case !(alpha > 0):
		return math.Inf(1)
	case len(c.terms) == 0 || alpha >= 1:
		return 0
	}
	p, ok := c.pieces()
	if !ok {
		return c.apart(alpha)
	}
	// Each of the following bounds is valid and a function of public parameters, so the least one is valid too.
	best := min(c.apart(alpha), p.near+p.continuousLimit(alpha))
	if alpha >= leastInverted && p.near <= nearby*c.StdDev() {
		return best * (1 + 1e-9) // the next two bounds are further from the quantile, and take as long
	}
	discrete := p.discreteLimit(alpha)
	best = min(best, discrete)
	if len(c.terms) > 1 || c.terms[0].times > 1 {
		best = min(best, c.smoothed(alpha, discrete, p))
	}
	return best * (1 + 1e-9) // covers the rounding of the sums in p
}

// apart returns a bound for noises of any kind: with probability at least 1 − alpha, each noise is at most its own
// quantile at an equal share of alpha.
func (c *Combination) apart(alpha float64) float64 {
	count, sum := 0.0, 0.0
	for _, t := range c.terms {
		count += t.times
	}
	limits := map[Distribution]float64{} // by distribution, because many terms may share one
	for _, t := range c.terms {
		f, ok := limits[t.noise]
		if !ok {
			q := t.noise.Quantile(alpha / count)
			if q == nil {
				return math.Inf(1)
			}
			f, _ = q.Float64()
			limits[t.noise] = f
		}
		sum += t.times * t.coefficient * f
	}
	return sum * (1 + 1e-9)
}

// pieces holds the Gaussian and the Laplace parts of a Combination.
//
// Each discrete noise has a coupling with a continuous noise of the same kind and parameter in which the two differ
// by at most 1 (see DiscreteLaplace and DiscreteGaussian.Tail). The couplings of independent noises are
// independent. So the combination differs from that of the continuous noises by at most near = Σ|coefficient|.
type pieces struct {
	near float64
	// the variance of the continuous Gaussian part; a discrete Gaussian is subgaussian with the same parameter
	variance float64
	laplace  []laplacePiece
	scale    float64 // the largest scale of the Laplace parts; 0 if there are none
}

type laplacePiece struct{ coefficient, noise, scale, times float64 } // scale is coefficient·noise

func (c *Combination) pieces() (p pieces, ok bool) {
	for _, t := range c.terms {
		p.near += t.times * t.coefficient
		switch d := t.noise.(type) {
		case DiscreteGaussian:
			p.variance += t.times * t.coefficient * t.coefficient * d.floats.up
		case DiscreteLaplace:
			b := d.floats.up
			p.laplace = append(p.laplace, laplacePiece{t.coefficient, b, t.coefficient * b, t.times})
			p.scale = max(p.scale, t.coefficient*b)
		default:
			return p, false
		}
	}
	return p, !math.IsInf(p.near, 1) && !math.IsInf(p.variance, 1) && !math.IsInf(p.scale, 1)
}

// chernoff returns a y with P(|X| > y) ≤ alpha, for a symmetric X whose moment generating function is M on (0,
// limit). By Chernoff's bound P(|X| > y) ≤ 2·E exp(sX)/exp(sy), each s gives such a y, with 2·exp(ln M(s) − sy) =
// alpha. chernoff tries some s and returns the least y.
func chernoff(alpha, limit float64, logM func(s float64) float64) float64 {
	log := math.Log(2 / alpha)
	at := func(x float64) float64 { s := math.Exp(x); return (logM(s) + log) / s }
	// Since ln M is convex, (ln M(s) + const)/s has a single minimum, which a golden section search finds. An
	// inexact minimum still gives a valid bound.
	lo, hi := math.Log(limit)-60, math.Log(limit)
	const golden = 0.6180339887498949
	a, b := hi-golden*(hi-lo), lo+golden*(hi-lo)
	fa, fb := at(a), at(b)
	best := min(fa, fb)
	for range 80 {
		if fa <= fb {
			hi, b, fb = b, a, fa
			a = hi - golden*(hi-lo)
			fa = at(a)
		} else {
			lo, a, fa = a, b, fb
			b = lo + golden*(hi-lo)
			fb = at(b)
		}
		best = min(best, fa, fb)
	}
	if math.IsNaN(best) {
		return math.Inf(1)
	}
	return best * (1 + 1e-9)
}

// discreteLimit returns Chernoff's bound with moment generating functions of the discrete noises. That of a
// discrete Gaussian is at most exp(σ²s²/2) [Canonne, Kamath & Steinke 2020, Lemma 9]. That of a discrete Laplace is
// (1 − p)²/((1 − pe^s)(1 − pe^−s)), p = e^(−1/b).
func (p pieces) discreteLimit(alpha float64) float64 {
	if len(p.laplace) == 0 {
		return math.Sqrt(2*p.variance*math.Log(2/alpha)) * (1 + 1e-9)
	}
	return chernoff(alpha, 1/p.scale, func(s float64) float64 {
		m := p.variance * s * s / 2
		for _, l := range p.laplace {
			x, rate := l.coefficient*s, 1/l.noise
			if x >= rate {
				return math.Inf(1)
			}
			// (1 − p)² = 4·sinh²(rate/2)·p. The denominator is 2p·(cosh rate − cosh x) =
			// 4p·sinh((rate+x)/2)·sinh((rate−x)/2).
			m += l.times * (2*logSinh(rate/2) - logSinh((rate+x)/2) - logSinh((rate-x)/2))
		}
		return m
	})
}

// logSinh returns ln sinh x, for x > 0.
func logSinh(x float64) float64 {
	if x > 20 {
		return x - math.Ln2 + math.Log1p(-math.Exp(-2*x))
	}
	return math.Log(math.Sinh(x))
}

// continuousLimit returns a y that the continuous combination exceeds in magnitude with probability at most alpha.
func (p pieces) continuousLimit(alpha float64) float64 {
	if len(p.laplace) == 0 {
		y := math.Sqrt(2*p.variance) * math.Erfcinv(alpha) * (1 + 1e-12)
		for i := 0; i < 60 && continuousTail(p.variance, y) > alpha; i++ {
			y *= 1 + 1e-12
			if i > 30 {
				y *= 1 + 1e-6
			}
		}
		if continuousTail(p.variance, y) > alpha {
			return math.Inf(1)
		}
		return y
	}
	most := p.continuousChernoff(alpha)
	if alpha < leastInverted || len(p.laplace) == 1 && p.variance == 0 && p.laplace[0].times == 1 || math.IsInf(most, 1) {
		if len(p.laplace) == 1 && p.variance == 0 && p.laplace[0].times == 1 {
			return p.scale * math.Log(1/alpha) * (1 + 1e-12)
		}
		return most
	}
	inverse, ok := p.invert(alpha, most)
	if !ok {
		return most
	}
	return crossing(inverse, alpha, most)
}

// continuousChernoff returns Chernoff's bound for the continuous combination. The moment generating function of a
// Laplace variable of scale b is 1/(1 − b²s²).
func (p pieces) continuousChernoff(alpha float64) float64 {
	return chernoff(alpha, 1/p.scale, func(s float64) float64 {
		m := p.variance * s * s / 2
		for _, l := range p.laplace {
			x := l.scale * s
			if x >= 1 {
				return math.Inf(1)
			}
			m -= l.times * math.Log1p(-x*x)
		}
		return m
	})
}

// leastInverted is the least alpha whose quantile is found by inverting a characteristic function.
const leastInverted = 1e-6

// nearby is how far a combination may be from one of continuous noises, in standard deviations, if the latter is a good
// approximation.
const nearby = 0.09

// terms is the most terms of a series.
const terms = 100_000

// invert returns a function that bounds P(|X| > y) of the continuous combination, for 0 ≤ y ≤ most. The second
// result is false if that is not possible. invert uses the characteristic function φ(t) = exp(−Vt²/2)·Π(1 +
// b²t²)^−m. V is the variance of the Gaussian part, and the product is over the scales b of the Laplace parts, each
// with its number m of variables. Let κ(t) = −t·φ′(t)/φ(t), which never decreases. Then φ(t) ≤ φ(T)(t/T)^(−κ(T))
// for t ≥ T, for every T.
func (p pieces) invert(alpha, most float64) (func(y float64) float64, bool) {
	return inversion(alpha, most, p.continuousChernoff(alpha/2000), func(t float64) (phi, beyond, kappa float64) {
		phi, kappa = p.characteristic(t)
		return phi, phi, kappa
	})
}

// characteristic returns φ(t) and κ(t): see [pieces.invert].
func (p pieces) characteristic(t float64) (phi, kappa float64) {
	log := p.variance * t * t / 2
	kappa = p.variance * t * t
	for _, l := range p.laplace {
		x := l.scale * l.scale * t * t
		log += l.times * math.Log1p(x)
		if math.IsInf(x, 1) {
			kappa += 2 * l.times
			continue
		}
		kappa += 2 * l.times * x / (1 + x)
	}
	return math.Exp(-log), kappa
}

// inversion returns a function that bounds P(|X| > y) for 0 ≤ y ≤ most, from the characteristic function φ of a
// symmetric X without atoms. The method follows Davies [1973]. far must satisfy P(|X| ≥ far) ≤ alpha/2000. For each
// t, characteristic returns φ(t), and two numbers with |φ(u)| ≤ beyond·(u/t)^(−kappa) for u ≥ t. The second result
// is false if the series would be too long.
//
// Proof: let tₖ = (k + ½)h. The sum of sin((2k + 1)x)/(2k + 1) over k ≥ 0 is π/4 times the sign of sin x, and E
// sin(t(y − X)) = φ(t)·sin(ty). So
//
//	Σ φ(tₖ)·sin(tₖy)/((k + ½)π) = ½·E sgn sin(h(y − X)/2).
//
// If |y − X| < 2π/h, that sign is the sign of y − X. So the sum is ½ − P(X > y) up to an error of at most P(|X| ≥
// 2π/h − y). h is chosen so that 2π/h − y is at least far. The terms from K on are at most Σ beyond·((k + ½)/(K +
// ½))^(−kappa)/((k + ½)π) ≤ beyond/π·(1/(K + ½) + 1/kappa). Twice these two errors, and a bound on the rounding of
// floats, are added to the result.
func inversion(
	alpha, most, far float64, characteristic func(t float64) (phi, beyond, kappa float64),
) (func(y float64) float64, bool) {
	tolerance := alpha / 2000
	h := 2 * math.Pi / (most + far) * (1 - 1e-9)
	if !(h > 0) || math.IsInf(h, 1) {
		return nil, false
	}
	var weights []float64
	rest := math.Inf(1)
	for k := 0; k < terms; k++ {
		phi, beyond, kappa := characteristic((float64(k) + 0.5) * h)
		if rest = beyond / math.Pi * (1/(float64(k)+0.5) + 1/kappa); rest <= tolerance {
			break
		}
		weights = append(weights, phi/((float64(k)+0.5)*math.Pi))
	}
	if !(rest <= tolerance) {
		return nil, false
	}
	// The relative error of each weight is at most 1e-9, and the error of each sine at most 1e-10. The sum of the
	// weights is below ln(K)/π + 1 < 6.
	extra := 2*tolerance + 2*rest + 2e-8
	return func(y float64) float64 {
		sum := 0.0
		// sine and cosine of (k + ½)hy, rotated by hy each time; a rotation loses about 1e-16
		sin, cos := math.Sincos(h * y / 2)
		turnSin, turnCos := math.Sincos(h * y)
		for _, w := range weights {
			sum += w * sin
			sin, cos = sin*turnCos+cos*turnSin, cos*turnCos-sin*turnSin
		}
		return 1 - 2*sum + extra
	}, true
}

// crossing returns a y ≤ most with tail(y) ≤ alpha, by bisection. The caller knows that most itself is such a y.
func crossing(tail func(y float64) float64, alpha, most float64) float64 {
	lo, hi := 0.0, most
	for range 40 {
		middle := lo + (hi-lo)/2
		if tail(middle) <= alpha {
			hi = middle
		} else {
			lo = middle
		}
	}
	return hi
}
