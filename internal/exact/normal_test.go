package exact_test

import (
	"bufio"
	"math"
	"math/big"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dither/internal/exact"
)

// holdsText checks that x, of so many bits, holds the number that text gives to 60 digits, and is narrow beside it.
func holdsText(t *testing.T, what string, x exact.Interval, text string, bits int) {
	t.Helper()
	want, _, err := big.ParseFloat(text, 10, 400, big.ToNearestEven)
	if err != nil {
		t.Fatal(err)
	}
	doubt := new(big.Float).SetMantExp(new(big.Float).Abs(want), -190) // more than the text's own rounding
	if x.Lo().Cmp(new(big.Float).Add(want, doubt)) > 0 || x.Hi().Cmp(new(big.Float).Sub(want, doubt)) < 0 {
		t.Errorf("%s: [%v, %v] does not hold %s", what, x.Lo(), x.Hi(), text)
	}
	if x.Width().Sign() > 0 && x.Width().MantExp(nil) > want.MantExp(nil)-bits {
		t.Errorf("%s: [%v, %v] is too wide at %d bits", what, x.Lo(), x.Hi(), bits)
	}
}

// TestNormalAgainstMPMath compares with testdata/normal.py, in both tails, where the two forms meet, and far out.
func TestNormalAgainstMPMath(t *testing.T) {
	file, err := os.Open("testdata/normal.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	n := 0
	for ; lines.Scan(); n++ {
		f := strings.Split(lines.Text(), "\t")
		r, ok := new(big.Rat).SetString(f[0])
		if !ok {
			t.Fatal(f)
		}
		for _, bits := range []uint{64, 190} {
			x := exact.IntervalOf(r, bits+64) // so that the argument's own width is no matter
			holdsText(t, "R("+f[0]+")", x.Mills(), f[1], min(int(bits), 185))
			holdsText(t, "1−Φ("+f[0]+")", x.NormalTail(), f[2], min(int(bits), 185))
			holdsText(t, "erfc("+f[0]+")", x.Erfc(), f[3], min(int(bits), 185))
			holdsText(t, "Φ(−"+f[0]+")",
				exact.IntervalOf(new(big.Rat).Neg(r), bits+64).NormalCDF(), f[2], min(int(bits), 185))
		}
	}
	if n != 41 {
		t.Errorf("%d vectors", n)
	}
}

// TestNormalLaws are the reflection Φ(x) + Φ(−x) = 1, that a wide argument holds what its ends give, and that
// package math agrees to its own digits.
func TestNormalLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Float64Range(-20, 20).Draw(t, "x")
		w := v + math.Ldexp(1, -rapid.IntRange(0, 60).Draw(t, "width"))
		bits := uint(rapid.IntRange(53, 200).Draw(t, "bits"))
		x, y := exact.PointOf(big.NewFloat(v), bits), exact.PointOf(big.NewFloat(w), bits)
		one := x.NormalTail().Add(x.NormalCDF())
		if one.Lo().Cmp(big.NewFloat(1)) > 0 || one.Hi().Cmp(big.NewFloat(1)) < 0 {
			t.Fatalf("Φ(x) + Φ(−x) is in [%v, %v]", one.Lo(), one.Hi())
		}
		both := exact.Hull(x, y)
		functions := []func(exact.Interval) exact.Interval{
			exact.Interval.Mills, exact.Interval.NormalTail,
			exact.Interval.Erfc, exact.Interval.NormalCDF,
		}
		f := functions[rapid.IntRange(0, 3).Draw(t, "function")]
		whole := f(both)
		for _, at := range []exact.Interval{f(x), f(y)} {
			if whole.Lo().Cmp(at.Lo()) > 0 || whole.Hi().Cmp(at.Hi()) < 0 {
				t.Fatalf("of a hull: [%v, %v] does not hold [%v, %v]", whole.Lo(), whole.Hi(), at.Lo(), at.Hi())
			}
		}
		lower, upper := x.Erfc().Floats()
		if near := math.Erfc(v); lower > near*(1+1e-13) || upper < near*(1-1e-13) {
			t.Fatalf("erfc is in [%g, %g], package math says %g", lower, upper, near)
		}
	})
}

func TestNormalFarOut(t *testing.T) {
	far := exact.PointOf(big.NewFloat(1e300), 64)
	if tail := far.NormalTail(); tail.Lo().Sign() != 0 || tail.Hi().Sign() <= 0 || tail.Hi().MantExp(nil) > -1<<20 {
		t.Errorf("1−Φ(1e300) is in [%v, %v]", tail.Lo(), tail.Hi())
	}
	if below := far.NormalCDF(); below.Hi().Cmp(big.NewFloat(1)) < 0 || below.Lo().Cmp(big.NewFloat(1)) >= 0 {
		t.Errorf("Φ(1e300) is in [%v, %v]", below.Lo(), below.Hi())
	}
	if r := far.Mills(); r.Width().MantExp(nil) > r.Hi().MantExp(nil)-60 {
		t.Errorf("R(1e300) is in [%v, %v]", r.Lo(), r.Hi())
	}
}

func TestSqrt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rationals().Draw(t, "r")
		r.Abs(r)
		bits := uint(rapid.IntRange(10, 150).Draw(t, "bits"))
		x := exact.IntervalOf(r, bits)
		root := x.Sqrt()
		lo, _ := root.Lo().Rat(nil)
		hi, _ := root.Hi().Rat(nil)
		if lo.Mul(lo, lo).Cmp(r) > 0 || hi.Mul(hi, hi).Cmp(r) < 0 {
			t.Fatalf("√%s is not in [%v, %v]", r, root.Lo(), root.Hi())
		}
		if w := root.Width(); w.Sign() > 0 && w.MantExp(nil) > root.Hi().MantExp(nil)-int(bits)+5 {
			t.Fatalf("[%v, %v] is too wide", root.Lo(), root.Hi())
		}
	})
	four := exact.PointOf(big.NewFloat(4), 60).Sqrt()
	if four.Lo().Cmp(big.NewFloat(2)) != 0 || four.Hi().Cmp(big.NewFloat(2)) != 0 {
		t.Errorf("√4 is in [%v, %v]", four.Lo(), four.Hi())
	}
}

// TestPi compares with the digits that everybody knows [OEIS A000796].
func TestPi(t *testing.T) {
	for _, bits := range []uint{20, 64, 190} {
		holdsText(t, "π", exact.Pi(bits),
			"3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862", int(bits)-12)
	}
}

func TestFloats(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.Float64Range(-2, 2).Draw(t, "m")
		x := big.NewFloat(m)
		x = new(big.Float).SetPrec(100).SetMantExp(x, rapid.IntRange(-1200, 1200).Draw(t, "e"))
		x.Add(x, new(big.Float).SetMantExp(x, -70))
		lower, upper := exact.PointOf(x, 100).Floats()
		if lower > upper || math.Nextafter(lower, upper) != upper {
			t.Fatalf("%g and %g are not neighbours", lower, upper)
		}
		if big.NewFloat(lower).Cmp(x) > 0 || big.NewFloat(upper).Cmp(x) < 0 {
			t.Fatalf("%v is not between %g and %g", x, lower, upper)
		}
	})
}

func BenchmarkNormalTail(b *testing.B) {
	for _, at := range []float64{0.5, 4, 30} {
		b.Run(big.NewFloat(at).String(), func(b *testing.B) {
			x := exact.PointOf(big.NewFloat(at), 128)
			for b.Loop() {
				x.NormalTail()
			}
		})
	}
}

func TestIntervalLog(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := math.Ldexp(rapid.Float64Range(0.5, 2).Draw(t, "m"),
			rapid.OneOf(rapid.Just(0), rapid.IntRange(-1000, 1000)).Draw(t, "e"))
		bits := uint(rapid.IntRange(60, 150).Draw(t, "bits"))
		holds(t, "ln", exact.PointOf(big.NewFloat(x), bits).Log(), bigLog(x), int(bits)-20)
	})
}

func TestIntervalExpm1(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := math.Ldexp(rapid.Float64Range(0, 1).Draw(t, "m"), rapid.IntRange(-200, 12).Draw(t, "e"))
		bits := uint(rapid.IntRange(60, 150).Draw(t, "bits"))
		holds(t, "eˣ−1", exact.PointOf(big.NewFloat(x), bits).Expm1(), bigExpm1(x), int(bits)-20)
	})
}
