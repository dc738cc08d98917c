package release

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"dither/internal/derive"
	"dither/internal/engine"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/stattest"
	"dither/internal/value"
)

const openShop = `
version: 1
population: {name: shop, neighbours: %s}
budget: {rho: 5000, delta: 1e-6, selection_delta: 5e-7}
price: {default: {rho: %s}, delta: 1e-8}
tables:
  orders:
    source: {csv: orders.csv}
    unit: person
    rows_per_unit: 3
    %s
    columns: {person: {type: integer}, product: {type: text, nullable: true}, cost: {type: integer, bounds: [0, 10]}, gift: {type: boolean}}
`

// openPlan plans a question about the shop.
func openPlan(t *testing.T, neighbours, rho string, request plan.Request) *plan.Plan {
	t.Helper()
	p, err := policy.Decode(fmt.Appendf(nil, openShop, neighbours, rho, ""), ".")
	if err != nil {
		t.Fatal(err)
	}
	out, err := plan.Build(p, request)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Groups are released as often as explain says, by both strategies; and the 95 % intervals of the numbers of those that
// are released cover in 95 % of releases: their noise is not the selection's. Each case fails by chance with
// probability 1e-6 at most.
func TestOpenRatesAndCoverage(t *testing.T) {
	const trials = 4000
	for _, strategy := range []plan.Strategy{plan.Thresholded, plan.Optimal} {
		p := openPlan(t, "change-one", "1", plan.Request{SQL: "SELECT product, COUNT(*), SUM(cost) FROM orders GROUP BY product"})
		p.Selection.Strategy = strategy
		released, covered, all := map[string]int{}, 0, 0
		counts := map[string]int64{"rare": 1}
		for name, probability := range map[string]float64{"half": 0.5, "nearly": 0.95, "surely": 0.999} {
			n, err := p.Selection.Units(probability)
			if err != nil {
				t.Fatal(err)
			}
			counts[name] = n
		}
		for range trials {
			found := engine.NewGroups(&p.Statement)
			for name, n := range counts {
				found.Add([]value.Value{value.OfText(name)}, []*big.Int{big.NewInt(n), big.NewInt(3 * n), big.NewInt(n)})
			}
			names, err := selectGroups(p.Selection, found.Units())
			if err != nil {
				t.Fatal(err)
			}
			chosen, cells, err := found.Chosen(names)
			if err != nil {
				t.Fatal(err)
			}
			numbers, err := noisyRows(p.Measures, cells)
			if err != nil {
				t.Fatal(err)
			}
			q := p.Choose(chosen)
			answer, err := derive.New(q)
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range answer.Rows(numbers, 0.05) {
				name := row[0].Key.Text
				released[name]++
				for i, truth := range []int64{counts[name], 3 * counts[name]} {
					all++
					if e := row[1+i].Estimate; e.Low <= float64(truth) && float64(truth) <= e.High {
						covered++
					}
				}
			}
		}
		for name, probability := range map[string]float64{"half": 0.5, "nearly": 0.95, "surely": 0.999} {
			if (stattest.Binomial{Trials: trials, Probability: probability}).AtMost(released[name]) < 1e-6 {
				t.Errorf("%s: %s was released %d times of %d", strategy, name, released[name], trials)
			}
		}
		if released["rare"] > 3 { // each with probability 1e-8/3 at most
			t.Errorf("%s: a group of one unit was released %d times", strategy, released["rare"])
		}
		if (stattest.Binomial{Trials: all, Probability: 0.95}).AtMost(covered) < 1e-6 {
			t.Errorf("%s: %d of %d intervals cover", strategy, covered, all)
		}
		t.Logf("%s: %v, %v of %d; covered %.2f %%", strategy, counts, released, trials, 100*float64(covered)/float64(all))
	}
}

// What does not fit into an entry of the ledger is left out by the noisy numbers alone, the smallest first.
func TestOpenGreatest(t *testing.T) {
	p := openPlan(t, "add-remove", "1", plan.Request{SQL: "SELECT product, SUM(cost), COUNT(*) FROM orders GROUP BY product"})
	var chosen [][]value.Value
	var numbers [][]*big.Int
	n := p.MaxChosen() + 500
	for i := range n {
		chosen = append(chosen, []value.Value{value.OfText(fmt.Sprintf("%06d", i))})
		row := []*big.Int{big.NewInt(0), big.NewInt(0)}
		row[p.Leading()].SetInt64(int64(i * 7919 % n))
		numbers = append(numbers, row)
	}
	keys, kept := greatest(p, chosen, numbers)
	least := int64(n)
	for i, row := range kept {
		least = min(least, row[p.Leading()].Int64())
		if i > 0 && value.Compare(keys[i-1][0], keys[i][0]) >= 0 {
			t.Fatal("not in the order of their keys")
		}
	}
	if len(keys) != p.MaxChosen() || least != 500 {
		t.Errorf("%d are kept, the least is %d", len(keys), least)
	}
	long := strings.Repeat("x", value.MaxTextBytes-6)
	for i := range chosen {
		chosen[i][0].Text += long
	}
	keys, _ = greatest(p, chosen, numbers)
	if most := maxChosenBytes / value.MaxTextBytes; len(keys) > most || len(keys) < most-10 {
		t.Errorf("%d long keys are kept", len(keys))
	}
	q := &Query{look: &Look{shape: [2]int{0, 2}}, plan: p}
	text, err := q.encode(Values{Groups: keys, Numbers: numbers[:len(keys)]})
	if err != nil || len(text) > 16<<20 {
		t.Fatalf("%d bytes, %v", len(text), err)
	}
	if back, err := q.decode(text); err != nil || len(back.Groups) != len(keys) || len(back.Numbers) != len(keys) {
		t.Errorf("read back: %v", err)
	}
}
