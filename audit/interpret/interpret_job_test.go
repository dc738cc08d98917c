package interpret_test

import (
	"math"
	"math/big"
	"os"
	"testing"

	"dither/account"
	"dither/audit/interpret"
	"dither/privacy"
)

func phi(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }

// A job's own curve says more than a promise: Gaussian noise of σ = 1, whose figures are those of N(0, 1) and N(k, 1).
func TestJobOfGaussianNoise(t *testing.T) {
	m, err := interpret.MeaningOfJob([]string{"gaussian sigma=1"}, privacy.Delta{}, usual())
	if err != nil {
		t.Fatal(err)
	}
	const z = 1.6448536269514722 // Φ(z) = .95
	for _, c := range []struct {
		reading interpret.Reading
		k       float64
	}{{m.Person, 1}, {m.Values, 2}, {m.Group, 4}} {
		if c.reading.Told {
			t.Error("Gaussian noise promises an ε at δ = 0")
		}
		above(t, "advantage", c.reading.Advantage, 2*phi(c.k/2)-1) // .3829 at k = 1
		gdp, err := account.GDPOf(new(big.Rat).SetFloat64(c.k * c.k))
		if err != nil {
			t.Fatal(err)
		}
		best := phi(c.k - z)
		if p := c.reading.Power; p < best-1e-15 || p > best+1e-7 || p < 1-gdp.TradeOff(.05)-1e-12 {
			t.Errorf("power %.12g, of Gaussian noise %.12g", p, best)
		}
	}
	curve, _, err := jobOf(t, "gaussian sigma=1").LeastDelta(promise(t, "1", "0").Epsilon)
	if err != nil {
		t.Fatal(err)
	}
	above(t, "δ(1)", curve.Value, phi(-.5)-math.E*phi(-1.5)) // .126937
}

func jobOf(t *testing.T, specs ...string) *account.Job {
	t.Helper()
	var steps []account.Step
	for _, spec := range specs {
		s, err := account.ParseStep(spec)
		if err != nil {
			t.Fatal(err)
		}
		steps = append(steps, s)
	}
	j, err := account.NewJob(steps...)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// Laplace noise: δ(0) = 1 − e^−ε/2 [of two Laplace densities], less than the promise's (e^ε−1)/(e^ε+1); the
// group's is 1 − e^−kε/2.
func TestJobOfLaplaceNoise(t *testing.T) {
	if os.Getenv("DITHER_LONG") == "" {
		t.Skip("DITHER_LONG=1 runs it")
	}
	m, err := interpret.MeaningOfJob([]string{"laplace scale=1"}, privacy.Delta{}, usual())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []interpret.Reading{m.Person, m.Values, m.Group} {
		k := float64(r.Steps)
		if best := 1 - math.Exp(-k/2); r.Advantage < best-1e-12 || r.Advantage > best+1e-6 {
			t.Errorf("advantage of %g steps: %.12g, not %.12g", k, r.Advantage, best)
		}
		// The best test of level α says "moved" beyond a threshold: by falling P/Q.
		best := .05 * math.Exp(k)
		if best > .5 {
			best = 1 - math.Exp(-k)/(4*.05)
		}
		if !r.Told || r.Power < best-1e-12 || r.Power > best+1e-5 {
			t.Errorf("power of %g steps: %.12g, not %.12g", k, r.Power, best)
		}
	}
}

// Whatever the job, its readings are no worse than those of what it promises, and grow with the steps; and a group of
// one is one.
func TestJobsOfEveryKind(t *testing.T) {
	delta := promise(t, "1", "1e-6").Delta
	specs := []string{
		"discrete-gaussian sigma=2 sensitivity=3", "randomized-response k=3 epsilon=1", "approx epsilon=1/2 delta=1e-8",
		"renyi order=8 epsilon=1/2", "pure epsilon=1000",
	}
	if os.Getenv("DITHER_LONG") != "" {
		specs = append(specs, "gaussian sigma=3", "discrete-laplace scale=2 sensitivity=3", "exponential epsilon=1/3",
			"pure epsilon=1/7", "zcdp rho=1/3", "gdp mu=.5")
	}
	for _, spec := range specs {
		s := usual()
		m, err := interpret.MeaningOfJob([]string{spec, spec}, delta, s)
		if err != nil {
			t.Fatalf("%s: %v", spec, err)
		}
		if !m.Person.Told {
			t.Errorf("%s: nothing is told", spec)
		}
		promised, err := interpret.MeaningOf(m.Person.Promise, s)
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range []interpret.Reading{m.Person, m.Values, m.Group} {
			p := []interpret.Reading{promised.Person, promised.Values, promised.Group}[i]
			if r.Power > p.Power || r.Advantage > p.Advantage {
				t.Errorf("%s: %+v, but by its promise %+v", spec, r, p)
			}
		}
		if m.Values.Power < m.Person.Power || m.Group.Power < m.Values.Power || m.Group.Advantage < m.Values.Advantage {
			t.Errorf("%s: a group is safer than one: %+v", spec, m)
		}
		s.Group = 1
		if m, err = interpret.MeaningOfJob([]string{spec}, delta, s); err != nil || m.Group.Steps != 1 ||
			m.Group.Power != m.Person.Power {
			t.Errorf("%s: a group of one is %+v, %v", spec, m.Group, err)
		}
	}
}
