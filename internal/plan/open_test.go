package plan_test

import (
	"errors"
	"math/big"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dither/internal/bounded"
	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/value"
	"dither/privacy"
)

// Of groups that are not known beforehand: between neighbouring tables, their numbers of units differ by as little as their
// selection is told, and so do the groups that there are; and of any groups that could be released, the measures differ by at
// most the planned sensitivity, with and without Other.
func TestNeighboursOfOpenGroups(t *testing.T) {
	policies := map[string]*policy.Policy{}
	for _, relation := range []string{"add-remove", "change-one"} {
		for name, text := range map[string]func(string) []byte{relation: enginetest.Opened, relation + " by groups": enginetest.OpenedByGroups} {
			p, err := policy.Decode(text(relation), ".")
			if err != nil {
				t.Fatal(err)
			}
			policies[name] = p
		}
	}
	lacking, others, pairs := 0, 0, 500
	if os.Getenv("DITHER_LONG") != "" {
		pairs = 12_500
	}
	acrossNeighboursOf(t, pairs, func(t *rapid.T, closed *policy.Policy, table string) (*bounded.Statement, func(before, after []enginetest.Row) bool) {
		name := closed.Population.Neighbours.String()
		if closed.Table("p").Unit.RowsPerGroup == 1 {
			name += " by groups"
		}
		request := plan.Request{SQL: enginetest.OpenQuestion(t, table), Unknown: plan.Unknown{Other: rapid.Bool().Draw(t, "other")}}
		if table == "p" {
			request.MaxGroups = int64(rapid.IntRange(0, 4).Draw(t, "max groups"))
		}
		q, err := plan.Build(policies[name], request)
		if err != nil || !q.Open() { // a condition such as j < 3 leaves few keys, which are known
			return nil, nil
		}
		return &q.Statement, func(before, after []enginetest.Row) bool {
			there := q.Statement
			there.Other = false
			first, second := enginetest.Groups(&there, before), enginetest.Groups(&there, after)
			names := map[string]bool{}
			for name := range first {
				names[name] = true
			}
			for name := range second {
				names[name] = true
			}
			differ, squared, lack := int64(0), int64(0), [2]int64{}
			var chosen [][]value.Value
			for name := range names {
				d := units(first[name]) - units(second[name])
				if d != 0 {
					differ++
				}
				squared += d * d
				for side, n := range []int64{units(second[name]), units(first[name])} {
					if n == 0 {
						lack[side]++
						if d*d != 1 {
							t.Fatalf("%s: a group that is lacking has %d units", request.SQL, d)
						}
					}
				}
				if d*d > 1 {
					t.Fatalf("%s: a group differs by %d units", request.SQL, d)
				}
				if rapid.Bool().Draw(t, "chosen") {
					group, err := there.Group(name)
					if err != nil || bounded.GroupName(group) != name {
						t.Fatalf("%q: %v, %v", name, group, err)
					}
					chosen = append(chosen, group)
				}
			}
			s := q.Selection
			if differ > s.Optimal.Keys || squared > s.Gaussian.L2Squared.Int64() || max(lack[0], lack[1]) > s.Gaussian.Keys {
				t.Fatalf("%s: %d groups differ, by %d squared, %v are lacking: told %+v\n%v\n%v", request.SQL, differ, squared, lack, s, before, after)
			}
			if lack[0]+lack[1] > 0 {
				lacking++
			}
			bounded.SortGroups(chosen)
			after2 := q.Choose(chosen)
			among := &after2.Statement
			within := func(l1, l2squared []*big.Int) {
				for i, m := range q.Measures {
					if l1[i].Cmp(m.L1) > 0 || l2squared[i].Cmp(m.L2Squared) > 0 {
						t.Fatalf("%s: %v: measure %s moves by %s, squared L2 %s; planned %s, %s\n%v\n%v",
							request.SQL, chosen, m, l1[i], l2squared[i], m.L1, m.L2Squared, before, after)
					}
				}
			}
			within(distances(among, before, after)) // of groups that no unit counts in, too: rows of theirs may
			if !q.Other {
				within(apartWithin(among, first, second))
			} else {
				others++
			}
			return differ > 0
		}
	})
	if lacking < 100 || others < 100 {
		t.Errorf("%d pairs lacked groups, %d had Other: the test shows nothing", lacking, others)
	}
}

// units is a group's number of units.
func units(sums []*big.Int) int64 {
	if len(sums) == 0 {
		return 0
	}
	return sums[len(sums)-1].Int64()
}

// apartWithin is how far the measures of the chosen groups are apart that both have, as engines give them: from all groups at once. A group that
// one of them lacks is released by neither, but for δ (plan.Selection).
func apartWithin(b *bounded.Statement, first, second map[string][]*big.Int) (l1, l2squared []*big.Int) {
	for j := range b.Measures {
		one, two := new(big.Int), new(big.Int)
		for _, group := range b.Chosen {
			x, y := first[bounded.GroupName(group)], second[bounded.GroupName(group)]
			if x == nil || y == nil {
				continue
			}
			d := new(big.Int).Sub(x[j], y[j])
			one.Add(one, new(big.Int).Abs(d))
			two.Add(two, d.Mul(d, d))
		}
		l1, l2squared = append(l1, one), append(l2squared, two)
	}
	return l1, l2squared
}

const openPolicy = `
version: 1
population: {name: shop, neighbours: NEIGHBOURS}
budget: BUDGET
price: PRICE
tables:
  orders:
    source: {csv: orders.csv}
    unit: person
    rows_per_unit: 5
    max_groups: 3
    max_rows_per_group: 1
    min_units_per_group: 4
    columns: {person: {type: integer}, product: {type: text}, shop: {type: text, values: [a, b]}, cost: {type: real, bounds: [0, 10]}, gift: {type: boolean}}
  visits: {source: {csv: v.csv}, unit: row, columns: {page: {type: text, nullable: true}, weight: {type: real}}}
`

func openly(t *testing.T, neighbours, budget, price string) *policy.Policy {
	t.Helper()
	p, err := policy.Decode([]byte(strings.NewReplacer("NEIGHBOURS", neighbours, "BUDGET", budget, "PRICE", price).Replace(openPolicy)), ".")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

const selecting = "{rho: 2, delta: 1e-5, selection_delta: 1e-6}"

// The price is divided among the aggregates and the selection, ρ by ρ; the δ is the selection's alone.
func TestSelectionPlan(t *testing.T) {
	p := openly(t, "add-remove", selecting, "{default: {rho: 0.3}}")
	q, err := plan.Build(p, plan.Request{SQL: "SELECT product, COUNT(*), SUM(cost) FROM orders GROUP BY product"})
	if err != nil {
		t.Fatal(err)
	}
	s := q.Selection
	if got := q.Price.String(); got != "ρ = 0.3, δ = 0.00000005" {
		t.Errorf("price %s", got)
	}
	total := s.Loss
	for _, m := range q.Measures {
		total = total.Plus(m.Loss)
	}
	if total.String() != q.Price.String() || s.Loss.String() != "ρ = 0.1, δ = 0.00000005" {
		t.Errorf("the shares are %s together, the selection's %s, of %s", total, s.Loss, q.Price)
	}
	if s.Groups != 3 || s.MinUnits != 4 || q.Cells() != 0 || !q.Open() {
		t.Errorf("%+v, %d cells", s, q.Cells())
	}
	change, err := plan.Build(openly(t, "change-one", selecting, "{}"), plan.Request{SQL: "SELECT product, COUNT(*) FROM orders GROUP BY product"})
	if err != nil {
		t.Fatal(err)
	}
	if g := change.Selection; g.Optimal.Keys != 6 || g.Gaussian.Keys != 3 || g.Gaussian.L2Squared.Int64() != 6 {
		t.Errorf("change-one: %+v", g)
	}
	rows, err := plan.Build(p, plan.Request{SQL: "SELECT page, COUNT(*) FROM visits GROUP BY page"})
	if err != nil {
		t.Fatal(err)
	}
	if g := rows.Selection; g.Optimal.Keys != 1 || g.Gaussian.Keys != 1 || g.MinUnits != 1 || !rows.Keys[0].NullGroup() {
		t.Errorf("rows as units: %+v", g)
	}
}

// What is not released for the asking: keys that change what is released are in the replay key, and nothing else.
func TestOpenCanonical(t *testing.T) {
	p := openly(t, "add-remove", selecting, "{}")
	key := func(sql string, u plan.Unknown) string {
		q, err := plan.Build(p, plan.Request{SQL: sql, Unknown: u})
		if err != nil {
			t.Fatal(err)
		}
		return q.Key(1)
	}
	const sql = "SELECT product, COUNT(*) FROM orders GROUP BY product"
	same := key(sql, plan.Unknown{})
	if key("SELECT COUNT(*) AS n, product AS p FROM orders GROUP BY 2 ORDER BY 1 DESC LIMIT 3", plan.Unknown{}) != same || key(sql, plan.Unknown{MinUnits: 3}) != same {
		t.Error("the same release has two keys")
	}
	seen := map[string]bool{same: true}
	for _, u := range []plan.Unknown{{Other: true}, {MinUnits: 5}, {Delta: mustDelta(t, "1e-8")}, {Other: true, MinUnits: 5}} {
		if k := key(sql, u); seen[k] {
			t.Errorf("%+v: the key of another release", u)
		} else {
			seen[k] = true
		}
	}
	const known = "SELECT shop, COUNT(*) FROM orders GROUP BY shop"
	if key(known, plan.Unknown{}) != key(known, plan.Unknown{Delta: mustDelta(t, "1e-8")}) {
		t.Error("known groups depend on what is asked of unknown ones")
	}
}

func TestOpenRefusals(t *testing.T) {
	const sql = "SELECT product, COUNT(*) FROM orders GROUP BY product"
	for _, c := range []struct {
		budget, sql, message, hint string
		unknown                    plan.Unknown
	}{
		{budget: "{epsilon: 1}", sql: sql, message: "1:47: the possible values of this GROUP BY expression are not known beforehand; selecting groups costs a delta, and a pure budget has none", hint: "selection_delta: 5e-7"},
		{budget: "{epsilon: 1, delta: 1e-6}", sql: sql, message: "sets no selection_delta", hint: "selection_delta: 5e-7"},
		{budget: selecting, sql: "SELECT person, COUNT(*) FROM orders", message: "column \"person\" would list single units", hint: "write SELECT avg(n) FROM (SELECT person, count(*) AS n FROM orders GROUP BY person) AS q"},
		{budget: selecting, sql: "SELECT person, COUNT(*) FROM orders GROUP BY person", message: "each group would hold one unit only", hint: "write SELECT avg(n) FROM (SELECT person, count(*) AS n FROM orders GROUP BY person) AS q"},
		{budget: selecting, sql: "SELECT cost, COUNT(*) FROM orders GROUP BY cost", message: "not known beforehand", hint: "FLOOR"},
		{budget: selecting, sql: "SELECT COUNT(*) FROM orders GROUP BY ROLLUP (product)", message: "grouping sets need known keys, and those of product are unknown", hint: "one question for each grouping: GROUP BY product; without GROUP BY."},
		{budget: selecting, sql: "SELECT COUNT(*) FROM orders GROUP BY CUBE (product, shop, gift)", message: "those of product are unknown", hint: "each grouping: GROUP BY product, shop, gift; GROUP BY product, shop; GROUP BY product, gift; GROUP BY product; …. With unknown keys"},
		{budget: selecting, sql: sql, unknown: plan.Unknown{Delta: mustDelta(t, "1e-5")}, message: "a delta of 0.00001 is above the policy's maximum of 0.000001", hint: "--delta 0.000001"},
		{budget: selecting, sql: sql, unknown: plan.Unknown{MinUnits: -1}, message: "least number of units"},
		{budget: selecting, sql: "SELECT shop, COUNT(*) FROM orders GROUP BY shop", unknown: plan.Unknown{MinUnits: 7}, message: "all keys here are known", hint: "leave it out"},
		{budget: selecting, sql: "SELECT shop, COUNT(*) FROM orders GROUP BY shop", unknown: plan.Unknown{Other: true}, message: "there is no group of others", hint: "--other"},
	} {
		_, err := plan.Build(openly(t, "add-remove", c.budget, "{}"), plan.Request{SQL: c.sql, Unknown: c.unknown})
		var e *plan.Error
		if !errors.As(err, &e) || !strings.Contains(e.Error(), c.message) || !strings.Contains(e.Hint, c.hint) {
			t.Errorf("%s: %v (%+v), want %s: %s", c.sql, err, e, c.message, c.hint)
		}
	}
	if _, err := plan.BuildScores(openly(t, "add-remove", selecting, "{}"), plan.Request{SQL: sql}); err == nil {
		t.Error("candidates that are not known")
	}
}

// Units is as the mechanisms' own probabilities say, at prices and caps of all sizes; the strategy with the fewer is taken.
func TestSelectionUnits(t *testing.T) {
	taken := map[plan.Strategy]int{}
	for _, price := range []string{"0.0002", "0.01", "1.5"} {
		for _, delta := range []string{"1e-9", "1e-6", "0.2"} {
			p := openly(t, "add-remove", "{rho: 2, delta: 0.5, selection_delta: 0.3}", "{default: {rho: "+price+"}, delta: "+delta+"}")
			q, err := plan.Build(p, plan.Request{SQL: "SELECT page FROM visits GROUP BY page"})
			if err != nil {
				t.Fatal(err)
			}
			s := q.Selection
			taken[s.Strategy]++
			last := int64(0)
			for _, probability := range []float64{0.5, 0.95, 0.999} {
				n, err := s.Units(probability)
				if err != nil || n < last || n < 1 {
					t.Errorf("ρ = %s, δ = %s: %d units, %v", price, delta, n, err)
				}
				last = n
			}
		}
	}
	if taken[plan.Thresholded] == 0 || taken[plan.Optimal] == 0 {
		t.Errorf("one strategy alone is taken: %v", taken)
	}
}

func mustDelta(t *testing.T, text string) privacy.Delta {
	t.Helper()
	d, err := privacy.ParseDelta(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func BenchmarkOpenPlan(b *testing.B) {
	p, err := policy.Decode([]byte(strings.NewReplacer("NEIGHBOURS", "add-remove", "BUDGET", selecting, "PRICE", "{}").Replace(openPolicy)), ".")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := plan.Build(p, plan.Request{SQL: "SELECT product, COUNT(*), SUM(cost) FROM orders GROUP BY product"}); err != nil {
			b.Fatal(err)
		}
	}
}

// Groups alone, without a number of them, are looked for too.
func TestOpenLooks(t *testing.T) {
	q, err := plan.Build(openly(t, "add-remove", selecting, "{}"), plan.Request{SQL: "SELECT page FROM visits GROUP BY page"})
	if err != nil {
		t.Fatal(err)
	}
	if looks := q.Looks(); len(looks) != 1 || looks[0] != &q.Statement || !q.Selection.Loss.Within(q.Price) || !q.Price.Within(q.Selection.Loss) {
		t.Errorf("%d looks, and the selection costs %s of %s", len(looks), q.Selection.Loss, q.Price)
	}
	_, err = plan.Build(openly(t, "add-remove", selecting, "{}"), plan.Request{SQL: "SELECT product, COUNT(*) FROM orders GROUP BY ROLLUP (product)"})
	if err == nil || !strings.Contains(err.Error(), "need known keys") {
		t.Error(err)
	}
}

// What is said of the selection in two places is said alike.
func TestOpenOptionsAgree(t *testing.T) {
	p := openly(t, "add-remove", selecting, "{}")
	for options, refused := range map[string]bool{
		"delta=1e-8, min_privacy_units_per_group=9": false, "delta=1e-7": true, "min_privacy_units_per_group=5": true,
	} {
		_, err := plan.Build(p, plan.Request{
			SQL:     "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(" + options + ") product, COUNT(*) FROM orders GROUP BY product",
			Unknown: plan.Unknown{Delta: mustDelta(t, "1e-8"), MinUnits: 9},
		})
		if (err != nil) != refused {
			t.Errorf("%s: %v", options, err)
		}
	}
}
