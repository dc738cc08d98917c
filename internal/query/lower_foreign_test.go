package query

import (
	"strings"
	"testing"
)

// Functions of other databases become the expression that means the same here.
func TestForeignFunctions(t *testing.T) {
	for sql, want := range map[string]string{
		"IFNULL(a, 0)":                     "coalesce(a, 0)",
		"SAFE_DIVIDE(a, b)":                "a * 1.0 / b",
		"CAST(a AS FLOAT64)":               "CAST(a AS double precision)",
		"CAST(a AS STRING)":                "CAST(a AS text)",
		"zeroifnull(a)":                    "coalesce(a, 0)",
		"NULLIFZERO(a)":                    "nullif(a, 0)",
		"YEAR(a)":                          `"extract"('year', a)`,
		"hour(a)":                          `"extract"('hour', a)`,
		"mean(DISTINCT a)":                 "avg(DISTINCT a)",
		"SUMIF(a, b > 1) FILTER (WHERE c)": "sum(CASE WHEN b > 1 THEN a END) FILTER (WHERE c)",
		"AVG_IF(a, b)":                     "avg(CASE WHEN b THEN a END)",
		"contains(a, 'x')":                 "strpos(a, 'x') > 0",
		"APPROX_PERCENTILE(a, 0.9)":        "percentile_cont(a, 0.9)",
		"approx_percentile(0.9, percentile_agg(a))":                "percentile_cont(a, 0.9)",
		"DATE_TRUNC(a, MONTH)":                                     "date_trunc('month', a)",
		"DATE_TRUNC(a, ISOWEEK)":                                   "date_trunc('week', a)",
		"datetrunc(quarter, a)":                                    "date_trunc('quarter', a)",
		"date_trunc('month', b)":                                   "date_trunc('month', b)",
		"DATEDIFF(a, b)":                                           "CAST(a AS date) - CAST(b AS date)",
		"datediff('day', a, b)":                                    "CAST(b AS date) - CAST(a AS date)",
		"DATE_DIFF(b, a, DAY)":                                     "CAST(b AS date) - CAST(a AS date)",
		"date_diff('year', a, b)":                                  `"extract"('year', b) - "extract"('year', a)`,
		"datediff(month, a, b)":                                    `("extract"('year', b) - "extract"('year', a)) * 12 + ("extract"('month', b) - "extract"('month', a))`,
		"datediff(quarter, a, b)":                                  `("extract"('year', b) - "extract"('year', a)) * 4 + ("extract"('quarter', b) - "extract"('quarter', a))`,
		"DATE_FORMAT(a, '%Y-%m')":                                  "to_char(a, 'YYYY-MM')",
		"DATE_FORMAT(a, '%M %e')":                                  "to_char(a, 'FMMonth FMDD')",
		"DATE_FORMAT(a, 'yyyy-MM-dd')":                             "to_char(a, 'YYYY-MM-DD')",
		"STRFTIME('%H:%M', a)":                                     "to_char(a, 'HH24:MI')",
		"strftime(a, '%B')":                                        "to_char(a, 'FMMonth')",
		"FORMAT_DATE('%d.%m.%Y', a)":                               "to_char(a, 'DD.MM.YYYY')",
		"a = ANY (string_to_array('x,y', ','))":                    "a IN ('x', 'y')",
		"a - INTERVAL 30 DAY":                                      "a - INTERVAL '30 days'",
		"a - INTERVAL\n 1  month":                                  "a - INTERVAL '1 months'",
		"`a` + `B c`":                                              `a + "B c"`,
		"'`a`' || \"x`y\" /* ` */ || $$`$$ || `b`":                 "'`a`' || \"x`y\" || '`' || b",
		"time_bucket_gapfill('1h', a, '2025-01-01', '2025-01-02')": "time_bucket('1h', a)",
		"DATEADD(day, -30, a)":                                     "a - INTERVAL '30 days'",
		"dateadd('month', 2, a)":                                   "a + INTERVAL '2 months'",
		"DATEADD(qq, 2, a)":                                        "a + 2 * INTERVAL '3 months'",
		"DATE_SUB(a, INTERVAL 1 YEAR)":                             "a - INTERVAL '12 months'",
		"MID(a, 2, 3)":                                             `"substring"(a, 2, 3)`,
		"REGEXP_EXTRACT(a, '(?:x|y)+')":                            "regexp_substr(a, '(?:x|y)+')",
		"DATE_DIFF(day, a, MONTH)":                                 `("extract"('year', day) - "extract"('year', a)) * 12 + ("extract"('month', day) - "extract"('month', a))`,
		"DATE_FORMAT(a, '%e.%c %f')":                               "to_char(a, 'FMDD.FMMM US')",
		// left as they are, because databases differ
		"LEN(a)":                         "len(a)",
		"STD(a)":                         "std(a)",
		"MID(a, -2, 2)":                  "mid(a, -2, 2)",
		"MID(a, b, 2)":                   "mid(a, b, 2)",
		"REGEXP_EXTRACT(a, '([a-z]+)-')": "regexp_extract(a, '([a-z]+)-')",
		"REGEXP_EXTRACT(a, b)":           "regexp_extract(a, b)",
		"DATE_FORMAT(a, '%u')":           "date_format(a, '%u')",
		"DATE_FORMAT(a, '%x-%V')":        "date_format(a, '%x-%V')",
		"STRFTIME('%e', a)":              "strftime('%e', a)",
		"STRFTIME('%f', a)":              "strftime('%f', a)",
		"STRFTIME('%y%y', a)":            "strftime('%y%y', a)",
		"STRFTIME('%d%j', a)":            "strftime('%d%j', a)",
		// left as they are
		"dateadd(day, b, a)":                 "dateadd(day, b, a)",
		"date_add(a, 3)":                     "date_add(a, 3)",
		"time_bucket_gapfill('1h', a, b, c)": "time_bucket_gapfill('1h', a, b, c)",
		"dayofweek(a)":                       "dayofweek(a)", // databases count from different days
		"ifnull(a, b, c)":                    "ifnull(a, b, c)",
		"date_trunc(a, week)":                "date_trunc(a, week)", // from a Sunday in GoogleSQL
		"datediff(week, a, b)":               "datediff(week, a, b)",
		"DATE_FORMAT(a, 'Q%q')":              "date_format(a, 'Q%q')",
		"year(a) OVER (ORDER BY a)":          "year(a) OVER (ORDER BY a)",
	} {
		s, err := Parse("SELECT " + sql + " FROM t")
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		got := Print(s.Items[0].Expr)
		if got != want {
			t.Errorf("%s is %s, not %s", sql, got, want)
		}
		if again, err := Parse("SELECT " + got + " FROM t"); err != nil || again.String() != s.String() {
			t.Errorf("%s does not parse back: %v, %v", got, again, err)
		}
	}
	for _, sql := range []string{
		strings.Repeat("year(", 60) + "a" + strings.Repeat(")", 60), // as deep as what it means
		strings.Repeat("datediff('month', a, ", 40) + "a" + strings.Repeat(")", 40),
		"'a' `", "`a", "``", "`a\"b`", "`a\nb`", "E'\\'`' || `a",
	} {
		if s, err := Parse("SELECT " + sql + " FROM t"); err == nil && len(s.String()) > 4000 || err == nil && strings.Contains(sql, "`") {
			t.Errorf("%s is accepted as %s", sql, s)
		}
	}
}

// Texts of any kind that contain backquotes keep them.
func TestBackquotesInTexts(t *testing.T) {
	for _, sql := range []string{
		"'it''s `x`'", `E'\'"` + "`x` '", "$a$ ' `x` $$ $a$", "-- '`x`\n", "a LIKE 'b' ESCAPE'\\' OR a = '`x`'", `E'\\' "` + "`x`\"", "/* /* `x` */ ` */", `"a""` + "`x`\"",
	} {
		if got := requoted(sql + " `y`"); got != sql+` "y"` {
			t.Errorf("%s: %s", sql, got)
		}
	}
}
