package query

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestParseTree(t *testing.T) {
	sql := "SELECT v.City, count(*) AS n\nFROM Visits v\nWHERE é > -5 AND NOT b IS TRUE AND d < '2020-01-31'::date LIMIT 3"
	got, err := Parse(sql)
	if err != nil {
		t.Fatal(err)
	}
	at := func(line, column int) Pos { return Pos{Line: line, Column: column} }
	three := int64(3)
	want := &Select{
		Items: []Item{
			{Expr: &Column{At: at(1, 8), Table: "v", Name: "city"}},
			{Expr: &Call{At: at(1, 16), Name: "count", Star: true}, Alias: "n"},
		},
		From: From{Table: "visits", Alias: "v", At: at(2, 6)},
		Where: &Binary{
			At: at(3, 14), Op: And,
			L: &Binary{
				At: at(3, 14), Op: And,
				L: &Binary{
					At: at(3, 9), Op: Gt, L: &Column{At: at(3, 7), Name: "é"},
					R: &Literal{At: at(3, 11), Kind: IntegerLiteral, Text: "-5"},
				},
				R: &Unary{
					At: at(3, 18), Op: Not,
					X: &Is{At: at(3, 24), X: &Column{At: at(3, 22), Name: "b"}, What: IsTrue},
				},
			},
			R: &Binary{
				At: at(3, 38), Op: Lt, L: &Column{At: at(3, 36), Name: "d"},
				R: &Literal{At: at(3, 40), Kind: DateLiteral, Text: "2020-01-31"},
			},
		},
		Limit: &three, Tables: []string{"visits"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestCanonical pins what is accepted, as what String makes of it.
func TestCanonical(t *testing.T) {
	for sql, want := range map[string]string{
		"select a from t;;":                                                "SELECT a FROM t",
		"(SELECT a FROM t) LIMIT 3":                                        "SELECT a FROM t LIMIT 3",
		"SELECT a FROM t LIMIT ALL OFFSET NULL":                            "SELECT a FROM t",
		"SELECT a FROM t OFFSET 2 FETCH FIRST 3 ROWS ONLY":                 "SELECT a FROM t LIMIT 3 OFFSET 2",
		"SELECT a FROM t /* ; * / ' */ -- bye, /* all":                     "SELECT a FROM t",
		`SELECT "A" x, "a", "select" FROM "T x"`:                           `SELECT "A" AS x, a, "select" FROM "T x"`,
		"SELECT 'a' , E'\\'\\n', $$b'$$, U&'\\0061' FROM t":                "SELECT 'a', '''\n', 'b''', 'a' FROM t",
		"SELECT - -5, -(+5), -(-x), - -x, 1 - -1, -x*2 FROM t":             "SELECT 5, -5, -(-x), -(-x), 1 - -1, -x * 2 FROM t",
		"SELECT 0x1F, 1_0, 0xFFFFFFFFFF, .5, 5., 1_0.5e1 FROM t":           "SELECT 31, 10, 1099511627775, .5, 5., 10.5e1 FROM t",
		"SELECT a != b, a ISNULL, b NOTNULL FROM t":                        "SELECT a <> b, a IS NULL, b IS NOT NULL FROM t",
		"SELECT a::int8, b::numeric, bool 't' FROM t":                      "SELECT CAST(a AS integer), CAST(b AS double precision), CAST('t' AS boolean) FROM t",
		"SELECT (a AND b) AND (c AND d) FROM t":                            "SELECT a AND b AND (c AND d) FROM t",
		"SELECT (a+b)*c - (d-e) FROM t":                                    "SELECT (a + b) * c - (d - e) FROM t",
		"SELECT a BETWEEN 1 AND 2 AND NOT (b OR c) FROM t":                 "SELECT a BETWEEN 1 AND 2 AND NOT (b OR c) FROM t",
		"SELECT (a = b) = c, (a IS NULL) IS TRUE FROM t":                   "SELECT (a = b) = c, (a IS NULL) IS TRUE FROM t",
		"SELECT count(ALL x), COALESCE(a, 1), extract(year FROM d) FROM t": `SELECT count(x), coalesce(a, 1), "extract"('year', d) FROM t`,
	} {
		s, err := Parse(sql)
		if err != nil {
			t.Errorf("%s\n%v", sql, err)
		} else if got := s.String(); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", sql, got, want)
		}
	}
}

func TestDepth(t *testing.T) {
	for _, c := range []struct {
		name string
		sql  func(n int) string // an expression whose deepest path has n nodes
	}{
		{"sum", func(n int) string { return "1" + strings.Repeat("+1", n-1) }},
		{"or", func(n int) string { return "a" + strings.Repeat(" OR a", n-1) }},
		{"not", func(n int) string { return strings.Repeat("NOT ", n-1) + "a" }},
		{"case", func(n int) string {
			return strings.Repeat("CASE WHEN ", n-1) + "a" + strings.Repeat(" THEN 1 END", n-1)
		}},
	} {
		if _, err := Parse("SELECT " + c.sql(200) + " FROM t"); err != nil {
			t.Errorf("%s of 200: %v", c.name, err)
		}
		_, err := Parse("SELECT " + c.sql(201) + " FROM t")
		if err == nil || !strings.Contains(err.Error(), "nested too deeply") {
			t.Errorf("%s of 201: %v", c.name, err)
		}
	}
}

func TestConcurrent(t *testing.T) {
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				if _, err := Parse("SELECT count(*) FROM t"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

// TestTemplates is FuzzParse over statements that the grammar mostly accepts, whether or not the tree has a place for
// them.
func TestTemplates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sql := fill(t, rapid.SampledFrom(statements).Draw(t, "statement"), 4)
		s, err := Parse(sql)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Pos.Line != 1 || e.Pos.Column < 1 || e.Pos.Column > len([]rune(sql))+1 ||
				e.Message == "" {
				t.Fatalf("%s\n%#v", sql, err)
			}
			return
		}
		again, err := parse(s.String(), looseLimits, nil)
		if err != nil {
			t.Fatalf("%s\n%s\n%v", sql, s, err)
		}
		if diff := sameTree(s, again); diff != "" {
			t.Fatalf("%s\n%s\n%s", sql, s, diff)
		}
	})
}

// A ¤ is to be filled with an expression.
var statements = []string{
	"SELECT ¤ FROM t", "SELECT ¤, ¤ AS x FROM t WHERE ¤",
	"SELECT ¤ FROM t GROUP BY ¤ HAVING ¤ ORDER BY ¤ DESC, ¤ NULLS FIRST",
	"SELECT ¤ FROM t LIMIT ¤ OFFSET ¤", "SELECT DISTINCT ¤ FROM t", "SELECT ¤ FROM t, u",
	"SELECT ¤ FROM t JOIN u ON ¤", "VALUES (¤)",
	"SELECT ¤ FROM t WINDOW w AS (ORDER BY ¤)", "SELECT ¤ FROM f(¤)", "WITH x AS (SELECT ¤) SELECT ¤ FROM x",
	"SELECT ¤ UNION SELECT ¤",
	"WITH x AS (SELECT ¤ AS y FROM t), z AS (SELECT * FROM x WHERE ¤) SELECT ¤ FROM z JOIN x ON ¤",
	"SELECT ¤ FROM (SELECT t.*, ¤ FROM t UNION ALL SELECT ¤ FROM u GROUP BY ¤ HAVING ¤) q",
	"SELECT ¤ FROM a LEFT JOIN (b RIGHT JOIN c USING (x, y)) ON ¤ WHERE ¤",
	"SELECT ¤ FROM (SELECT ¤ FROM t WINDOW w AS (ORDER BY ¤)) q JOIN LATERAL (SELECT ¤ FROM u) r ON ¤",
}

var expressions = []string{
	"¤ + ¤", "¤ - ¤", "¤ * ¤", "- ¤", "+ ¤", "(¤)", "¤ % ¤", "¤ / ¤", "¤ ^ ¤", "¤ = ¤", "¤ <> ¤",
	"¤ < ¤", "NOT ¤", "¤ AND ¤", "¤ OR ¤",
	"¤ BETWEEN ¤ AND ¤", "(¤) NOT BETWEEN ¤ AND (¤)", "¤ BETWEEN SYMMETRIC ¤ AND ¤", "¤ IN (¤, ¤)",
	"¤ NOT IN (¤)", "¤ LIKE ¤", "¤ NOT LIKE ¤",
	"¤ LIKE ¤ ESCAPE ¤", "¤ ILIKE ¤", "¤ SIMILAR TO ¤", "¤ IS NULL", "¤ IS NOT TRUE", "¤ IS UNKNOWN",
	"¤ IS DISTINCT FROM ¤", "¤ IS JSON",
	"CASE WHEN ¤ THEN ¤ ELSE ¤ END", "CASE ¤ WHEN ¤ THEN ¤ WHEN ¤ THEN ¤ END", "CAST(¤ AS int)", "(¤)::date",
	"¤::text", "¤::interval(3)", "¤::x.y",
	"f(¤)", "count(DISTINCT ¤)", "count(*)", "f(¤, x => ¤)", "sum(¤ ORDER BY ¤)", "sum(¤) FILTER (WHERE ¤)",
	"percentile_disc(¤) WITHIN GROUP (ORDER BY ¤ DESC) FILTER (WHERE ¤)", "mode() WITHIN GROUP (ORDER BY ¤)",
	"sum(¤) OVER (PARTITION BY ¤)",
	"coalesce(¤, ¤)", "nullif(¤, ¤)", "least(¤)", "greatest(¤, ¤)", "extract(year FROM ¤)",
	"substring(¤ FROM ¤ FOR ¤)", "trim(¤)", "¤ COLLATE \"C\"",
	"ARRAY[¤]", "ROW(¤, ¤)", "(¤, ¤)", "(¤)[¤]", "(¤).x", "¤ = ANY (¤)", "¤ < ALL (SELECT ¤)",
	"EXISTS (SELECT ¤)", "(SELECT ¤)", "¤ AT TIME ZONE ¤",
	"¤ || ¤", "¤ ~ ¤", "@ ¤", "¤ -> ¤", "json_array(¤)", "xmlforest(¤ AS x)", "GROUPING(¤)", "ROLLUP(¤)",
	"normalize(¤)", "¤ OPERATOR(x.+) ¤",
}

var leaves = []string{
	"a", "t.a", "\"B c\"", "1", "-1", "1.5e3", "9223372036854775808", "'x'", "DATE '2020-01-31'", "date 'today'",
	"NULL", "TRUE", "false", "*", "t.*",
	"$1", "current_date", "E'\\n'", "U&'\\0061'", "B'1'", "DEFAULT", "a.b.c", "now()", "\"least\"(1)", "é", "0x10",
	"interval '1 day'", "pg_catalog.f()",
}

func fill(t *rapid.T, template string, depth int) string {
	var out strings.Builder
	for _, r := range template {
		switch {
		case r != '¤':
			out.WriteRune(r)
		case depth == 0 || rapid.IntRange(0, 3).Draw(t, "leaf") == 0:
			out.WriteString(rapid.SampledFrom(leaves).Draw(t, "value"))
		default:
			out.WriteString(fill(t, rapid.SampledFrom(expressions).Draw(t, "expression"), depth-1))
		}
	}
	return out.String()
}

func BenchmarkParse(b *testing.B) {
	for b.Loop() {
		if _, err := Parse(
			"SELECT city, count(*), avg(age) FROM visits WHERE age BETWEEN 18 AND 65 GROUP BY city"); err != nil {
			b.Fatal(err)
		}
	}
}
