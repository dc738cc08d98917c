package plan_test

import (
	"errors"
	"strings"
	"testing"

	"dither/internal/plan"
	"dither/internal/policy"
)

const hintPolicy = `
version: 1
population: {name: hints}
budget: {epsilon: 10}
tables:
  t:
    source: {csv: t.csv}
    unit: Patienten-Nr
    rows_per_unit: 1
    columns:
      Patienten-Nr: {type: integer}
      Station: {type: text, values: [Chirurgie, Innere, "it's"]}
      age: {type: integer, bounds: [0, 115]}
      kind: {type: integer, values: [1, 2, 5]}
      day: {type: date, values: [2026-01-01, 2026-07-01]}
      smoker: {type: boolean}
      note: {type: text}
      Größe: {type: real}
`

// Each refusal says what to write.
func TestHints(t *testing.T) {
	p, err := policy.Decode([]byte(hintPolicy), ".")
	if err != nil {
		t.Fatal(err)
	}
	for sql, want := range map[string]string{
		`SELECT COUNT(*) FROM t WHERE Station = 'Innere'`:                      `write "Station" in double quotes`,
		`SELECT COUNT(*) FROM t WHERE "Age" = 3`:                               `write age without quotes`,
		`SELECT COUNT(*) FROM t WHERE "Stattion" = 'Innere'`:                   `did you mean "Station", in double quotes?`,
		`SELECT COUNT(*) FROM t WHERE note = "north"`:                          `write a text in single quotes: 'north'`,
		`SELECT COUNT(*) FROM T2`:                                              `there is t`,
		`SELECT SUM("Größe") FROM t`:                                           `column "Größe" has no declared bounds`,
		`SELECT COUNT(*) FROM t WHERE "Station" = 'Inere'`:                     `did you mean 'Innere'?`,
		`SELECT COUNT(*) FROM t WHERE 'innere' <> "Station"`:                   `did you mean 'Innere'?`,
		`SELECT COUNT(*) FROM t WHERE "Station" IN ('Innere','x')`:             `the declared values are 'Chirurgie', 'Innere', 'it''s'`,
		`SELECT COUNT(*) FROM t WHERE kind = 3`:                                `the declared values are 1, 2, 5`,
		`SELECT COUNT(*) FROM t WHERE kind = 2.5`:                              `the declared values are 1, 2, 5`,
		`SELECT COUNT(*) FROM t WHERE day = '2026-01-02'`:                      `the declared values are DATE '2026-01-01', DATE '2026-07-01'`,
		`SELECT COUNT(CASE kind WHEN 7 THEN 1 END) FROM t`:                     `the declared values are 1, 2, 5`,
		`SELECT COUNT(*) FROM t WHERE age = 'thirty'`:                          `write a number without quotes`,
		`SELECT COUNT(*) FROM t WHERE note = 3`:                                `write a text in single quotes: '3'`,
		`SELECT COUNT(*) FROM t WHERE smoker = 1`:                              `compare a boolean with TRUE or FALSE`,
		`SELECT COUNT(*) FROM t WHERE smoker = 'maybe'`:                        `write TRUE or FALSE without quotes`,
		`SELECT COUNT(*) FROM t WHERE day > 2026`:                              `write a date as DATE '2026-01-31'`,
		`SELECT COUNT(*) AS n FROM t GROUP BY kind HAVING m > 3`:               `there is no column "m"`,
		`SELECT COUNT(*) AS n, n / 2 FROM t`:                                   `write what it stands for: count(*)`,
		`SELECT "Station", COUNT(*) FROM t GROUP BY 1 HAVING "Station" = 3`:    `write a text in single quotes: '3'`,
		`SELECT STDEV(age) FROM t`:                                             `did you mean "stddev"?`,
		`SELECT COUNT(*) FROM t GROUP BY EXTRACT(julian FROM day)`:             `there is year, quarter, month`,
		`SELECT COUNT(*) FROM t GROUP BY date_trunc('decade', day)`:            `there is year, quarter, month`,
		`SELECT COUNT(*) FROM t GROUP BY dayofweek(day)`:                       `EXTRACT(dow FROM day) + 1`,
		`SELECT kind, COUNT(*) AS n FROM t WHERE n > 5 AND age > 3 GROUP BY 1`: `write SELECT kind, count(*) AS n FROM t WHERE age > 3 GROUP BY 1 HAVING count(*) > 5`,
		`SELECT age + 1 AS next, COUNT(*) FROM t WHERE next > 5 GROUP BY 1`:    `"next" is an alias, which WHERE does not take`,
		`SELECT COUNT(*) FROM t WHERE flor(age) = 3`:                           `did you mean "floor"?`,
	} {
		_, err := plan.Build(p, plan.Request{SQL: sql})
		var e *plan.Error
		if !errors.As(err, &e) || !strings.Contains(e.Message+"\n"+e.Hint, want) {
			t.Errorf("%s: %v, want %q", sql, err, want)
		}
	}
	for _, sql := range []string{
		`SELECT COUNT(*) FROM t WHERE "Station" = 'Innere' AND kind IN (1, 5) AND kind = 2.0 AND kind <> 1 AND day = '2026-07-01'`,
		`SELECT COUNT(*) FROM t WHERE kind > 3 AND kind BETWEEN 3 AND 4 AND age = 500 AND NULLIF("Station", 'x') IS NULL`,
		`SELECT AVG(age * age) - AVG(age) * AVG(age) AS variance FROM t`,
	} {
		if _, err := plan.Build(p, plan.Request{SQL: sql}); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

// Arithmetic with dates that has no meaning says what to write instead.
func TestArithmeticHints(t *testing.T) {
	for _, c := range []struct{ sql, hint string }{
		{"SELECT COUNT(*) FROM people WHERE born < DATE '9999-12-31' + 4000000000000000000", "the owner can declare bounds"},
		{"SELECT COUNT(*) FROM people WHERE born < DATE '9999-12-31' + 1", "the owner can declare bounds"},
		{"SELECT COUNT(*) FROM people WHERE born + INTERVAL '9000 years' > DATE '2000-03-01'", "the owner can declare bounds"},
		{"SELECT COUNT(*) FROM people WHERE born::timestamp + 30 > DATE '2000-03-01'", "write t + INTERVAL '1 day'"},
		{"SELECT AVG(born::timestamp - DATE '2000-01-01') FROM people", "write avg(EXTRACT(epoch FROM CAST(born AS timestamp) - DATE '2000-01-01') / 86400)"},
		{"SELECT COUNT(*) FROM people WHERE (born::timestamp - DATE '2000-01-01') * 2 > INTERVAL '1 day'", "for the days between two times, write EXTRACT(epoch FROM a - b)"},
		{"SELECT COUNT(*) FROM people WHERE age + INTERVAL '1 day' > DATE '2000-03-01'", "add it to a date or a timestamp"},
		{"SELECT COUNT(*) FROM people WHERE note + 'x' = 'ax'", "compare texts"},
		{"SELECT COUNT(*) FROM people WHERE 1 - DATE '2000-01-01' = 3", "a date takes a number of days"},
		{"SELECT COUNT(*) FROM people WHERE DATE '2000-01-01' + DATE '2000-01-01' = 3", "a date takes a number of days"},
	} {
		_, err := plan.Build(townPolicy(t, "add-remove"), plan.Request{SQL: c.sql})
		if err == nil || !strings.HasPrefix(hintOf(err), c.hint) {
			t.Errorf("%s: %v: %s", c.sql, err, hintOf(err))
		}
	}
	_, err := plan.Build(townPolicy(t, "add-remove"), plan.Request{SQL: "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(min_privacy_units_per_group=5) COUNT(*) FROM people"})
	if err == nil || !strings.Contains(err.Error(), "a least number of units needs a GROUP BY, and this question has none") {
		t.Error(err)
	}
}
