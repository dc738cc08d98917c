package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/reuse"
	"dither/privacy"
)

// The quantiles and modes of each grouping set are those of a question with that set alone, of the rows that are in a group by every key, at a price of the
// set's share; the shares of all sets add up to the price.
func TestOrdersOverSets(t *testing.T) {
	const aggregates = "MEDIAN(x), PERCENTILE_DISC(0.9) WITHIN GROUP (ORDER BY x), MODE(s), MEDIAN(k)"
	for _, c := range []struct {
		name, table, grouping string
		policy                []byte
		sets                  []string // in canonical order
	}{
		{"rows are units", "t", "ROLLUP (s, b)", enginetest.PolicyText("add-remove"), []string{" GROUP BY s, b", " GROUP BY s", ""}},
		{"by rows", "p", "CUBE (s, b)", enginetest.PolicyText("change-one"), []string{" GROUP BY s, b", " GROUP BY b", " GROUP BY s", ""}},
		{"by groups", "p", "GROUPING SETS (b, s, ())", enginetest.ByGroups("add-remove"), []string{" GROUP BY b", " GROUP BY s", ""}},
	} {
		p := policyOf(t, c.policy)
		epsilon := must(privacy.ParseEpsilon("1.2"))
		q, err := plan.Build(p, plan.Request{SQL: "SELECT " + aggregates + ", COUNT(*) FROM " + c.table + " GROUP BY " + c.grouping, Price: privacy.PureLoss(epsilon)})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		orders, n := q.Orders(), int64(len(c.sets))
		if len(orders) != len(c.sets) {
			t.Errorf("%s: %d looks of %d sets", c.name, len(orders), len(c.sets))
			continue
		}
		where := ""
		for _, k := range q.Keys { // those that drop rows
			if !k.NullGroup() {
				where += " AND " + k.Expr.String() + " IS NOT NULL"
			}
		}
		if where != "" {
			where = " WHERE" + strings.TrimPrefix(where, " AND")
		}
		total := privacy.Loss{}
		for i, of := range orders {
			alone, err := plan.Build(p, plan.Request{SQL: "SELECT " + aggregates + " FROM " + c.table + where + c.sets[i], Price: privacy.PureLoss(epsilon.Share(4, 5*n))})
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			if of.OrderCaps != alone.OrderCaps || of.RowCaps != alone.RowCaps || of.Cells() != alone.Cells() || len(of.Quantiles) != 3 || len(of.Modes) != 1 {
				t.Errorf("%s, %q: caps %v and %v of %d cells, and alone %v and %v of %d", c.name, c.sets[i], of.OrderCaps, of.RowCaps, of.Cells(), alone.OrderCaps, alone.RowCaps, alone.Cells())
			}
			for j, o := range of.Quantiles {
				total = total.Plus(o.Loss)
				if a := alone.Quantiles[j]; o.String() != a.String() || o.Sensitivity.Cmp(a.Sensitivity) != 0 || o.Width().String() != a.Width().String() || o.Draw().String() != a.Draw().String() || o.Loss.String() != a.Loss.String() {
					t.Errorf("%s, %q: %s of %s at %s, and alone %s of %s at %s", c.name, c.sets[i], o, o.Sensitivity, o.Loss, a, a.Sensitivity, a.Loss)
				}
				if fmt.Sprint(of.RankError(o, 0.05), of.Span(o, 0.05)) != fmt.Sprint(alone.RankError(alone.Quantiles[j], 0.05), alone.Span(alone.Quantiles[j], 0.05)) {
					t.Errorf("%s, %q: %s has other errors", c.name, c.sets[i], o)
				}
			}
			for j, m := range of.Modes {
				total = total.Plus(m.Loss)
				if a := alone.Modes[j]; m.String() != a.String() || m.Rows != a.Rows || m.Loss.String() != a.Loss.String() {
					t.Errorf("%s, %q: %+v, and alone %+v", c.name, c.sets[i], m, a)
				}
			}
		}
		if share := privacy.PureLoss(epsilon.Share(4, 5)); !total.Within(share) || !share.Within(total) {
			t.Errorf("%s: %s in all, of %s", c.name, total, share)
		}
		if reuse.Followable(q) || len(q.Looks()) != 1+3*len(c.sets) { // the sums; of each set two values in order, and a mode
			t.Errorf("%s: %d looks", c.name, len(q.Looks()))
		}
	}
}

// What a release of several sets depends on is in its key.
func TestOrdersOverSetsKeys(t *testing.T) {
	p := policyOf(t, enginetest.PolicyText("add-remove"))
	seen := map[string]string{}
	for _, of := range [][]string{
		{"MEDIAN(x) FROM t GROUP BY ROLLUP (s)", "PERCENTILE_CONT(x, 0.5) AS m FROM t GROUP BY GROUPING SETS ((), s) ORDER BY 1"},
		{"MEDIAN(x) FROM t GROUP BY s"},
		{"MEDIAN(x) FROM t GROUP BY CUBE (s, b)", "s, MEDIAN(x) FROM t GROUP BY CUBE (b, s) HAVING MEDIAN(x) > 1"},
		{"PERCENTILE_CONT(x, 0.6) FROM t GROUP BY ROLLUP (s)"},
		{"MODE(s) FROM t GROUP BY ROLLUP (s)"},
		{"MODE(s), MEDIAN(x) FROM t GROUP BY ROLLUP (s)", "MEDIAN(x), MODE(s) FROM t GROUP BY ROLLUP (s)"},
		{"MODE(s, weight => 2), MEDIAN(x) FROM t GROUP BY ROLLUP (s)"},
		{"MEDIAN(x), COUNT(*) FROM t GROUP BY ROLLUP (s)"},
	} {
		key := ""
		for _, sql := range of {
			q := builtOn(t, p, "SELECT "+sql)
			if key == "" {
				if key = q.Key(1); seen[key] != "" {
					t.Errorf("%s has the key of %s", sql, seen[key])
				}
				seen[key] = sql
			}
			if q.Key(1) != key {
				t.Errorf("%s has another key than %s:\n%s", sql, of[0], q.Canonical(1))
			}
		}
	}
	var many []string
	for i := range 65 {
		many = append(many, fmt.Sprintf("MODE(s = 'a' AND i > %d)", i))
	}
	if _, err := plan.Build(p, plan.Request{SQL: "SELECT " + strings.Join(many, ", ") + " FROM t GROUP BY CUBE (s, b, k)"}); err == nil || !strings.Contains(err.Error(), "520 accesses") {
		t.Error(err)
	}
	if _, err := plan.Build(p, plan.Request{SQL: "SELECT MEDIAN(x, epsilon => 1e-9) FROM t GROUP BY ROLLUP (s)"}); err == nil {
		t.Error("so small a price")
	}
}
