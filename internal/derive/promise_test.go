package derive_test

import (
	"flag"
	"fmt"
	"os"
	"sync"
	"testing"

	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/stattest"
)

// promised are n tests of intervals that promise to cover at a level. An interval that keeps its promise fails by
// chance with probability 1e-6 at most; one that misses twice as often as it may, with DITHER_LONG=1 only 1.4 times (93
// % in place of 95 %), passes with probability 1e-3 at most.
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

// simulated are the constructs of which intervals were simulated, and asked the texts of plans.
var simulated = struct {
	sync.Mutex
	met   enginetest.Met
	asked map[*plan.Plan]string
}{met: enginetest.Met{}, asked: map[*plan.Plan]string{}}

// simulates notes that intervals of a plan's answers are simulated.
func simulates(p *plan.Plan) {
	simulated.Lock()
	defer simulated.Unlock()
	simulated.met.Add(p, simulated.asked[p])
}

// TestMain makes sure, where all tests are run, that no construct which has intervals of its own is left out of
// simulations.
func TestMain(m *testing.M) {
	code := m.Run()
	if code == 0 && flag.Lookup("test.run").Value.String() == "" && flag.Lookup("test.list").Value.String() == "" && flag.Lookup("test.skip").Value.String() == "" {
		for _, name := range []string{
			"COUNT(*)", "COUNT(x)", "COUNT(DISTINCT unit)", "COUNT(DISTINCT x)", "SUM", "AVG", "VAR_POP", "VAR_SAMP", "VARIANCE", "STDDEV", "STDDEV_POP", "STDDEV_SAMP",
			"COVAR_POP", "COVAR_SAMP", "CORR", "REGR_SLOPE", "REGR_INTERCEPT", "REGR_R2", "REGR_COUNT", "REGR_AVGX", "REGR_AVGY", "CLIPPED",
			"MEDIAN", "PERCENTILE_CONT", "PERCENTILE_DISC", "APPROX_QUANTILES", "FILTER", "known groups", "ROLLUP", "CUBE", "GROUPING SETS",
			"bounds per row", "bounds per group", "bounds => auto", "weight", "rows are units", "units by rows", "units by groups",
			"subquery", "join", "UNION ALL", "aggregates of one person", "quantile over a relation", "found bounds over a relation",
		} {
			if simulated.met[name] == 0 {
				fmt.Printf("no interval of %s was simulated\n", name)
				code = 1
			}
		}
	}
	os.Exit(code)
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
