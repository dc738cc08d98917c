package account_test

import (
	"errors"
	"math"
	"testing"

	"dither/account"
	"dither/privacy"
)

func shuffle(t testing.TB, n int64, local string) *account.Shuffle {
	t.Helper()
	s, err := account.NewShuffle(n, promise(t, local, "0").Epsilon)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func float(e privacy.Epsilon) float64 {
	f, _ := e.Rat().Float64()
	return f
}

// clonesDelta enumerates the two counts of the theorem, for few people.
func clonesDelta(n int, local, epsilon float64) float64 {
	own, clone := 1/(1+math.Exp(-local)), math.Exp(-local)
	mass := func(k, j int, p float64) float64 {
		a, _ := math.Lgamma(float64(k + 1))
		b, _ := math.Lgamma(float64(j + 1))
		c, _ := math.Lgamma(float64(k - j + 1))
		return math.Exp(a-b-c) * math.Pow(p, float64(j)) * math.Pow(1-p, float64(k-j))
	}
	total := 0.0
	for c := range n {
		p, q := make([]float64, c+2), make([]float64, c+2)
		for a := range c + 1 {
			p[a+1] += mass(c, a, 0.5) * own
			p[a] += mass(c, a, 0.5) * (1 - own)
			q[a] += mass(c, a, 0.5) * own
			q[a+1] += mass(c, a, 0.5) * (1 - own)
		}
		for a := range p {
			total += mass(n-1, c, clone) * max(0, p[a]-math.Exp(epsilon)*q[a])
		}
	}
	return total
}

func TestShuffleIsTheClones(t *testing.T) {
	for _, n := range []int64{1, 2, 10, 57} {
		for _, local := range []string{"0.001", "0.5", "1", "2", "7"} {
			for _, at := range []string{"0", "0.0003", "0.1", "0.5", "1.5"} {
				want := clonesDelta(int(n), float(promise(t, local, "0").Epsilon), float(promise(t, at, "0").Epsilon))
				lower, upper := shuffle(t, n, local).Delta(promise(t, at, "0").Epsilon)
				if !(lower <= upper) || upper-lower > 1e-14*upper || math.Abs(upper-want) > 1e-11*want+1e-15 {
					t.Errorf("%d reports at %s: δ(%s) is in [%.17g, %.17g], want %.15g",
						n, local, at, lower, upper, want)
				}
			}
		}
	}
}

// The closed form bounds the same clones, so it is above; and at ε the clones' δ is what was asked for.
func TestShuffleEpsilon(t *testing.T) {
	for _, c := range []struct {
		n     int64
		local string
		delta string
		form  float64 // the formula, in floats
	}{
		{1000, "0.5", "1e-6", 0.27263760920041027},
		{10_000, "1", "1e-6", 0.21402565193083782},
	} {
		if c.n > 1000 && !long {
			continue
		}
		s, d := shuffle(t, c.n, c.local), promise(t, "0", c.delta).Delta
		form, found := s.ClosedForm(d), s.Epsilon(d)
		if f := float(form); math.Abs(f/c.form-1) > 1e-15 {
			t.Errorf("%v: the closed form is %.17g", c, f)
		}
		_, upper := s.Delta(found)
		want, _ := d.Rat().Float64()
		if found.Cmp(form) >= 0 || upper > want || upper < want*(1-1e-3) {
			t.Errorf("%v: the clones give %s, where δ is at most %g", c, found, upper)
		}
	}
	// Too few people for the closed form, or no δ: the local promise stands.
	for _, n := range []int64{1, 100} {
		s := shuffle(t, n, "1")
		if e := s.ClosedForm(promise(t, "0", "1e-6").Delta); e.String() != "1" {
			t.Errorf("%d reports: %s", n, e)
		}
		if e := s.Epsilon(privacy.Delta{}); e.String() != "1" {
			t.Errorf("%d reports without a δ: %s", n, e)
		}
	}
	if e := shuffle(t, 100, "1").Epsilon(promise(t, "0", "0.9").Delta); !e.IsZero() {
		t.Errorf("at δ = 0.9: %s", e)
	}
	// Many reports are quick.
	lower, upper := shuffle(t, 100_000, "1").Delta(promise(t, "0.02", "0").Epsilon)
	if !(lower > 0 && lower <= upper && upper-lower <= 1e-14*upper && upper < 1e-6) {
		t.Errorf("100,000 reports: [%g, %g]", lower, upper)
	}
	// Extremes end, and are certified still.
	for _, c := range [][2]string{{"1000", "999.5"}, {"1000", "1"}, {"1e-30", "5e-31"}, {"0", "0"}} {
		lower, upper := shuffle(t, 1000, c[0]).Delta(promise(t, c[1], "0").Epsilon)
		if !(0 <= lower && lower <= upper && upper <= 1) {
			t.Errorf("%v: [%g, %g]", c, lower, upper)
		}
	}
	for _, n := range []int64{0, -1, account.MostShuffled + 1} {
		if _, err := account.NewShuffle(n, privacy.Epsilon{}); !errors.Is(err, account.ErrParameter) {
			t.Errorf("%d reports: %v", n, err)
		}
	}
	if _, err := account.NewShuffle(5, promise(t, "1001", "0").Epsilon); !errors.Is(err, account.ErrParameter) {
		t.Errorf("a local ε of 1001: %v", err)
	}
}
