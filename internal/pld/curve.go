package pld

import (
	"math"

	"dither/internal/exact"
)

// upper bounds δ(ε) of the composition from above.
//
// Every loss is within blur of its point, so the curve at ε − blur is taken. The computed masses are within err of
// the true ones in the Euclidean norm, so by Cauchy and Schwarz their weighted sum is within err times the norm of the
// weights; what a circular convolution folded into the window only adds. What lies to the right has weights of at most
// e^(scale − θ(J − centre)); what lies to the left counts only where ε is there too, which is answered only
// without a tilt, when weights are at most 1. The floor is for what underflows.
func (w *window) upper(epsilon float64) float64 {
	if w.unknown {
		return 1
	}
	epsilon = exact.SubDown(epsilon, w.shift(epsilon))
	sum, norm := w.weigh(w.above, epsilon)
	delta := sum + norm*w.above.err + w.above.floor()
	if w.outRight > 0 {
		delta += w.outRight * w.factor(w.start+int64(len(w.above.mass)))
	}
	if epsilon < w.low() {
		if w.theta > 0 {
			return 1
		}
		delta += w.outLeft * w.factor(w.start)
	}
	delta = delta*w.inflate9() + w.infinite.hi
	return atMost1(delta * (1 + 4*unit))
}

// inflate9 covers the roundings of a sum over a window, and those of its weights. An exponent y is off by a few units
// of its two terms, of which the second is at most |scale| + |y|, and where it is not below −800, and then vanishes
// even so, |y| counts little.
func (w *window) inflate9() float64 { return math.Exp(1e-10 + 16*unit*math.Abs(w.scale)) }

// floor bounds what underflows take from a sum of weights times masses, or add to it. A weight that is below the normal
// floats is off by at most a few times 2⁻¹⁰⁷⁴, and so is a product; so what is off in all is below
// 10⁻³⁰⁰ for each mass of 1, for the error as one more mass, and for the up to 2¹⁹ products themselves.
func (m measure) floor() float64 { return 1e-290 * (1 + m.total + m.err) }

// lower bounds δ(ε) of the composition from below.
//
// Let T be the true composition and U the spread one. A part's loss l was spread to l + ξ over the two ends of a cell
// of width h with E[e^(−ξ)] = 1: given l, ξ is the loss of a pair of distributions on two outcomes whose log-odds
// differ by h. Such a pair, with Q(1) = q and P(1) = p, is dominated by N(0, 1) and N(m, 1) for m = Φ⁻¹(p) −
// Φ⁻¹(q) [Dong, Roth & Su 2022], that is s(u + h) − s(u) with s(u) = Φ⁻¹(1/(1 + e^(−u))), which is at most
// √(π/8)·h since s′ is largest at 0 (s is odd, and concave for u ≥ 0, as the logistic law has the heavier tail
// [van Zwet 1964]). n such spreads are dominated by one Gaussian pair of μ = √(π/8)·h·√n. So with y =
// e^(ε−L) and B_μ(y) = E(1 − yη)₊ − (1 − y)₊, η being dQ/dP of that pair,
//
//	δ_U(ε) = E_T[E(1 − yη_ξ)₊] ≤ δ_T(ε) + E_T[B_μ(y)].
//
// B_μ(y) = √y/√(2π)·∫₀^μ e^(−(ln y)²/(2m²) − m²/8) dm (the vega of Black & Scholes), where the first
// exponential rises with m: its average up to μ is at most that up to 2μ, so B_μ ≤ κ·B_2μ with κ =
// ½·e^((2μ)²/8). And E_T[B_2μ] = δ_{T∘G}(ε) − δ_T(ε) ≤ δ_{U∘G}(ε) − δ_T(ε), with G the Gaussian
// pair of 2μ. Together
//
//	δ_T(ε) ≥ (δ_U(ε) − κ·δ_{U∘G}(ε))/(1 − κ),
//
// in which U is bounded by the measure below and U∘G by the measure above. Atoms that lie on points are not spread,
// and not counted in n; what was cut off is missing from T and U alike.
func (w *window) lower(epsilon float64) float64 {
	if w.unknown {
		return 0
	}
	delta := w.under(epsilon)
	if delta <= 0 {
		return 0
	}
	if !w.unspread {
		if w.smooth == nil {
			return min(w.infinite.lo, delta)
		}
		kappa := w.smooth.share
		delta = (delta - kappa*w.smooth.upper(epsilon)*(1+slack)) / (1 - kappa) * (1 - 8*slack)
	}
	if !(delta > 0) { // NaN too
		return w.infinite.lo
	}
	return min(1, max(delta, w.infinite.lo))
}

// under bounds δ_U(ε) from below: no folded mass may count, nor a mass that an error made.
func (w *window) under(epsilon float64) float64 {
	epsilon = exact.AddUp(epsilon, w.shift(epsilon))
	if epsilon < w.low() {
		epsilon = w.low()
	}
	sum, norm := w.weigh(w.below, epsilon)
	j := w.before(epsilon)
	folded := 0.0
	if out := w.outLeft + w.outRight; out > 0 {
		folded = out * min(w.factor(w.start+j), w.most(epsilon)) * inflate
	}
	delta := sum/w.inflate9() - norm*w.below.err*inflate - folded - w.below.floor()*w.inflate9()
	if math.IsNaN(delta) || math.IsInf(delta, 0) {
		return 0
	}
	return (max(0, delta) + w.infinite.lo) * (1 - 4*unit)
}

// most bounds the weight (1 − e^(ε−l))·e^(−λ(l−ε)) times that at ε.
func (w *window) most(epsilon float64) float64 {
	at := math.Exp(w.scale - w.theta*((epsilon-w.base)/w.h-float64(w.centre)))
	at *= math.Exp(w.theta*(2+math.Abs(epsilon-w.base)/w.h*0x1p-50)) * inflate // the quotient may be off
	lambda := w.theta / w.h
	if lambda > 1 {
		at /= lambda // the maximum is λ^λ/(λ+1)^(λ+1) ≤ 1/(λ+1)
	}
	return at + 1e-300 // it may have underflowed
}

func (w *window) low() float64 { return w.base + w.h*float64(w.start) - w.blur }

// shift is what an ε is moved by: the blur, and the rounding of the points.
func (w *window) shift(epsilon float64) float64 {
	return w.blur + 8*unit*(math.Abs(epsilon)+math.Abs(w.base)+w.h*float64(len(w.above.mass))+math.Abs(w.h*float64(w.start)))
}

// factor is e^(scale − θ(J − centre)).
func (w *window) factor(j int64) float64 {
	return exact.ExpUp(w.scale - w.theta*float64(j-w.centre))
}

// weigh is Σ weight·mass over the points beyond ε, and the Euclidean norm of the weights (1 −
// e^(ε−l))·e^(scale − θ(J − centre)). At the i-th point beyond the first, which is g beyond ε, 1 − e^(−g
// − ih) = (1 − e^(−ih)) + e^(−ih)·(1 − e^(−g)), a sum of what is positive and known.
func (w *window) weigh(m measure, epsilon float64) (sum, norm float64) {
	n := int64(len(m.mass))
	from := w.before(epsilon)
	for from < n && w.gap(from, epsilon) <= 0 {
		from++
	}
	if from >= n {
		return 0, 0
	}
	start := -math.Expm1(-w.gap(from, epsilon))
	ratio := math.Exp(-w.theta)
	every := int64(min(64, max(1, 500/w.theta))) // the powers of the ratio stay normal
	factor, largest := 0.0, 0.0
	for j := from; j < n; j++ {
		i := j - from
		if i%every == 0 {
			factor = math.Exp(w.scale - w.theta*float64(w.start+j-w.centre))
		}
		weight := factor * (w.rise[i] + (1-w.rise[i])*start)
		sum += weight * max(0, m.mass[j])
		switch { // in units of the largest, lest the squares underflow
		case weight > largest:
			norm = norm*(largest/weight)*(largest/weight) + 1
			largest = weight
		case largest > 0:
			norm += (weight / largest) * (weight / largest)
		}
		factor *= ratio
	}
	return sum, largest * math.Sqrt(norm)
}

// before is a point of the window, or its first, that ε is not before: the quotient may be off by some units.
func (w *window) before(epsilon float64) int64 {
	j := index((epsilon - w.base) / w.h)
	return max(0, j-w.start-2-max(j, -j)>>50)
}

// gap is how far a point is beyond ε.
func (w *window) gap(j int64, epsilon float64) float64 {
	return w.base + w.h*float64(w.start+j) - epsilon
}

// rises is 1 − e^(−ih) for i < n.
func rises(h float64, n int) []float64 {
	r := make([]float64, n)
	for i := range r {
		r[i] = -math.Expm1(-h * float64(i))
	}
	return r
}

func atMost1(delta float64) float64 {
	if math.IsNaN(delta) {
		return 1
	}
	return min(1, max(0, delta))
}
