package stattest

import (
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"testing"
)

// Sizes are the numbers of rows for which the coverage of each statistic is simulated.
var Sizes = []int{50, 1000, 20_000}

// Simulations returns many if the test runs in its long form, with DITHER_LONG=1, and otherwise few.
func Simulations(few, many int) int {
	if os.Getenv("DITHER_LONG") != "" {
		return many
	}
	return few
}

// Coverage counts simulated intervals of a confidence of 95 %. The zero value has none.
type Coverage struct {
	Of   int
	Held int // intervals that contain the true value; those without ends do
	None int // intervals without ends: the release determines no interval
}

// Observe counts an interval, or a set of them that hold jointly.
func (c *Coverage) Observe(held bool) {
	if c.Of++; held {
		c.Held++
	}
}

// Interval counts an interval and the true value. An infinite end bounds nothing, and NaN is an infinite end.
func (c *Coverage) Interval(low, truth, high float64) {
	c.Observe(!(low > truth) && !(high < truth))
	if unbounded := func(x float64) bool { return math.IsInf(x, 0) || math.IsNaN(x) }; unbounded(low) && unbounded(high) {
		c.None++
	}
}

// Hidden counts a simulation whose noise hides the statistic, so that there is no interval.
func (c *Coverage) Hidden() { c.Of, c.Held, c.None = c.Of+1, c.Held+1, c.None+1 }

// Check returns an error if the coverage is below 95 % by more than chance explains. A false alarm has a probability of
// at most one in a million.
func (c *Coverage) Check() error {
	return Proportion{
		Successes: c.Held, Of: Binomial{Trials: c.Of, Probability: 0.95}, FalseAlarm: 1e-6,
	}.CheckAtLeast()
}

func (c *Coverage) String() string {
	share := func(k, of int) float64 { return 100 * float64(k) / float64(max(1, of)) }
	out := fmt.Sprintf("%.1f %% of %d", share(c.Held, c.Of), c.Of)
	switch c.None {
	case 0:
		return out
	case c.Of:
		return fmt.Sprintf("no interval in %d", c.Of)
	}
	return out + fmt.Sprintf(" (%.0f %% have no interval; of the others %.1f %%)", share(c.None, c.Of),
		share(c.Held-c.None, c.Of-c.None))
}

// Level counts simulated tests of true hypotheses at the level .05.
type Level struct{ Rejected, Of int }

// P counts a test by its p-value.
func (l *Level) P(p float64) {
	if l.Of++; p <= 0.05 {
		l.Rejected++
	}
}

// Check returns an error if the share of rejected tests is above 5 % by more than chance explains. A false alarm has a
// probability of at most one in a million.
func (l *Level) Check() error {
	return Proportion{
		Successes: l.Rejected, Of: Binomial{Trials: l.Of, Probability: 0.05}, FalseAlarm: 1e-6,
	}.CheckAtMost()
}

func (l *Level) String() string {
	return fmt.Sprintf("rejected %.1f %% of %d", 100*float64(l.Rejected)/float64(max(1, l.Of)), l.Of)
}

// Study counts the intervals and the tests of several statistics in the same simulations. The zero value has none.
type Study struct {
	covers map[string]map[string]*Coverage
	levels map[string]*Level
}

// Covers returns the coverage of a part of a statistic, such as one of several coefficients. Each part is held to 95 %
// by itself, because the parts depend on each other.
func (s *Study) Covers(statistic, part string) *Coverage {
	if s.covers == nil {
		s.covers = map[string]map[string]*Coverage{}
	}
	if s.covers[statistic] == nil {
		s.covers[statistic] = map[string]*Coverage{}
	}
	if s.covers[statistic][part] == nil {
		s.covers[statistic][part] = &Coverage{}
	}
	return s.covers[statistic][part]
}

// Level returns the level of a test.
func (s *Study) Level(test string) *Level {
	if s.levels == nil {
		s.levels = map[string]*Level{}
	}
	if s.levels[test] == nil {
		s.levels[test] = &Level{}
	}
	return s.levels[test]
}

// Check fails the test if a coverage or a level is worse than chance explains. It logs each level, and of each statistic
// the coverage over all parts and the lowest of a part. where says what was simulated.
func (s *Study) Check(t testing.TB, where string) {
	t.Helper()
	for _, statistic := range slices.Sorted(maps.Keys(s.covers)) {
		all, lowest := Coverage{}, 1.0
		for part, c := range s.covers[statistic] {
			all.Of, all.Held, all.None = all.Of+c.Of, all.Held+c.Held, all.None+c.None
			lowest = min(lowest, float64(c.Held)/float64(c.Of))
			if err := c.Check(); err != nil {
				t.Errorf("%s %s, %s: %v", statistic, part, where, err)
			}
		}
		text := all.String()
		if k := len(s.covers[statistic]); k > 1 {
			text += fmt.Sprintf("; the lowest of %d: %.1f %%", k, 100*lowest)
		}
		t.Logf("%s, %s: %s", statistic, where, text)
	}
	for _, test := range slices.Sorted(maps.Keys(s.levels)) {
		t.Logf("%s, %s: %s", test, where, s.levels[test])
		if err := s.levels[test].Check(); err != nil {
			t.Errorf("%s, %s: %v", test, where, err)
		}
	}
}
