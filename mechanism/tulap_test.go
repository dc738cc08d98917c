package mechanism

import (
	"errors"
	"math/big"
	"testing"

	"dither/internal/stattest"
	"dither/mechanism/internal/mechtest"
)

func TestTulapMeasures(t *testing.T) {
	m := Tulap{Epsilon: mechtest.Epsilon(t, "1/2"), Delta: mechtest.Delta(t, "1/10")}
	sampled, dist := make([]float64, 300), func(float64) float64 { return 0 }
	for i := range sampled {
		out, err := m.Measure(mechtest.Exacts(-7)[0])
		if err != nil {
			t.Fatal(err)
		}
		if r, d := out.Loss.ZCDP(); r.String() != "0.125" || d.String() != "0.1" || out.Epsilon.Cmp(m.Epsilon) != 0 ||
			out.Delta.Cmp(m.Delta) != 0 {
			t.Fatalf("loss %s", out.Loss)
		}
		dist = out.Noise.CDF
		sampled[i], _ = out.Value.Add(out.Value, big.NewRat(7, 1)).Float64()
	}
	if err := (stattest.Kolmogorov{Sample: sampled, CDF: dist, FalseAlarm: mechtest.FalseAlarm}).Check(); err != nil {
		t.Error(err)
	}
	pure, err := Tulap{Epsilon: m.Epsilon}.Measure(Exact{})
	if e, ok := pure.Loss.Pure(); err != nil || !ok || e.Cmp(m.Epsilon) != 0 {
		t.Errorf("at a δ of 0: %s, %v", pure.Loss, err)
	}
}

func TestTulapRefuses(t *testing.T) {
	e := mechtest.Epsilon(t, "1")
	for name, m := range map[string]Tulap{
		"zero": {}, "δ 1": {e, mechtest.Delta(t, "1")},
		"ε large": {Epsilon: mechtest.Epsilon(t, "1001")},
	} {
		if _, err := m.Measure(Exact{}); !errors.Is(err, ErrParameter) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
