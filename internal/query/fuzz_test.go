package query

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

var seeds = []string{
	"SELECT COUNT(*) FROM t",
	"select Sum(age) s from visits v where v.age between -5 and 1e3 or not (a = 1 and b <> 'x') group by city having count(*) > 10 order by s desc nulls last limit 10 offset 2;",
	"SELECT avg(CASE WHEN a THEN 1 ELSE -.5 END), CASE x WHEN 1 THEN 'a' END FROM t WHERE d >= DATE '2020-01-31'",
	"SELECT coalesce(a, 1), nullif(a, 0), least(1, 2), greatest(a, b) FROM t",
	"SELECT \"coalesce\"(a), \"count\"(*) FROM t",
	"SELECT a NOT LIKE 'x%', a IS NULL, b IS NOT TRUE, b IS UNKNOWN, a NOT IN (1, 2), a ISNULL FROM t",
	"SELECT a::int, a::double precision, cast(a AS text), '2020-01-31'::date, numeric '1.5', 'today'::date FROM t",
	"SELECT -(-5), - -x, +5, -(+9223372036854775807), -9223372036854775808, 0x1F, 0b101, 0o17, 1_000, 0xFFFFFFFFFF, 5., 1e999999999 FROM t",
	"SELECT count(*) /* hidden /* nested */ ; drop table t */ FROM t -- bye",
	"SELECT count(*) FROM t; SELECT 1; DROP TABLE t",
	";;;", "", " ", "--", "/*", "SELECT", "SELECT 'abc", "SELECT $$x", "SELECT \"", "(((((", "SELECT 1 FROM t WHERE",
	`SELECT E'\'\n\x41\u00e9', 'a\b' FROM t`, `SELECT E'\xff\0' FROM t`,
	`SELECT U&'d\0061t' UESCAPE '!', U&"d\0061t" FROM t`, `SELECT U&'\00zz' FROM t`,
	"SELECT $$do'llar$$, $a$ $$ $a$ FROM t", "SELECT 'a'\n'b' FROM t", "SELECT B'101', X'1F' FROM t",
	"SELECT é, \"É\", '日本' FROM \"tâble\"", "SELECT '\u202e' AS \"\u2066x\", a \u00a0 FROM t",
	"SELECT '\U0001F600', x FORM t t",
	"SELECT * FROM t", "SELECT DISTINCT a FROM t",
	"SELECT count(*) FROM t RIGHT JOIN (SELECT DISTINCT a FROM u) USING (a)",
	"WITH u AS (SELECT DISTINCT ON (a) a FROM t) SELECT count(*) FROM u", "TABLE t", "VALUES (1)",
	"WITH x AS (SELECT 1) SELECT count(*) FROM x",
	"SELECT count(*) FILTER (WHERE a), f(a => 1), g(VARIADIC a), h(a ORDER BY b), i(a) OVER (PARTITION BY b) FROM t",
	"SELECT count(*) FROM a, b JOIN c ON true, LATERAL (SELECT 1) x, f(1), t TABLESAMPLE system (1)",
	"SELECT count(*) FROM t GROUP BY ROLLUP (a), GROUPING SETS ((), (b)), (c, d)",
	"SELECT a || b, a ~ b, a ^ b, a -> b, a & b, ~a, a @> b, a OPERATOR(pg_catalog.+) b FROM t",
	"SELECT (SELECT 1), EXISTS (SELECT 1), a = ANY (b), a IN (SELECT 1), ARRAY[1], ROW(1), (a).b, a[1], $1, a COLLATE \"C\" FROM t",
	"SELECT current_date, now(), extract(year FROM d), trim(a), a AT TIME ZONE 'UTC', position('a' IN b) FROM t",
	"SELECT a IS JSON, json_object('a': 1), xmlparse(document a), b IS DOCUMENT, a IS DISTINCT FROM b FROM t",
	"WITH a AS (SELECT x, y AS z FROM t WHERE x > 1), b AS (SELECT * FROM a UNION ALL SELECT u.*, 1 FROM u) SELECT avg(z) FROM b JOIN a USING (x) LEFT JOIN c d ON d.x = b.x",
	"SELECT avg(n) FROM (SELECT p, count(*) n FROM t GROUP BY p HAVING max(x) > 2) q",
	"SELECT count(*) FROM ((SELECT x FROM a) UNION ALL (SELECT x FROM b LIMIT 1)) q",
	"INSERT INTO t VALUES (1)", "EXPLAIN SELECT 1", "COPY t TO '/tmp/x'", "SET x = 1", "BEGIN", "DO $$x$$",
	"SELECT count(*) FROM t FETCH FIRST 3 ROWS WITH TIES", "SELECT count(*) INTO x FROM t FOR UPDATE",
	"SELECT count(*) FROM t LIMIT ALL OFFSET -1", "SELECT a, sum(b) FROM t GROUP BY ALL ORDER BY ALL DESC", "SELECT 1 GROUP BY ALL ORDER BY ALL",
	"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(a=1, b=t.\"é\", c=NULL) count(*, w => (0, -1.5)), sum(x, b => auto) FROM t", "SELECT WITH ANONYMIZATION OPTIONS( FROM t",
	"\xef\xbb\xbfSELECT 1 FROM t", "\ufeff\ufeffSELECT 1", "SELECT 1 -- \u202e\nFROM t", "SELECT 1 /* \u2066 */ FROM t",
	"SELECT '\u2069' -- \u200f\n'\u061c' FROM t", "SELECT E'\\'\u200b' -- \x1b",
	"SELECT 1 /*! + 2 */ FROM t", "SELECT 1 --+ x\n/*+ y */ FROM t", "SELECT 1 -- a\r+ 2\r\nFROM t",
	"SELECT $\u202e$a$\u202e$, $$\u202e$$, \"\u202e\" FROM t", "SELECT 1 /* \U000e0041 */ FROM t\u2028",
	"SELECT 1\x00 FROM t", "SELECT '\xff' FROM t",
}

// FuzzParse holds Parse to its promises: no panic; every error an *Error that points into the text; a tree's String
// parses back to the same tree.
func FuzzParse(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Add("SELECT " + strings.Repeat("(", 900) + "1" + strings.Repeat(")", 900) + " FROM t")
	f.Add("SELECT 1" + strings.Repeat("+1", 300) + " FROM t")
	f.Add("SELECT a" + strings.Repeat(" IS NULL", 200) + " FROM t")
	f.Fuzz(func(t *testing.T, sql string) {
		s, err := Parse(sql)
		once, err2 := Parse(sql) // from what the parser gave before
		if err != nil {
			checkError(t, sql, err)
			if err2 == nil || err2.Error() != err.Error() {
				t.Fatalf("%q: %v, and again: %v", sql, err, err2)
			}
			return
		}
		if diff := sameTree(s, once); err2 != nil || diff != "" {
			t.Fatalf("%q read again is another tree: %v\n%s", sql, err2, diff)
		}
		printed := s.String()
		again, err := parse(printed, looseLimits, nil)
		if err != nil {
			t.Fatalf("%q prints as %q, which is refused: %v", sql, printed, err)
		}
		if diff := sameTree(s, again); diff != "" {
			t.Fatalf("%q prints as %q, which is another tree:\n%s", sql, printed, diff)
		}
	})
}

// checkError holds an error to what the package promises of it.
func checkError(t *testing.T, sql string, err error) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("%q: not an *Error: %v", sql, err)
	}
	if e.Message == "" || !utf8.ValidString(e.Message) || len([]rune(e.Message)) > 300 {
		t.Errorf("%q: message %q", sql, e.Message)
	}
	lines := strings.Split(sql, "\n")
	if e.Pos.Line < 1 || e.Pos.Line > len(lines) {
		t.Fatalf("%q: line %d of %d", sql, e.Pos.Line, len(lines))
	}
	if most := utf8.RuneCountInString(lines[e.Pos.Line-1]) + 1; e.Pos.Column < 1 || e.Pos.Column > most {
		t.Errorf("%q: column %d of %d", sql, e.Pos.Column, most)
	}
}

// What the parser gives is kept for the next reading of the same text: making a tree of it changes nothing.
func TestParsedIsNotChanged(t *testing.T) {
	for _, sql := range seeds {
		if checkText(text(sql), defaultLimits) != nil {
			continue
		}
		before := parseOnThread(job{sql, defaultLimits.tokens})
		tree, scan := before.tree.String(), before.scan.String()
		_, _ = Parse(sql)
		after := parseOnThread(job{sql, defaultLimits.tokens})
		if after != before || after.tree.String() != tree || after.scan.String() != scan {
			t.Errorf("%q: reading it changed what the parser gave", sql)
		}
	}
}
