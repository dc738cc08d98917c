package stattest

import (
	"math"
	"testing"
)

// A coverage of 95 % and a level of 5 % pass, and clearly worse ones do not, of many trials and of few.
func TestCoverageAndLevel(t *testing.T) {
	for _, c := range []struct {
		held, of int
		ok       bool
	}{{950, 1000, true}, {920, 1000, true}, {900, 1000, false}, {8, 8, true}, {4, 8, true}, {2, 8, false}, {0, 0, true}} {
		if err := (&Coverage{Of: c.of, Held: c.held}).Check(); (err == nil) != c.ok {
			t.Errorf("%d of %d hold: %v", c.held, c.of, err)
		}
		if err := (&Level{Of: c.of, Rejected: c.of - c.held}).Check(); (err == nil) != c.ok {
			t.Errorf("%d of %d rejected: %v", c.of-c.held, c.of, err)
		}
	}
}

// An interval without ends holds everything, and is counted as none.
func TestCoverageCounts(t *testing.T) {
	var s Study
	c := s.Covers("mean", "x")
	c.Interval(1, 2, 3)
	c.Interval(1, 4, 3)
	c.Interval(math.Inf(-1), 4, 3)
	c.Interval(math.Inf(-1), 4, math.Inf(1))
	c.Interval(math.NaN(), 4, math.NaN())
	c.Hidden()
	c.Observe(true)
	if again := s.Covers("mean", "x"); *again != (Coverage{Of: 7, Held: 5, None: 3}) {
		t.Errorf("%+v", *again)
	}
	if want := "71.4 % of 7 (43 % have no interval; of the others 50.0 %)"; c.String() != want {
		t.Errorf("%s, not %s", c, want)
	}
	s.Level("test").P(0.05)
	s.Level("test").P(0.051)
	if l := s.Level("test"); *l != (Level{Rejected: 1, Of: 2}) || l.String() != "rejected 50.0 % of 2" {
		t.Errorf("%+v: %s", *l, l)
	}
}
