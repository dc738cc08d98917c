package glm

import "math"

// Terms are the public parameters of a fit.
type Terms struct {
	Family       Family
	Predictors   int     // d
	Rows         float64 // about how many
	Bound        float64 // of the predictors' norm
	Steep, Bend  float64 // bounds of |ℓ′| and ℓ″
	Moves        float64 // how many rows differ between neighbours
	Epsilon, Rho float64 // the price: one of both
}

// Choice has the chosen parameters of a fit.
type Choice struct {
	Regularise float64
	Share      float64 // of the price, for the two sums
	Expected   float64 // about the standard error that noise adds to a coefficient of a scaled predictor
}

// What is taken to be so before anything is known: a predictor scaled to [−1, 1] has a spread of .2 about its mean (a uniform one has 1/3, an
// indicator p(1 − p)), a row the weight of its family at a mean that is neither rare nor certain, and a coefficient is about .6.
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

// Choose finds the regulariser, and the share of the price for the sums, with the least expected error. A regulariser
// of c times the curvature h scales the minimum's noise by 1/c. The correction of its bias, which multiplies by 1 + c,
// adds the noise of the Hessian times c, and leaves about .08c² of each coefficient.
func (t Terms) Choose() Choice {
	d := float64(t.Predictors)
	h := t.Rows * t.Family.usualWeight() * usualSpread
	best := Choice{h, 0.5, math.Inf(1)} // where nothing is told, whatever is chosen
	for _, share := range []float64{0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7} {
		for c := 0.02; c < 2; c *= 1.1 {
			minimum := t.noise(1-share, math.Sqrt(d)) * t.Moves * t.Steep * t.Bound / (c * h)
			hessian := t.noise(share/2, (d+1)/2) * t.Moves * t.Bend * t.Bound * t.Bound
			products := t.noise(share/2, (d+1)/2) * t.Moves * t.Steep * t.Steep * t.Bound * t.Bound
			v := square(
				(1+c)*minimum,
			) + square(
				hessian*c*usualCoefficient*math.Sqrt(d)/h,
			) + square(
				0.08*c*c*usualCoefficient,
			) + products/(h*h)
			// What noise hides of the curvature, and of it twice as much as Infer asks for, has no intervals.
			hidden := 2 * (2*math.Sqrt(d) + 1) * hessian / h
			if v *= 1 + square(hidden); v < square(best.Expected) {
				best = Choice{c * h, share, math.Sqrt(v)}
			}
		}
	}
	return best
}

func square(x float64) float64 { return x * x }

// noise is the standard deviation for a sensitivity of 1 in L2, in L1 of times that, at a share of the price.
func (t Terms) noise(share, times float64) float64 {
	if t.Rho > 0 {
		return 1 / math.Sqrt(2*t.Rho*share)
	}
	return math.Sqrt2 * times / (t.Epsilon * share)
}
