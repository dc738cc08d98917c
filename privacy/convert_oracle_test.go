package privacy_test

import (
	"bufio"
	"math"
	"math/big"
	"os"
	"strings"
	"testing"

	"dither/privacy"
)

// TestConversionVectors are the values that the project promises, to their last digit.
func TestConversionVectors(t *testing.T) {
	for _, c := range []struct{ rho, delta, epsilon string }{
		{"0.1", "1e-6", "2.141938928385"},
		{"0.5", "1e-5", "4.728386984943"},
	} {
		e, err := rho(t, c.rho).EpsilonAt(delta(t, c.delta))
		if got := e.Rat().FloatString(12); err != nil || got != c.epsilon {
			t.Errorf("ρ = %s at δ = %s: ε = %s, %v; want %s", c.rho, c.delta, got, err, c.epsilon)
		}
	}
	r, err := privacy.RhoFor(epsilon(t, "1"), delta(t, "1e-6"))
	if got := r.Rat().FloatString(13); err != nil || got != "0.0243559703595" {
		t.Errorf("ε = 1 at δ = 1e-6: ρ = %s, %v", got, err)
	}
	if got := r.Pure().Rat().FloatString(4); got != "0.2207" {
		t.Errorf("√(2ρ) = %s", got)
	}
}

// over is (a − b)/b.
func over(a, b *big.Rat) float64 {
	d := new(big.Rat).Sub(a, b)
	f, _ := d.Quo(d, b).Float64()
	return f
}

// TestConversionsAgainstMPMath compares with testdata/zcdp.py, which minimises the theorem's own expression: never
// below it, and above it by rounding alone.
func TestConversionsAgainstMPMath(t *testing.T) {
	file, err := os.Open("testdata/zcdp.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	n := 0
	for ; lines.Scan(); n++ {
		f := strings.Split(lines.Text(), "\t")
		want, ok := new(big.Rat).SetString(f[3])
		if !ok {
			t.Fatal(f)
		}
		switch r := rho(t, f[1]); f[0] {
		case "epsilon":
			d := ratDelta(t, f[2])
			e, err := r.EpsilonAt(d)
			if err != nil {
				t.Fatal(f, err)
			}
			if want.Sign() == 0 {
				if !e.IsZero() {
					t.Errorf("%v: ε = %s", f, e)
				}
				continue
			}
			if x := over(e.Rat(), want); x < -1e-28 || x > 2e-16 {
				t.Errorf("%v: ε = %s, off by %g", f, e, x)
			}
			back, err := privacy.RhoFor(epsilonRat(t, want), d)
			if x := over(back.Rat(), r.Rat()); err != nil || x > 1e-20 || x < -3e-15 {
				t.Errorf("%v: back to ρ = %s, %v, off by %g", f, back, err, x)
			}
		case "lndelta":
			e := privacy.Epsilon{}
			if f[2] != "0" {
				e = epsilonRat(t, mustRat(t, f[2]))
			}
			d := r.DeltaAt(e)
			ln, _ := want.Float64()
			switch got := lnRat(d.Rat()); {
			case ln < -1000*math.Ln10:
				if d.Rat().Cmp(mustRat(t, "1e-1000")) != 0 {
					t.Errorf("%v: δ = %s", f, d)
				}
			case math.Abs(got-min(ln, 0)) > 1e-12*max(1, -ln):
				t.Errorf("%v: δ = %s, ln δ = %g", f, d, got)
			}
		}
	}
	if n != 182 {
		t.Errorf("%d vectors", n)
	}
}

func mustRat(t testing.TB, text string) *big.Rat {
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		t.Fatal(text)
	}
	return r
}

func ratDelta(t testing.TB, text string) privacy.Delta {
	d, err := privacy.DeltaOf(mustRat(t, text))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func epsilonRat(t testing.TB, r *big.Rat) privacy.Epsilon {
	e, err := privacy.EpsilonOf(r)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func lnRat(r *big.Rat) float64 {
	mantissa := new(big.Float)
	exponent := new(big.Float).SetPrec(80).SetRat(r).MantExp(mantissa)
	f, _ := mantissa.Float64()
	return math.Log(f) + float64(exponent)*math.Ln2
}
