package mean

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"os"
	"testing"

	"dither/audit/channel"
	"dither/internal/splitmix"
	"dither/internal/stattest"
	"dither/local/internal/coin"
	"dither/local/internal/lawtest"
	"dither/privacy"
)

func epsilon(t testing.TB, text string) privacy.Epsilon {
	t.Helper()
	e, err := privacy.ParseEpsilon(text)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func randomizer(t testing.TB, m Mechanism, e string) *Randomizer {
	t.Helper()
	r, err := New(Params{m, epsilon(t, e)})
	if err != nil {
		t.Fatal(m, e, err)
	}
	return r
}

// small returns a randomizer whose window has few points.
func small(t testing.TB, m Mechanism, e string) *Randomizer {
	r := randomizer(t, m, e)
	if r.window != nil {
		r.window = newWindow(epsilon(t, e), 3, 4)
	}
	return r
}

// The exact law of the reports about numbers on the grid and between, enumerated over the choices of the code, has an
// ε at most the declared one and within 1e-9 of it, and the exact mean of the estimates is the number.
func TestExactLaw(t *testing.T) {
	for _, m := range Mechanisms {
		for _, e := range []string{"0.01", "0.5", "1", "2.3", "6"} {
			r := small(t, m, e)
			name := fmt.Sprintf("%s at ε = %s", m, e)
			var inputs, outputs []string
			var laws []map[string]*big.Rat
			seen, worst := map[string]bool{}, new(big.Rat)
			for i := -8; i <= 8; i++ {
				x := float64(i) / 8 // between grid points too
				mean := new(big.Rat)
				law := lawtest.Law(func(c coin.Chooser) string {
					report := r.randomize(c, x)
					return fmt.Sprint(report.Window, report.Point)
				})
				for out, p := range law {
					if !seen[out] {
						seen[out], outputs = true, append(outputs, out)
					}
					var report Report
					if _, err := fmt.Sscan(out, &report.Window, &report.Point); err != nil {
						t.Fatal(err)
					}
					if _, err := r.Value(report); err != nil {
						t.Fatalf("%s: the collector refuses %v, which the randomizer sends: %v", name, report, err)
					}
					mean.Add(
						mean,
						new(
							big.Rat,
						).Mul(p, new(big.Rat).Mul(unitOf(r, report.Window), big.NewRat(int64(report.Point), 1))),
					)
				}
				inputs, laws = append(inputs, fmt.Sprint("x", i)), append(laws, law)
				// the rounding's coins are multiples of 2⁻¹²⁸, so x·m with m = 3 is that close
				off := mean.Sub(mean, new(big.Rat).SetFloat64(x))
				if off.Abs(off).Cmp(new(big.Rat).SetFloat64(math.Ldexp(1, -120))) > 0 {
					t.Errorf("%s: the mean of the estimates of %v is off by %s", name, x, off.FloatString(40))
				}
			}
			var entries [][]*big.Rat
			for _, law := range laws {
				var row []*big.Rat
				for _, out := range outputs {
					row = append(row, law[out])
				}
				entries = append(entries, row)
			}
			c, err := channel.Of(inputs, outputs, entries)
			if err != nil {
				t.Fatal(name, err)
			}
			loss, err := c.Epsilon(channel.AllPairs())
			if err != nil || !loss.Private() {
				t.Fatal(name, loss, err)
			}
			for i := range outputs {
				low, high := entries[0][i], entries[0][i]
				for _, row := range entries {
					if row[i].Cmp(low) < 0 {
						low = row[i]
					}
					if row[i].Cmp(high) > 0 {
						high = row[i]
					}
				}
				if ratio := new(big.Rat).Quo(high, low); ratio.Cmp(worst) > 0 {
					worst = ratio
				}
			}
			lawtest.Tight(t, name, worst, epsilon(t, e))
			if f, _ := worst.Float64(); math.Abs(math.Log(f)-loss.Upper) > 1e-12 {
				t.Errorf("%s: the channel's ε is %v, the largest ratio's %v", name, loss.Upper, math.Log(f))
			}
		}
	}
}

// unitOf returns the exact factor of an estimate.
func unitOf(r *Randomizer, window bool) *big.Rat {
	if !window {
		gap := new(big.Rat).Sub(r.sign.flip.Tails(), r.sign.flip.Rat())
		return gap.Inv(gap)
	}
	w := r.window
	kappa := w.out.Tails()
	kappa.Mul(kappa, big.NewRat(w.a, 1))
	kappa.Sub(kappa, new(big.Rat).Mul(w.out.Rat(), big.NewRat(2*w.h+1, 2*w.m)))
	return kappa.Inv(kappa.Mul(kappa, big.NewRat(w.m, 1)))
}

// The stated variance is that of the exact law.
func TestVarianceIsExact(t *testing.T) {
	for _, m := range Mechanisms {
		for _, e := range []string{"0.5", "1", "4"} {
			r := small(t, m, e)
			for _, x := range []float64{-1, -.8, 0, .1, .5, 1} {
				square := 0.0
				for out, p := range lawtest.Law(func(c coin.Chooser) string {
					report := r.randomize(c, x)
					return fmt.Sprint(report.Window, report.Point)
				}) {
					var report Report
					if _, err := fmt.Sscan(out, &report.Window, &report.Point); err != nil {
						t.Fatal(err)
					}
					v, err := r.Value(report)
					if err != nil {
						t.Fatal(err)
					}
					f, _ := p.Float64()
					square += f * (v - x) * (v - x)
				}
				if got := r.Variance(x); math.Abs(got-square) > 1e-9*(1+square) {
					t.Errorf("%s at ε = %s: the variance at %v is %v, by the law %v", m, e, x, got, square)
				}
			}
		}
	}
}

// The variances are those of the literature.
func TestPublishedVariances(t *testing.T) {
	for _, c := range []struct {
		m    Mechanism
		e    string
		x    float64
		want string
	}{
		{Piecewise, "1", 1, "5.224"},
		{Piecewise, "1", 0, "3.682"},
		{Piecewise, "4", 1, "0.241"},
		{Piecewise, "4", 0, "0.085"},
		{Hybrid, "1", 1, "4.289"},
		{Hybrid, "4", 1, "0.219"},
		{Duchi, "1", 0, "4.683"},
		{Duchi, "4", 0, "1.076"},
	} {
		places := len(c.want) - 2
		r := randomizer(t, c.m, c.e)
		if got := fmt.Sprintf("%.*f", places, r.Variance(c.x)); got != c.want {
			t.Errorf("%s at ε = %s, x = %v: %s, published %s", c.m, c.e, c.x, got, c.want)
		}
		if worst := r.Worst(); worst < r.Variance(c.x) || worst < r.Variance(.37) {
			t.Errorf("%s at ε = %s: the worst variance %v is below another", c.m, c.e, worst)
		}
	}
	// against the formulas, at the grid that is used
	for _, e := range []float64{.2, 1, 2, 5} {
		r := randomizer(t, Piecewise, fmt.Sprint(e))
		s := math.Exp(e / 2)
		for _, x := range []float64{0, .5, 1} {
			want := x*x/(s-1) + (s+3)/(3*(s-1)*(s-1))
			if got := r.Variance(x); math.Abs(got/want-1) > 1e-4 {
				t.Errorf("piecewise at ε = %v, x = %v: %v, the continuous form has %v", e, x, got, want)
			}
		}
	}
}

// Simulated estimates have the stated variance, and their mean is right: both within six standard deviations, which
// is a false alarm with probability below 1e-8.
func TestSimulatedVariance(t *testing.T) {
	n := 20_000
	if os.Getenv("DITHER_LONG") != "" {
		n = 2_000_000
	}
	for _, m := range Mechanisms {
		for _, e := range []string{"1", "4"} {
			for _, x := range []float64{0, 1, -.3} {
				r := randomizer(t, m, e)
				numbers := make([]float64, n)
				for i := range numbers {
					numbers[i] = x
				}
				reports, err := r.Randomize(numbers)
				if err != nil {
					t.Fatal(err)
				}
				var sum, square, fourth float64
				for _, report := range reports {
					v, err := r.Value(report)
					if err != nil {
						t.Fatal(err)
					}
					d := v - x
					sum, square, fourth = sum+d, square+d*d, fourth+d*d*d*d
				}
				want, count := r.Variance(x), float64(n)
				if math.Abs(sum/count) > 6*math.Sqrt(want/count) {
					t.Errorf("%s at ε = %s, x = %v: the mean is off by %v", m, e, x, sum/count)
				}
				sd := math.Sqrt(max(0, fourth/count-want*want) / count)
				t.Logf("%s at ε = %s, x = %v: variance %.4g, simulated %.4g ± %.2g", m, e, x, want, square/count, sd)
				if math.Abs(square/count-want) > 6*sd+1e-9 {
					t.Errorf(
						"%s at ε = %s, x = %v: the simulated variance is %v, stated %v",
						m,
						e,
						x,
						square/count,
						want,
					)
				}
			}
		}
	}
}

// Intervals of the mean cover it at least as often as promised, for few reports and for many, and for vectors. The
// false-alarm rate is 1e-6 for each.
func TestIntervalsCover(t *testing.T) {
	people := splitmix.At(3)
	for _, n := range []int{20, 400} {
		for _, m := range Mechanisms {
			s := &stattest.Sequential{Promised: .89, Wrong: .8, FalseAlarm: 1e-6, Miss: 1e-6}
			r := randomizer(t, m, "1.5")
			for s.Open() {
				numbers, truth := make([]float64, n), 0.0
				for i := range numbers {
					numbers[i] = float64(people.Below(2001)-1000) / 1000 * float64(people.Below(2))
					truth += numbers[i] / float64(n)
				}
				reports, err := r.Randomize(numbers)
				if err != nil {
					t.Fatal(err)
				}
				tally := r.NewTally()
				for _, report := range reports {
					if err := tally.Add(report); err != nil {
						t.Fatal(err)
					}
				}
				e, err := tally.Estimate(.9)
				if err != nil {
					t.Fatal(err)
				}
				s.Observe(e.Low <= truth && truth <= e.High)
			}
			if err := s.Check(); err != nil {
				t.Errorf("%s, n = %d: %v", m, n, err)
			}
		}
	}
	v, err := NewVector(Params{Best, epsilon(t, "6")}, 5)
	if err != nil {
		t.Fatal(err)
	}
	if s, each := v.Sampled(); s != 2 || each.Params().Epsilon.Cmp(epsilon(t, "3")) != 0 {
		t.Errorf("%d coordinates, %+v", s, each.Params())
	}
	s := &stattest.Sequential{Promised: .89, Wrong: .8, FalseAlarm: 1e-6, Miss: 1e-6}
	for s.Open() {
		tally := v.NewTally()
		for range 1000 {
			report, err := v.Randomize([]float64{1, -1, .5, 0, -.25})
			if err != nil {
				t.Fatal(err)
			}
			if err := tally.Add(report); err != nil {
				t.Fatal(err)
			}
		}
		all, err := tally.Estimate(.9, true)
		if err != nil {
			t.Fatal(err)
		}
		covered := true
		for i, truth := range []float64{1, -1, .5, 0, -.25} {
			covered = covered && all[i].Low <= truth && truth <= all[i].High
		}
		s.Observe(covered)
	}
	if err := s.Check(); err != nil {
		t.Errorf("vectors: %v", err)
	}
}

// The law of a vector's report has the whole ε.
func TestVectorLaw(t *testing.T) {
	e := epsilon(t, "1.5")
	v := &Vector{d: 3, s: 2, each: randomizer(t, Duchi, "0.75")}
	laws := []map[string]*big.Rat{}
	for _, x := range [][]float64{{1, 1, 1}, {-1, -1, -1}, {1, -1, .5}} {
		laws = append(laws, lawtest.Law(func(c coin.Chooser) string { return fmt.Sprint(v.randomize(c, x)) }))
	}
	worst := new(big.Rat)
	for _, a := range laws {
		for _, b := range laws {
			for out, p := range a {
				if r := new(big.Rat).Quo(p, b[out]); r.Cmp(worst) > 0 {
					worst = r
				}
			}
		}
	}
	lawtest.Tight(t, "vector", worst, e)
}

func TestBadInput(t *testing.T) {
	one := epsilon(t, "1")
	for _, p := range []Params{{}, {"mean", one}, {Duchi, epsilon(t, "41")}, {Hybrid, privacy.Epsilon{}}} {
		if _, err := New(p); !errors.Is(err, ErrParameter) {
			t.Errorf("%+v: %v", p, err)
		}
	}
	for _, m := range Mechanisms {
		r := randomizer(t, m, "1")
		for _, x := range []float64{math.NaN(), math.Inf(1), 1.0000001, -2} {
			if _, err := r.Randomize([]float64{0, x}); !errors.Is(err, ErrValue) {
				t.Error(m, x, err)
			}
		}
		if _, err := r.Randomize(
			[]float64{math.SmallestNonzeroFloat64, -math.SmallestNonzeroFloat64, 1, -1},
		); err != nil {
			t.Error(m, err)
		}
		tally := r.NewTally()
		for _, report := range []Report{{true, math.MaxInt32}, {true, math.MinInt32}, {false, 0}, {false, 2}} {
			if err := tally.Add(report); !errors.Is(err, ErrReport) {
				t.Error(m, report, err)
			}
		}
		if e, err := tally.Estimate(.9); err != nil || e.N != 0 || e.Low != -1 || e.High != 1 {
			t.Error(e, err)
		}
		if _, err := tally.Estimate(1); !errors.Is(err, ErrParameter) {
			t.Error(err)
		}
	}
	if err := randomizer(t, Duchi, "1").NewTally().Add(Report{true, 0}); !errors.Is(err, ErrReport) {
		t.Error(err)
	}
	if err := randomizer(t, Piecewise, "1").NewTally().Add(Report{false, 1}); !errors.Is(err, ErrReport) {
		t.Error(err)
	}
	if _, err := NewVector(Params{Duchi, one}, 0); !errors.Is(err, ErrParameter) {
		t.Error(err)
	}
	v, err := NewVector(Params{Duchi, epsilon(t, "5")}, 3)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := v.Randomize([]float64{0, 0}); !errors.Is(err, ErrValue) {
		t.Error(err)
	}
	if _, err := v.Randomize([]float64{0, 0, math.NaN()}); !errors.Is(err, ErrValue) {
		t.Error(err)
	}
	yes := Report{false, 1}
	for _, r := range [][]Coordinate{nil, {{0, yes}}, {{0, yes}, {0, yes}}, {{1, yes}, {0, yes}}, {{0, yes}, {3, yes}}, {{-1, yes}, {0, yes}}, {{0, yes}, {1, Report{}}}} {
		if err := v.NewTally().Add(r); !errors.Is(err, ErrReport) {
			t.Error(r, err)
		}
	}
	if _, err := v.NewTally().Estimate(2, true); !errors.Is(err, ErrParameter) {
		t.Error(err)
	}
}

// Packed reports that the randomizer never sends are refused: each number of the field is tried, or the ends of the
// window's.
func TestPackedReports(t *testing.T) {
	for _, m := range Mechanisms {
		r := randomizer(t, m, "1")
		size := r.Bits()
		sent := 0
		for field := range uint64(1) << size {
			packed := make([]byte, (size+7)/8)
			shifted := field << (8*len(packed) - size)
			for i := len(packed) - 1; i >= 0; i, shifted = i-1, shifted>>8 {
				packed[i] = byte(shifted)
			}
			report, err := r.Unpack(packed)
			if err != nil {
				if !errors.Is(err, ErrReport) {
					t.Fatal(err)
				}
				continue
			}
			sent++
			if again, err := r.Pack(report); err != nil || string(again) != string(packed) {
				t.Fatalf("%x becomes %x, %v", packed, again, err)
			}
		}
		want := 2 // signs
		if r.window != nil {
			want = int(2*r.window.l + 1)
			if r.pick != nil {
				want += 2
			}
		}
		if sent != want {
			t.Errorf("%s sends %d packed reports, not %d", m, want, sent)
		}
		for _, bad := range [][]byte{nil, make([]byte, 9), append(make([]byte, (size+7)/8-1), 1)} {
			if _, err := r.Unpack(bad); !errors.Is(err, ErrReport) {
				t.Errorf("%x: %v", bad, err)
			}
		}
		if _, err := r.Pack(Report{Point: 7}); !errors.Is(err, ErrReport) {
			t.Error(err)
		}
	}
}

// The interval for malicious reports contains the honest senders' mean, whatever the malicious ones send: here the
// extremes. A false alarm has the probability of an honest interval's miss, at 1 − 10⁻⁹.
func TestSuspect(t *testing.T) {
	const honest, malicious, confidence = 1000, 60, 1 - 1e-9
	for _, m := range Mechanisms {
		for _, e := range []string{"0.5", "3"} {
			for _, sign := range []int32{1, -1} {
				r := randomizer(t, m, e)
				tally, other := r.NewTally(), r.NewTally()
				numbers := make([]float64, honest)
				for i := range numbers {
					numbers[i] = .5
				}
				reports, err := r.Randomize(numbers)
				if err != nil {
					t.Fatal(err)
				}
				extreme := Report{Point: sign}
				if r.window != nil && (r.pick == nil || float64(r.window.l)*r.window.unit > r.sign.unit) {
					extreme = Report{true, sign * int32(r.window.l)}
				}
				if v, err := r.Value(extreme); err != nil || math.Abs(v) != r.Largest() {
					t.Fatalf("%v is not the extreme of %s: %v", extreme, m, err)
				}
				for range malicious {
					reports = append(reports, extreme)
				}
				for i, report := range reports {
					to := tally
					if i%3 == 0 { // in two tallies, one of which is folded
						to = other
					}
					if err := to.Add(report); err != nil {
						t.Fatal(err)
					}
				}
				if err := tally.Merge(other); err != nil {
					t.Fatal(err)
				}
				estimate, err := tally.Estimate(confidence)
				if err != nil {
					t.Fatal(err)
				}
				got, err := tally.Suspect(malicious, confidence, estimate)
				if err != nil || got.Low > .5 || got.High < .5 {
					t.Errorf("%s: %+v, %v", m, got, err)
				}
				if all, err := tally.Suspect(honest+malicious, confidence, estimate); err != nil || all.Low != -1 || all.High != 1 {
					t.Errorf("%+v, %v", all, err)
				}
				if same, err := tally.Suspect(0, confidence, estimate); err != nil || same != estimate {
					t.Errorf("%+v, %v", same, err)
				}
				if _, err := tally.Suspect(-1, confidence, estimate); !errors.Is(err, ErrParameter) {
					t.Error(err)
				}
			}
		}
	}
	r := randomizer(t, Duchi, "1")
	for _, bad := range []Folded{
		{-1, 0, 0}, {1 << 41, 0, 0}, {5, 99, 0}, {5, math.NaN(), 0}, {5, 0, -1}, {5, 0, 1e9}, {5, 0, math.NaN()}, {5, 0, math.Inf(1)},
	} {
		if err := r.NewTally().AddFolded(bad); !errors.Is(err, ErrParameter) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	if err := r.NewTally().Merge(randomizer(t, Duchi, "2").NewTally()); !errors.Is(err, ErrParameter) {
		t.Error(err)
	}
}
