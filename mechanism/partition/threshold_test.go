package partition

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"dither/internal/stattest"
	"dither/mechanism"
	"dither/mechanism/internal/mechtest"
	"dither/mechanism/internal/parameter"
	"dither/noise"
	"dither/privacy"
)

// thresholdLaw is the law of one partition: P(dropped), and P(value), over what floats can tell. n < 0 is a partition
// that is not there.
func thresholdLaw(dist noise.Distribution, threshold, n int64) map[string]float64 {
	if n < 0 {
		return map[string]float64{"": 1}
	}
	law := map[string]float64{"": dist.CDF(big.NewInt(threshold - n))}
	reach := dist.Quantile(1e-18).Int64()
	for y := max(threshold+1, n-reach); y <= n+reach; y++ {
		law[big.NewInt(y).String()] = dist.Mass(big.NewInt(y - n))
	}
	return law
}

// pairLaw is that of two independent partitions.
func pairLaw(a, b map[string]float64) map[string]float64 {
	law := map[string]float64{}
	for x, p := range a {
		for y, q := range b {
			law[x+","+y] += p * q
		}
	}
	return law
}

func leastDelta(epsilon float64, p, q map[string]float64) float64 {
	delta := 0.0
	for y, mass := range p {
		delta += max(0, mass-math.Exp(epsilon)*q[y])
	}
	return delta
}

func thresholdLaplace(t testing.TB, epsilon, delta string, sensitivity, perCell, keys, least int64) ThresholdLaplace {
	t.Helper()
	return ThresholdLaplace{
		mechanism.Laplace{Sensitivity: big.NewInt(sensitivity), Epsilon: mechtest.Epsilon(t, epsilon)},
		Threshold{MaxPerCell: big.NewInt(perCell), Keys: keys, Delta: mechtest.Delta(t, delta), MinUnits: least},
	}
}

// TestThresholdLaplaceIsPrivate enumerates what one unit in up to two partitions may do, by sums over all outputs: the
// least δ at ε is at most Delta, and a threshold of one less would give more.
func TestThresholdLaplaceIsPrivate(t *testing.T) {
	for _, c := range []struct {
		epsilon, delta string
		perCell        int64
	}{{"1", "0.01", 1}, {"1/2", "0.001", 1}, {"2", "0.05", 3}, {"4", "0.000001", 1}} {
		one := thresholdLaplace(t, c.epsilon, c.delta, c.perCell, c.perCell, 1, 0)
		e, _ := one.Epsilon.Rat().Float64()
		delta, _ := one.Delta.Rat().Float64()
		_, dist, err := one.noisy()
		if err != nil {
			t.Fatal(err)
		}
		at, err := one.At()
		if err != nil {
			t.Fatal(err)
		}
		tau, worst := at.Int64(), 0.0
		for n := int64(-1); n <= 2*tau; n++ {
			for more := int64(1); more <= c.perCell; more++ {
				p, q := thresholdLaw(dist, tau, n), thresholdLaw(dist, tau, max(n, 0)+more)
				worst = max(worst, leastDelta(e, p, q), leastDelta(e, q, p))
			}
		}
		if worst > delta*(1+1e-9) {
			t.Errorf("%v: τ = %d: the least δ is %g", c, tau, worst)
		}
		if less := leastDelta(e, thresholdLaw(dist, tau-1, c.perCell), thresholdLaw(dist, tau-1, -1)); less <= delta {
			t.Errorf("%v: τ = %d would do: %g", c, tau-1, less)
		}

		two := thresholdLaplace(t, c.epsilon, c.delta, 2*c.perCell, c.perCell, 2, 0)
		_, dist, err = two.noisy()
		if err != nil {
			t.Fatal(err)
		}
		if at, err = two.At(); err != nil {
			t.Fatal(err)
		}
		tau = at.Int64()
		absent, alone, common, more := thresholdLaw(dist, tau, -1), thresholdLaw(dist, tau, c.perCell),
			thresholdLaw(dist, tau, tau), thresholdLaw(dist, tau, tau+c.perCell)
		for name, pair := range map[string][2]map[string]float64{
			"two of its own":          {pairLaw(alone, alone), pairLaw(absent, absent)},
			"one of its own":          {pairLaw(alone, more), pairLaw(absent, common)},
			"none":                    {pairLaw(more, more), pairLaw(common, common)},
			"one of its own, removed": {pairLaw(alone, common), pairLaw(absent, more)}, // by a change of one
		} {
			if d := max(leastDelta(e, pair[0], pair[1]), leastDelta(e, pair[1], pair[0])); d > delta*(1+1e-9) {
				t.Errorf("%v: %s: the least δ is %g", c, name, d)
			}
		}
	}
}

// released is the law of what is dropped and what is not: all that there is to tell of a partition that one neighbour
// alone has, since the other gives none of its values.
func released(law map[string]float64) map[string]float64 {
	out := map[string]float64{}
	for y, p := range law {
		if y != "" {
			y = "released"
		}
		out[y] += p
	}
	return out
}

// TestThresholdPaysOneDeltaForAChange enumerates neighbours that are alike but for one unit of each, both of which have
// keys of their own: the least δ at ε is at most Delta, not twice that, in either direction; and it is beyond
// Delta/3, so that the cases tell something.
func TestThresholdPaysOneDeltaForAChange(t *testing.T) {
	for _, c := range []struct {
		epsilon, delta string
		perCell        int64
	}{{"1", "0.01", 1}, {"2", "0.1", 2}, {"4", "0.000001", 1}, {"1/2", "0.45", 1}} {
		for keys := int64(1); keys <= 2; keys++ {
			m := thresholdLaplace(t, c.epsilon, c.delta, 2*keys*c.perCell, c.perCell, keys, 0)
			e, _ := m.Epsilon.Rat().Float64()
			delta, _ := m.Delta.Rat().Float64()
			_, dist, err := m.noisy()
			if err != nil {
				t.Fatal(err)
			}
			at, err := m.At()
			if err != nil {
				t.Fatal(err)
			}
			tau := at.Int64()
			absent, alone := thresholdLaw(dist, tau, -1), released(thresholdLaw(dist, tau, c.perCell))
			mine, theirs := pairLaw(alone, absent), pairLaw(absent, alone) // a key of each
			worst := max(leastDelta(e, mine, theirs), leastDelta(e, theirs, mine))
			if keys == 2 {
				twice, none := pairLaw(alone, alone), pairLaw(absent, absent)
				for n := int64(0); n <= tau+2; n++ {
					// the second key of each unit is one that both have: the same, or two
					common, more := thresholdLaw(dist, tau, n), thresholdLaw(dist, tau, n+c.perCell)
					for _, pair := range [][2]map[string]float64{
						{pairLaw(mine, more), pairLaw(theirs, more)},
						{pairLaw(mine, released(more)), pairLaw(theirs, released(common))},
						{pairLaw(pairLaw(alone, absent), pairLaw(released(more), released(common))), pairLaw(pairLaw(absent, alone), pairLaw(released(common), released(more)))},
						// two of one, one of the other
						{pairLaw(pairLaw(twice, absent), more), pairLaw(pairLaw(none, alone), common)},
						{pairLaw(twice, none), pairLaw(none, twice)},
					} {
						worst = max(worst, leastDelta(e, pair[0], pair[1]), leastDelta(e, pair[1], pair[0]))
					}
				}
			}
			if worst > delta*(1+1e-9) || worst < delta/3 {
				t.Errorf("%v, %d keys: τ = %d: the least δ is %g", c, keys, tau, worst)
			}
		}
	}
}

// TestThresholdNoiseIsNotThatOfTheReleased is why Noise carries a warning: of an exact 4, τ = 7 releases nothing
// within 3, and so an interval that holds nine tenths of the noise holds none of the exact values.
func TestThresholdNoiseIsNotThatOfTheReleased(t *testing.T) {
	m := thresholdLaplace(t, "1", "0.001", 1, 1, 1, 0)
	at, err := m.At()
	if err != nil || at.Int64() != 7 {
		t.Fatalf("τ = %s, %v", at, err)
	}
	values := make([]int64, 20_000)
	for i := range values {
		values[i] = 4
	}
	out, err := m.Measure(grouped(mechtest.Exacts(values...)...))
	if err != nil || len(out.Kept) == 0 {
		t.Fatalf("%d released, %v", len(out.Kept), err)
	}
	k := out.Noise.Quantile(0.1)
	for _, p := range out.Kept {
		if off := new(big.Int).Sub(p.Value, big.NewInt(4)); off.Cmp(k) <= 0 {
			t.Errorf("%s is within %s", p.Value, k)
		}
	}
}

// TestThresholdGaussianDrops: with probability at most Delta/Keys a unit's own partition is released, and at one less
// than τ with more.
func TestThresholdGaussianDrops(t *testing.T) {
	for _, c := range []struct {
		rho, delta       string
		perCell, keys, k int64
	}{{"0.1", "0.01", 1, 1, 0}, {"0.5", "0.000001", 1, 4, 1}, {"0.02", "0.001", 5, 3, 4}} {
		l2 := big.NewInt(c.keys * c.perCell * c.perCell)
		m := ThresholdGaussian{
			mechanism.Gaussian{L2Squared: l2, Rho: mechtest.Rho(t, c.rho)},
			Threshold{big.NewInt(c.perCell), c.keys, mechtest.Delta(t, c.delta), c.k},
		}
		_, dist, err := m.noisy()
		if err != nil {
			t.Fatal(err)
		}
		at, err := m.At()
		if err != nil {
			t.Fatal(err)
		}
		delta, _ := m.Delta.Rat().Float64()
		// P(kc + X > τ)
		released := func(tau int64) float64 { return dist.CDF(big.NewInt(max(c.k, 1)*c.perCell - tau - 1)) }
		if p := released(at.Int64()) * float64(c.keys); p > delta*(1+1e-9) {
			t.Errorf("%v: τ = %s: %g", c, at, p)
		}
		if p := released(at.Int64()-1) * float64(c.keys); p <= delta {
			t.Errorf("%v: τ = %s is not the least: %g", c, at, p)
		}
		out, err := m.Measure(grouped(mechtest.Exacts(0, at.Int64()*3)...))
		if err != nil || out.Threshold.Cmp(at) != 0 || len(out.Kept) > 0 && out.Kept[0].Value.Cmp(at) <= 0 {
			t.Fatalf("%v, %v", out, err)
		}
		if r, d := out.Loss.ZCDP(); r.Cmp(m.Rho) != 0 || d.Cmp(m.Delta) != 0 {
			t.Errorf("loss %s", out.Loss)
		}
	}
}

func TestThresholdFollowsItsLaw(t *testing.T) {
	m := thresholdLaplace(t, "1/2", "0.05", 1, 1, 1, 3)
	at, err := m.At()
	if err != nil {
		t.Fatal(err)
	}
	_, dist, err := m.noisy()
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int64{1, at.Int64(), at.Int64() + 3} {
		x := make([]mechanism.Exact, 20_000)
		for i := range x {
			x[i] = mechtest.Exacts(n)[0]
		}
		out, err := m.Measure(grouped(x...))
		if err != nil {
			t.Fatal(err)
		}
		if r, d := out.Loss.ZCDP(); r.String() != "0.125" || d.String() != "0.05" {
			t.Fatalf("loss %s", out.Loss)
		}
		const cells = 60
		observed, expected := make([]int, cells), make([]float64, cells)
		expected[0] = dist.CDF(big.NewInt(at.Int64() - n))
		rest := 1 - expected[0]
		for i := int64(1); i < cells-1; i++ {
			expected[i] = dist.Mass(big.NewInt(at.Int64() + i - n))
			rest -= expected[i]
		}
		expected[cells-1] = max(rest, 0)
		observed[0] = len(x) - len(out.Kept)
		for _, p := range out.Kept {
			i := min(new(big.Int).Sub(p.Value, at).Int64(), cells-1)
			if i <= 0 {
				t.Fatalf("released %s, τ = %s", p.Value, at)
			}
			observed[i]++
		}
		if err := (stattest.ChiSquared{
			Observed: observed, Expected: expected,
			FalseAlarm: mechtest.FalseAlarm,
		}).Check(); err != nil {
			t.Errorf("n = %d, τ = %s: %v", n, at, err)
		}
	}
}

// TestThresholdValues: at ε = 1, Δ = 1, δ = 10⁻⁵, P(X > k) = p^(k+1)/(1 + p) ≤ δ first at k = 11, by p = 1/e;
// beyond one unit that is 12.
func TestThresholdValues(t *testing.T) {
	for least, want := range map[int64]int64{0: 12, 1: 12, 2: 13, 10: 21} {
		m := thresholdLaplace(t, "1", "0.00001", 1, 1, 1, least)
		if at, err := m.At(); err != nil || at.Int64() != want {
			t.Errorf("least %d: τ = %s, %v", least, at, err)
		}
	}
	if at, err := thresholdLaplace(t, "1", "0.6", 1, 1, 1, 0).At(); err != nil || at.Int64() != 1 {
		t.Errorf("δ above ½: τ = %s, %v", at, err)
	}
}

func TestThresholdRefuses(t *testing.T) {
	good := thresholdLaplace(t, "1", "0.1", 10, 1, 1, 1)
	long := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 1200)).RatString()
	third := new(big.Rat).SetFrac(new(big.Int).Lsh(big.NewInt(1), parameter.MaxDeltaBits-1),
		new(big.Int).Add(new(big.Int).Lsh(big.NewInt(1), parameter.MaxDeltaBits+1), big.NewInt(1))).RatString()
	for name, spoil := range map[string]func(m *Threshold){
		"nil": func(m *Threshold) { m.MaxPerCell = nil }, "zero": func(m *Threshold) { m.MaxPerCell = new(big.Int) },
		"negative":                  func(m *Threshold) { m.MaxPerCell = big.NewInt(-1) },
		"more than the sensitivity": func(m *Threshold) { m.MaxPerCell = big.NewInt(11) },
		"no keys":                   func(m *Threshold) { m.Keys = 0 }, "least": func(m *Threshold) { m.MinUnits = -1 },
		"no δ":   func(m *Threshold) { m.Delta = privacy.Delta{} },
		"δ 1":    func(m *Threshold) { m.Delta = mechtest.Delta(t, "1") },
		"δ tiny": func(m *Threshold) { m.Delta = mechtest.Delta(t, long) },
		"δ long": func(m *Threshold) { m.Delta = mechtest.Delta(t, third) },
	} {
		l, g := good, ThresholdGaussian{
			mechanism.Gaussian{L2Squared: big.NewInt(10), Rho: mechtest.Rho(t, "1")},
			good.Threshold,
		}
		spoil(&l.Threshold)
		spoil(&g.Threshold)
		if _, err := l.Measure(grouped(mechtest.Exacts(1)...)); !errors.Is(err, mechanism.ErrParameter) {
			t.Errorf("%s: Laplace: %v", name, err)
		}
		if _, err := g.Measure(grouped(mechtest.Exacts(1)...)); !errors.Is(err, mechanism.ErrParameter) {
			t.Errorf("%s: Gaussian: %v", name, err)
		}
	}
	if _, err := (ThresholdLaplace{}).Measure(nil); !errors.Is(err, mechanism.ErrParameter) {
		t.Errorf("zero: %v", err)
	}
	if _, err := (ThresholdGaussian{}).At(); !errors.Is(err, mechanism.ErrParameter) {
		t.Errorf("zero: %v", err)
	}
	wide := good
	wide.Sensitivity = new(big.Int).Lsh(big.NewInt(1), 4000)
	if _, err := wide.At(); !errors.Is(err, mechanism.ErrParameter) {
		t.Errorf("too wide: %v", err)
	}
	good.MinUnits = math.MaxInt64
	if out, err := good.Measure(grouped(mechtest.Exacts(1, 2)...)); err != nil || len(out.Kept) != 0 {
		t.Errorf("the largest least: %v, %v", out, err)
	}
}
