package privacy_test

import (
	"errors"
	"math"
	"testing"

	"dither/privacy"
)

func odometer(t testing.TB, first, conversion, reserve string) *privacy.Odometer {
	t.Helper()
	o, err := privacy.NewOdometer(privacy.Ladder{
		First: ratRho(t, first), Conversion: ratDelta(t, conversion),
		Reserve: ratDelta(t, reserve),
	})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// stopper is an adversary against readings: it asks randomized response on one bit again and again, each time at one of
// some ε, and stops when it pleases. worst finds what the best one gains, exactly but for rounding: the largest
// Σ max(0, P − e^reading·Q) over the transcripts at which it stops, by working back from the longest.
type stopper struct {
	epsilons []float64
	longest  int
	reading  func(asked []int) float64
	found    map[string]float64
	readings map[string]float64
}

// worst is the gain from where asked counts the questions at each ε, and true those of them answered as P would have
// it.
func (s *stopper) worst(asked, truths []int, p, q float64) float64 {
	key := string(bytesOf(asked)) + string(bytesOf(truths))
	if v, ok := s.found[key]; ok {
		return v
	}
	at := string(bytesOf(asked))
	reading, ok := s.readings[at]
	if !ok {
		reading = s.reading(asked)
		s.readings[at] = reading
	}
	best := max(0, p-math.Exp(reading)*q)
	total := 0
	for _, n := range asked {
		total += n
	}
	for i, e := range s.epsilons {
		if total == s.longest {
			break
		}
		truth := 1 / (1 + math.Exp(-e))
		asked[i]++
		gain := s.worst(asked, truths, p*(1-truth), q*truth)
		truths[i]++
		gain += s.worst(asked, truths, p*truth, q*(1-truth))
		truths[i]--
		asked[i]--
		best = max(best, gain)
	}
	s.found[key] = best
	return best
}

func bytesOf(counts []int) []byte {
	var out []byte
	for _, n := range counts {
		out = append(out, byte(n), byte(n>>8))
	}
	return out
}

func best(epsilons []float64, longest int, reading func(asked []int) float64) float64 {
	s := &stopper{
		epsilons: epsilons, longest: longest, reading: reading, found: map[string]float64{},
		readings: map[string]float64{},
	}
	return s.worst(make([]int, len(epsilons)), make([]int, len(epsilons)), 1, 1)
}

// TestOdometerOutlivesStoppers checks that no adversary of a toy model gains more than δ, whatever questions it chooses and
// whenever it stops. It counts all of them exactly. The same adversaries gain more than δ against ρ_spent converted as if
// fixed in advance.
func TestOdometerOutlivesStoppers(t *testing.T) {
	for _, c := range []struct {
		epsilons []string
		longest  int
		zcdp     bool // the losses are told as zCDP, so that the pure sum does not help
		delta    string
	}{
		{[]string{"0.2"}, 150, true, "0.1"},
		{[]string{"0.3"}, 90, true, "0.02"},
		{[]string{"0.3"}, 40, false, "0.02"},
		{[]string{"0.1", "0.7"}, 12, true, "0.05"},
	} {
		floats := make([]float64, len(c.epsilons))
		for i, e := range c.epsilons {
			floats[i], _ = mustRat(t, e).Float64()
		}
		d := ratDelta(t, c.delta)
		want, _ := d.Rat().Float64()
		losses := func(asked []int, each func(privacy.Loss)) {
			for i, n := range asked {
				for range n {
					loss := pure(t, c.epsilons[i])
					if c.zcdp {
						loss = privacy.ZCDPLoss(loss.ZCDP())
					}
					each(loss)
				}
			}
		}
		gain := best(floats, c.longest, func(asked []int) float64 {
			o := odometer(t, "0.02", c.delta, "0")
			losses(asked, func(l privacy.Loss) {
				if err := o.Record(l); err != nil {
					t.Fatal(err)
				}
			})
			e, _ := o.Reading().Rat().Float64()
			return e
		})
		naive := best(floats, c.longest, func(asked []int) float64 {
			sum := zcdp(t, "0", "0")
			losses(asked, func(l privacy.Loss) { sum = sum.Plus(l) })
			e, err := sum.EpsilonAt(d)
			if err != nil {
				t.Fatal(err)
			}
			f, _ := e.Rat().Float64()
			return f
		})
		if gain > want {
			t.Errorf("%v: a stopper gains %g, more than %s", c.epsilons, gain, c.delta)
		}
		if c.longest > 80 && naive <= want {
			t.Errorf("%v: a stopper gains only %g from figures that promise nothing", c.epsilons, naive)
		}
	}
}

func TestOdometerReads(t *testing.T) {
	o := odometer(t, "0.01", "1e-6", "1e-9")
	if r := o.Reading(); !r.IsZero() || o.Delta().String() != "0.000001001" {
		t.Errorf("a new one reads %s at %s", r, o.Delta())
	}
	// Pure losses add up where that is less than the first rung.
	record := func(l privacy.Loss) {
		t.Helper()
		if err := o.Record(l); err != nil {
			t.Fatal(err)
		}
	}
	record(pure(t, "0.1"))
	record(pure(t, "0.2"))
	if r := o.Reading(); r.String() != "0.3" {
		t.Errorf("pure losses of 0.3 read %s", r)
	}
	// A rung holds from just above the one below it to its own budget, both read as the ε of its own.
	record(zcdp(t, "0", "1e-9"))
	rung := func(budget string, j int64) privacy.Epsilon {
		e, err := ratRho(t, budget).EpsilonAt(ratDelta(t, "1e-6").Share(1, j*(j+1)))
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	r, _ := o.Spent().ZCDP()
	if got, want := o.Reading(), rung("0.030517578125", 6); r.String() != "0.025" || got.Cmp(want) != 0 { // 0.01·1.25⁵
		t.Errorf("ρ = %s reads %s, want %s", r, got, want)
	}
	record(zcdp(t, "0.005517578125", "0"))
	if got, want := o.Reading(), rung("0.030517578125", 6); got.Cmp(want) != 0 {
		t.Errorf("a rung's own budget reads %s, want %s", got, want)
	}
	record(zcdp(t, "1e-40", "0"))
	if got, want := o.Reading(), rung("0.03814697265625", 7); got.Cmp(want) != 0 {
		t.Errorf("above it reads %s, want %s", got, want)
	}
	// The reserve is spent: what would exceed it changes nothing.
	before := o.Spent()
	var overdrawn *privacy.OverdrawError
	if err := o.Record(zcdp(t, "1", "1e-30")); !errors.As(err, &overdrawn) || !same(o.Spent(), before) {
		t.Errorf("beyond the reserve: %v, %s", err, o.Spent())
	}
}

func TestOdometerRefuses(t *testing.T) {
	for _, c := range []struct {
		first, conversion, reserve string
		want                       error
	}{
		{"0", "1e-6", "0", privacy.ErrRho},
		{"1e-65", "1e-6", "0", privacy.ErrRho},
		{"1", "0", "0", privacy.ErrDelta},
		{"1", "1", "0", privacy.ErrDelta},
		{"1", "0.5", "0.5", privacy.ErrDelta},
	} {
		_, err := privacy.NewOdometer(privacy.Ladder{
			First: ratRho(t, c.first), Conversion: ratDelta(t, c.conversion),
			Reserve: ratDelta(t, c.reserve),
		})
		if !errors.Is(err, c.want) {
			t.Errorf("%v: %v", c, err)
		}
	}
	if _, err := privacy.NewOdometer(privacy.Ladder{}); err == nil {
		t.Error("the zero ladder was taken")
	}
	// The widest ladder there is is climbed at once.
	o := odometer(t, "1e-64", "1e-6", "0")
	if err := o.Record(zcdp(t, "1000000", "0")); err != nil || o.Reading().Cmp(epsilon(t, "1000")) < 0 {
		t.Errorf("ρ = 10⁶ reads %s (%v)", o.Reading(), err)
	}
}

// An odometer without a ladder counts nothing, and says so.
func TestZeroOdometer(t *testing.T) {
	var o privacy.Odometer
	for _, loss := range []privacy.Loss{
		privacy.PureLoss(privacy.Epsilon{}), privacy.PureLoss(epsilon(t, "1")),
		privacy.ZCDPLoss(ratRho(t, "1"), ratDelta(t, "1e-9")),
	} {
		var over *privacy.OverdrawError
		if err := o.Record(loss); !errors.As(err, &over) || over.Error() == "" {
			t.Errorf("%v: %v", loss, err)
		}
	}
	if e := o.Reading(); !e.IsZero() || !o.Delta().IsZero() {
		t.Errorf("it reads %s, %s", e, o.Delta())
	}
}
