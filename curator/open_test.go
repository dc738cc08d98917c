package curator

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dither/audit"
	"dither/internal/bounded"
	"dither/internal/plan"
	"dither/internal/value"
	"dither/mechanism"
	"dither/mechanism/partition"
	"dither/privacy"
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

// shop is a home with one table, sealed.
func shop(t *testing.T, neighbours, rho, caps, orders string) *Owner {
	t.Helper()
	home := filepath.Join(t.TempDir(), "home")
	if err := Init(home); err != nil {
		t.Fatal(err)
	}
	write(t, home, "policy.yaml", fmt.Sprintf(openShop, neighbours, rho, caps))
	write(t, home, "orders.csv", "person,product,cost,gift\n"+orders)
	c := openHome(t, home)
	if _, err := c.Seal(t.Context(), "orders", SealOptions{Shared: true}); err != nil {
		t.Fatal(err)
	}
	return c
}

// popular are n persons with an order of each product, and one each of products of their own.
func popular(n int, products ...string) string {
	var b strings.Builder
	for p := range n {
		for _, product := range products {
			fmt.Fprintf(&b, "%d,%s,%d,%t\n", p, product, p%9, p%2 == 0)
		}
		if p < 5 {
			fmt.Fprintf(&b, "%d,secret-%d,1,true\n", 100_000+p, p)
		}
	}
	return b.String()
}

// Groups of many units are answered, in the order of their keys; of those of one unit there is no trace, in the answer or in the
// ledger; the price has the selection's δ, once; and the answer is given again, free, also as measurements and after the home is opened
// again.
func TestOpenGroups(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	c := shop(t, "add-remove", "2", "", popular(200, "pear", "", "apple"))
	const sql = "SELECT product, gift, COUNT(*) AS n, AVG(cost) FROM orders GROUP BY product, gift"
	r, err := c.Answer(t.Context(), Question{SQL: sql})
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, row := range r.Rows {
		keys = append(keys, fmt.Sprintf("%v %v", row[0].Key, row[1].Key))
		if n := row[2].Estimate; n.Value.Real < 50 || n.Value.Real > 150 {
			t.Errorf("%v: %v", row[0].Key, n.Value)
		}
	}
	if want := []string{"apple false", "apple true", "pear false", "pear true", "<nil> false", "<nil> true"}; !slices.Equal(keys, want) {
		t.Errorf("groups %v, want %v", keys, want)
	}
	if r.Price.Rho != "2" || r.Price.Delta != "0.00000051" || r.Remaining.Delta != "0.00000049" {
		t.Errorf("price %+v, remaining %+v", r.Price, r.Remaining)
	}
	ledgerText, err := os.ReadFile(filepath.Join(c.home, "ledger.log"))
	if err != nil {
		t.Fatal(err)
	}
	if text := string(ledgerText); !strings.Contains(text, "apple") || strings.Contains(text, "secret-") {
		t.Error("the ledger holds other groups than the answer")
	}
	for _, c := range []*Owner{c, openHome(t, c.home)} {
		again, err := c.Answer(t.Context(), Question{SQL: "SELECT AVG(cost) AS m, COUNT(*), gift, product FROM orders AS o GROUP BY gift, product HAVING COUNT(*) > 0 ORDER BY m"})
		if err != nil || !again.Replayed || again.ID != r.ID || len(again.Rows) != len(r.Rows) {
			t.Fatalf("%+v, %v", again, err)
		}
		m, err := c.Measure(t.Context(), Question{SQL: sql})
		if err != nil || !m.Replayed || len(m.Cells) != len(r.Rows) || len(m.Vectors[0].Values) != len(r.Rows) {
			t.Fatalf("%+v, %v", m, err)
		}
	}
	if e, err := c.Explain(t.Context(), Question{SQL: sql}); err != nil || !e.Replayed || e.Cells != 0 || e.Selection == nil || e.Selection.Half > e.Selection.Surely {
		t.Errorf("%+v, %v", e, err)
	}
}

// Other is what is in no group that was released: with it the counts add up, and it is its own cell for those with many small groups.
func TestOpenOther(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	var rare strings.Builder
	for p := range 300 { // three rare products each, which are Other together
		fmt.Fprintf(&rare, "%d,x%d,1,true\n%d,y%d,1,true\n%d,z%d,1,true\n", 1000+p, p, 1000+p, p, 1000+p, p)
	}
	c := shop(t, "change-one", "8", "max_groups: 3\n    max_rows_per_group: 1", popular(200, "pear", "")+rare.String())
	r, err := c.Answer(t.Context(), Question{SQL: "SELECT product, COUNT(*) AS n FROM orders GROUP BY product ORDER BY n DESC", Other: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Rows) != 3 || r.Columns[2].Name != "other" || r.Columns[2].Kind != Key {
		t.Fatalf("%+v", r.Rows)
	}
	// 300 persons of rare products and five of secret ones: each is one unit in one cell, with one row worth.
	if n := r.Rows[0][1].Estimate.Value.Real; r.Rows[0][2].Key != true || r.Rows[0][0].Key != nil || n < 290 || n > 320 {
		t.Errorf("Other: %v, %v", r.Rows[0][2].Key, n)
	}
	for _, row := range r.Rows[1:] {
		if n := row[1].Estimate.Value.Real; row[2].Key != false || n < 190 || n > 210 {
			t.Errorf("%v: %v", row[0].Key, n)
		}
	}
	m, err := c.Measure(t.Context(), Question{SQL: "SELECT product, COUNT(*) FROM orders GROUP BY product", Other: true})
	if err != nil || !m.Replayed || !slices.Equal(m.Keys[1:], []string{"other"}) || m.Cells[2][1] != true {
		t.Errorf("%+v, %v", m, err)
	}
}

// Where no group is released there are no rows; a δ that is used up is refused before a row is read; a failure is charged, and says
// nothing.
func TestOpenLimits(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	c := shop(t, "add-remove", "0.01", "", popular(3, "pear"))
	const sql = "SELECT product, COUNT(*) FROM orders GROUP BY product"
	r, err := c.Answer(t.Context(), Question{SQL: sql})
	if err != nil || len(r.Rows) != 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	if again, err := c.Answer(t.Context(), Question{SQL: sql}); err != nil || !again.Replayed || len(again.Rows) != 0 {
		t.Errorf("%+v, %v", again, err)
	}
	if text, err := r.MarshalJSON(); err != nil || !strings.Contains(string(text), `"rows":[]`) {
		t.Errorf("%s, %v", text, err)
	}
	for _, wrong := range []Question{{Delta: "0"}, {Delta: "x"}, {Delta: "-1"}, {Delta: "1"}} {
		wrong.SQL = sql
		if _, err := c.Answer(t.Context(), wrong); codeOf(err) != CodeUsage {
			t.Errorf("%+v: %v", wrong, err)
		}
	}
	if _, err := c.Answer(t.Context(), Question{SQL: sql, Delta: "4.9e-7"}); err != nil {
		t.Fatal(err)
	}
	var e *Error
	if _, err := c.Answer(t.Context(), Question{SQL: sql, Fresh: true}); !errors.As(err, &e) || e.Code != CodeExhausted || !strings.Contains(e.Hint, "the delta for unknown keys is spent") {
		t.Errorf("%+v", err)
	}
	c = shop(t, "add-remove", "0.01", "", popular(3, "pear"))
	*inside(c).Engine = failing{}
	if _, err := c.Answer(t.Context(), Question{SQL: sql}); !errors.As(err, &e) || e.Code != CodeFailed || !e.Charged || strings.Contains(err.Error(), "Alice") {
		t.Errorf("%+v", err)
	}
	if b, err := c.Budget(); err != nil || b.Spent.Rho != "0.01" || b.Remaining.Delta != "0.00000049" {
		t.Errorf("%+v, %v", b, err)
	}
	*inside(c).Engine = untried{}
	if _, err := c.Answer(t.Context(), Question{SQL: sql, Fresh: true}); codeOf(err) != CodePolicy {
		t.Errorf("%+v", err)
	}
}

// Between neighbouring tables whose groups are the same, the released numbers differ by at most the planned sensitivity, with one
// and the same noise: the statements of a real engine, over sealed files.
func TestReplayOpen(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	for _, relation := range []string{"add-remove", "change-one"} {
		for _, caps := range []string{"", "max_groups: 2\n    max_rows_per_group: 1"} {
			common := popular(60, "apple", "pear", "plum")
			before, after := common, common+"777,apple,10,true\n777,pear,10,true\n777,plum,10,true\n777,apple,9,true\n777,apple,10,false\n"
			if relation == "change-one" {
				before += "778,plum,10,false\n778,plum,10,false\n778,plum,10,false\n778,plum,10,false\n"
			}
			w := twins{shop(t, relation, "40", caps, before), shop(t, relation, "40", caps, after)}
			for i, q := range []Question{
				{SQL: "SELECT product, COUNT(*), SUM(cost) FROM orders GROUP BY product"},
				{SQL: "SELECT product, COUNT(*), SUM(cost) FROM orders WHERE product <> 'pear' GROUP BY product", Other: true},
				{SQL: "SELECT product, COUNT(DISTINCT person), COUNT(DISTINCT cost) FROM orders GROUP BY product"},
				{SQL: "SELECT product, AVG(cost) FROM orders WHERE cost > 3 GROUP BY product", Other: true},
			} {
				q.Fresh = true
				name := fmt.Sprintf("%s, %q: %s", relation, caps, q.SQL)
				a, err := w[audit.Data].ask(q)
				if err != nil {
					t.Fatal(err)
				}
				if a.plan.Selection.Strategy != plan.Thresholded { // whose noises are the same, one for each group
					t.Fatal("another strategy is planned")
				}
				cells := 0
				r := w.replay(t, byte(i), func(c *Owner) (numbers []*big.Int, err error) {
					m, err := c.Measure(context.Background(), q)
					if err != nil {
						return nil, err
					}
					cells = len(m.Cells)
					for _, v := range m.Vectors {
						numbers = append(numbers, v.Values...)
					}
					return numbers, nil
				})
				if cells < 2 || len(r.Data.Output) != len(r.Neighbor.Output) {
					t.Fatalf("%s: %d cells, %d and %d numbers", name, cells, len(r.Data.Output), len(r.Neighbor.Output))
				}
				for j, m := range a.plan.Measures {
					d, err := audit.Distance(r.Data.Output[j*cells:(j+1)*cells], r.Neighbor.Output[j*cells:(j+1)*cells])
					if err != nil {
						t.Fatal(err)
					}
					if err := d.Within(audit.Distances{L1: new(big.Rat).SetInt(m.L1), L2Squared: new(big.Rat).SetInt(m.L2Squared)}); err != nil {
						t.Errorf("%s: %s: %v", name, m, err)
					}
					if d.L1.Sign() == 0 {
						t.Errorf("%s: %s: nothing moved", name, m)
					}
				}
			}
		}
	}
}

// What is selected and measured is what was planned: on the same bytes, mechanisms with parameters that are typed here, and the exact
// numbers of a table that is known, give what the curator released.
func TestGroupsAsPlanned(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	delta := must[privacy.Delta](t)(privacy.ParseDelta("1e-8"))
	rho := must[privacy.Rho](t)(privacy.ParseRho("0.5")) // half of 1
	orders := popular(40, "pear") + "900,plum,1,true\n901,plum,1,true\n902,plum,1,true\n"
	known := []mechanism.Partition{}
	for name, n := range map[string]int64{"pear": 40, "plum": 3, "secret-0": 1, "secret-1": 1, "secret-2": 1, "secret-3": 1, "secret-4": 1} {
		known = append(known, mechanism.NewPartition(bounded.GroupName([]value.Value{value.OfText(name)}), mechanism.NewExact(big.NewInt(n))))
	}
	for relation, differ := range map[string]int64{"add-remove": 2, "change-one": 4} {
		c := shop(t, relation, "1", "max_groups: 2\n    max_rows_per_group: 1", orders)
		for seed := range byte(20) {
			q := Question{SQL: "SELECT product, COUNT(*) FROM orders GROUP BY product", MinUnits: 3, Fresh: true}
			got := drawnFrom(seed, func() *Measurements { return must[*Measurements](t)(c.Measure(t.Context(), q)) })
			var counts mechanism.Measurement
			chosen := drawnFrom(seed, func() partition.ThresholdRelease {
				out := must[partition.ThresholdRelease](t)(partition.ThresholdGaussian{
					Gaussian:  mechanism.Gaussian{L2Squared: big.NewInt(differ), Rho: rho},
					Threshold: partition.Threshold{MaxPerCell: big.NewInt(1), Keys: 2, Delta: delta, MinUnits: 3},
				}.Measure(known))
				exact := make([]mechanism.Exact, len(out.Kept))
				for i := range exact {
					exact[i] = mechanism.NewExact(big.NewInt(40)) // pear, of which every unit has one row
				}
				counts = must[mechanism.Measurement](t)(mechanism.Gaussian{L2Squared: big.NewInt(differ), Rho: rho}.Measure(exact))
				return out
			})
			if len(chosen.Kept) != 1 || len(got.Cells) != 1 || got.Cells[0][0] != "pear" || got.Vectors[0].Values[0].Cmp(counts.Values[0]) != 0 {
				t.Errorf("%s: released %v %v; as planned %v %v", relation, got.Cells, got.Vectors, chosen.Kept, counts.Values)
			}
		}
	}
}
