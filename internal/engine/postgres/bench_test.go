package postgres

import (
	"context"
	"strings"
	"testing"

	"dither/internal/engine"
	"dither/internal/plan"
)

const benchPolicy = `
version: 1
population: {name: bench}
budget: {epsilon: 1}
tables:
  row: {source: {csv: r.csv}, unit: row, columns: {COLUMNS}}
  many: {source: {csv: m.csv}, unit: person, rows_per_unit: 5, max_groups: 2, max_rows_per_group: 1, columns: {COLUMNS}}
`

// A million rows of a hundred thousand persons.
func BenchmarkAggregate(b *testing.B) {
	const columns = "person: {type: integer}, i: {type: integer, bounds: [0, 99]}, x: {type: real, bounds: [0, 20]}, " +
		"n: {type: real, bounds: [0, 100]}, s: {type: text, values: [a, B, c]}"
	w := emptyBench(b, []byte(strings.ReplaceAll(benchPolicy, "COLUMNS", columns)))
	w.exec(b, `CREATE TABLE many AS SELECT (random() * 100000)::bigint AS person, (random() * 99)::int AS i, random() * 20 AS x,
	  (random() * 100)::numeric(10, 2) AS n, (ARRAY['a', 'B', 'c'])[1 + floor(random() * 3)::int] AS s FROM generate_series(1, 1000000);
	 ANALYZE many; CREATE VIEW "row" AS SELECT * FROM many`)
	for _, sql := range []string{
		"SELECT SUM(x) FROM row", "SELECT SUM(n) FROM row", "SELECT s, SUM(x), COUNT(*) FROM row GROUP BY s",
		"SELECT AVG(x) FROM many", "SELECT i, AVG(x) FROM many GROUP BY i", "SELECT i, COUNT(DISTINCT person) FROM many GROUP BY i",
	} {
		p, err := plan.Build(w.policy, plan.Request{SQL: sql})
		if err != nil {
			b.Fatal(err)
		}
		b.Run(sql, func(b *testing.B) {
			for range b.N {
				if _, err := w.engine(p.Table).Aggregate(context.Background(), &p.Bounded, engine.Sealed{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
