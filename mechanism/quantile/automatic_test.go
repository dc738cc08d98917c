package quantile

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"dither/internal/stattest"
	"dither/mechanism"
	"dither/mechanism/internal/mechtest"
	"dither/noise"
	"dither/privacy"
)

func TestBins(t *testing.T) {
	for b := -64; b <= 63; b++ {
		for _, x := range []int64{lowest(b), highest(b)} {
			if bin(x) != b {
				t.Errorf("%d is in bin %d, not %d", x, bin(x), b)
			}
		}
		if lowest(b) > highest(b) {
			t.Errorf("bin %d is from %d to %d", b, lowest(b), highest(b))
		}
		if b > -64 && lowest(b) != highest(b-1)+1 {
			t.Errorf("bin %d begins at %d, after %d", b, lowest(b), highest(b-1))
		}
	}
	if lowest(-64) != math.MinInt64 || highest(63) != math.MaxInt64 {
		t.Error("the bins leave out some integers")
	}
}

func TestBoundsSensitivity(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for i := range 12_000 {
		u := relations[i%4]
		a, b := randomNeighbours(r, u)
		m := AutomaticBounds{Domain: Domain{-r.Int64N(70), r.Int64N(70)}, Unit: u}
		x, _ := m.counts(orderedOf(a...))
		y, _ := m.counts(orderedOf(b...))
		countsMove(t, x, y, steps(u), steps(u)*u.MaxRows)
	}
}

// TestBoundsThreshold checks it against the distribution function, which is a float near the real value: it is the
// least by the union bound.
func TestBoundsThreshold(t *testing.T) {
	for _, loss := range []string{"0.01", "1", "20"} {
		e := mechtest.Epsilon(t, loss)
		for _, price := range []privacy.Loss{privacy.PureLoss(e), privacy.ZCDPLoss(e.Rho(), privacy.Delta{})} {
			for _, beta := range []float64{1e-9, 0.01, 0.4} {
				m := AutomaticBounds{goodDomain, mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1}, price, beta}
				out, err := m.Measure(mechanism.Ordered{})
				if err != nil {
					t.Fatal(err)
				}
				bins := float64(len(out.Values))
				reach := func(k int64) float64 { // P(X ≥ threshold + k)
					x := new(big.Int).Add(out.Threshold, big.NewInt(k))
					return out.Noise.CDF(x.Neg(x))
				}
				if reach(0)*bins > beta*(1+1e-9) || reach(-1)*bins < beta*(1-1e-9) && out.Threshold.Int64() > 1 {
					t.Errorf("loss %s, β = %g: threshold %s has P = %g, and one less %g",
						loss, beta, out.Threshold, reach(0)*bins, reach(-1)*bins)
				}
			}
		}
	}
}

func TestBoundsAreFound(t *testing.T) {
	m := AutomaticBounds{
		Domain{-1_000_000, 1_000_000},
		mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1},
		privacy.PureLoss(mechtest.Epsilon(t, "1")), 0.01,
	}
	var data []int64
	for i := range int64(1000) {
		data = append(data, -3+i%200)
	}
	inside := stattest.Proportion{
		Of:         stattest.Binomial{Trials: 400, Probability: 0.99},
		FalseAlarm: mechtest.FalseAlarm,
	}
	empty := inside
	for range inside.Of.Trials {
		found, err := m.Measure(orderedOf(data...))
		if err != nil {
			t.Fatal(err)
		}
		// -3 and -2 share a bin of 10 values, which may be missed; beyond -3 and 255 noise alone would reach.
		if found.Found && found.Lower >= -3 && found.Upper == 255 {
			inside.Successes++
		}
		none, err := m.Measure(mechanism.Ordered{})
		if err != nil {
			t.Fatal(err)
		}
		if !none.Found && none.Domain == m.Domain {
			empty.Successes++
		}
	}
	for _, p := range []stattest.Proportion{inside, empty} {
		if err := p.CheckAtLeast(); err != nil {
			t.Error(err)
		}
	}
}

// TestBoundsFromCounts takes bounds from counts that are given.
func TestBoundsFromCounts(t *testing.T) {
	dist, err := noise.NewDiscreteLaplace(big.NewRat(1, 1))
	if err != nil {
		t.Fatal(err)
	}
	m := AutomaticBounds{Domain: Domain{-5, 100}, FalsePositive: 0.1}
	read := func(counts ...int64) Bounds { // bins −3 … 7
		released := mechanism.Measurement{Noise: dist}
		for _, c := range counts {
			released.Values = append(released.Values, big.NewInt(c))
		}
		return m.read(released)
	}
	for want, got := range map[string]Bounds{
		"{-5 100} false": read(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -9),
		"{-5 100} true":  read(9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9), // clamped to the outer bounds
		"{-3 7} true":    read(1, 9, 0, 0, 0, 0, 9, 0, 0, 0, 0),
		"{0 0} true":     read(0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0),
	} {
		if s := fmt.Sprint(got.Domain, got.Found); s != want {
			t.Errorf("got %s, want %s", s, want)
		}
	}
}

func TestBoundsRefuse(t *testing.T) {
	good := AutomaticBounds{
		goodDomain,
		mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1},
		privacy.PureLoss(mechtest.Epsilon(t, "1")), 0.01,
	}
	bad := map[string]func(*AutomaticBounds){"no loss": func(m *AutomaticBounds) { m.Loss = privacy.Loss{} }}
	for _, beta := range []float64{0, -1, 1, 2, math.NaN(), math.SmallestNonzeroFloat64} {
		bad[fmt.Sprint("β = ", beta)] = func(m *AutomaticBounds) { m.FalsePositive = beta }
	}
	for i := range badUnits {
		bad[fmt.Sprint("unit ", i)] = func(m *AutomaticBounds) { m.Unit = badUnits[i] }
	}
	for i := range badDomains {
		bad[fmt.Sprint("domain ", i)] = func(m *AutomaticBounds) { m.Domain = badDomains[i] }
	}
	for name, spoil := range bad {
		m := good
		spoil(&m)
		if _, err := m.Measure(orderedOf(1)); !errors.Is(err, mechanism.ErrParameter) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
