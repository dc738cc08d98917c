package glm

import "math"

// Terms holds the public parameters of a fit.
type Terms struct {
	Family       Family
	Predictors   int     // d, the number of predictors
	Rows         float64 // the approximate number of rows
	Bound        float64 // the bound on the norm of the predictors
	Leverage     float64 // the norm of predictors above which rows have less weight in Newton steps; 0 for none
	Steep, Bend  float64 // bounds on the loss's derivatives, |ℓ′| and ℓ″
	Moves        float64 // the most rows that differ between neighbours
	Unit         float64 // the most rows of one unit: half of Moves under change-one
	Epsilon, Rho float64 // the price: one of them is set
	// the regulariser grows with the number of rows beyond the stated one: between neighbours, its gradient differs by
	// at most Λ times this
	Drift float64
}

// Choice holds the chosen parameters of a fit.
type Choice struct {
	Regularise float64
	Share      float64 // the share of the price for the two sums of Released
	Expected   float64 // about the standard error that noise adds to the coefficient of a scaled predictor
}

// Assumptions about unknown data. A predictor that is scaled to [−1, 1] has a variance of 0.2 (a uniform one has
// 1/3, an indicator p(1 − p)). A row has its family's weight at a mean that is neither rare nor certain
// (usualWeight). A coefficient is about 0.6.
const (
	usualSpread      = 0.2
	usualCoefficient = 0.6
)

func (f Family) usualWeight() float64 {
	if f == Poisson {
		return 1
	}
	return 0.2
}

// Choose returns the regulariser, and the share of the price for the two sums, with the least expected error. A
// regulariser of c times the curvature h scales the minimum's noise by 1/c. Correcting the regulariser's bias
// multiplies that noise by 1 + c. The correction also adds c times the noise of the Hessian, and leaves a bias of
// about 0.08c² times each coefficient. Intervals allow for the share of the correction that rows may miss (see [curved]).
func (t Terms) Choose() Choice {
	d := float64(t.Predictors)
	h := t.Rows * t.Family.usualWeight() * usualSpread
	best := Choice{h, 0.5, math.Inf(1)} // returned if every choice has an infinite expected error
	for _, share := range []float64{0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7} {
		for c := 0.02; c < 2; c *= 1.1 {
			minimum := t.noise(1-share, math.Sqrt(d)) * (t.Moves*t.Steep*t.Bound/(c*h) + t.Drift)
			hessian := t.noise(share/2, (d+1)/2) * t.Moves * t.Bend * t.Bound * t.Bound
			products := t.noise(share/2, (d+1)/2) * t.Moves * t.Steep * t.Steep * t.Bound * t.Bound
			v := square(
				(1+c)*minimum,
			) + square(
				hessian*c*usualCoefficient*math.Sqrt(d)/h,
			) + square(
				0.08*c*c*usualCoefficient,
			) + products/(h*h)
			if t.Family == Logistic { // coefficients of counts are smaller, since their means would be far apart
				v += square(c * usualCoefficient * missed(c*d*usualCoefficient))
			}
			// Penalise noise that hides curvature. Infer gives no intervals for hidden directions, so the penalty
			// uses twice its threshold.
			hidden := 2 * (2*math.Sqrt(d) + 1) * hessian / h
			if v *= 1 + square(hidden); v < square(best.Expected) {
				best = Choice{c * h, share, math.Sqrt(v)}
			}
		}
	}
	return best
}

func square(x float64) float64 { return x * x }

// noise returns the standard deviation of the noise for an L2 sensitivity of 1, at a share of the price. times is
// the L1 sensitivity in that case.
func (t Terms) noise(share, times float64) float64 {
	if t.Rho > 0 {
		return 1 / math.Sqrt(2*t.Rho*share)
	}
	return math.Sqrt2 * times / (t.Epsilon * share)
}
