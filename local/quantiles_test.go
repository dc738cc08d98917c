package local

import (
	"errors"
	"math"
	"testing"

	"dither/internal/splitmix"
	"dither/internal/stattest"
)

// Marginals of one and two attributes are unbiased, by splitting and by sampling: intervals cover. The false-alarm rate
// is 1e-6.
func TestMarginals(t *testing.T) {
	for _, split := range []bool{false, true} {
		people := splitmix.At(9)
		s := &stattest.Sequential{Promised: .93, Wrong: .85, FalseAlarm: 1e-6, Miss: 1e-6}
		m, err := NewMarginals(epsilon(t, "2"), []uint64{2, 3}, [][]int{{0}, {0, 1}}, 600)
		if err != nil {
			t.Fatal(err)
		}
		if m.Split() {
			t.Error("splitting is chosen, which is worse at ε = 2")
		}
		if m.split = split; split {
			for i := range m.oracles {
				p := m.oracles[i].Params()
				m.oracles[i] = oracle(t, p.Mechanism, p.Values, "1")
			}
		}
		for s.Open() {
			tally := m.NewTally()
			for range 600 {
				a := uint64(people.Below(4) / 3) // 1 with 1/4
				b := (a + uint64(people.Below(2))) % 3
				r, err := m.Randomize([]uint64{a, b})
				if err != nil {
					t.Fatal(err)
				}
				if err := tally.Add(r); err != nil {
					t.Fatal(err)
				}
			}
			one, err := tally.Estimate(0, .95)
			if err != nil {
				t.Fatal(err)
			}
			two, err := tally.Estimate(1, .95)
			if err != nil {
				t.Fatal(err)
			}
			// cell (1, 2) has 1/8
			s.Observe(one[1].Low <= .25 && .25 <= one[1].High)
			s.Observe(two[5].Low <= .125 && .125 <= two[5].High)
		}
		if err := s.Check(); err != nil {
			t.Errorf("split %v: %v", split, err)
		}
	}
	for _, bad := range []struct {
		sizes []uint64
		sets  [][]int
	}{{nil, nil}, {[]uint64{2}, [][]int{{1}}}, {[]uint64{2}, [][]int{{0, 0}}}, {[]uint64{1 << 20, 1 << 20}, [][]int{{0, 1}}}, {[]uint64{2}, [][]int{{}}}, {[]uint64{0}, [][]int{{0}}}} {
		if _, err := NewMarginals(epsilon(t, "1"), bad.sizes, bad.sets, 100); !errors.Is(err, ErrParameter) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	m, err := NewMarginals(epsilon(t, "1"), []uint64{2, 3}, [][]int{{0}, {1}}, 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, person := range [][]uint64{nil, {0}, {2, 0}, {0, 3}} {
		if _, err := m.Randomize(person); !errors.Is(err, ErrValue) {
			t.Error(person, err)
		}
	}
	for _, r := range []MarginalsReport{{}, {-1, [][]byte{{0}}}, {2, [][]byte{{0}}}, {0, [][]byte{{0}, {0}}}, {0, [][]byte{{1}}}} {
		if err := m.NewTally().Add(r); !errors.Is(err, ErrReport) {
			t.Error(r, err)
		}
	}
	if _, err := m.NewTally().Estimate(5, .9); !errors.Is(err, ErrParameter) {
		t.Error(err)
	}
}

// Quantiles of skewed numbers are near the true ones, and their intervals and those of the shares cover. The false-alarm
// rates are 1e-6.
func TestQuantiles(t *testing.T) {
	people := splitmix.At(11)
	q, err := NewQuantiles(epsilon(t, "3"), 0, 100, 64, 4000)
	if err != nil {
		t.Fatal(err)
	}
	if bins, branch := q.Bins(); bins != 64 || branch == 64 {
		t.Errorf("%d bins, branching factor %d", bins, branch)
	}
	quantile := &stattest.Sequential{Promised: .93, Wrong: .85, FalseAlarm: 1e-6, Miss: 1e-6}
	share := &stattest.Sequential{Promised: .93, Wrong: .85, FalseAlarm: 1e-6, Miss: 1e-6}
	for runs := 0; quantile.Open() || share.Open(); runs++ {
		tally := q.NewTally()
		for range 4000 {
			u := float64(people.Below(1_000_000)) / 1_000_000
			r, err := q.Randomize(100 * u * u) // the p-quantile is 100p²
			if err != nil {
				t.Fatal(err)
			}
			if err := tally.Add(r); err != nil {
				t.Fatal(err)
			}
		}
		x, low, high, err := q.Quantile(tally, .7, .95)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(x-49) > 25 || low > x || high < x {
			t.Fatalf("the median-like quantile 49 is estimated as %v, from %v to %v", x, low, high)
		}
		quantile.Observe(low <= 49 && 49 <= high)
		below, err := q.Below(tally, .95)
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range []int{16, 45} {
			truth := math.Sqrt(float64(at) / 64)
			share.Observe(below[at].Low <= truth && truth <= below[at].High)
		}
	}
	if err := quantile.Check(); err != nil {
		t.Error(err)
	}
	if err := share.Check(); err != nil {
		t.Error(err)
	}
	for _, x := range []float64{math.Inf(1), -5, 1e300, 100} {
		if _, err := q.Randomize(x); err != nil {
			t.Error(x, err)
		}
	}
	if _, err := q.Randomize(math.NaN()); !errors.Is(err, ErrValue) {
		t.Error(err)
	}
	if _, _, _, err := q.Quantile(q.NewTally(), 1, .9); !errors.Is(err, ErrParameter) {
		t.Error(err)
	}
	if _, err := q.Below(q.NewTally(), .9); !errors.Is(err, ErrParameter) {
		t.Error(err)
	}
	if _, err := NewQuantiles(epsilon(t, "1"), 5, 5, 10, 100); !errors.Is(err, ErrParameter) {
		t.Error(err)
	}
}

// The expected variances agree with the standard deviations of estimates, which depend little on the reports.
func TestExpectedVariances(t *testing.T) {
	const n = 20_000
	q, err := NewQuantiles(epsilon(t, "1"), 0, 1, 64, n)
	if err != nil {
		t.Fatal(err)
	}
	h, err := NewHeavy(HeavyParams{Epsilon: epsilon(t, "2"), Bits: 12})
	if err != nil {
		t.Fatal(err)
	}
	numbers, values := q.NewTally(), h.NewTally()
	for i := range n {
		x, err := q.Randomize(float64(i%64) / 64)
		if err != nil {
			t.Fatal(err)
		}
		v, err := h.Randomize(5)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(numbers.Add(x), values.Add(v)); err != nil {
			t.Fatal(err)
		}
	}
	below, err := q.Below(numbers, .95)
	if err != nil {
		t.Fatal(err)
	}
	mean := 0.0
	for _, f := range below[1:64] {
		mean += f.Stddev * f.Stddev / 63
	}
	if ratio := q.Variance() / mean; ratio < .9 || ratio > 1.1 {
		t.Errorf("the expected variance below an edge is %v times the stated one", ratio)
	}
	found, err := values.Find(10, .95)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		if ratio := h.Variance(n, min(max(f.Frequency, 0), 1)) / f.Stddev / f.Stddev; ratio < .9 || ratio > 1.1 {
			t.Errorf("the expected variance of value %d is %v times the stated one", f.Value, ratio)
		}
	}
}
