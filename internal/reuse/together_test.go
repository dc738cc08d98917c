package reuse_test

import (
	"fmt"
	"sync"
	"testing"

	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/reuse"
)

// One Reader compares its plan with many others at once, as a curator does, and finds what it finds one after the other.
func TestOneReaderAtOnce(t *testing.T) {
	p, err := policy.Decode(enginetest.PolicyText("add-remove"), ".")
	if err != nil {
		t.Fatal(err)
	}
	build := func(sql string) *plan.Plan {
		t.Helper()
		q, err := plan.Build(p, plan.Request{SQL: sql})
		if err != nil {
			t.Fatal(err)
		}
		return q
	}
	var earlier []*plan.Plan
	for _, keys := range []string{"k", "b, k", "s, k", "k, d", "CUBE (k, b)", "ROLLUP (s, k)", "k, COALESCE(s, 'a')", "d", "k + 0"} {
		for _, sum := range []string{"COUNT(*)", "SUM(i), COUNT(*)", "COUNT(*), SUM(j)"} {
			for range 3 {
				earlier = append(earlier, build(fmt.Sprintf("SELECT %s FROM t GROUP BY %s", sum, keys)))
			}
		}
	}
	for _, sql := range []string{
		"SELECT SUM(i), COUNT(*) FROM t WHERE k > 0 GROUP BY k * k", "SELECT COUNT(*) FROM t GROUP BY CUBE (ABS(k), b)",
		"SELECT COUNT(*) FROM t WHERE k IS NOT NULL AND b GROUP BY CASE WHEN k > 0 THEN 'a' ELSE 'b' END",
	} {
		asked := build(sql)
		reader, tells := reuse.NewReader(asked), make([]bool, len(earlier))
		var all sync.WaitGroup
		for i, q := range earlier {
			all.Go(func() { tells[i] = reader.Tells(q) })
		}
		all.Wait()
		some := 0
		for i, q := range earlier {
			if alone := reuse.NewReader(asked).Tells(q); alone != tells[i] || reader.Tells(q) != alone {
				t.Errorf("%s, of plan %d: %t at once, and %t alone", sql, i, tells[i], alone)
			} else if alone {
				some++
			}
		}
		if some == 0 {
			t.Errorf("nothing tells of %s: the test shows little", sql)
		}
	}
}
