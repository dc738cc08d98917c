package stattest_test

import (
	"testing"

	"dither/internal/stattest"
)

// The rates are kept, by seeded trials; a test ends, and sooner the better the trials are.
func TestSequential(t *testing.T) {
	r := generator(11)
	run := func(probability float64) (alarm bool, trials int) {
		s := &stattest.Sequential{Promised: 0.95, Wrong: 0.9, FalseAlarm: 0.02, Miss: 0.01}
		if s.Check() == nil {
			t.Error("a test without trials says something")
		}
		for s.Open() {
			s.Observe(r.Float64() < probability)
			trials++
		}
		err := s.Check()
		s.Observe(err != nil) // too late
		if (s.Check() == nil) != (err == nil) {
			t.Error("a decision is changed")
		}
		return err != nil, trials
	}
	const runs = 4000
	for _, c := range []struct {
		probability       float64
		alarm, mostTrials float64 // at most, on average
	}{
		{0.99, 0.02, 140}, {0.95, 0.02, 330}, {0.9, 1, 240}, {0.8, 1, 60},
	} {
		alarms, trials := 0, 0
		for range runs {
			alarm, n := run(c.probability)
			if alarm {
				alarms++
			}
			trials += n
		}
		of := stattest.Binomial{Trials: runs, Probability: c.alarm}
		if c.alarm < 1 && of.AtLeast(alarms) < 1e-6 {
			t.Errorf("at %g: %d alarms of %d", c.probability, alarms, runs)
		}
		of.Probability = 0.99
		if c.alarm == 1 && of.AtMost(alarms) < 1e-6 {
			t.Errorf("at %g: %d alarms of %d", c.probability, alarms, runs)
		}
		if mean := float64(trials) / runs; mean > c.mostTrials {
			t.Errorf("at %g: %.0f trials on average", c.probability, mean)
		}
		t.Logf("at %g: %d alarms of %d, %d trials each", c.probability, alarms, runs, trials/runs)
	}
}
