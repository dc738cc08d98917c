package audit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"dither/internal/stattest"
)

// batch is a mechanism of which one process gives many answers.
type batch func(s Side, n int, yield func([]byte) error) error

func (b batch) Run(_ context.Context, s Side, n int, yield func([]byte) error) error {
	return b(s, n, yield)
}
func (b batch) Batched() bool { return true }

// Mechanisms that keep ε = 1 in each process or second, but whose runs share their noise or have laws that change, are
// not refuted: it is told that their runs are not alike, or nothing.
func TestRunsThatAreNotAlike(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what  string
		found bool // in most audits
		make  func(r *rand.Rand) Mechanism
	}{
		{"one noise a process", true, func(r *rand.Rand) Mechanism {
			return batch(func(s Side, n int, yield func([]byte) error) error {
				z := laplace(r, 1)
				for range n {
					if err := yield([]byte(fmt.Sprintf("%.1f", float64(s)+z+r.NormFloat64()/10))); err != nil {
						return err
					}
				}
				return nil
			})
		}},
		{"seeded by the clock's second", true, func(r *rand.Rand) Mechanism {
			k, x := 0, 0
			return Func(func(Side) string {
				if k--; k < 0 {
					x, k = int(1000*laplace(r, 1)), 200+r.IntN(100)
				}
				return strconv.Itoa(x)
			})
		}},
		{"seeded by the clock, five answers a tick", false, func(r *rand.Rand) Mechanism {
			k, x := 0, 0
			return Func(func(s Side) string {
				if k++; k%5 == 0 {
					x = r.IntN(10)
				}
				return strconv.Itoa(x)
			})
		}},
		{"a law of period 2 in calls", false, period(2)},
		{"a law of period 4 in calls", false, period(4)},
		{"a law of period 8 in calls", false, period(8)},
	} {
		unlike, refuted := 0, 0
		const audits = 6
		for i := range audits {
			r, err := Run(context.Background(), c.make(rand.New(rand.NewPCG(uint64(i), 2))),
				Options{Runs: 3000, Claim: claim(t, "1", "0")})
			switch {
			case errors.Is(err, ErrUnlike), errors.Is(err, ErrRepeats):
				unlike++
			case err != nil:
				t.Fatal(err)
			case r.Verdict == Refuted:
				refuted++
			}
		}
		t.Logf("%s: %d of %d found out", c.what, unlike, audits)
		if refuted > 0 || c.found && unlike < audits*2/3 {
			t.Errorf("%s: %d of %d were found out, %d were refuted", c.what, unlike, audits, refuted)
		}
	}
}

// Noise that is drawn once for each process is found out, also where no event that is chosen to tell the sides apart
// divides the runs. With seeds that are fixed, there are no false alarms; without the events of middles, some audits of
// these seeds find nothing.
func TestNoiseDrawnOnceIsFoundOut(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 3))
		_, err := Run(context.Background(), batch(func(_ Side, n int, yield func([]byte) error) error {
			z := r.IntN(1 << 16)
			for i := range n {
				if err := yield([]byte(strconv.Itoa(z + i%3))); err != nil {
					return err
				}
			}
			return nil
		}), Options{Runs: 2000, Claim: claim(t, "1", "0")})
		if !errors.Is(err, ErrUnlike) {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
}

// period is a mechanism that sees no data, and whose answers depend on how often it was called before.
func period(n int) func(r *rand.Rand) Mechanism {
	return func(r *rand.Rand) Mechanism {
		calls := 0
		return odd(func(runs int, yield func([]byte) error) error {
			c := calls % n
			calls++
			for range runs {
				if err := yield([]byte(strconv.Itoa(r.IntN(10) + 20*((c+1)/2%2)))); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

// Runs that are alike are said not to be with at most the probability that is allowed, also where it is large and where
// events are rare. False alarms of this test: 1e-6 each.
func TestUnlikely(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(11, 1))
	for _, c := range []struct {
		parts, runs int
		p           float64
	}{
		{16, 625, 0.5},
		{16, 20, 0.5},
		{128, 80, 0.01},
		{12, 1000, 0.003},
		{12, 1000, 0.999},
		{1, 50, 0.3},
		{16, 5, 0.1},
		{2, 1, 0.5},
	} {
		const tries, allowed = 150, 0.1
		alarms := 0
		for range tries {
			parts := make([]part, c.parts)
			for i := range parts {
				for range c.runs {
					parts[i].add(r.Float64() < c.p)
				}
			}
			if unlikely(parts) < allowed {
				alarms++
			}
		}
		if tail := (stattest.Binomial{Trials: tries, Probability: allowed}).AtLeast(alarms); tail < 1e-6 {
			t.Errorf("%+v: %d of %d alarms at %g", c, alarms, tries, allowed)
		}
	}
	for _, parts := range [][]part{{{0, 10}, {0, 10}}, {{10, 10}, {10, 10}}, {{1, 2}}, {{0, 1}}, {{1, 1}, {0, 1}}} {
		if got := unlikely(parts); got < 0.4 || got > 1 {
			t.Errorf("%v: %g", parts, got)
		}
	}
	if got := unlikely([]part{{0, 1000}, {1000, 1000}, {0, 1000}}); got > 1e-100 {
		t.Errorf("opposites: %g", got)
	}
}

// The distance of a count is what Zubkov & Serov's inequality bounds: summed exactly over small binomials, P(d ≥ x)
// ≤ P(χ² ≥ x).
func TestDistance(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2, 5, 17, 60} {
		for p := 0.01; p < 1; p += 0.07 {
			for k := range n + 1 {
				x := distance(part{k, n}, p)
				if x == 0 {
					continue
				}
				sum := 0.0
				for j := range n + 1 {
					if distance(part{j, n}, p) >= x {
						sum += mass(j, n, p)
					}
				}
				if want := math.Erfc(math.Sqrt(x / 2)); sum > want*(1+1e-9) {
					t.Errorf("n = %d, p = %g: P(d ≥ %g) = %g, above %g", n, p, x, sum, want)
				}
			}
		}
	}
	for _, c := range []struct {
		x       float64
		degrees int
		want    float64
	}{{63, 12, 6.37265115562081e-9}, {245.5, 128, 2.02775083462437e-9}, {10, 1, math.Exp(-5)}, {0, 2, 1}} { // by mpmath: gammainc(degrees/2, x/2) regularized
		if got := chiSquared(c.x, c.degrees); got < c.want*(1-1e-8) || got > c.want*(1+1e-8) {
			t.Errorf("P(χ² of %d ≥ %g) = %g, want %g", c.degrees, c.x, got, c.want)
		}
	}
	if got := chiSquared(1e7, 128); got != 0 {
		t.Error(got)
	}
}

func mass(j, n int, p float64) float64 {
	if j == 0 {
		return math.Pow(1-p, float64(n))
	}
	return math.Exp(logMass(float64(j), float64(n), p, 1-p))
}

// One trial of n may have all the probability there is: the lower end of a single count holds of it.
func TestUnequalTrials(t *testing.T) {
	t.Parallel()
	for _, alpha := range []float64{0.25, 0.025, 1e-7, 1e-300} {
		for _, n := range []int{1, 50, 50_000, 1e9} {
			low, _ := between(1, n, alpha)
			if low*float64(n) > alpha*(1+1e-12) || low < alpha/float64(n)*(1-1e-12) {
				t.Errorf("n = %d, α = %g: %g", n, alpha, low)
			}
			for k := 2; k <= min(n, 40); k++ {
				if low := least(k, n, alpha); low*float64(n) > float64(k-1)*(1+1e-12) {
					t.Errorf("k = %d of %d at %g: %g", k, n, alpha, low)
				}
			}
		}
	}
}

// The confidence pays for everything.
func TestConfidenceIsShared(t *testing.T) {
	for _, c := range []float64{0.5, 0.9, 0.999999, 1 - 1e-12, math.Nextafter(1, 0)} {
		a := &audit{Options: Options{Confidence: c}}
		for events := 1; events <= 4; events++ {
			if sum := a.unlike() + 2*float64(events)*a.alpha(events); sum > 1-c || sum < (1-c)*(1-1e-12) {
				t.Errorf("confidence %v: %g is spent", c, sum)
			}
		}
	}
}

// What is said to have been learned from was kept; and of long outputs little is.
func TestLongOutputs(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("1,", 5000)
	o := parse([]byte(text + "2"))
	if o.size() > 3*mostText || len(o.fields) != mostFields || o.count != 5001 {
		t.Errorf("%d bytes of %d are kept", o.size(), len(text))
	}
	k := 0
	report, err := Run(context.Background(), Func(func(Side) string { k++; return text + strconv.Itoa(k) }),
		Options{Runs: 100})
	if err != nil {
		t.Fatal(err)
	}
	if report.Runs != 100 || report.Tested != 50 || report.Learned != 50 {
		t.Errorf("%d, %d, %d", report.Runs, report.Learned, report.Tested)
	}
	a := &audit{mechanism: Func(func(Side) string { return strings.Repeat("0 ", 300) })}
	var kept recording
	if err := a.record(context.Background(), 2500, &kept); err != nil {
		t.Fatal(err)
	}
	if n := len(kept.sample[0]); n < 500 || n > 2100 { // 256 fields each, of mostKept
		t.Errorf("%d are kept", n)
	}
}
