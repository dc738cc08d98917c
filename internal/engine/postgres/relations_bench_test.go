package postgres

import (
	"context"
	"fmt"
	"testing"
	"time"

	"dither/internal/engine"
	"dither/internal/plan"
)

const starPolicy = `
version: 1
population: {name: star}
budget: {epsilon: 1000}
price: {default: 1}
tables:
  customers: {source: {csv: c.csv}, unit: id, rows_per_unit: 1, columns: {id: {type: integer}, nation: {type: integer, bounds: [0, 24]}}}
  orders: {source: {csv: o.csv}, unit: customer, rows_per_unit: 20, columns: {number: {type: integer}, customer: {type: integer}, day: {type: integer, bounds: [0, 2400]}}}
  lines: {source: {csv: l.csv}, through: number, references: {number: orders.number}, rows_per_unit: 80, columns: {number: {type: integer}, price: {type: real, bounds: [0, 100]}, flag: {type: integer, bounds: [0, 3]}}}
  nations: {source: {csv: n.csv}, public: true, rows_per_value: {id: 1}, columns: {id: {type: integer}, region: {type: integer, bounds: [0, 4]}}}
`

// BenchmarkRelations measures relations beside the server's own, plain statements, which bound nobody, over the same
// tables, in one run and on one connection: ten orders a customer, four lines an order. Statements have 64 MB to sort
// in and one process each.
func BenchmarkRelations(b *testing.B) {
	lines := benchRows(b)
	customers, orders := lines/40, lines/4
	w := emptyBench(b, []byte(starPolicy))
	w.exec(b, fmt.Sprintf(`CREATE UNLOGGED TABLE customers AS SELECT i AS id, CAST(abs(hashint8extended(i, 1)) %% 25 AS integer) AS nation FROM generate_series(1::bigint, %d) AS i;
	 CREATE UNLOGGED TABLE orders AS SELECT i AS number, abs(hashint8extended(i, 2)) %% %[1]d + 1 AS customer, CAST(abs(hashint8extended(i, 3)) %% 2400 AS integer) AS day FROM generate_series(1::bigint, %d) AS i;
	 CREATE UNLOGGED TABLE lines AS SELECT i / 4 AS number, abs(hashint8extended(i, 4)) %% 10000 / 100.0::double precision AS price, CAST(abs(hashint8extended(i, 5)) %% 4 AS integer) AS flag FROM generate_series(1::bigint, %d) AS i;
	 CREATE UNLOGGED TABLE nations AS SELECT i AS id, i %% 5 AS region FROM generate_series(0, 24) AS i`, customers, orders, lines))
	for _, table := range []string{"customers", "orders", "lines", "nations"} {
		w.exec(b, "VACUUM ANALYZE "+table)
	}
	w.exec(b, "ALTER ROLE owner SET work_mem = '64MB'; ALTER ROLE owner SET max_parallel_workers_per_gather = 0")
	defer w.exec(b, "ALTER ROLE owner RESET ALL")
	const star = " FROM public.lines l JOIN public.orders o ON l.number = o.number JOIN public.customers c ON o.customer = c.id JOIN public.nations n ON n.id = c.nation"
	for _, c := range []struct{ name, ours, beside string }{
		{
			"orders by region of their customers",
			"SELECT region, COUNT(*) FROM orders o JOIN customers c ON o.customer = c.id JOIN nations n ON n.id = c.nation GROUP BY region",
			"SELECT region, count(*) FROM public.orders o JOIN public.customers c ON o.customer = c.id JOIN public.nations n ON n.id = c.nation GROUP BY region",
		},
		{"lines alone", "SELECT flag, SUM(price) FROM lines GROUP BY flag", "SELECT flag, sum(price) FROM public.lines l JOIN public.orders o ON l.number = o.number GROUP BY flag"},
		{
			"the whole star", "SELECT region, SUM(price) FROM lines l JOIN orders o USING (number) JOIN customers c ON o.customer = c.id JOIN nations n ON n.id = c.nation WHERE day < 1200 GROUP BY region",
			"SELECT region, sum(price)" + star + " WHERE day < 1200 GROUP BY region",
		},
		{
			"the whole star, by customer and region",
			"SELECT region, SUM(price) FROM lines l JOIN orders o USING (number) JOIN customers c ON o.customer = c.id JOIN nations n ON n.id = c.nation WHERE day < 1200 GROUP BY region",
			"SELECT region, sum(s) FROM (SELECT c.id, region, sum(price) AS s" + star +
				" WHERE day < 1200 GROUP BY c.id, region) AS x GROUP BY region",
		},
		{
			"orders each", "SELECT AVG(n) FROM (SELECT customer, COUNT(*) AS n FROM orders GROUP BY customer) q",
			"SELECT avg(n) FROM (SELECT customer, count(*) AS n FROM public.orders GROUP BY customer) q",
		},
	} {
		b.Run(c.name, func(b *testing.B) {
			p, err := plan.Build(w.policy, plan.Request{SQL: c.ours})
			if err != nil {
				b.Fatal(err)
			}
			from := engine.Sealed{Tables: map[string]engine.Sealed{}}
			for _, table := range p.Tables() {
				from.Tables[table] = engine.Sealed{}
			}
			e := w.over()
			s, err := e.begin(context.Background())
			if err != nil {
				b.Fatal(err)
			}
			defer s.end()
			in, err := e.find(context.Background(), s, &p.Statement, from)
			if err != nil {
				b.Fatal(err)
			}
			nothing := func([][]byte) error { return nil }
			var took, used [2][]time.Duration
			for b.Loop() {
				for i, statement := range []string{render(&p.Statement, in), c.beside} {
					if err := s.run(context.Background(), []string{hashJoins, anyJoins}[i]); err != nil {
						b.Fatal(err)
					}
					start, before := time.Now(), processor(b, s)
					if err := s.query(context.Background(), statement, nothing); err != nil {
						b.Fatal(err)
					}
					took[i], used[i] = append(took[i], time.Since(start)), append(used[i], processor(b, s)-before)
				}
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(median(took[0]).Seconds()*1000, "ms")
			b.ReportMetric(float64(median(took[0]))/float64(median(took[1])), "ratio")
			b.ReportMetric(median(used[0]).Seconds()*1000, "cpu-ms")
			b.ReportMetric(float64(median(used[0]))/float64(max(median(used[1]), 1)), "cpu-ratio")
		})
	}
}
