package postgres

import (
	"context"
	"strings"
	"testing"

	"dither/internal/engine"
	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/value"
)

const joinsPolicy = `
version: 1
population: {name: clinic}
budget: {epsilon: 10}
tables:
  orders: {source: {csv: o.csv}, unit: pid, rows_per_unit: 4, columns: {pid: {type: integer}, number: {type: integer}, code: {type: integer}}}
  letters: {source: {csv: l.csv}, unit: pid, rows_per_unit: 4, columns: {pid: {type: integer}, a: {type: integer}, b: {type: integer}, c: {type: integer}}, references: {a: orders.number, b: orders.number, c: orders.number}}
  codes: {source: {csv: c.csv}, public: true, rows_per_value: {code: 1}, columns: {code: {type: integer}, region: {type: integer, bounds: [0, 9]}}}
`

// one is the only value that a statement gives.
func one(t *testing.T, s *session, sql string) (out string) {
	t.Helper()
	if err := s.query(t.Context(), sql, func(row [][]byte) error { out = string(row[0]); return nil }); err != nil {
		t.Fatal(err)
	}
	return out
}

// What a unit's rows cost in a join is bounded where rows are looked up in tables of hashes, and joined in the order
// that the statement says. The planner, where it was free, expected one row of several conditions, and three joins of
// 1,000 rows each of one unit took 1,840 ms, of which 79 are left.
func TestJoinsAreByHash(t *testing.T) {
	s := newBench(t, []byte(joinsPolicy))
	rows := enginetest.Tables{}
	for i := range int64(2000) {
		pid, n := value.OfInt(max(i-499, 0)), value.OfInt(i) // five hundred of one
		rows["orders"] = append(rows["orders"], enginetest.Row{"pid": pid, "number": n, "code": n})
		rows["letters"] = append(rows["letters"], enginetest.Row{"pid": pid, "a": n, "b": n, "c": n})
		rows["codes"] = append(rows["codes"], enginetest.Row{"code": n, "region": value.OfInt(i % 10)})
	}
	from := engine.Sealed{Tables: map[string]engine.Sealed{}}
	for table, all := range rows {
		s.write(t, table, all)
		from.Tables[table] = s.copiedAs(t, table, table)
	}
	s.exec(
		t, roleSettings(
			"SET enable_hashjoin = off; SET enable_mergejoin = on; SET join_collapse_limit = 8; SET from_collapse_limit = 8"))
	defer s.exec(t, "ALTER ROLE owner RESET ALL")
	e := s.over()
	for _, sql := range []string{
		"SELECT COUNT(*) FROM (SELECT * FROM orders WHERE pid = 0 AND number > 5 AND number < 9) AS o JOIN codes AS c ON o.code = c.code",
		"SELECT COUNT(*) FROM (SELECT * FROM orders WHERE pid = 0) AS o LEFT JOIN codes AS c ON o.code = c.code",
		"SELECT COUNT(*) FROM (SELECT * FROM letters WHERE pid = 0) AS l JOIN (SELECT pid, COUNT(*) AS n FROM orders GROUP BY pid) AS o ON l.pid = o.pid",
		"SELECT COUNT(*) FROM letters AS l JOIN (SELECT * FROM orders WHERE pid = 0) AS o ON l.a = o.number AND l.pid = o.pid" +
			" JOIN (SELECT * FROM orders WHERE pid = 0) AS p ON l.b = p.number AND l.pid = p.pid" +
			" JOIN (SELECT * FROM orders WHERE pid = 0) AS q ON l.c = q.number AND l.pid = q.pid",
	} {
		q, err := plan.Build(s.policy, plan.Request{SQL: sql})
		if err != nil {
			t.Fatal(err)
		}
		conn, in, err := e.prepare(context.Background(), &q.Statement, from)
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		err = conn.query(context.Background(), "EXPLAIN "+render(&q.Statement, in), func(row [][]byte) error {
			text.WriteString(string(row[0]) + "\n")
			return nil
		})
		for _, limit := range []string{"join", "from"} {
			if got := one(t, conn, "SHOW "+limit+"_collapse_limit"); got != "1" {
				t.Errorf("tables are joined in another order than the statement's: %s_collapse_limit = %s", limit, got)
			}
		}
		conn.end()
		if err != nil {
			t.Fatal(err)
		}
		if got := text.String(); !strings.Contains(got, "Hash ") || strings.Contains(got, "Nested Loop") ||
			strings.Contains(got, "Merge ") {
			t.Errorf("%s:\n%s", sql, got)
		}
	}
}
