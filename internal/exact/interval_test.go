package exact_test

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"dither/internal/exact"
)

func rationals() *rapid.Generator[*big.Rat] {
	return rapid.Custom(func(t *rapid.T) *big.Rat {
		r := big.NewRat(rapid.Int64().Draw(t, "n"), rapid.Int64Range(1, math.MaxInt64).Draw(t, "d"))
		return r.Mul(r, exact.DecimalStep(rapid.IntRange(-40, 40).Draw(t, "places")))
	})
}

// holds checks lo ≤ r ≤ hi, and that the interval is narrow beside its larger end.
func holds(t *rapid.T, what string, x exact.Interval, r *big.Float, bits int) {
	t.Helper()
	if x.Lo().Cmp(r) > 0 || x.Hi().Cmp(r) < 0 {
		t.Fatalf("%s: [%v, %v] does not hold %v", what, x.Lo(), x.Hi(), r)
	}
	if size := max(x.Lo().MantExp(nil), x.Hi().MantExp(nil)); x.Width().Sign() > 0 &&
		x.Width().MantExp(nil) > size-bits {
		t.Fatalf("%s: [%v, %v] is too wide", what, x.Lo(), x.Hi())
	}
}

func TestIntervalArithmetic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rationals().Draw(t, "a"), rationals().Draw(t, "b")
		bits := uint(rapid.IntRange(20, 150).Draw(t, "bits"))
		x, y := exact.IntervalOf(a, bits), exact.IntervalOf(b, bits)
		exactly := func(r *big.Rat) *big.Float { return new(big.Float).SetPrec(1000).SetRat(r) }
		within := func(what string, z exact.Interval, r *big.Rat) {
			if lo, _ := z.Lo().Rat(nil); lo.Cmp(r) > 0 {
				t.Fatalf("%s: %v is above %s", what, z.Lo(), r)
			}
			if hi, _ := z.Hi().Rat(nil); hi.Cmp(r) < 0 {
				t.Fatalf("%s: %v is below %s", what, z.Hi(), r)
			}
		}
		holds(t, "a", x, exactly(a), int(bits)-3)
		within("+", x.Add(y), new(big.Rat).Add(a, b))
		within("−", x.Sub(y), new(big.Rat).Sub(a, b))
		within("·", x.Mul(y), new(big.Rat).Mul(a, b))
		// Wide operands of any sign: every pair of ends must be held.
		wide, other := x.Sub(y.Mul(x)), y.Add(exact.IntervalOf(big.NewRat(1, 3), 10))
		for _, p := range []*big.Float{wide.Lo(), wide.Hi()} {
			for _, q := range []*big.Float{other.Lo(), other.Hi()} {
				m, _ := p.Rat(nil)
				n, _ := q.Rat(nil)
				within("wide ·", wide.Mul(other), new(big.Rat).Mul(m, n))
				if other.Lo().Sign() > 0 || other.Hi().Sign() < 0 {
					within("wide /", wide.Quo(other), new(big.Rat).Quo(m, n))
				}
			}
		}
	})
}

// TestIntervalLog1p compares with the reference over sizes of ±300 decimal orders, at several precisions.
func TestIntervalLog1p(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := math.Ldexp(rapid.Float64Range(0.5, 2).Draw(t, "m"), rapid.IntRange(-250, 1000).Draw(t, "e"))
		bits := rapid.IntRange(30, 120).Draw(t, "bits")
		got := exact.PointOf(big.NewFloat(x), uint(max(bits, 53))).Log1p()
		want := bigLog(x)
		switch { // the reference takes floats: beside 1 + x it takes the three terms that matter
		case x < 0x1p-60:
			y := wide().SetFloat64(x)
			square := wide().Mul(y, y)
			want = wide().Sub(y, wide().Quo(square, wide().SetInt64(2)))
			want.Add(want, wide().Quo(square.Mul(square, y), wide().SetInt64(3)))
		case x < 0x1p60:
			want = bigLogOf(wide().Add(wide().SetFloat64(x), wide().SetInt64(1)))
		}
		if x >= 0x1p60 {
			want.Add(want, wide().Quo(wide().SetInt64(1), wide().SetFloat64(x)))
		}
		holds(t, "ln(1+x)", got, want, bits-12)
	})
	zero := exact.PointOf(new(big.Float), 60).Log1p()
	if zero.Lo().Sign() != 0 || zero.Hi().Sign() != 0 {
		t.Errorf("ln 1 is in [%v, %v]", zero.Lo(), zero.Hi())
	}
}

func TestIntervalExp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.OneOf(rapid.Float64Range(-9000, 9000), rapid.Float64Range(-1, 1), rapid.Just(0.)).Draw(t, "x")
		bits := rapid.IntRange(60, 150).Draw(t, "bits")
		holds(t, "eˣ", exact.PointOf(big.NewFloat(x), uint(bits)).Exp(), bigExp(x), bits-12)
	})
}

func TestIntervalPanics(t *testing.T) {
	point := func(x float64) exact.Interval { return exact.PointOf(big.NewFloat(x), 53) }
	for name, do := range map[string]func(){
		"1/0":         func() { point(1).Quo(point(1).Sub(point(1))) },
		"ln of −1":    func() { point(-2).Log1p() },
		"exp of 2^21": func() { point(1 << 21).Exp() },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s did not panic", name)
				}
			}()
			do()
		}()
	}
}

func TestDecimalGrid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, places := rationals().Draw(t, "r"), rapid.IntRange(-30, 60).Draw(t, "places")
		down, up, step := exact.FloorDecimal(r, places), exact.CeilDecimal(r, places), exact.DecimalStep(places)
		if down.Cmp(r) > 0 || up.Cmp(r) < 0 || !new(big.Rat).Quo(down, step).IsInt() ||
			!new(big.Rat).Quo(up, step).IsInt() {
			t.Fatalf("%s is not between the multiples %s and %s of %s", r, down, up, step)
		}
		if gap := new(big.Rat).Sub(up, down); gap.Sign() != 0 && gap.Cmp(step) != 0 {
			t.Fatalf("%s and %s are not neighbours", down, up)
		}
	})
}
