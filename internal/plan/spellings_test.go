package plan_test

import (
	"errors"
	"strings"
	"testing"

	"dither/internal/plan"
	"dither/internal/policy"
	"dither/privacy"
)

// spelt is a question as a list of ways of asking it: bare texts, and texts with what stands beside them.
type spelt struct {
	sql  string
	with func(*plan.Request)
}

// One question has one key, however it is spelt: beside the text, in OPTIONS, as a named argument, in GoogleSQL's old
// form, or not at all where the policy says the same.
func TestSpellingsShareAKey(t *testing.T) {
	pure := openly(t, "add-remove", "{epsilon: 2}", "{default: 0.5}")
	zcdp := openly(t, "add-remove", selecting, "{default: {rho: 0.125}, delta: 1e-7}")
	epsilon := must(privacy.ParseEpsilon("0.5"))
	at := func(p *policy.Policy) func(*plan.Request) {
		return func(r *plan.Request) { r.Price = p.Budget.Price(epsilon) }
	}
	rows := func(n int64) func(*plan.Request) { return func(r *plan.Request) { r.MaxRows = n } }
	groups := func(n int64) func(*plan.Request) { return func(r *plan.Request) { r.MaxGroups = n } }
	auto := func(r *plan.Request) { r.AutoRows = true }
	rho := must(privacy.ParseRho("0.125"))
	delta := must(privacy.ParseDelta("1e-7"))
	const (
		n       = " COUNT(*) FROM orders"
		byShop  = " shop, COUNT(*), COUNT(DISTINCT person) FROM orders GROUP BY shop"
		byThing = " product, COUNT(*) FROM orders GROUP BY product"
		old     = "SELECT WITH ANONYMIZATION OPTIONS"
	)
	for name, of := range map[string]struct {
		policies []*policy.Policy
		ways     []spelt
	}{
		"the price": {[]*policy.Policy{pure, zcdp}, []spelt{
			{"SELECT" + n, nil},
			{dp + "(epsilon=0.5)" + n, nil},
			{dp + "(epsilon=5e-1)" + n, nil},
			{dp + "(epsilon=.50, group_selection_strategy=PUBLIC_GROUPS, privacy_unit_column=person, delta=0)" + n, nil},
			{old + "(epsilon=0.5)" + n, nil},
			{"SELECT COUNT(*, epsilon => 0.5) FROM orders", nil},
			{"SELECT COUNT(*, weight => 7) FROM orders", nil},
		}},
		"the schema": {[]*policy.Policy{pure, zcdp}, []spelt{
			{"SELECT" + byShop, nil},
			{`SELECT "public"."orders"."shop", COUNT(*), COUNT(DISTINCT orders.person) FROM "public"."orders" GROUP BY "orders"."shop"`, nil},
			{"SELECT shop.orders.shop, count(*), COUNT(DISTINCT person) FROM shop.orders GROUP BY 1", nil},
			{"SELECT shop, count(*), COUNT(DISTINCT person) FROM `shop.orders` GROUP BY 1", nil},
			{"SELECT shop.public.orders.shop, pg_catalog.count(*), COUNT(DISTINCT person) FROM shop.public.orders GROUP BY 1", nil},
		}},
		"ρ": {[]*policy.Policy{zcdp}, []spelt{
			{"SELECT" + n, nil},
			{"SELECT" + n, at(zcdp)},
			{"SELECT" + n, func(r *plan.Request) { r.Price = privacy.ZCDPLoss(rho, privacy.Delta{}) }},
			{dp + "(epsilon=0.5)" + n, at(zcdp)},
		}},
		"an ε beside": {[]*policy.Policy{pure}, []spelt{{"SELECT" + n, nil}, {"SELECT" + n, at(pure)}, {dp + "(target_relative_error=0.1)" + n, at(pure)}}},
		"rows": {[]*policy.Policy{pure, zcdp}, []spelt{
			{"SELECT" + byShop, rows(2)},
			{dp + "(max_rows_contributed=2)" + byShop, nil},
			{dp + "(max_rows_contributed=2)" + byShop, rows(2)},
		}},
		// An average is bounded by rows; a sum may be by groups, unless a bound on rows is named, which asks for that
		// one.
		"the policy's rows": {[]*policy.Policy{pure, zcdp}, []spelt{
			{"SELECT AVG(cost) FROM orders", nil},
			{"SELECT AVG(cost) FROM orders", rows(5)},
			{"SELECT AVG(cost) FROM orders", rows(500)},
			{dp + "(max_rows_contributed=5) AVG(cost) FROM orders", nil},
			{dp + "(max_rows_contributed=100) AVG(cost) FROM orders", nil},
			{dp + "(max_groups_contributed=3) AVG(cost) FROM orders", nil},
			{"SELECT AVG(cost) FROM orders", groups(1)}, // there is one group
			{old + "(kappa=9) AVG(cost) FROM orders", nil},
		}},
		"rows that are found": {[]*policy.Policy{pure, zcdp}, []spelt{
			{"SELECT" + n, auto},
			{dp + "(max_rows_contributed=auto)" + n, nil},
			{dp + "(max_rows_contributed=AUTO, max_rows_quantile=0.99)" + n, nil},
			{dp + "(max_rows_quantile=.990)" + n, auto},
		}},
		"groups": {[]*policy.Policy{pure, zcdp}, []spelt{
			{"SELECT" + byShop, groups(1)},
			{dp + "(max_groups_contributed=1)" + byShop, nil},
			{dp + "(max_groups_contributed=1)" + byShop, groups(1)},
			{old + "(kappa=1)" + byShop, nil},
			{old + "(max_groups_contributed=1)" + byShop, nil},
		}},
		"the policy's groups": {[]*policy.Policy{pure, zcdp}, []spelt{
			{"SELECT" + byShop, nil}, {"SELECT" + byShop, groups(3)}, {dp + "(max_groups_contributed=3)" + byShop, nil}, {"SELECT" + byShop, groups(2)}, // there are two
		}},
		"groups that are not known": {[]*policy.Policy{zcdp}, []spelt{
			{"SELECT" + byThing, nil},
			{dp + "(delta=1e-7)" + byThing, nil},
			{"SELECT" + byThing, func(r *plan.Request) { r.Unknown.Delta = delta }},
			{"SELECT" + byThing, func(r *plan.Request) { r.Unknown.MinUnits = 4 }},
			{dp + "(min_privacy_units_per_group=4)" + byThing, nil},
			{dp + "(group_selection_strategy=LAPLACE_THRESHOLD, max_groups_contributed=3)" + byThing, nil},
			{old + "(delta=0.0000001, kappa=3)" + byThing, nil},
		}},
		"bounds": {[]*policy.Policy{pure, zcdp}, []spelt{
			{"SELECT SUM(cost) FROM orders", nil},
			{"SELECT SUM(cost, bounds => (0, 10)) FROM orders", nil},
			{"SELECT SUM(cost, contribution_bounds_per_row => (-1, 20)) FROM orders", nil},
		}},
		"narrower bounds": {[]*policy.Policy{pure, zcdp}, []spelt{
			{"SELECT SUM(cost, bounds => (0, 4)) FROM orders", nil},
			{"SELECT SUM(cost, contribution_bounds_per_row => (0, 4.0)) FROM orders", nil},
		}},
		"names of aggregates": {[]*policy.Policy{pure, zcdp}, []spelt{
			{"SELECT COUNT(DISTINCT person), AVG(cost) FROM orders", nil},
			{"SELECT approx_count_distinct(person) AS n, ANON_AVG(cost) FROM orders o", nil},
			{`SELECT anon_avg(o.cost), count(DISTINCT "person") FROM orders AS o ORDER BY 1`, nil},
		}},
		"a median": {[]*policy.Policy{pure, zcdp}, []spelt{
			{"SELECT MEDIAN(cost) FROM orders", nil},
			{"SELECT PERCENTILE_CONT(0.50) WITHIN GROUP (ORDER BY cost) FROM orders", nil},
			{"SELECT PERCENTILE_DISC(cost, 0.5) FROM orders", nil},
			{"SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY cost DESC) FROM orders", nil},
		}},
		"FILTER": {[]*policy.Policy{pure, zcdp}, []spelt{
			{"SELECT SUM(cost) FILTER (WHERE gift) FROM orders", nil},
			{"SELECT SUM(CASE WHEN gift THEN cost END) FROM orders", nil},
		}},
	} {
		for _, p := range of.policies {
			key, text := "", ""
			for _, w := range of.ways {
				r := plan.Request{SQL: w.sql}
				if w.with != nil {
					w.with(&r)
				}
				q, err := plan.Build(p, r)
				if err != nil {
					t.Errorf("%s: %s: %v", name, w.sql, err)
					continue
				}
				if key == "" {
					key, text = q.Key(1), q.Canonical(1)
				}
				if q.Key(1) != key {
					t.Errorf("%s: %s is\n%s\nand not\n%s", name, w.sql, q.Canonical(1), text)
				}
			}
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// The only catalog is the population's name, and a refusal names it.
func TestCatalogIsThePopulation(t *testing.T) {
	_, err := plan.Build(openly(t, "add-remove", "{epsilon: 2}", "{default: 0.5}"), plan.Request{SQL: "SELECT COUNT(*) FROM other.public.orders"})
	var e *plan.Error
	if !errors.As(err, &e) || e.Error() != `1:22: there is no catalog "other"` || e.Hint != "write shop, or leave it out" {
		t.Errorf("%v", err)
	}
	for sql, want := range map[string]string{
		"SELECT COUNT(*) FROM s.orders":                                                            "1:22",
		`SELECT COUNT(*) FROM "PUBLIC".orders`:                                                     "1:22",
		"SELECT COUNT(s.orders.shop) FROM s.orders":                                                "1:14",
		"SELECT COUNT(*) FROM (SELECT person FROM orders UNION ALL SELECT person FROM s.orders) q": "1:78",
	} {
		_, err := plan.Build(openly(t, "add-remove", "{epsilon: 2}", "{default: 0.5}"), plan.Request{SQL: sql})
		if !errors.As(err, &e) || !strings.HasPrefix(e.Error(), want+": there is no schema ") || !strings.HasPrefix(e.Hint, "all tables are in the schema public: write orders") {
			t.Errorf("%s: %v", sql, err)
		}
	}
}
