package postgres

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"dither/internal/bounded"
	"dither/internal/engine"
	"dither/internal/engine/enginetest"
	"dither/internal/engine/postgres/pgtest"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/value"
)

// one answers a question without groups, of one measure.
func (b *bench) one(t *testing.T, sql string) string {
	t.Helper()
	p, err := plan.Build(b.policy, plan.Request{SQL: sql})
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	got, err := b.sums(p)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	if got[`[] 0`] == "" {
		return "0"
	}
	return got[`[] 0`]
}

const kindsPolicy = `
version: 1
population: {name: kinds}
budget: {epsilon: 1000}
tables:
  k: {source: {csv: k.csv}, unit: row, columns: {
    small: {type: integer, bounds: [-40000, 40000], nullable: true}, middle: {type: integer, nullable: true},
    single: {type: real, bounds: [-100, 100], nullable: true}, exact: {type: real, bounds: [-1e9, 1e9], nullable: true}, whole: {type: real, bounds: [-1e9, 1e9], nullable: true},
    code: {type: text, nullable: true}, name: {type: text, nullable: true}, domain: {type: integer, bounds: [0, 100], nullable: true},
    day: {type: date, nullable: true}}}
  j: {source: {csv: j.csv}, unit: who, rows_per_unit: 1, columns: {who: {type: text, nullable: true}, v: {type: integer, bounds: [0, 9]}}}
`

func newKinds(t *testing.T, types map[string]string) *bench {
	t.Helper()
	b := emptyBench(t, []byte(kindsPolicy))
	b.exec(t, "CREATE DOMAIN age AS smallint CHECK (VALUE >= 0)")
	b.exec(t, b.create(b.policy.Table("k"), types))
	return b
}

var serverTypes = map[string]string{
	"small": "smallint", "middle": "integer", "single": "real", "exact": "numeric", "whole": "bigint",
	"code": "char(5)", "name": "varchar(9)", "domain": "age",
}

// Every type of the server that is accepted is read as the value that it holds, and what is none of the declared type
// is NULL: no value raises.
func TestKinds(t *testing.T) {
	b := newKinds(t, serverTypes)
	b.exec(t, `INSERT INTO k VALUES
	 (1, 32767, 2147483647, 'NaN', 'NaN', 9223372036854775807, 'ab', 'ab ', 7, 'infinity'),
	 (2, -32768, -2147483648, 'Infinity', 'Infinity', -9223372036854775808, 'a', '', 0, '-infinity'),
	 (3, 1, 1, 1e-40, 1e400, 5, '  x', 'x', 32767, '4713-01-01 BC'),
	 (4, NULL, NULL, 0.1, 1e-400, 0, '', NULL, NULL, '10000-01-01'),
	 (5, 0, 0, -3.4e38, -1.5, NULL, NULL, NULL, 1, '9999-12-31'),
	 (6, 0, 0, NULL, 123456789.125, NULL, NULL, NULL, 1, '0001-01-01')`)
	for sql, want := range map[string]string{
		"SELECT SUM(small) FROM k":                                  "0", // 32767 − 32768 + 1
		"SELECT COUNT(*) FROM k WHERE middle > 2147483646":          "1",
		"SELECT COUNT(single) FROM k":                               "3", // NaN and ∞ are NULL
		"SELECT COUNT(*) FROM k WHERE single = 0":                   "1", // below 2^-60
		"SELECT COUNT(*) FROM k WHERE single = 0.1":                 "0", // the nearest float4 is another number
		"SELECT COUNT(*) FROM k WHERE single = 0.10000000149011612": "1",
		"SELECT COUNT(*) FROM k WHERE single = -100":                "1", // clamped
		// NaN, ∞ and what is beyond the doubles are NULL
		"SELECT COUNT(exact) FROM k":                                  "3",
		"SELECT COUNT(*) FROM k WHERE exact = 0":                      "1",
		"SELECT COUNT(*) FROM k WHERE exact = 123456789.125":          "1",
		"SELECT COUNT(*) FROM k WHERE whole = 1e9 OR whole = -1e9":    "2",
		"SELECT COUNT(*) FROM k WHERE code = 'ab' OR code = ''":       "2", // without its padding
		"SELECT COUNT(*) FROM k WHERE code = '  x'":                   "1",
		"SELECT COUNT(*) FROM k WHERE name = 'ab '":                   "1",
		"SELECT SUM(domain) FROM k":                                   "109", // 7 + 0 + 100, clamped, + 1 + 1
		"SELECT COUNT(day) FROM k":                                    "2",
		"SELECT COUNT(*) FROM k WHERE day = '9999-12-31'":             "1",
		"SELECT SUM(EXTRACT(year FROM day)) FROM k":                   "10000",
		"SELECT COUNT(*) FROM k WHERE date_trunc('week', day) = day":  "1",
		"SELECT COUNT(*) FROM k WHERE date_trunc('quarter', day)>day": "0",
	} {
		if got := b.one(t, sql); got != want {
			t.Errorf("%s: %s, want %s", sql, got, want)
		}
	}
}

const textsPolicy = `
version: 1
population: {name: few}
budget: {epsilon: 1000}
tables:
  e:
    source: {csv: e.csv}
    unit: who
    rows_per_unit: 4
    columns:
      who: {type: text}
      mood: {type: text, values: [sad, good, Ok], nullable: true}
      cost: {type: real, bounds: [0, 100], nullable: true}
      at: {type: timestamp, bounds: ['2025-01-01', '2025-12-31'], nullable: true}
`

// A uuid and a label of an enum are texts, which compare by their bytes and not in the enum's order. A numeric(p, s) is
// the nearest double, and a timestamptz is what clocks in the policy's zone show.
func TestTextsAndNumbersOfTheServer(t *testing.T) {
	b := emptyBench(t, []byte(textsPolicy))
	b.exec(t, `CREATE TYPE feeling AS ENUM ('sad', 'Ok', 'good', 'other'); CREATE DOMAIN mood AS feeling;
	 CREATE TABLE e(who uuid, mood mood, cost numeric(10, 2), at timestamptz);
	 INSERT INTO e VALUES
	 ('A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11', 'sad', 0.1, '2025-06-30 23:30+00'),
	 ('a0eebc999c0b4ef8bb6d6bb9bd380a11', 'Ok', 12345678.90, '2025-07-01 00:30+02'),
	 ('{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}', 'good', 99.994999, NULL),
	 ('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 'good', 1, NULL),
	 ('b0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 'other', NULL, 'infinity'),
	 (NULL, 'good', 1, NULL)`)
	for sql, want := range map[string]string{
		"SELECT COUNT(*) FROM e":                                       "5", // not that of nobody
		"SELECT COUNT(DISTINCT who) FROM e":                            "2",
		"SELECT COUNT(*) FROM e WHERE mood = 'Ok'":                     "1",
		"SELECT COUNT(*) FROM e WHERE mood < 'good'":                   "1", // by bytes, 'Ok' comes first
		"SELECT COUNT(*) FROM e WHERE mood IS NULL":                    "1", // a label that is not declared
		"SELECT COUNT(*) FROM e WHERE cost = 0.1":                      "1",
		"SELECT COUNT(*) FROM e WHERE cost = 99.99":                    "1",
		"SELECT COUNT(*) FROM e WHERE cost = 100":                      "1", // clamped
		"SELECT COUNT(*) FROM e WHERE at = '2025-06-30 22:30:00'":      "1",
		"SELECT COUNT(*) FROM e WHERE CAST(at AS date) = '2025-06-30'": "2",
		"SELECT COUNT(at) FROM e":                                      "2",
	} {
		if got := b.one(t, sql); got != want {
			t.Errorf("%s: %s, want %s", sql, got, want)
		}
	}
}

// Other types are refused, whatever could be cast to what.
func TestOtherTypesAreRefused(t *testing.T) {
	b := newKinds(t, nil)
	for column, of := range map[string]string{
		"day": "timestamp", "small": "numeric", "single": "text", "name": "inet", "exact": "money", "middle": "boolean",
		"code": "name",
	} {
		b.exec(t, "DROP TABLE k; "+b.create(b.policy.Table("k"), map[string]string{column: of}))
		p, err := plan.Build(b.policy, plan.Request{SQL: "SELECT COUNT(" + column + ") FROM k"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.sums(p); err == nil || !strings.Contains(err.Error(), "declared as") {
			t.Errorf("%s %s: %v", column, of, err)
		}
	}
}

// Texts are persons and keys by their bytes, in whatever collation the table holds them, and one of more than 4096
// bytes is NULL.
func TestTextsCompareByBytes(t *testing.T) {
	pgtest.Start(t).NeedICU(t)
	b := newKinds(t, nil)
	b.exec(t, `CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level1', deterministic = false);
	 CREATE TABLE j(who text COLLATE loose, v int);
	 INSERT INTO j VALUES ('a', 5), ('A', 5), ('á', 5), ('a ', 5), (repeat('a', 4096), 5), (repeat('a', 4097), 5), (NULL, 5)`)
	for sql, want := range map[string]string{
		"SELECT COUNT(DISTINCT who) FROM j":                    "5",
		"SELECT SUM(v) FROM j":                                 "25",
		"SELECT COUNT(*) FROM j WHERE who = 'A'":               "1",
		"SELECT COUNT(*) FROM j WHERE who < 'a'":               "1",
		"SELECT COUNT(*) FROM j WHERE who LIKE 'A%'":           "1",
		"SELECT COUNT(*) FROM j WHERE who IN ('A', 'b')":       "1",
		"SELECT COUNT(*) FROM j WHERE LEAST(who, 'Z') = 'A'":   "1",
		"SELECT COUNT(*) FROM j WHERE COALESCE(who,'') <> 'a'": "4",
	} {
		if got := b.one(t, sql); got != want {
			t.Errorf("%s: %s, want %s", sql, got, want)
		}
	}
}

// ROUND is half away from zero for every double near a half, and CAST half to even.
func TestRounding(t *testing.T) {
	b := newBench(t, enginetest.PolicyText("add-remove"))
	var xs []float64
	for _, n := range []float64{0, 1, 2, 3, 1 << 20, 1 << 51, 1<<51 + 1, 1 << 52, 1<<52 + 1, 1<<53 - 1} {
		for _, x := range []float64{n, n + 0.5, n + 0.25} {
			xs = append(xs, x, math.Nextafter(x, 0), math.Nextafter(x, math.Inf(1)))
		}
	}
	r := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		xs = append(xs, math.Ldexp(r.Float64(), r.IntN(54)), math.Floor(math.Ldexp(r.Float64(), r.IntN(52)))+0.5)
	}
	column := &bounded.Expr{Op: bounded.OpColumn, Type: value.Real, Name: "z"}
	round := expression(&bounded.Expr{Op: bounded.OpRound, Type: value.Integer, Args: []*bounded.Expr{column}})
	cast := expression(&bounded.Expr{Op: bounded.OpToInteger, Type: value.Integer, Args: []*bounded.Expr{column}})
	var rows []string
	for _, x := range xs {
		for _, x := range []float64{x, -x} {
			rows = append(rows, fmt.Sprintf("(%s, %s, %s)",
				double(x), integer(int64(math.Round(x))), integer(int64(math.RoundToEven(x)))))
		}
	}
	sql := fmt.Sprintf("SELECT count(*), count(*) FILTER (WHERE %s = r AND %s = e) FROM (VALUES %s) AS v(c0, r, e)",
		round, cast, strings.Join(rows, ", "))
	if err := b.query(sql, func(row [][]byte) error {
		if string(row[0]) != string(row[1]) {
			return fmt.Errorf("%s of %s roundings agree", row[1], row[0])
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

// Names and constants with quotes stay names and constants.
func TestQuoting(t *testing.T) {
	b := emptyBench(t, enginetest.PolicyText("add-remove"))
	for _, s := range []string{`a"b`, `a'b`, `"; DROP TABLE x; --`, `\`, `\'`, "日本", "a.b", "SELECT"} {
		text := strings.NewReplacer("NAME", quoteYAML(s)).Replace(`
version: 1
population: {name: q}
budget: {epsilon: 1}
tables:
  NAME: {source: {csv: q.csv}, unit: row, columns: {NAME: {type: text, values: [NAME, other]}}}
`)
		p, err := policy.Decode([]byte(text), ".")
		if err != nil {
			t.Fatal(err)
		}
		b.policy = p
		b.exec(t, b.create(p.Tables[0], nil))
		b.write(t, s, []enginetest.Row{{s: value.OfText(s)}, {s: value.OfText("x")}})
		name := identifier(s)
		sql := "SELECT " + name + ", COUNT(*) FROM " + name + " WHERE " + name + " = E'" +
			strings.ReplaceAll(strings.ReplaceAll(s, `\`, `\\`), "'", `\'`) + "' GROUP BY " + name
		q, err := plan.Build(p, plan.Request{SQL: sql})
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		got, err := b.sums(q)
		if want := map[string]string{fmt.Sprintf("%q 0", []value.Value{value.OfText(s)}): "1"}; err != nil ||
			!maps.Equal(got, want) {
			t.Errorf("%s: %v, %v", s, got, err)
		}
	}
}

func quoteYAML(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// What the role's, the database's and the connection's settings say, and functions and operators that shadow the
// system's, changes no answer.
func TestSettingsDoNotMatter(t *testing.T) {
	b := newBench(t, enginetest.PolicyText("add-remove"))
	rows := crowd(20)
	b.write(t, "p", rows)
	b.write(t, "t", []enginetest.Row{{"w": value.OfText(`a\b`), "d": value.OfDay(10957), "x": value.OfReal(2.5)}})
	questions := append([]string{
		`SELECT COUNT(*) FROM t WHERE w LIKE 'a\\b' AND w = 'a\b'`,
		"SELECT COUNT(*) FROM t WHERE d = DATE '2000-01-01' AND EXTRACT(day FROM d) = 1",
		"SELECT COUNT(*) FROM t WHERE date_trunc('month', d) = d", "SELECT SUM(ROUND(x)) FROM t",
	}, crowdQuestions...)
	var before []map[string]string
	ask := func() (out []map[string]string) {
		for _, sql := range questions {
			p, err := plan.Build(b.policy, plan.Request{SQL: sql})
			if err != nil {
				t.Fatal(err)
			}
			got, err := b.sums(p)
			if err != nil {
				t.Fatalf("%s: %v", sql, err)
			}
			out = append(out, got)
		}
		return out
	}
	before = ask()
	b.exec(t, `CREATE SCHEMA evil; CREATE FUNCTION evil.floor(float8) RETURNS float8 LANGUAGE sql AS 'SELECT 1e9::float8';
	 CREATE FUNCTION evil.wrong(bigint, bigint) RETURNS boolean LANGUAGE sql AS 'SELECT true';
	 CREATE OPERATOR evil.= (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = evil.wrong);
	 CREATE OPERATOR evil.> (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = evil.wrong)`)
	b.exec(t, roleSettings(`SET search_path = evil, pg_catalog; SET standard_conforming_strings = off; SET transform_null_equals = on;
	 SET DateStyle = 'SQL, DMY'; SET TimeZone = 'Pacific/Kiritimati'; SET extra_float_digits = -15; SET client_encoding = 'LATIN1';
	 SET enable_hashagg = off; SET backslash_quote = on; SET IntervalStyle = 'iso_8601'; SET default_transaction_read_only = off; SET bytea_output = 'escape'`))
	defer b.exec(t, "ALTER ROLE owner RESET ALL")
	for i, got := range ask() {
		if !maps.Equal(got, before[i]) {
			t.Errorf("%s: %v, and was %v", questions[i], got, before[i])
		}
	}
	if fmt.Sprint(before[0], before[1], before[2], before[3]) != "map[[] 0:1] map[[] 0:1] map[[] 0:1] map[[] 0:3]" {
		t.Errorf("%v", before[:4])
	}
}

// A transaction reads, and nothing else.
func TestReadsOnly(t *testing.T) {
	b := newBench(t, enginetest.PolicyText("add-remove"))
	for _, sql := range []string{
		"DELETE FROM t", "INSERT INTO t(__row) VALUES (1)", "CREATE TABLE x(a int)", "SELECT nextval('s')",
		"COPY t TO '/tmp/x'",
		"SELECT 1; SELECT 2", "ALTER ROLE owner SET jit = on", "DROP TABLE t", "TRUNCATE t",
	} {
		if err := b.query(sql, func([][]byte) error { return nil }); err == nil {
			t.Errorf("admitted: %s", sql)
		}
	}
}

// What one row can cost is bounded, whatever it holds and whatever is asked: else a question's failure would show the
// row. The limit is far above what they take: it is no measurement.
func TestNoRowHoldsUpAQuestion(t *testing.T) {
	const limit = 20 * time.Second
	b := newBench(t, enginetest.PolicyText("add-remove"))
	b.write(t, "t", []enginetest.Row{{
		"w": value.OfText(strings.Repeat("a", value.MaxTextBytes)), "x": value.OfReal(1),
		"i": value.OfInt(7),
	}})
	a := strings.Repeat("a", 120)
	nested := func(before, x, after string, n int) string {
		return "SELECT COUNT(" + strings.Repeat(before, n) + x + strings.Repeat(after, n) + ") FROM t"
	}
	for name, sql := range map[string]string{
		"escaped wildcards":  `SELECT COUNT(*) FROM t WHERE w LIKE '` + strings.Repeat("%a", 100) + `\ab'`,
		"wildcards and _":    "SELECT COUNT(*) FROM t WHERE w LIKE '%" + a + "_%" + a + "b'",
		"many wildcards":     "SELECT COUNT(*) FROM t WHERE w LIKE '" + strings.Repeat("%a", 100) + "b'",
		"many of one":        "SELECT COUNT(*) FROM t WHERE w LIKE '" + strings.Repeat("%_", 100) + "b'",
		"nested divisions":   nested("1/(1.0+ABS(", "x", "))", 60),
		"nested remainders":  nested("7%(1+ABS(", "i", "))", 60),
		"nested square root": nested("SQRT(1+ABS(", "x", "))", 8),
		"nested rounding":    nested("ROUND(0.5+", "x", ")", 9),
		"nested nullif":      nested("NULLIF(1+ABS(", "i", "), 3)", 8),
		"nested case":        nested("CASE WHEN i > 0 THEN 1 + ", "i", " ELSE 2 END", 40),
		"a long chain":       "SELECT COUNT(*) FROM t WHERE i > 0" + strings.Repeat(" AND i < 9", 180),
	} {
		p, err := plan.Build(b.policy, plan.Request{SQL: sql})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		start := time.Now()
		if _, err := b.sums(p); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if took := time.Since(start); took > limit {
			t.Errorf("%s: one row took %v", name, took)
		} else {
			t.Logf("%s: %v", name, took)
		}
	}
	if _, err := plan.Build(b.policy, plan.Request{SQL: nested("ROUND(0.5+", "x", ")", 12)}); err == nil {
		t.Error("a rounding doubles what it is of, and twelve of them are admitted")
	}
}

// Patterns match as LIKE does: row i, of i's own group, is counted if it matches.
func TestLike(t *testing.T) {
	b := newBench(t, enginetest.PolicyText("add-remove"))
	texts := []string{
		"", "a", "ab", "a.b", "a%b", `a\b`, "a_b", "aXb", "a\nb", "aéb", "日本", "a]b", "^a$", "a(b",
		"%", "_", ".*",
	}
	patterns := []string{
		"a_b", `a\%b`, `a\_b`, `a\\b`, "_%", "%_", "__", `\.\*`, "a.b", "_", `%\%%`, "a]_", "^_$",
		`日_`, `a(_`, `\%`, "a%", "%b", `\a_b`, "%é%",
	}
	rows := make([]enginetest.Row, len(texts))
	for i, s := range texts {
		rows[i] = enginetest.Row{"w": value.OfText(s), "i": value.OfInt(int64(i - 7))}
	}
	b.write(t, "t", rows)
	for _, pattern := range patterns {
		p, err := plan.Build(b.policy,
			plan.Request{SQL: "SELECT COUNT(*) FROM t WHERE w LIKE '" + pattern + "' GROUP BY i"})
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]*big.Int{}
		enginetest.Sum(&p.Statement, rows, gather(want))
		got, err := b.sums(p)
		if err != nil || !maps.Equal(got, nonZero(want)) {
			t.Errorf("%s: PostgreSQL %v, the reference %v (%v)", pattern, got, nonZero(want), err)
		}
	}
}

// A plan whose expressions are not total is caught, though no row of the table has the values that break it.
func TestRehearsalCatches(t *testing.T) {
	b := newBench(t, enginetest.PolicyText("add-remove"))
	b.exec(t, "CREATE TABLE whole(v bigint); CREATE TABLE real(v double precision)")
	column := func(of value.Type) *bounded.Expr {
		return &bounded.Expr{Op: bounded.OpColumn, Type: of, Name: "v", Nullable: true}
	}
	whole, real := column(value.Integer), column(value.Real)
	for name, broken := range map[string]*bounded.Expr{
		"sum of 64-bit integers":  {Op: bounded.OpAdd, Type: value.Integer, Args: []*bounded.Expr{whole, whole}},
		"product":                 {Op: bounded.OpMul, Type: value.Integer, Args: []*bounded.Expr{whole, whole}},
		"negation of the least":   {Op: bounded.OpNeg, Type: value.Integer, Args: []*bounded.Expr{whole}},
		"real too large to floor": {Op: bounded.OpFloor, Type: value.Integer, Args: []*bounded.Expr{real}},
		"underflow": {
			Op: bounded.OpFloor, Type: value.Integer,
			Args: []*bounded.Expr{{Op: bounded.OpExp, Type: value.Real, Args: []*bounded.Expr{real}}},
		},
	} {
		c, table := bounded.Column{Column: &policy.Column{Name: "v", Type: value.Integer}}, "whole"
		broken.Walk(func(x *bounded.Expr) {
			if x == real {
				c.Column = &policy.Column{Name: "v", Type: value.Real}
				table = "real"
				c.Range = bounded.Range{Lo: -math.MaxFloat64, Hi: math.MaxFloat64}
			}
		})
		bounded := &bounded.Statement{
			Columns: []bounded.Column{c}, Measures: []*bounded.Measure{{Kind: bounded.Sum, X: broken, Lo: 0, Hi: 1}},
			Caps: bounded.Caps{Rows: 1, Groups: 1},
		}
		var raised *pgconn.PgError
		if err := b.engine(table).Rehearse(context.Background(), bounded, engine.Sealed{}); !errors.As(err, &raised) ||
			!strings.HasPrefix(raised.Code, "22") {
			t.Errorf("%s: not caught: %v", name, err)
		}
	}
}
