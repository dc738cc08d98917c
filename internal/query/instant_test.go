package query

import (
	"strings"
	"testing"

	"dither/internal/value"
)

func atNoon(t *testing.T) func() int64 {
	v, err := value.ParseTimestamp("2026-08-20 12:00:00", nil)
	if err != nil {
		t.Fatal(err)
	}
	return func() int64 { return v.Int }
}

func TestTheCurrentTimeBecomesAConstant(t *testing.T) {
	const ts, day = "TIMESTAMP '2026-08-20 12:00:00'", "DATE '2026-08-20'"
	for sql, want := range map[string]string{
		"SELECT now()": "SELECT " + ts + " AS now",
		"SELECT NOW( ), \"now\"(), pg_catalog.now()":                                "SELECT " + ts + " AS now, " + ts + " AS now, " + ts + " AS now",
		"SELECT current_date - 30":                                                  "SELECT " + day + " - 30",
		"SELECT CURRENT_TIMESTAMP, current_timestamp(0)":                            "SELECT " + ts + " AS \"current_timestamp\", " + ts + " AS \"current_timestamp\"",
		"SELECT localtimestamp::date":                                               "SELECT " + ts + "::date",
		"SELECT transaction_timestamp() FROM t":                                     "SELECT " + ts + " AS transaction_timestamp FROM t",
		"SELECT DISTINCT f(a, now()), current_date AS day FROM t ORDER BY a, now()": "SELECT DISTINCT f(a, " + ts + "), " + day + " AS day FROM t ORDER BY a, " + ts,
		"SELECT a, current_date FROM (SELECT now()) q, t GROUP BY a, current_date":  "SELECT a, " + day + " AS \"current_date\" FROM (SELECT " + ts + " AS now) q, t GROUP BY a, " + day,
		"SELECT 1 /* now() */ -- current_date\n":                                    "",
		"SELECT 'now()', \"current_date\", now, t.now, x.now()":                     "",
		"SELECT AGE(born), age(f(a, b)), age(a, b), age(), age":                     "SELECT AGE(" + day + ", born), age(" + day + ", f(a, b)), age(a, b), age(), age",
		"SELECT now(1)":                "",
		"SELECT 'unfinished now()":     "",
		"SELECT knowledge() FROM snow": "",
	} {
		got, _, found := AtInstant(sql, atNoon(t))
		if want == "" {
			want = sql
		}
		if got != want || found != (want != sql) {
			t.Errorf("%s\nbecomes %s (%t)\nwant    %s", sql, got, found, want)
		}
	}
}

func TestPositionsBeforeTheConstants(t *testing.T) {
	sql := "SELECT now(), é, current_date, a\nFROM t WHERE x > now( ) AND bad = CURRENT_DATE + worse"
	bound, moved, _ := AtInstant(sql, atNoon(t))
	for _, word := range []string{"SELECT", "é", "a\n", "FROM", "x >", "bad", "+ worse", "worse"} {
		at, want := text(bound).pos(strings.Index(bound, word)), text(sql).pos(strings.Index(sql, word))
		if got := moved.Before(at); got != want {
			t.Errorf("%q at %s of the bound text is at %s, want %s", word, at, got, want)
		}
	}
}

func TestConstantsOfTime(t *testing.T) {
	for sql, want := range map[string]string{
		"SELECT timestamp 'epoch', 'epoch'::date":                    "SELECT TIMESTAMP '1970-01-01 00:00:00', DATE '1970-01-01'",
		"SELECT INTERVAL '1 day'":                                    "SELECT INTERVAL '1 days'",
		"SELECT interval '90' day":                                   "SELECT INTERVAL '90 days'",
		"SELECT INTERVAL '-1 month', '1 year 2 mons'::interval":      "SELECT INTERVAL '-1 months', INTERVAL '14 months'",
		"SELECT CAST('01:30:00' AS interval)":                        "SELECT INTERVAL '5400000000 microseconds'",
		"SELECT '2025-05-01 13:00:00'::date":                         "SELECT DATE '2025-05-01'",
		"SELECT timestamp with time zone '2025-01-01 00:00:00.000Z'": "SELECT TIMESTAMP '2025-01-01 00:00:00.000Z'",
		"SELECT x AT TIME ZONE 'UTC'":                                "SELECT x",
		"SELECT date_trunc('day', x, 'UTC'), timezone('gmt', now())": "SELECT date_trunc('day', x), now()",
	} {
		s, err := Parse(sql)
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		if s.String() != want {
			t.Errorf("%s\nis   %s\nwant %s", sql, s, want)
		}
	}
	for _, sql := range []string{
		"SELECT INTERVAL 'soon'", "SELECT INTERVAL '1 day' YEAR TO MONTH", "SELECT INTERVAL '1 day' HOUR", "SELECT '2025-13-01'::date",
		"SELECT DATE 'today'",
		"SELECT x AT TIME ZONE 'Europe/Paris'", "SELECT x AT TIME ZONE y", "SELECT timezone('UTC')",
	} {
		if s, err := Parse(sql); err == nil {
			t.Errorf("%s is %s", sql, s)
		}
	}
}
