package curator

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"dither/internal/ledger"
)

const meetPolicy = `
version: 1
population: {name: shop, neighbours: add-remove}
budget: {rho: 5000, delta: 1e-6, selection_delta: 5e-7}
price: {default: {rho: 2}, delta: 1e-8}
tables:
  customers: {source: {csv: customers.csv}, unit: id, rows_per_unit: 1, expected_rows: 200, part: {column: region}, columns: {id: {type: integer}, region: {type: text, values: [north, south]}, age: {type: integer, bounds: [0, 100]}}}
  orders: {source: {csv: orders.csv}, unit: customer, rows_per_unit: 3, columns: {number: {type: integer}, customer: {type: integer}, item: {type: text}, kind: {type: text, values_from: parts.kind}, total: {type: real, bounds: [0, 1000]}}}
  parts: {source: {csv: parts.csv}, public: true, rows_per_value: {kind: 1}, columns: {kind: {type: text}, metal: {type: text, values: [iron, brass]}}}
`

func meetHome(t *testing.T) (*Owner, string) {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	home := filepath.Join(t.TempDir(), "home")
	if err := Init(home); err != nil {
		t.Fatal(err)
	}
	customers, orders := "id,region,age\n", "number,customer,item,kind,total\n"
	for p := range 200 {
		customers += fmt.Sprintf("%d,%s,%d\n", p, []string{"north", "south"}[p%2], 20+p%50)
		orders += fmt.Sprintf("%d,%d,pear,nut,%d\n%d,%d,apple,bolt,%d\n", 10*p, p, p%16, 10*p+1, p, p%8)
		if p < 3 {
			orders += fmt.Sprintf("%d,%d,secret-%d,nut,1\n", 10*p+2, p, p)
		}
	}
	write(t, home, "policy.yaml", meetPolicy)
	write(t, home, "customers.csv", customers)
	write(t, home, "orders.csv", orders)
	write(t, home, "parts.csv", "kind,metal\nnut,iron\nbolt,brass\n")
	c := openHome(t, home)
	for _, table := range []string{"customers", "orders", "parts"} {
		if _, err := c.Seal(t.Context(), table, SealOptions{Shared: true}); err != nil {
			t.Fatal(err)
		}
	}
	return c, home
}

// What a relation goes together with is explained, answered, charged once over all tables, and given again free: groups that are not
// known, quantiles and modes, bounds that are found, grouping sets, distinct counts.
func TestRelationsGoTogether(t *testing.T) {
	c, _ := meetHome(t)
	const from = " FROM orders o JOIN customers c ON o.customer = c.id"
	for _, q := range []struct {
		q     Question
		rows  int
		value float64 // of the last column of the first row, within 25
	}{
		{Question{SQL: "SELECT o.item, COUNT(DISTINCT c.id) AS u, COUNT(*) AS n" + from + " GROUP BY o.item ORDER BY o.item"}, 2, 200},
		{Question{SQL: "SELECT o.item, COUNT(*) AS n" + from + " GROUP BY o.item ORDER BY o.item", Other: true}, 3, math.NaN()},
		{Question{SQL: "SELECT c.region, MODE() WITHIN GROUP (ORDER BY o.kind) AS m, MEDIAN(c.age) AS a" + from + " GROUP BY c.region"}, 2, 44},
		{Question{SQL: "SELECT COUNT(*), SUM(o.total, bounds => auto) / 20 AS s" + from}, 1, (200*7.5 + 200*3.5) / 20},
		{Question{SQL: "SELECT c.region, p.metal, COUNT(*) AS n" + from + " JOIN parts p ON o.kind = p.kind GROUP BY ROLLUP (c.region, p.metal)"}, 7, 100},
		{Question{SQL: "SELECT COUNT(DISTINCT FLOOR(o.total)) AS d" + from}, 1, 16},
		{Question{SQL: "SELECT SUM(n, contribution_bounds_per_group => (0, 2)) AS s FROM (SELECT customer, COUNT(*) AS n FROM orders GROUP BY customer) q"}, 1, 400},
	} {
		before := must[ledger.State](t)(c.ledger.State())
		e, err := c.Explain(t.Context(), q.q)
		if err != nil || e.Charged != nil {
			t.Fatalf("%s: %v, charged to %v", q.q.SQL, err, e.Charged)
		}
		r := must[*Release](t)(c.Answer(t.Context(), q.q))
		if len(r.Rows) != q.rows || r.Replayed {
			t.Fatalf("%s: %d rows, want %d", q.q.SQL, len(r.Rows), q.rows)
		}
		if cells := r.Rows[0]; !math.IsNaN(q.value) {
			if got := cells[len(cells)-1].Estimate.Value.Real; math.Abs(got-q.value) > 25 {
				t.Errorf("%s: %v, want about %v", q.q.SQL, got, q.value)
			}
		}
		after := must[ledger.State](t)(c.ledger.State())
		again := must[*Release](t)(c.Answer(t.Context(), q.q))
		if last := must[ledger.State](t)(c.ledger.State()); !again.Replayed || again.ID != r.ID || last.Spent.String() != after.Spent.String() || after.Spent.String() == before.Spent.String() {
			t.Errorf("%s: given again as %s, not %s; %s, then %s, then %s spent", q.q.SQL, again.ID, r.ID, before.Spent, after.Spent, last.Spent)
		}
	}
	if err := c.ledger.Entries(func(e ledger.Entry) error {
		if r, ok := e.Body.(ledger.Reservation); ok && len(r.Sources) == 1 && strings.Contains(r.Question, "JOIN") {
			t.Errorf("%s is recorded as of %v", r.Question, r.Sources)
		}
		if r, ok := e.Body.(ledger.Release); ok && strings.Contains(string(r.Values), "secret") {
			t.Errorf("a group of one is recorded: %s", r.Values)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// A relation is not followed: what could be added up from an earlier answer about it is measured. Parts do not confine it, the rows that its
// owner expects of a table are not those of a relation, and its release is bound to the versions of the values that it groups by.
func TestRelationsApart(t *testing.T) {
	c, home := meetHome(t)
	const from = " FROM orders o JOIN customers c ON o.customer = c.id"
	fine := must[*Release](t)(c.Answer(t.Context(), Question{SQL: "SELECT c.region, o.kind, COUNT(*) AS n" + from + " GROUP BY c.region, o.kind"}))
	coarse := must[*Release](t)(c.Answer(t.Context(), Question{SQL: "SELECT c.region, COUNT(*) AS n" + from + " GROUP BY c.region"}))
	if coarse.Replayed || coarse.ID == fine.ID {
		t.Error("a relation was followed")
	}
	if _, err := c.Answer(t.Context(), Question{SQL: "SELECT COUNT(*) AS n" + from, Combine: true}); codeOf(err) != CodeUsage {
		t.Error(err)
	}
	alone := must[*Explanation](t)(c.Explain(t.Context(), Question{SQL: "SELECT COUNT(*) FROM customers WHERE region = 'north'"}))
	inside := must[*Explanation](t)(c.Explain(t.Context(), Question{SQL: "SELECT COUNT(*) FROM (SELECT * FROM customers WHERE region = 'north') q"}))
	joined := must[*Explanation](t)(c.Explain(t.Context(), Question{SQL: "SELECT COUNT(*)" + from + " WHERE c.region = 'north'"}))
	if len(alone.Charged) != 1 || len(inside.Charged) != 1 || joined.Charged != nil {
		t.Errorf("charged to %v, %v, %v", alone.Charged, inside.Charged, joined.Charged)
	}
	if e := must[*Explanation](t)(c.Explain(t.Context(), Question{SQL: "SELECT COUNT(*)" + from, Within: "12"})); e.Price.Rho == "" {
		t.Errorf("%+v", e.Price)
	}
	if _, err := c.Explain(t.Context(), Question{SQL: "SELECT COUNT(*) FROM customers a JOIN orders o ON a.id = o.customer", Within: "5%"}); codeOf(err) != CodePolicy || !strings.Contains(err.Error(), "not known beforehand") {
		t.Error(err)
	}
	priced := Question{SQL: "SELECT c.region, COUNT(*) AS n" + from + " GROUP BY c.region", Within: "20%"}
	if e := must[*Explanation](t)(c.Explain(t.Context(), priced)); !e.Replayed {
		t.Errorf("an earlier answer about a relation tells nothing of the next: %+v", e.Notes)
	}
	for _, q := range []string{"SELECT c.region, COUNT(*) AS n" + from + " GROUP BY ROLLUP (c.region)", "SELECT o.item, COUNT(*) AS n" + from + " GROUP BY o.item"} {
		must[*Release](t)(c.Answer(t.Context(), Question{SQL: q}))
		must[*Explanation](t)(c.Explain(t.Context(), Question{SQL: q, Within: "12"}))
	}
	must[*Release](t)(c.Answer(t.Context(), Question{SQL: "SELECT MEDIAN(c.age)" + from}))
	if _, err := c.Explain(t.Context(), Question{SQL: "SELECT MEDIAN(c.age)" + from, Within: "12"}); codeOf(err) != CodePolicy {
		t.Error(err)
	}
	fromKinds := Question{SQL: "SELECT o.kind, COUNT(*) AS n" + from + " GROUP BY o.kind"}
	first := must[*Release](t)(c.Answer(t.Context(), fromKinds))
	write(t, home, "parts.csv", "kind,metal\nnut,iron\nbolt,brass\nscrew,iron\n")
	if _, err := c.Seal(t.Context(), "parts", SealOptions{Shared: true}); err != nil {
		t.Fatal(err)
	}
	second := must[*Release](t)(c.Answer(t.Context(), fromKinds))
	if second.Replayed || len(second.Rows) != len(first.Rows)+1 {
		t.Errorf("%d rows after %d", len(second.Rows), len(first.Rows))
	}
}
