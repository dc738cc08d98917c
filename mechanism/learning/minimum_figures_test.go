package learning

import (
	"math"
	"math/big"
	"testing"

	"dither/mechanism"
	"dither/privacy"
)

// What the documentation says of five thousand rows of four predictors within ±½ and an intercept: Δ = .029, of
// which tolerances and the grid take less than a hundredth more; and the noise's scale at ε = 1 is .065.
func TestMinimumFigures(t *testing.T) {
	o := Objective{Loss: LogisticLoss, Radius: ratOf(3), Regularise: ratOf(50), Rows: 5000}
	m, err := NewMinimiser(o, 5, ratOf(math.Sqrt2), mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1})
	if err != nil {
		t.Fatal(err)
	}
	if want := math.Sqrt2/50 + 3.0/5000; math.Abs(m.Sensitivity()-want) > 1e-6 || math.Abs(want-0.029) > 5e-4 {
		t.Errorf("Δ = %g, want %g", m.Sensitivity(), want)
	}
	onGrid := func(n *big.Int) float64 {
		f, _ := new(big.Float).SetInt(n).Float64()
		return math.Ldexp(f, m.Grid())
	}
	if l2 := math.Sqrt(onGrid(m.L2Squared()) * math.Ldexp(1, m.Grid())); l2 < m.Sensitivity() ||
		l2 > 1.01*m.Sensitivity() {
		t.Errorf("L2 = %g of %g", l2, m.Sensitivity())
	}
	if l1 := onGrid(m.L1()); math.Abs(l1-0.065) > 1e-3 {
		t.Errorf("the scale at ε = 1 is %g", l1)
	}
	twice, err := NewMinimiser(o, 5, ratOf(math.Sqrt2), mechanism.Unit{Neighbours: privacy.ChangeOne, MaxRows: 1})
	if err != nil || math.Abs(twice.Sensitivity()-(2*math.Sqrt2/50+3.0/5000)) > 1e-6 {
		t.Errorf("change-one: %g, %v", twice.Sensitivity(), err)
	}
}
