package mechanism

import (
	"errors"
	"math/big"
	"testing"

	"dither/internal/stattest"
	"dither/mechanism/internal/mechtest"
	"dither/noise"
)

// The released values are the exact ones with noise of the stated distribution, at the stated loss.
func TestCubeMeasures(t *testing.T) {
	m := Cube{Sensitivity: big.NewInt(10), Epsilon: mechtest.Epsilon(t, "4")}
	sampled := make([]*big.Int, 2000)
	var dist noise.Distribution
	for i := range sampled {
		out, err := m.Measure(mechtest.Exacts(7, 1000, -3))
		if err != nil {
			t.Fatal(err)
		}
		if e, pure := out.Loss.Pure(); !pure || e.Cmp(m.Epsilon) != 0 {
			t.Fatalf("loss %s", out.Loss)
		}
		dist = out.Noise
		sampled[i] = out.Values[1].Sub(out.Values[1], big.NewInt(1000))
	}
	if d := dist.(noise.DiscreteCube); d.Dimension() != 3 || d.Scale().Cmp(big.NewRat(5, 2)) != 0 {
		t.Errorf("%s in %d dimensions", d.Scale(), d.Dimension())
	}
	if err := (stattest.KolmogorovIntegers{Sample: sampled, CDF: dist.CDF, FalseAlarm: mechtest.FalseAlarm}).Check(); err != nil {
		t.Error(err)
	}
}

func TestCubeRefuses(t *testing.T) {
	one, e := big.NewInt(1), mechtest.Epsilon(t, "1")
	for name, c := range map[string]struct {
		m Cube
		x []Exact
	}{
		"zero":      {Cube{}, mechtest.Exacts(1)},
		"no ε":      {Cube{Sensitivity: one}, mechtest.Exacts(1)},
		"negative":  {Cube{Sensitivity: big.NewInt(-1), Epsilon: e}, mechtest.Exacts(1)},
		"no number": {Cube{Sensitivity: one, Epsilon: e}, nil},
	} {
		if _, err := c.m.Measure(c.x); !errors.Is(err, ErrParameter) && !errors.Is(err, noise.ErrScale) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
