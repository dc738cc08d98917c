package pld

import (
	"math"

	"dither/internal/exact"
)

// upper returns an upper bound on δ(ε) of the composition. For J and θ see [window].
//
// Every loss is within blur of its point, so upper evaluates the curve at ε − blur. The computed masses are within
// err of the true ones in the Euclidean norm. So by the Cauchy–Schwarz inequality, the error of their weighted sum
// is at most err times the norm of the weights. Mass that the circular convolution folds into the window only
// increases the sum.
//
// Mass to the right of the window has weights of at most e^(scale − θ(J − centre)). Mass to the left of the window
// matters only if ε is also there. In that case there is an answer only without a tilt, and weights are then at
// most 1. floor covers underflow.
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

// inflate9 returns a factor that covers the rounding errors of a sum over a window and of its weights. The exponent
// y of a weight has an error of a few units of its two terms, and the second term is at most |scale| + |y|. If y is
// not below −800, |y| contributes little. If it is, the weight vanishes despite the error.
func (w *window) inflate9() float64 { return math.Exp(1e-10 + 16*unit*math.Abs(w.scale)) }

// floor returns a bound on the effect of underflow on a sum of weights times masses. A weight below the normal
// floats has an error of at most a few times 2⁻¹⁰⁷⁴, and so does a product. So the total error is below 10⁻³⁰⁰ for
// each mass of 1, for the error as one more mass, and for up to 2¹⁹ products.
func (m measure) floor() float64 { return 1e-290 * (1 + m.total + m.err) }

// lower returns a lower bound on δ(ε) of the composition.
//
// Claim: δ(ε) is at least the quotient at the end of this comment. Proof: let T be the true composition, and U the
// composition of the spread losses. A part's loss l was spread to l + ξ, over the two ends of a cell of width h,
// with E[e^(−ξ)] = 1. Given l, ξ is the loss of a pair of distributions on two outcomes, P(1) = p and Q(1) = q,
// whose log-odds differ by h. N(0, 1) and N(m, 1) with m = Φ⁻¹(p) − Φ⁻¹(q) dominate such a pair [Dong, Roth & Su
// 2022]. Let s(u) = Φ⁻¹(1/(1 + e^(−u))). Then m = s(u + h) − s(u). This is at most √(π/8)·h, because s′ is largest
// at 0: s is odd, and concave for u ≥ 0, as the logistic distribution has the heavier tail [van Zwet 1964].
//
// So one Gaussian pair with μ = √(π/8)·h·√n dominates n such spreads. Let L be the loss of T, y = e^(ε−L), η the
// ratio dQ/dP of that Gaussian pair, and η_ξ the ratio of the spreads. With B_μ(y) = E(1 − yη)₊ − (1 − y)₊,
//
//	δ_U(ε) = E_T[E(1 − yη_ξ)₊] ≤ δ_T(ε) + E_T[B_μ(y)].
//
// B_μ(y) = √y/√(2π)·∫₀^μ e^(−(ln y)²/(2m²) − m²/8) dm, which is the vega of Black & Scholes, integrated. The factor
// e^(−(ln y)²/(2m²)) rises with m, so its average up to μ is at most its average up to 2μ. So B_μ ≤ κ·B_2μ with κ =
// ½·e^((2μ)²/8). Let G be the Gaussian pair of 2μ. Then E_T[B_2μ] = δ_{T∘G}(ε) − δ_T(ε) ≤ δ_{U∘G}(ε) − δ_T(ε).
// Together,
//
//	δ_T(ε) ≥ (δ_U(ε) − κ·δ_{U∘G}(ε))/(1 − κ). ∎
//
// The field below bounds U from below, and smooth.above bounds U∘G from above. Atoms on lattice points
// are not spread, and not counted in n. Mass that was cut off is missing from both T and U.
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
	if !(delta > 0) { // also for NaN
		return w.infinite.lo
	}
	return min(1, max(delta, w.infinite.lo))
}

// under returns a lower bound on δ_U(ε), with U as in [window.lower]. It subtracts all mass that may have been
// folded into the window, or that an error may have created.
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

// most returns an upper bound on the weight of every loss l ≥ ε: the tilt's factor at ε, times the largest value of
// (1 − e^(ε−l))·e^(−λ(l−ε)), where λ is the tilt.
func (w *window) most(epsilon float64) float64 {
	at := math.Exp(w.scale - w.theta*((epsilon-w.base)/w.h-float64(w.centre)))
	at *= math.Exp(w.theta*(2+math.Abs(epsilon-w.base)/w.h*0x1p-50)) * inflate // covers the rounding of the quotient
	lambda := w.theta / w.h
	if lambda > 1 {
		at /= lambda // the largest value is λ^λ/(λ+1)^(λ+1) ≤ 1/(λ+1)
	}
	return at + 1e-300 // covers underflow
}

func (w *window) low() float64 { return w.base + w.h*float64(w.start) - w.blur }

// shift returns by how much an ε must be moved to cover the blur and the rounding of the points.
func (w *window) shift(epsilon float64) float64 {
	return w.blur + 8*unit*(math.Abs(epsilon)+math.Abs(w.base)+w.h*float64(len(w.above.mass))+
		math.Abs(w.h*float64(w.start)))
}

// factor returns e^(scale − θ(j − centre)), rounded up, with the tilt θ of [window]. The true mass at point j of
// the window is the stored mass times this factor.
func (w *window) factor(j int64) float64 {
	return exact.ExpUp(w.scale - w.theta*float64(j-w.centre))
}

// weigh returns Σ weight·mass over the points beyond ε, and the Euclidean norm of the weights. The weight of a
// point J with loss l is (1 − e^(ε−l))·e^(scale − θ(J − centre)), with the tilt θ of [window]. Let the first point
// be g beyond ε. For the point i places after it, 1 − e^(−g − ih) = (1 − e^(−ih)) + e^(−ih)·(1 − e^(−g)). Both
// terms are positive and known.
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
	every := int64(min(64, max(1, 500/w.theta))) // keeps the powers of ratio above the subnormal floats
	factor, largest := 0.0, 0.0
	for j := from; j < n; j++ {
		i := j - from
		if i%every == 0 {
			factor = math.Exp(w.scale - w.theta*float64(w.start+j-w.centre))
		}
		weight := factor * (w.rise[i] + (1-w.rise[i])*start)
		sum += weight * max(0, m.mass[j])
		switch { // relative to the largest weight, so that squares do not underflow
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

// before returns the index of a point of the window that is close to ε, and not beyond it. If there is none, it
// returns 0. It subtracts 2, because the quotient may have a rounding error.
func (w *window) before(epsilon float64) int64 {
	j := index((epsilon - w.base) / w.h)
	return max(0, j-w.start-2-max(j, -j)>>50)
}

// gap returns how far point j of the window is beyond ε.
func (w *window) gap(j int64, epsilon float64) float64 {
	return w.base + w.h*float64(w.start+j) - epsilon
}

// rises returns 1 − e^(−ih) for 0 ≤ i < n.
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
