package mechanism

import (
	"errors"
	"math/big"
	"testing"

	"dither/internal/stattest"
	"dither/mechanism/internal/mechtest"
	"dither/noise"
)

func TestStaircaseMeasures(t *testing.T) {
	m := Staircase{Sensitivity: big.NewInt(10), Epsilon: mechtest.Epsilon(t, "4")}
	sampled := make([]*big.Int, 400)
	var dist noise.Distribution
	for i := range sampled {
		out, err := m.Measure(mechtest.Exacts(1000))
		if err != nil {
			t.Fatal(err)
		}
		if e, pure := out.Loss.Pure(); !pure || e.Cmp(m.Epsilon) != 0 {
			t.Fatalf("loss %s", out.Loss)
		}
		dist = out.Noise
		sampled[i] = out.Values[0].Sub(out.Values[0], big.NewInt(1000))
	}
	if err := (stattest.KolmogorovIntegers{
		Sample: sampled, CDF: dist.CDF,
		FalseAlarm: mechtest.FalseAlarm,
	}).Check(); err != nil {
		t.Error(err)
	}
	absolute := dist.(noise.Staircase)
	m.Squared = true
	squared, err := m.Noise()
	if err != nil || squared.Variance() > absolute.Variance() || squared.MeanAbs() < absolute.MeanAbs() {
		t.Errorf("squared: %g beside %g, absolute: %g beside %g, %v",
			squared.Variance(), absolute.Variance(), squared.MeanAbs(), absolute.MeanAbs(), err)
	}
}

func TestStaircaseRefuses(t *testing.T) {
	one, e := big.NewInt(1), mechtest.Epsilon(t, "1")
	for name, c := range map[string]struct {
		m Staircase
		x []Exact
	}{
		"zero":        {Staircase{}, mechtest.Exacts(1)},
		"no ε":        {Staircase{Sensitivity: one}, mechtest.Exacts(1)},
		"negative":    {Staircase{Sensitivity: big.NewInt(-1), Epsilon: e}, mechtest.Exacts(1)},
		"two numbers": {Staircase{Sensitivity: one, Epsilon: e}, mechtest.Exacts(1, 2)},
		"no number":   {Staircase{Sensitivity: one, Epsilon: e}, nil},
		"ε large":     {Staircase{Sensitivity: one, Epsilon: mechtest.Epsilon(t, "2000")}, mechtest.Exacts(1)},
		"Δ large":     {Staircase{Sensitivity: new(big.Int).Lsh(one, 4000), Epsilon: e}, mechtest.Exacts(1)},
	} {
		if _, err := c.m.Measure(c.x); !errors.Is(err, ErrParameter) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if out, err := (Staircase{Sensitivity: one, Epsilon: e}).Measure([]Exact{{}}); err != nil || len(out.Values) != 1 {
		t.Errorf("the empty exact value: %v", err)
	}
}
