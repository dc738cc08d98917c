package derive_test

import (
	"os"
	"testing"

	"dither/internal/stattest"
)

// promised are n tests of intervals that promise to cover at a level. An interval that keeps its promise fails by chance with probability 1e-6 at
// most; one that misses twice as often as it may, with DITHER_LONG=1 only 1.4 times (93 % in place of 95 %), passes with probability 1e-3 at most.
func promised(level float64, n int) []*stattest.Sequential {
	worse := 2.0
	if os.Getenv("DITHER_LONG") != "" {
		worse = 1.4
	}
	out := make([]*stattest.Sequential, n)
	for i := range out {
		out[i] = &stattest.Sequential{Promised: level, Wrong: 1 - worse*(1-level), FalseAlarm: 1e-6, Miss: 1e-3}
	}
	return out
}

// kept fails where a promise is not.
func kept(t *testing.T, what string, tests []*stattest.Sequential) {
	t.Helper()
	for i, s := range tests {
		if err := s.Check(); err != nil {
			t.Errorf("%s %d: covered %v", what, i, err)
		}
	}
	t.Logf("covered %v", tests)
}
