package exact_test

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"dither/internal/exact"
)

// floats draws finite floats from the whole range: any bits, ordinary sizes, and the neighbourhoods of 0, 1 and
// overflow.
func floats() *rapid.Generator[float64] {
	anyBits := rapid.Map(rapid.Uint64(), func(b uint64) float64 {
		f := math.Float64frombits(b)
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return math.Float64frombits(b &^ (1 << 62))
		}
		return f
	})
	ends := rapid.SampledFrom([]float64{
		0, 1, -1, math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64,
		0x1p-1022, 1 + 0x1p-52, 1 - 0x1p-53, 3, 0.1, 0x1p-969,
	})
	return rapid.OneOf(anyBits, rapid.Float64Range(-1e3, 1e3), ends)
}

// encloses checks down ≤ real ≤ up, that the two are at most two floats apart, and that an exact result of ordinary
// operands is not widened.
func encloses(t *rapid.T, down, up float64, r *big.Rat, ordinary bool) {
	t.Helper()
	if exact.FloatUp(r) > up || exact.FloatDown(r) < down {
		t.Fatalf("[%g, %g] does not enclose %s", down, up, r.FloatString(30))
	}
	if next := math.Nextafter(math.Nextafter(down, math.Inf(1)), math.Inf(1)); up > next {
		t.Fatalf("[%g, %g] is wider than two floats", down, up)
	}
	if nearest, is := r.Float64(); is && ordinary && (down != nearest || up != nearest) {
		t.Fatalf("[%g, %g] widens the exact %g", down, up, nearest)
	}
}

func rat(f float64) *big.Rat { return new(big.Rat).SetFloat64(f) }

func TestDirectedArithmetic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := floats().Draw(t, "a"), floats().Draw(t, "b")
		ordinary := math.Abs(math.Log2(math.Abs(a))) < 400 && math.Abs(math.Log2(math.Abs(b))) < 400
		encloses(t, exact.AddDown(a, b), exact.AddUp(a, b), new(big.Rat).Add(rat(a), rat(b)), ordinary)
		encloses(t, exact.SubDown(a, b), exact.SubUp(a, b), new(big.Rat).Sub(rat(a), rat(b)), ordinary)
		encloses(t, exact.MulDown(a, b), exact.MulUp(a, b), new(big.Rat).Mul(rat(a), rat(b)), ordinary)
		if b != 0 {
			encloses(t, exact.DivDown(a, b), exact.DivUp(a, b), new(big.Rat).Quo(rat(a), rat(b)), ordinary)
		}
	})
}

func TestDirectedArithmeticEnds(t *testing.T) {
	inf, most := math.Inf(1), math.MaxFloat64
	for name, pair := range map[string][2]float64{
		"max+max down":   {exact.AddDown(most, most), most},
		"max+max up":     {exact.AddUp(most, most), inf},
		"−max−max up":    {exact.SubUp(-most, most), -most},
		"max·2 down":     {exact.MulDown(most, 2), most},
		"max·−2 down":    {exact.MulDown(most, -2), -inf},
		"max/.5 down":    {exact.DivDown(most, .5), most},
		"inf+1 down":     {exact.AddDown(inf, 1), inf},
		"inf·2 down":     {exact.MulDown(inf, 2), inf},
		"1/inf up":       {exact.DivUp(1, inf), 0},
		"1/0 down":       {exact.DivDown(1, 0), inf},
		"least·.5 up":    {exact.MulUp(5e-324, .5), 5e-324},
		"least·.5 down":  {exact.MulDown(5e-324, .5), 0},
		"0·max up":       {exact.MulUp(0, most), 0},
		"1e16+1 up":      {exact.AddUp(0x1p53, 1), 0x1p53 + 2},
		"1e16+1 down":    {exact.AddDown(0x1p53, 1), 0x1p53},
		"one third up":   {exact.DivUp(1, 3), math.Nextafter(1./3, 1)},
		"one third down": {exact.DivDown(1, 3), 1. / 3},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: got %g, want %g", name, pair[0], pair[1])
		}
	}
	for _, f := range []float64{
		exact.AddUp(inf, -inf), exact.MulUp(inf, 0), exact.DivUp(0, 0),
		exact.AddDown(math.NaN(), 1),
	} {
		if !math.IsNaN(f) {
			t.Errorf("got %g, want NaN", f)
		}
	}
}

func TestFloatOfRat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := new(big.Rat).Mul(rat(floats().Draw(t, "a")),
			big.NewRat(rapid.Int64Range(1, 1<<40).Draw(t, "n"), rapid.Int64Range(1, 1<<40).Draw(t, "d")))
		down, up := exact.FloatDown(r), exact.FloatUp(r)
		if !math.IsInf(down, -1) && rat(down).Cmp(r) > 0 || !math.IsInf(up, 1) && rat(up).Cmp(r) < 0 {
			t.Fatalf("[%g, %g] does not enclose %s", down, up, r)
		}
		if up != down && up != math.Nextafter(down, math.Inf(1)) {
			t.Fatalf("[%g, %g] is not the tightest", down, up)
		}
	})
	huge := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 1024))
	tiny := new(big.Rat).Inv(new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 3000)))
	if exact.FloatDown(huge) != math.MaxFloat64 || exact.FloatUp(huge) != math.Inf(1) ||
		exact.FloatUp(huge.Neg(huge)) != -math.MaxFloat64 {
		t.Error("beyond the floats")
	}
	if exact.FloatDown(tiny) != 0 || exact.FloatUp(tiny) != math.SmallestNonzeroFloat64 ||
		exact.FloatUp(tiny.Neg(tiny)) != 0 {
		t.Error("below the floats")
	}
}

func TestFloorCeil(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := big.NewRat(rapid.Int64().Draw(t, "n"), rapid.Int64Range(1, 1000).Draw(t, "d"))
		floor, ceil := exact.FloorRat(r), exact.CeilRat(r)
		width := int64(1)
		if r.IsInt() {
			width = 0
		}
		if new(big.Rat).SetInt(floor).Cmp(r) > 0 || new(big.Rat).SetInt(ceil).Cmp(r) < 0 ||
			new(big.Int).Sub(ceil, floor).Int64() != width {
			t.Fatalf("%s is between %s and %s", r, floor, ceil)
		}
	})
}
