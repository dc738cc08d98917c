package mechanism

import (
	"errors"
	"math/big"
	"testing"

	"dither/internal/stattest"
	"dither/noise"
	"dither/privacy"
)

func ints(values ...int64) []Exact {
	var out []Exact
	for _, v := range values {
		out = append(out, NewExact(big.NewInt(v)))
	}
	return out
}

func epsilonOf(t testing.TB, text string) privacy.Epsilon {
	t.Helper()
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		t.Fatal(text)
	}
	e, err := privacy.EpsilonOf(r)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func deltaOf(t testing.TB, text string) privacy.Delta {
	t.Helper()
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		t.Fatal(text)
	}
	d, err := privacy.DeltaOf(r)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestStaircaseMeasures(t *testing.T) {
	m := Staircase{Sensitivity: big.NewInt(10), Epsilon: epsilonOf(t, "4")}
	sampled := make([]*big.Int, 400)
	var dist noise.Distribution
	for i := range sampled {
		out, err := m.Measure(ints(1000))
		if err != nil {
			t.Fatal(err)
		}
		if e, pure := out.Loss.Pure(); !pure || e.Cmp(m.Epsilon) != 0 {
			t.Fatalf("loss %s", out.Loss)
		}
		dist = out.Noise
		sampled[i] = out.Values[0].Sub(out.Values[0], big.NewInt(1000))
	}
	if err := (stattest.KolmogorovIntegers{Sample: sampled, CDF: dist.CDF, FalseAlarm: falseAlarm}).Check(); err != nil {
		t.Error(err)
	}
	absolute := dist.(noise.Staircase)
	m.Squared = true
	squared, err := m.Noise()
	if err != nil || squared.Variance() > absolute.Variance() || squared.MeanAbs() < absolute.MeanAbs() {
		t.Errorf("squared: %g beside %g, absolute: %g beside %g, %v", squared.Variance(), absolute.Variance(), squared.MeanAbs(), absolute.MeanAbs(), err)
	}
}

func TestStaircaseRefuses(t *testing.T) {
	one, e := big.NewInt(1), epsilonOf(t, "1")
	for name, c := range map[string]struct {
		m Staircase
		x []Exact
	}{
		"zero":        {Staircase{}, ints(1)},
		"no ε":        {Staircase{Sensitivity: one}, ints(1)},
		"negative":    {Staircase{Sensitivity: big.NewInt(-1), Epsilon: e}, ints(1)},
		"two numbers": {Staircase{Sensitivity: one, Epsilon: e}, ints(1, 2)},
		"no number":   {Staircase{Sensitivity: one, Epsilon: e}, nil},
		"ε large":     {Staircase{Sensitivity: one, Epsilon: epsilonOf(t, "2000")}, ints(1)},
		"Δ large":     {Staircase{Sensitivity: new(big.Int).Lsh(one, 4000), Epsilon: e}, ints(1)},
	} {
		if _, err := c.m.Measure(c.x); !errors.Is(err, ErrParameter) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if out, err := (Staircase{Sensitivity: one, Epsilon: e}).Measure([]Exact{{}}); err != nil || len(out.Values) != 1 {
		t.Errorf("the empty exact value: %v", err)
	}
}
