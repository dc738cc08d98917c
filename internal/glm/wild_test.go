package glm

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// Whatever was released, there are finite coefficients, intervals that hold them, and no panic; and no price or size makes a choice without a positive regulariser.
func TestWild(t *testing.T) {
	number := rapid.OneOf(rapid.Float64Range(-10, 10), rapid.Float64Range(-1e6, 1e6), rapid.Float64Range(-1e18, 1e18), rapid.Just(0.0))
	scale := rapid.OneOf(rapid.Float64Range(1e-9, 10), rapid.Float64Range(1e-9, 1e9))
	rapid.Check(t, func(rt *rapid.T) {
		d := rapid.IntRange(1, 5).Draw(rt, "d")
		vector := func(name string, n int) []float64 { return rapid.SliceOfN(number, n, n).Draw(rt, name) }
		r := Released{
			Family: rapid.SampledFrom([]Family{Logistic, Poisson}).Draw(rt, "family"), Theta: vector("theta", d), Hessian: vector("hessian", d*(d+1)/2), Products: vector("products", d*(d+1)/2),
			Regularise: scale.Draw(rt, "lambda"), Radius: scale.Draw(rt, "radius"), Rows: scale.Draw(rt, "rows"), Intercept: rapid.IntRange(-1, d-1).Draw(rt, "intercept"),
			ThetaSD: scale.Draw(rt, "theta sd"), HessSD: scale.Draw(rt, "hessian sd"), ProdSD: scale.Draw(rt, "products sd"), Laplace: rapid.Bool().Draw(rt, "laplace"),
		}
		f := Infer(r)
		holdTogether(rt, f, d)
		terms := Terms{
			Family: r.Family, Predictors: d, Rows: 20 + r.Rows, Bound: scale.Draw(rt, "bound"), Steep: scale.Draw(rt, "steep"), Bend: scale.Draw(rt, "bend"), Moves: 1,
			Epsilon: scale.Draw(rt, "epsilon"),
		}
		if c := terms.Choose(); !(c.Regularise > 0) || math.IsInf(c.Regularise, 0) || !(c.Share > 0 && c.Share < 1) {
			rt.Fatalf("%+v", c)
		}
	})
}

// holdTogether checks that each coefficient is finite, and that its interval holds it.
func holdTogether(rt *rapid.T, f *Fit, d int) {
	for i := range d {
		weights := make([]float64, d)
		weights[i] = 1
		e := f.Estimate(weights, 0.95)
		if math.IsNaN(e.Value) || math.IsInf(e.Value, 0) || !(e.Low <= e.Value && e.Value <= e.High) || e.P < 0 || e.P > 1 {
			rt.Fatalf("%+v", e)
		}
	}
}
