package exact_test

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"dither/internal/exact"
)

// bounds checks that down ≤ real ≤ up, and that they are within 2⁻⁴⁸ of one another, or a few subnormals
// apart.
func bounds(t *rapid.T, x, down, up float64, r *big.Float) {
	t.Helper()
	if !math.IsInf(up, 1) && wide().SetFloat64(up).Cmp(r) < 0 || !math.IsInf(down, -1) &&
		wide().SetFloat64(down).Cmp(r) > 0 {
		t.Fatalf("at %g: [%g, %g] does not enclose %s", x, down, up, r.Text('g', 25))
	}
	if up-down > math.Abs(up)*0x1p-48+20*math.SmallestNonzeroFloat64 && !math.IsInf(up, 1) {
		t.Fatalf("at %g: [%g, %g] is too wide", x, down, up)
	}
}

// exponents draws arguments of the exponential: the whole range, subnormal results, overflow, and the smallest.
func exponents() *rapid.Generator[float64] {
	small := rapid.Custom(func(t *rapid.T) float64 {
		return math.Ldexp(rapid.Float64Range(-1, 1).Draw(t, "m"), -rapid.IntRange(0, 1074).Draw(t, "e"))
	})
	return rapid.OneOf(rapid.Float64Range(-760, 720), rapid.Float64Range(-1, 1), rapid.Float64Range(-746, -707),
		rapid.Float64Range(709, 710), small)
}

func TestDirectedExp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := exponents().Draw(t, "x")
		bounds(t, x, exact.ExpDown(x), exact.ExpUp(x), bigExp(x))
		bounds(t, x, exact.Expm1Down(x), exact.Expm1Up(x), bigExpm1(x))
	})
}

func TestDirectedLog(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		near1 := rapid.Map(exponents(), func(x float64) float64 { return 1 + x/4096 })
		x := math.Abs(rapid.OneOf(floats(), near1).Draw(t, "x"))
		if x == 0 {
			return
		}
		bounds(t, x, exact.LogDown(x), exact.LogUp(x), bigLog(x))
	})
}

func TestDirectedFunctionsEnds(t *testing.T) {
	inf := math.Inf(1)
	for name, pair := range map[string][2]float64{
		"exp 0 up":          {exact.ExpUp(0), 1},
		"exp 0 down":        {exact.ExpDown(0), 1},
		"exp −inf up":       {exact.ExpUp(-inf), 0},
		"exp inf down":      {exact.ExpDown(inf), inf},
		"exp −1e9 down":     {exact.ExpDown(-1e9), 0},
		"exp 1e9 up":        {exact.ExpUp(1e9), inf},
		"expm1 −inf up":     {exact.Expm1Up(-inf), -1},
		"expm1 −1e9 down":   {exact.Expm1Down(-1e9), -1},
		"log 1 up":          {exact.LogUp(1), 0},
		"log 0 down":        {exact.LogDown(0), -inf},
		"log inf down":      {exact.LogDown(inf), inf},
		"expm1 0 up":        {exact.Expm1Up(0), 0},
		"expm1 inf down":    {exact.Expm1Down(inf), inf},
		"log of max is 709": {math.Floor(exact.LogUp(math.MaxFloat64)), 709},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: got %g, want %g", name, pair[0], pair[1])
		}
	}
	if exact.ExpUp(-1e9) <= 0 {
		t.Error("an upper bound of e^−1e9 is positive")
	}
	if down := exact.ExpDown(1e9); down < math.MaxFloat64*(1-0x1p-49) || math.IsInf(down, 1) {
		t.Errorf("a lower bound of e^1e9 is %g", down)
	}
	if !math.IsNaN(exact.LogUp(-1)) || !math.IsNaN(exact.ExpUp(math.NaN())) || !math.IsNaN(exact.LogDown(math.NaN())) {
		t.Error("NaN")
	}
}
