package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/stattest"
)

// Questions for quantiles and modes over grouping sets that have one key look at the same rows in the same way, one look after the other, and draw alike:
// however they are written. What differs in any of it so has another key.
func TestOrdersOverSetsOfOneKey(t *testing.T) {
	stattest.Cases(t, 3000)
	var policies []*policy.Policy
	for _, text := range [][]byte{enginetest.PolicyText("add-remove"), enginetest.ByGroups("change-one"), enginetest.Opened("add-remove")} {
		policies = append(policies, policyOf(t, text))
	}
	aggregates := []string{
		"MEDIAN(x)", "PERCENTILE_CONT(x, 0.5)", "PERCENTILE_CONT(x, 0.25)", "MEDIAN(i)", "MODE(s)", "MODE(k)", "COUNT(*)", "SUM(i)", "COUNT(DISTINCT i)", "MEDIAN(x, weight => 2)", "MODE(s, epsilon => 0.2)",
	}
	known, shared := map[string]string{}, 0
	rapid.Check(t, func(t *rapid.T) {
		pick := func(name string, of ...string) string { return rapid.SampledFrom(of).Draw(t, name) }
		at := rapid.IntRange(0, len(policies)-1).Draw(t, "policy")
		var items []string
		for range rapid.IntRange(1, 2).Draw(t, "aggregates") {
			items = append(items, pick("aggregate", aggregates...))
		}
		sql := "SELECT " + strings.Join(items, ", ") + " FROM " + pick("table", "t", "p", "p") + pick("where", "", "", " WHERE b", " WHERE k = 5") + " GROUP BY " +
			pick("groups", "ROLLUP (s)", "GROUPING SETS ((), s)", "CUBE (s, k)", "CUBE (k, s)", "GROUPING SETS (s, k)", "GROUPING SETS (k, s, k)", "ROLLUP (s, k)", "GROUPING SETS (s, ())", "ROLLUP (k)")
		q, err := plan.Build(policies[at], plan.Request{SQL: sql, MaxGroups: rapid.Int64Range(0, 2).Draw(t, "max groups"), MaxRows: rapid.Int64Range(0, 2).Draw(t, "max rows")})
		if err != nil || q.Orders() == nil {
			return
		}
		looks := fmt.Sprintf("policy %d\n%s", at, released(q))
		switch before, ok := known[q.Key(1)]; {
		case !ok:
			known[q.Key(1)] = looks
		case before != looks:
			t.Fatalf("%s has the key of what is another look:\n%s\n%s", sql, looks, before)
		default:
			shared++
		}
	})
	if t.Logf("%d keys, shared %d times", len(known), shared); len(known) < 500 || shared < 200 {
		t.Error("the test shows nothing")
	}
}

// released writes what a plan looks at and draws, from the plan and not from its text.
func released(p *plan.Plan) string {
	var w strings.Builder
	for _, b := range p.Looks() {
		fmt.Fprintf(&w, "look at %s under %+v, where %v, ordered %t, of parts %v:", b.Table, b.Caps, b.Where, b.Ordered, b.Part)
		for _, k := range b.Keys {
			fmt.Fprintf(&w, " key %s of %v", k.Expr, k.Values)
		}
		for _, m := range b.Measures {
			fmt.Fprintf(&w, " measure %s", m)
		}
		fmt.Fprintln(&w)
	}
	for _, m := range p.Vectors() {
		fmt.Fprintf(&w, "noise %s of %s on %s\n", m.Noise, m.Parameter, m)
	}
	for _, of := range p.Orders() {
		for _, q := range of.Quantiles {
			fmt.Fprintf(&w, "draw %s and %s at %s for %s, of %s\n", q.Draw(), q.Width(), q.Rank, q.Sensitivity, q.Value)
		}
		for _, m := range of.Modes {
			fmt.Fprintf(&w, "draw %s for %d of %s\n", m.Epsilon(), m.Rows, m)
		}
	}
	return w.String()
}
