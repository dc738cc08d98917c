package audit

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// drawnTimes are pairs of normal times of mean 100 ms and σ = 1 ms, which share a drift; those with the unit are
// longer by shift ms. A share of all is ten times as long, whatever the side.
func drawnTimes(
	rng interface{ NormFloat64() float64 }, n int, shift, drift float64, spikes int,
) (without, with []time.Duration) {
	for i := range n {
		both := drift * math.Sin(float64(i)/50)
		for side := range 2 {
			ms := 100 + both + rng.NormFloat64() + float64(side)*shift
			if spikes > 0 && (2*i+side)%spikes == 0 {
				ms *= 10
			}
			d := time.Duration(ms * float64(time.Millisecond))
			if side == 0 {
				without = append(without, d)
			} else {
				with = append(with, d)
			}
		}
	}
	return without, with
}

// The bounds hold, of 200 samples of each kind: those on d with 99.9 %, so that more than 3 misses would be chance with
// probability 6e-5, and that on ε with 95 %, so that more than 23 would be with probability 2e-4. Drifts and spikes
// change neither. The samples are the same in each run.
func TestClockBounds(t *testing.T) {
	normal := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	for _, shift := range []float64{0, 0.1, 0.5, 2} {
		for _, how := range []struct {
			drift  float64
			spikes int
		}{{0, 0}, {30, 0}, {0, 51}} {
			rng := rand.New(rand.NewPCG(1, uint64(100*shift)))
			missed, exceeded := 0, 0
			for range 200 {
				c := ClockOf(drawnTimes(rng, 300, shift, how.drift, how.spikes))
				if c.AtMost < shift || c.AtLeast > shift {
					missed++
				}
				at := c.Threshold.Seconds()*1000 - 100
				// of shorter ones; longer ones are as likely on the other side
				told := math.Log(normal(at) / normal(at-shift))
				if c.Longer {
					told = math.Log(normal(shift-at) / normal(-at))
				}
				if known := shift == 0 || how.drift == 0 && how.spikes == 0; known && c.Epsilon > told {
					exceeded++
				}
			}
			if missed > 3 || exceeded > 23 {
				t.Errorf("shift %v, %+v: d was beyond its bounds %d times of 200, ε below its own %d times",
					shift, how, missed, exceeded)
			}
		}
	}
}

// What differs is seen: of 300 pairs, a shift of two standard deviations is told to be more than one question allows,
// and a threshold tells more than ε = 1. 10,000 pairs that are alike allow some hundred repetitions, and no number of
// pairs allows more than ReachableRepeats but by the estimate's luck.
func TestClockSees(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	if c := ClockOf(drawnTimes(rng, 300, 2, 30, 51)); c.D < 1.6 || c.AtLeast < 1.2 || c.Repeats() > 1 ||
		c.Shift < time.Millisecond {
		t.Errorf("%+v", c)
	}
	if c := ClockOf(drawnTimes(rng, 300, 2, 0, 0)); c.Epsilon < 1 || c.Likely != 1 == c.Longer || c.Gap < 0.5 {
		t.Errorf("%+v", c)
	}
	c := ClockOf(drawnTimes(rng, 10_000, 0, 0, 0))
	if most := ReachableRepeats(c.Pairs); most < 114 || most > 116 || c.Repeats() < 40 || c.Repeats() > most {
		t.Errorf("%v of %v repetitions: %+v", c.Repeats(), most, c)
	}
	far := ClockOf(make([]time.Duration, 30), slices.Repeat([]time.Duration{time.Second}, 30))
	if !math.IsInf(far.AtMost, 1) || far.Repeats() != 0 || far.Epsilon < 1 || far.Gap != 1 {
		t.Errorf("%+v", far)
	}
	if stopped := ClockOf(make([]time.Duration, 30), make([]time.Duration, 30)); stopped.Repeats() != 0 ||
		stopped.Epsilon != 0 {
		t.Errorf("of a clock that stands: %+v", stopped)
	}
}

// Long runs that only one side has, in one of a hundred, are there in most of a hundred repetitions: their bound does
// not allow these, though neither quantiles nor ranks see them. The same long runs on both sides lower no bound.
func TestClockSeesRareLongRuns(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	const pairs, ratio = 100_000, 100
	without, with := drawnTimes(rng, pairs, 0, 0, 0)
	alike := ClockOf(without, with)
	for i := range with {
		if i%100 == 0 {
			with[i] += 10 * time.Second
		}
	}
	c := ClockOf(without, with)
	if alike.AtMost*math.Sqrt(ratio) > MostTold || c.D*math.Sqrt(ratio) > MostTold {
		t.Fatalf("the test shows nothing: %+v, %+v", alike, c)
	}
	if c.AtMost*math.Sqrt(ratio) < 0.9 || c.AtLeast > 0.1 {
		t.Errorf("%d repetitions are called hidden: %+v", ratio, c)
	}
}
