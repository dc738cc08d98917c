package bind_test

import (
	"errors"
	"strings"
	"testing"

	"dither/internal/bind"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/query"
)

const insteadPolicy = `
version: 1
population: {name: hints}
budget: {epsilon: 10}
tables:
  people:
    source: {csv: people.csv}
    unit: row
    columns:
      age: {type: integer, bounds: [1, 115]}
      income: {type: real, bounds: [1, 1000]}
      day: {type: date, bounds: [2025-01-01, 2025-12-31]}
      smoker: {type: boolean}
      town: {type: text, values: [a, b]}
`

// calls has a call of each function that is not supported, in a question. The test pastes the hint in its place.
var calls = map[string]string{
	"regr_sxx": "SELECT «regr_sxx(income, age)» FROM people", "regr_syy": "SELECT «regr_syy(income, age)» FROM people",
	"regr_sxy": "SELECT «regr_sxy(income, age)» FROM people",

	"log2":    "SELECT SUM(«log2(age)») FROM people",
	"product": "SELECT «product(income)» FROM people",

	"random":    "SELECT COUNT(*) FROM people WHERE income > «random()»",
	"rand":      "SELECT COUNT(*) FROM people WHERE income > «rand()»",
	"histogram": "SELECT «histogram(age, 0, 100, 10)», COUNT(*) FROM people GROUP BY 1",
}

// samples are calls for groups of functions that take the same arguments.
var samples = []struct{ names, sql string }{
	{
		"bool_or bool_and every logical_or logical_and",
		"SELECT «%(smoker OR age > 65)» FROM people",
	},
	{
		"string_agg listagg",
		"SELECT «%(town, ',')» FROM people",
	},
	{
		"group_concat array_agg json_agg jsonb_agg any_value first last",
		"SELECT «%(town)» FROM people",
	},
	{
		"today getdate curdate sysdate",
		"SELECT COUNT(*) FROM people WHERE day >= «%()»",
	},
	{
		"regexp_matches ends_with",
		"SELECT COUNT(*) FROM people WHERE «%(town, 'a')»",
	},
	{
		"regexp_match",
		"SELECT COUNT(*) FROM people WHERE «%(town, 'a')» = 'a'",
	},
	{
		"regexp_extract",
		"SELECT COUNT(*) FROM people WHERE «%(town, '(a)')» = 'a'",
	},
	{
		"mid",
		"SELECT COUNT(*) FROM people WHERE «%(town, -2, 2)» = 'a'",
	},
	{
		"len",
		"SELECT SUM(«%(town)») FROM people",
	},
	{
		"charindex",
		"SELECT SUM(«%(town, 'a')») FROM people",
	},
	{
		"count_distinct countd var std",
		"SELECT «%(age)» FROM people",
	},
	{
		"quantile",
		"SELECT «%(age, 0.9)» FROM people",
	},
	{
		"dayofweek weekday",
		"SELECT COUNT(*) FROM people WHERE «%(day)» = 3",
	},
	{
		"last_day eomonth",
		"SELECT COUNT(*) FROM people WHERE «%(day)» = DATE '2025-01-31'",
	},
	{
		"div0",
		"SELECT SUM(«%(age + 1, age - 1)» * 2) FROM people",
	},
	{
		"time_bucket_gapfill",
		"SELECT «%('1 month', day, day, day)» AS bucket, COUNT(*) FROM people GROUP BY 1",
	},
	{
		"dayname monthname",
		"SELECT «%(day)» AS name, COUNT(*) FROM people GROUP BY 1",
	},
	{
		"locf interpolate",
		"SELECT «%(AVG(age))» FROM people",
	},
}

// Calls with formats, units and fields of other databases have hints that work in their place.
func TestInsteadOfFormatsAndUnits(t *testing.T) {
	p, err := policy.Decode([]byte(insteadPolicy), ".")
	if err != nil {
		t.Fatal(err)
	}
	for call, want := range map[string]string{
		"DATE_FORMAT(day, '%Y week %u')": "to_char(day, 'YYYY-MM')",
		"FORMAT(day, 'dd.MM.yyyy')":      "to_char(day, 'DD.MM.YYYY')",
		"DATEPART(month, day)":           "EXTRACT(month FROM day)",
		"TRUNC(day, 'MM')":               "date_trunc('month', day)",
		"TIMESTAMPADD(qq, 2, day)":       "(day + 2 * INTERVAL '3 months')",
		"DATE_SUB(day, 7)":               "(day - 7)",
		"ADD_MONTHS(day, 1)":             "(day + 1 * INTERVAL '1 month')",
	} {
		sql := "SELECT COUNT(*) FROM people WHERE " + call + " IS NOT NULL"
		_, err := plan.Build(p, plan.Request{SQL: sql})
		var e *bind.Error
		if !errors.As(err, &e) || e.Hint != "write "+want {
			t.Errorf("%s: %+v, want %s", sql, err, want)
			continue
		}
		if _, err := plan.Build(p, plan.Request{SQL: strings.Replace(sql, call, want, 1)}); err != nil {
			t.Errorf("%s: %v", want, err)
		}
	}
	_, err = plan.Build(p, plan.Request{SQL: "SELECT last(town, day) FROM people"}) // ordered by time, as databases of time series have it
	var e *bind.Error
	if !errors.As(err, &e) || e.Hint != "write MODE(town)" {
		t.Errorf("%v", err)
	}
	for first, same := range map[string]string{
		"make_date(EXTRACT(year FROM day), EXTRACT(month FROM day)::int, 1)": "date_trunc('month', day)::date",
		"make_date(date_part('year', day)::int, 1, 1)":                       "date_trunc('year', day)::date",
	} {
		const question = "SELECT COUNT(*) FROM people WHERE %s > DATE '2025-02-01'"
		a, errA := plan.Build(p, plan.Request{SQL: strings.Replace(question, "%s", first, 1)})
		b, errB := plan.Build(p, plan.Request{SQL: strings.Replace(question, "%s", same, 1)})
		if errA != nil || errB != nil || a.Key(1) != b.Key(1) {
			t.Errorf("%s is not %s: %v, %v", first, same, errA, errB)
		}
	}
}

// The hint for each function that is not supported is SQL that works in the place of the call.
func TestInsteadWorksWhenPasted(t *testing.T) {
	p, err := policy.Decode([]byte(insteadPolicy), ".")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range samples {
		for _, name := range strings.Fields(s.names) {
			calls[name] = strings.Replace(s.sql, "%", name, 1)
		}
	}
	for _, name := range bind.OtherFunctions() {
		before, rest, _ := strings.Cut(calls[name], "«")
		call, after, ok := strings.Cut(rest, "»")
		if !ok {
			t.Errorf("no call of %s is tried", name)
			continue
		}
		_, err := plan.Build(p, plan.Request{SQL: before + call + after})
		if err == nil {
			t.Logf("%s is answered: remove its entry", name)
			continue
		}
		var e *bind.Error
		if !errors.As(err, &e) || !strings.HasPrefix(e.Hint, "write ") || strings.Contains(e.Hint, "$") {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !strings.Contains(e.Message, name) {
			t.Errorf("%s is not named: %s", name, e.Message)
		}
		pasted, _, _ := query.AtInstant(before+strings.TrimPrefix(e.Hint, "write ")+after, func() int64 { return 0 })
		if _, err := plan.Build(p, plan.Request{SQL: pasted}); err != nil {
			t.Errorf("%s: the hint gives %s, which is refused: %v", name, pasted, err)
		}
	}
}

// A misspelt function gets its nearest, wherever it stands, and a refusal lists no functions.
func TestNearestFunction(t *testing.T) {
	p, err := policy.Decode([]byte(insteadPolicy), ".")
	if err != nil {
		t.Fatal(err)
	}
	for sql, want := range map[string]string{
		"SELECT cuont(*) FROM people":                                     `did you mean "count"?`,
		"SELECT avgg(age) FROM people":                                    `did you mean "avg"?`,
		"SELECT COUNT(*) FROM people WHERE flor(age) = 3":                 `did you mean "floor"?`,
		"SELECT flor(income), COUNT(*) FROM people GROUP BY flor(income)": `did you mean "floor"?`,
		"SELECT ruond(AVG(age), 1) FROM people":                           `did you mean "round"?`,
		"SELECT agv(age) FROM people":                                     `did you mean "avg"?`,
		"SELECT first_value(age) FROM people":                             "put OVER after it, as in RANK() OVER (ORDER BY COUNT(*))",
		"SELECT frobnicate(age) FROM people":                              "docs/reference/sql.md lists the functions",
		"SELECT COUNT(*) FROM people WHERE frobnicate(age)":               "docs/reference/sql.md lists the functions",
	} {
		_, err := plan.Build(p, plan.Request{SQL: sql})
		var e *bind.Error
		if !errors.As(err, &e) || e.Hint != want {
			t.Errorf("%s: %+v, want the hint %s", sql, err, want)
		}
	}
}

// Power BI's test for NULL beside a distinct count has a hint of its own.
func TestExtremumOfNullTest(t *testing.T) {
	for sql, want := range map[string]bool{
		"SELECT MAX(CASE WHEN a IS NULL THEN 1 ELSE 0 END) FROM t": true, "SELECT MAX(a) FROM t": false,
		"SELECT MAX(CASE WHEN a > 1 THEN 1 ELSE 0 END) FROM t": false,
	} {
		tree, err := query.Parse(sql)
		if err != nil {
			t.Fatal(err)
		}
		err = bind.Extremum(tree.Items[0].Expr.(*query.Call))
		var e *bind.Error
		if !errors.As(err, &e) || strings.Contains(e.Hint, "leave it out") != want {
			t.Errorf("%s: %v", sql, err)
		}
	}
}
