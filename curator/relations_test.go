package curator

import (
	"fmt"
	"math/big"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dither/internal/ledger"
	"dither/mechanism"
)

const relationPolicy = `
version: 1
population: {name: shop, neighbours: %s}
budget: {epsilon: 1000}
price: {default: 1, maximum: 100}
tables:
  customers: {source: {csv: customers.csv}, unit: id, rows_per_unit: 1, columns: {id: {type: integer}, region: {type: text, values: [north, south]}, age: {type: integer, bounds: [0, 100]}}}
  orders: {source: {csv: orders.csv}, unit: customer, rows_per_unit: 3, columns: {number: {type: integer}, customer: {type: integer}, total: {type: real, bounds: [0, 50]}}}
  lines: {source: {csv: lines.csv}, through: number, rows_per_unit: 4, references: {number: orders.number}, columns: {number: {type: integer}, part: {type: text, values: [nut, bolt]}, price: {type: integer, bounds: [0, 9]}}}
  parts: {source: {csv: parts.csv}, public: true, rows_per_value: {part: 1}, columns: {part: {type: text, values: [nut, bolt]}, metal: {type: text, values: [iron, brass]}, weight: {type: integer, bounds: [1, 5]}}}
`

// What is known of the rows: three customers; customer 9, who comes and goes, has all that may count, and more.
const (
	someCustomers = "id,region,age\n1,north,30\n2,south,40\n3,south,50\n"
	someOrders    = "number,customer,total\n11,1,10\n12,1,20.5\n21,2,50\n"
	someLines     = "number,part,price\n11,nut,3\n11,bolt,4\n12,nut,5\n21,bolt,9\n99,bolt,9\n"
	someParts     = "part,metal,weight\nnut,iron,2\nbolt,brass,5\nbolt,brass,5\n"
	hisCustomer   = "9,north,100\n"
	hisOrders     = "91,9,50\n92,9,50\n93,9,50\n94,9,50\n91,9,50\n"
	hisLines      = "91,bolt,9\n92,bolt,9\n93,bolt,9\n94,nut,9\n91,bolt,9\n91,bolt,9\n"
)

func shopOf(t *testing.T, neighbours string, his bool) *Owner {
	t.Helper()
	home := filepath.Join(t.TempDir(), "home")
	if err := Init(home); err != nil {
		t.Fatal(err)
	}
	customer, orders, lines := hisCustomer, hisOrders, hisLines
	if !his {
		if customer, orders, lines = "", "", ""; neighbours == "change-one" { // somebody else, with the least
			customer = "8,south,0\n"
		}
	}
	write(t, home, "policy.yaml", fmt.Sprintf(relationPolicy, neighbours))
	write(t, home, "customers.csv", someCustomers+customer)
	write(t, home, "orders.csv", someOrders+orders)
	write(t, home, "lines.csv", someLines+lines)
	write(t, home, "parts.csv", someParts)
	c := openHome(t, home)
	for _, table := range []string{"customers", "orders", "lines", "parts"} {
		if _, err := c.Seal(t.Context(), table, SealOptions{Shared: true}); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// What one unit can make a question about rows through another table take is not bounded, and is not told as if it
// were.
func TestWorkThroughIsNotBounded(t *testing.T) {
	c := shopOf(t, "add-remove", true)
	for sql, unbounded := range map[string]bool{
		"SELECT COUNT(*) FROM orders": false, "SELECT COUNT(*) FROM lines": true, "SELECT COUNT(*) FROM lines l JOIN orders o ON l.number = o.number": true,
		"SELECT COUNT(*) FROM orders o JOIN customers c ON o.customer = c.id": false,
	} {
		if e := must[*Explanation](t)(c.Explain(t.Context(), Question{SQL: sql})); e.Work.Unbounded != unbounded {
			t.Errorf("%s: %+v", sql, e.Work)
		}
	}
}

// relationsAsked are questions of each construct, the exact answer over what is known, and how far one customer moves
// it.
var relationsAsked = []struct {
	sql         string
	exact       []int64 // in grid units, of each cell
	sensitivity int64   // under add-remove; in grid units
}{
	{"SELECT COUNT(*) FROM (SELECT age FROM customers WHERE region = 'south') q WHERE age > 45", []int64{1}, 1},
	{"WITH s AS (SELECT * FROM customers WHERE region = 'south') SELECT SUM(age) FROM s", []int64{90}, 100},
	{"SELECT COUNT(*) FROM orders o JOIN customers c ON o.customer = c.id WHERE c.age >= 30", []int64{3}, 3},
	{"SELECT region, SUM(age) FROM customers c LEFT JOIN orders o ON c.id = o.customer GROUP BY region", []int64{60, 90}, 300},
	{"SELECT COUNT(*) FROM lines", []int64{4}, 4},
	{"SELECT SUM(price) FROM lines l JOIN parts p USING (part) WHERE metal = 'brass'", []int64{13}, 36},
	{"SELECT metal, SUM(weight) FROM lines l JOIN parts p ON l.part = p.part GROUP BY metal", []int64{10, 4}, 20},
	{"SELECT SUM(price) FROM lines l JOIN orders o ON l.number = o.number JOIN customers c ON o.customer = c.id WHERE c.region = 'north'", []int64{12}, 36},
	{"SELECT SUM(n) FROM (SELECT customer, COUNT(*) AS n FROM orders GROUP BY customer) q", []int64{3}, 3},
	{"SELECT COUNT(*) FROM (SELECT customer FROM orders GROUP BY customer HAVING SUM(total) > 30) q", []int64{2}, 1},
	{"SELECT SUM(p) FROM (SELECT c.id, MAX(price) AS p FROM lines l JOIN orders o ON l.number = o.number JOIN customers c ON o.customer = c.id GROUP BY c.id) q", []int64{14}, 9},
	{"SELECT SUM(p) FROM (SELECT c.id, PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY price) AS p FROM lines l JOIN orders o ON l.number = o.number JOIN customers c ON o.customer = c.id GROUP BY c.id) q", []int64{13}, 9},
	{"SELECT COUNT(*) FROM customers c WHERE (SELECT MEDIAN(o.total) FROM orders o WHERE o.customer = c.id) > 15", []int64{2}, 1},
	{"SELECT COUNT(DISTINCT u) FROM (SELECT id AS u FROM customers UNION ALL SELECT customer FROM orders) q", []int64{3}, 1},
	{"SELECT COUNT(*) FROM customers c JOIN (SELECT customer FROM orders GROUP BY customer) o ON c.id = o.customer", []int64{2}, 1},
	{"SELECT COUNT(*) FROM customers c LEFT JOIN (SELECT customer FROM orders GROUP BY customer) o ON c.id = o.customer WHERE o.customer IS NULL", []int64{1}, 1},
	{"SELECT COUNT(*) FROM (SELECT id AS u FROM customers UNION ALL SELECT customer FROM orders) q", []int64{6}, 4},
}

// With the same randomness, two homes that differ by one customer, with all that belongs to him, give answers that
// differ by no more than the planned sensitivity; what is released is the exact answer with the planned noise; and a
// question is charged once, over all the tables that it reads.
func TestReplayOfRelations(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	for _, neighbours := range []string{"add-remove", "change-one"} {
		without, with := shopOf(t, neighbours, false), shopOf(t, neighbours, true)
		attained := 0
		for _, q := range relationsAsked {
			var released [2]*Measurements
			for i, c := range []*Owner{without, with} {
				released[i] = drawnFrom(7, func() *Measurements {
					return must[*Measurements](t)(c.Measure(t.Context(), Question{SQL: q.sql}))
				})
			}
			p := must[*asked](t)(without.ask(Question{SQL: q.sql})).plan
			if l1 := p.Measures[0].L1.Int64(); neighbours == "add-remove" && l1 != q.sensitivity {
				t.Errorf("%s: sensitivity %d, want %d", q.sql, l1, q.sensitivity)
			}
			l1 := new(big.Int)
			for i, x := range released[0].Vectors[0].Values {
				l1.Add(l1, new(big.Int).Abs(new(big.Int).Sub(x, released[1].Vectors[0].Values[i])))
			}
			switch l1.Cmp(p.Measures[0].L1) {
			case 1:
				t.Errorf("%s, %s: one customer moves it by %s; planned %s", neighbours, q.sql, l1, p.Measures[0].L1)
			case 0:
				attained++
			}
			if neighbours == "change-one" {
				continue
			}
			noises := drawnFrom(7, func() []*big.Int {
				m := must[mechanism.Measurement](t)(inside(nil).Noisily(p.Measures[0], sealed(make([]int64, len(q.exact))...)))
				return m.Values
			})
			for i, x := range released[0].Vectors[0].Values {
				if got := new(big.Int).Sub(x, noises[i]).Int64(); got != q.exact[i] {
					t.Errorf("%s: cell %d is exactly %d, want %d", q.sql, i, got, q.exact[i])
				}
			}
		}
		if attained < 5 {
			t.Errorf("%s: %d of the sensitivities are attained", neighbours, attained)
		}
	}
}

// A release is bound to the versions of all tables that it is about, charged once, and given again whatever its names
// are.
func TestRelationsAreReplayed(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	c := shopOf(t, "add-remove", true)
	ask := func(sql string) *Release {
		t.Helper()
		return must[*Release](t)(c.Answer(t.Context(), Question{SQL: sql}))
	}
	first := ask("SELECT metal, COUNT(*) FROM lines l JOIN parts p ON l.part = p.part GROUP BY metal")
	again := ask("WITH a AS (SELECT part AS x, number FROM lines), b AS (SELECT metal AS m, part AS y FROM parts) SELECT COUNT(*) AS n, p.metal FROM parts AS p JOIN lines ON lines.part = p.part GROUP BY 2")
	if first.Replayed || !again.Replayed {
		t.Errorf("%+v, %+v", first.Replayed, again.Replayed)
	}
	// A subquery that only selects leaves no trace.
	if flat := ask("SELECT COUNT(*) FROM orders WHERE total > 5 AND number < 50"); flat.Replayed {
		t.Error("not asked before")
	}
	if nested := ask("WITH o AS (SELECT number AS n, total AS x FROM orders WHERE total > 5) SELECT COUNT(*) FROM (SELECT n FROM o) q WHERE q.n < 50"); !nested.Replayed {
		t.Error("the same question, in other words")
	}
	var sources []string
	err := c.ledger.Entries(func(e ledger.Entry) error {
		if r, ok := e.Body.(ledger.Reservation); ok && sources == nil {
			for _, s := range r.Sources {
				sources = append(sources, fmt.Sprintf("%s %d", s.Table, s.Version))
			}
		}
		return nil
	})
	if err != nil || !slices.Equal(sources, []string{"lines 1", "orders 1", "parts 1"}) {
		t.Errorf("%v, %v", sources, err)
	}
	write(t, c.home, "parts.csv", strings.Replace(someParts, "iron", "brass", 1))
	if _, err := c.Seal(t.Context(), "parts", SealOptions{}); err != nil {
		t.Fatal(err)
	}
	if now := ask("SELECT metal, COUNT(*) FROM lines l JOIN parts p ON l.part = p.part GROUP BY metal"); now.Replayed {
		t.Error("another version of a public table is another question")
	}
}

// The other primitives look at relations too, and a stream refuses them.
func TestRelationsElsewhere(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	c := shopOf(t, "add-remove", true)
	q := func(sql string) Request { return Request{SQL: sql, Epsilon: "100"} }
	r := must[*Ranked](t)(c.Rank(t.Context(), Quantiles{Request: q("SELECT n FROM (SELECT customer, COUNT(*) AS n FROM orders GROUP BY customer) q"), At: []string{"1"}}))
	if r.Values[0].Whole.Int64() != 3 {
		t.Errorf("%v", r.Values[0])
	}
	s := must[*Selected](t)(c.Select(t.Context(), Selection{Request: q("SELECT metal, COUNT(*) FROM lines JOIN parts USING (part) GROUP BY metal")}))
	if s.Best[0].Group[0] != "brass" {
		t.Errorf("%+v", s)
	}
	stream := must[*Stream](t)(c.Above(t.Context(), Threshold{Table: "orders", Threshold: "1"}))
	if _, err := stream.Ask(t.Context(), "SELECT COUNT(*) FROM orders JOIN customers ON customer = id"); codeOf(err) != CodePolicy {
		t.Error(err)
	}
	if _, err := c.Above(t.Context(), Threshold{Table: "lines", Threshold: "1"}); codeOf(err) != CodeUsage {
		t.Error(err)
	}
}

// The spread of one unit's values, and its bounds. Customer 1 has the totals 10 and 20.5 and the prices 3, 4 and 5;
// customer 2 has one of each. At ε = 30, noise changes a count with a
// probability below 10⁻¹².
func TestSpreadInsideAUnit(t *testing.T) {
	c := shopOf(t, "add-remove", false)
	const totals, prices = "SELECT customer, %s(total) AS v FROM orders GROUP BY customer",
		"SELECT o.customer, %s(l.price) AS v FROM lines l JOIN orders o ON l.number = o.number GROUP BY o.customer"
	for _, want := range []struct {
		of, function string
		value        float64 // of customer 1
		single       string  // of customer 2
		sensitivity  float64
	}{
		{totals, "VAR_POP", 27.5625, "v = 0", 625},
		{totals, "VARIANCE", 55.125, "v IS NULL", 1250},
		{totals, "STDDEV_POP", 5.25, "v = 0", 25},
		{totals, "STDDEV", 7.42462, "v IS NULL", 35.36},
		{prices, "VAR_POP", 2.0 / 3, "v = 0", 25},
		{prices, "VAR_SAMP", 1, "v IS NULL", 50},
		{prices, "STDDEV_SAMP", 1, "v IS NULL", 7.072},
	} {
		from := " FROM (" + fmt.Sprintf(want.of, want.function) + ") q"
		near := fmt.Sprintf(" WHERE v BETWEEN %v AND %v", want.value-1e-4, want.value+1e-4)
		for _, condition := range []string{near, " WHERE " + want.single} {
			r, err := c.Answer(t.Context(), Question{SQL: "SELECT COUNT(*)" + from + condition, Epsilon: "30"})
			if err != nil {
				t.Fatal(err)
			}
			if n := r.Rows[0][0].Estimate.Value.Real; n != 1 {
				t.Errorf("%s%s: %v persons", from, condition, n)
			}
		}
		e, err := c.Explain(t.Context(), Question{SQL: "SELECT SUM(v)" + from, Epsilon: "1"})
		if err != nil {
			t.Fatal(err)
		}
		if s := e.Columns[0].Sensitivity; s == nil || *s < want.sensitivity/1.001 || *s > want.sensitivity*1.001 {
			t.Errorf("%s: one person changes the sum by at most %v, not %v", from, *s, want.sensitivity)
		}
	}
}

// Quantiles of one unit's values, and their bounds. Customer 1 has the totals 10 and 20.5 and the prices 3, 4 and 5. At
// ε = 30, noise changes a count with a probability below 10⁻¹².
func TestQuantilesInsideAUnit(t *testing.T) {
	c := shopOf(t, "add-remove", false)
	const totals = "(SELECT customer, %s AS v FROM orders GROUP BY customer) q"
	const prices = "(SELECT o.customer, %s AS v FROM lines l JOIN orders o ON l.number = o.number GROUP BY o.customer) q"
	within := func(f, by string) string { return f + " WITHIN GROUP (ORDER BY " + by + ")" }
	for _, want := range []struct {
		of, function string
		condition    string // holds for customer 1 alone
		sensitivity  float64
	}{
		{totals, "MEDIAN(total)", "v = 15.25", 50},
		{totals, within("PERCENTILE_CONT(0.5)", "total"), "v = 15.25", 50},
		{totals, within("PERCENTILE_CONT(0.2)", "total"), "v BETWEEN 12.09999 AND 12.10001", 50},
		{totals, within("PERCENTILE_CONT(0.2)", "total DESC"), "v BETWEEN 18.39999 AND 18.40001", 50},
		{totals, "QUANTILE_CONT(total, 1)", "v = 20.5", 50},
		{totals, within("PERCENTILE_DISC(0.5)", "total"), "v = 10", 50},
		{totals, within("PERCENTILE_DISC(0.5)", "total DESC"), "v = 20.5", 50},
		{totals, within("PERCENTILE_DISC(0)", "total DESC"), "v = 20.5", 50},
		{totals, within("PERCENTILE_DISC(1)", "total DESC"), "v = 10", 50},
		{totals, "QUANTILE_DISC(total, 0.51)", "v = 20.5", 50},
		{totals, "MEDIAN(total) FILTER (WHERE total < 15)", "v = 10", 15},
		{totals, "MEDIAN(total) - PERCENTILE_DISC(total, 0)", "v = 5.25", 50},
		{prices, "MEDIAN(price)", "v = 4", 9},
		{prices, within("PERCENTILE_CONT(0.75)", "price"), "v = 4.5", 9},
		{prices, within("PERCENTILE_DISC(0.34)", "price"), "v = 4", 9},
		{prices, within("PERCENTILE_DISC(0.3333)", "price"), "v = 3", 9},
		{prices, within("PERCENTILE_DISC(0.5)", "part"), "v = 'nut'", 0},
	} {
		from := " FROM " + fmt.Sprintf(want.of, want.function)
		r, err := c.Answer(t.Context(), Question{SQL: "SELECT COUNT(*)" + from + " WHERE " + want.condition, Epsilon: "30"})
		if err != nil {
			t.Fatalf("%s: %v", want.function, err)
		}
		if n := r.Rows[0][0].Estimate.Value.Real; n != 1 {
			t.Errorf("%s WHERE %s: %v persons", from, want.condition, n)
		}
		if want.sensitivity == 0 {
			continue
		}
		e, err := c.Explain(t.Context(), Question{SQL: "SELECT SUM(v)" + from, Epsilon: "1"})
		if err != nil {
			t.Fatal(err)
		}
		if s := e.Columns[0].Sensitivity; s == nil || *s < want.sensitivity/1.001 || *s > want.sensitivity*1.001 {
			t.Errorf("%s: one person changes the sum by at most %v, not %v", from, *s, want.sensitivity)
		}
	}
}
