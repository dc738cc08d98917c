package combine

import (
	"math"
	"testing"
)

// The rules, computed by hand: values 1, 2 and 3 have the mean 2 and the variance 1, so T = 4/3 − 1/3 = 1, and the degrees of
// freedom are 2·(1 − ¼)² = 1.125.
func TestByHand(t *testing.T) {
	sets := []Estimate{{1, 0.2}, {2, 0.3}, {3, 0.5}}
	c, err := Synthetic(sets, 100, 100, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	for _, check := range []struct{ got, want float64 }{
		{c.Value, 2}, {c.Between, 1}, {c.Within, 1.0 / 3}, {c.Variance, 1}, {c.Freedom, 1.125},
	} {
		if math.Abs(check.got-check.want) > 1e-12 {
			t.Errorf("%+v has %v instead of %v", c, check.got, check.want)
		}
	}
	if c.Corrected || math.Abs((c.High-c.Low)/2-10) > 1 { // Student's quantile is between 12.7 (1) and 4.3 (2)
		t.Errorf("the interval of %+v", c)
	}
}

// If the values vary less than their own variances say, T is not positive. It becomes the sampling variance of the real rows.
func TestNotPositive(t *testing.T) {
	c, err := Synthetic([]Estimate{{1, 4}, {1.1, 4}}, 500, 1000, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	if !c.Corrected || c.Variance != 2 || c.Freedom != 1 {
		t.Errorf("%+v", c)
	}
}

func TestRefused(t *testing.T) {
	good := []Estimate{{1, 1}, {2, 1}}
	for name, call := range map[string]func() error{
		"one set":      func() error { _, err := Synthetic(good[:1], 1, 1, 0.95); return err },
		"no rows":      func() error { _, err := Synthetic(good, 0, 1, 0.95); return err },
		"no people":    func() error { _, err := Synthetic(good, 1, 0, 0.95); return err },
		"certainty":    func() error { _, err := Synthetic(good, 1, 1, 1); return err },
		"no number":    func() error { _, err := Synthetic([]Estimate{{math.NaN(), 1}, {2, 1}}, 1, 1, 0.95); return err },
		"infinite":     func() error { _, err := Synthetic([]Estimate{{math.Inf(1), 1}, {2, 1}}, 1, 1, 0.95); return err },
		"negative":     func() error { _, err := Synthetic([]Estimate{{1, -1}, {2, 1}}, 1, 1, 0.95); return err },
		"no variation": func() error { _, err := Synthetic([]Estimate{{1, 0}, {1, 0}}, 1, 1, 0.95); return err },
	} {
		if call() == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}
