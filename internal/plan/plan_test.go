package plan_test

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"dither/internal/bounded"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/query"
	"dither/internal/value"
	"dither/privacy"
)

// town is the lectures' population: people of up to 115 years, in one row each, and a table of visits with many rows a
// person.
const town = `
version: 1
population: {name: town, neighbours: NEIGHBOURS}
budget: {epsilon: 10}
price: {default: 1, maximum: 5}
tables:
  people:
    source: {csv: people.csv}
    unit: row
    expected_rows: 10000
    columns:
      age: {type: integer, bounds: [0, 115]}
      group_quarters: {type: boolean}
      race: {type: text, values: [asian, black, other, white], nullable: true}
      voted: {type: boolean}
      height: {type: real, bounds: [50, 250]}
      income: {type: real, bounds: [-1000.5, 250000]}
      note: {type: text}
      serial: {type: integer}
      weight: {type: real}
      born: {type: date, bounds: [2000-01-01, 2000-12-31]}
  visits:
    source: {csv: visits.csv}
    unit: person
    rows_per_unit: 12
    max_groups: 3
    columns:
      person: {type: integer, nullable: true}
      department: {type: text, values: [a, b, c, d, e]}
      cost: {type: real, bounds: [0, 500]}
      days: {type: integer, bounds: [-2, 30]}
`

func townPolicy(t testing.TB, neighbours string) *policy.Policy {
	t.Helper()
	p, err := policy.Decode([]byte(strings.ReplaceAll(town, "NEIGHBOURS", neighbours)), ".")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// zcdpPolicy is townPolicy with a budget in ρ.
func zcdpPolicy(t testing.TB, neighbours string) *policy.Policy {
	t.Helper()
	text := strings.NewReplacer("NEIGHBOURS", neighbours, "{epsilon: 10}", "{rho: 20, delta: 1e-6}").Replace(town)
	p, err := policy.Decode([]byte(text), ".")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func build(t testing.TB, neighbours, sql string) *plan.Plan {
	t.Helper()
	p, err := plan.Build(townPolicy(t, neighbours), plan.Request{SQL: sql})
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return p
}

// The sensitivities of the lectures (Kifer; Smith, exercise 1.5) under both relations.
func TestSensitivity(t *testing.T) {
	for _, c := range []struct{ sql, addRemove, changeOne string }{
		{"SELECT COUNT(*) FROM people WHERE age >= 18", "1", "1"},
		{"SELECT SUM(age) FROM people", "115", "115"},
		{"SELECT SUM(LEAST(serial, 115)) FROM people WHERE serial >= 0", "", ""},
		{"SELECT SUM(LEAST(GREATEST(serial, 0), 115)) FROM people", "115", "115"},
		{"SELECT SUM(CASE WHEN age > 30 THEN 30 ELSE age END) FROM people", "30", "30"},
		{"SELECT SUM(CASE WHEN age < 18 THEN age END) FROM people", "17", "17"},
		{"SELECT SUM(age) FILTER (WHERE age BETWEEN 20 AND 64) FROM people", "64", "64"},
		{"SELECT SUM(CASE age WHEN 7 THEN age ELSE 0 END) FROM people", "7", "7"},
		{"SELECT SUM(CASE WHEN 17.5 > age THEN age END) FROM people", "17", "17"},
		{"SELECT SUM(CASE WHEN age IN (3, 40, 5) THEN age END) FROM people", "40", "40"},
		{"SELECT SUM(CASE WHEN serial < 0 THEN 0 WHEN serial > 9 THEN 9 ELSE serial END) FROM people", "9", "9"},
		{"SELECT SUM(CASE WHEN age IS NULL OR age NOT BETWEEN 0 AND 50 THEN 0 ELSE age END) FROM people", "50", "50"},
		{"SELECT SUM(CASE WHEN height > 100 THEN 100 ELSE height END) FROM people", "100", "100"},
		{"SELECT SUM(CASE WHEN age > 300 THEN 300 ELSE age END) FROM people", "300", "300"},                  // a constant is what it is
		{"SELECT SUM(CASE WHEN age > 30 AND group_quarters THEN 30 ELSE age END) FROM people", "115", "115"}, // who is 40 at home is 40
		{"SELECT SUM(CASE WHEN age > serial THEN 0 ELSE age END) FROM people", "115", "115"},                 // serial may be NULL
		{"SELECT SUM(CASE WHEN age < 10 THEN age - 100 ELSE 0 END) FROM people", "100", "115"},               // what is computed inside is not narrowed
		{"SELECT COUNT(CASE WHEN group_quarters THEN 1 END), COUNT(CASE WHEN race = 'asian' THEN 1 END) FROM people", "2", "2"},
		{"SELECT age, COUNT(*) FROM people GROUP BY age", "1", "2"},
		{"SELECT SUM(age - 20) FROM people", "95", "115"},
		{"SELECT race, SUM(age - 20) FROM people GROUP BY race", "95", "190"},
		{"SELECT SUM(height) FROM people", "250", "250"},
		{"SELECT AVG(age) FROM people", "58.5", "116"}, // 57.5 for the sum, 1 for the count
		{"SELECT COUNT(*) FROM visits", "12", "12"},
		{"SELECT SUM(days) FROM visits", "360", "384"},
		{"SELECT department, SUM(days) FROM visits GROUP BY department", "360", "720"},
		{"SELECT COUNT(DISTINCT person) FROM visits", "1", "1"},
		{"SELECT department, COUNT(DISTINCT person) FROM visits GROUP BY department", "3", "6"},
		{"SELECT COUNT(DISTINCT age) FROM people", "1", "1"},
		{"SELECT race, COUNT(DISTINCT note) FROM people GROUP BY race", "1", "2"},
		{"SELECT COUNT(DISTINCT days) FROM visits", "12", "12"},
		{"SELECT department, COUNT(DISTINCT days) FILTER (WHERE days > 3) FROM visits GROUP BY department", "12", "24"},
	} {
		for relation, want := range map[string]string{"add-remove": c.addRemove, "change-one": c.changeOne} {
			p, err := plan.Build(townPolicy(t, relation), plan.Request{SQL: c.sql})
			if want == "" {
				if err == nil {
					t.Errorf("%s: planned, though nothing bounds it", c.sql)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s: %v", c.sql, err)
				continue
			}
			expected, _ := new(big.Rat).SetString(want)
			if got := p.Sensitivity(); got.Cmp(expected) != 0 {
				t.Errorf("%s under %s: sensitivity %s, want %s", c.sql, relation, got.FloatString(6), want)
			}
		}
	}
}

// Real sums are rounded outward to the grid: their sensitivity is the bound, or at most one grid unit above it.
func TestRealSensitivityCoversTheBound(t *testing.T) {
	p := build(t, "add-remove", "SELECT SUM(income) FROM people")
	m := p.Measures[0]
	got := m.Units(m.L1)
	bound := big.NewRat(250000, 1)
	if got.Cmp(bound) < 0 || new(big.Rat).Sub(got, bound).Cmp(m.Unit()) > 0 {
		t.Errorf("sensitivity %s for bound %s with grid %s", got.FloatString(9), bound.FloatString(1), m.Unit().FloatString(12))
	}
}

// A grid is never so fine that its scale leaves the doubles, however small the sums are.
func TestGridStaysFinite(t *testing.T) {
	for _, x := range []string{
		"LN(1)", "LN(1) - LN(1)", "LN(1) * 0.000001", "LN(LEAST(height, 50))", "SQRT(LN(1))", "EXP(-600.0)", "0.0", "height - height",
		"EXP(-300.0) * EXP(-300.0)", "EXP(-300.0) * LN(1) * LN(1)", "height / EXP(300.0)",
	} {
		for _, f := range []string{"SUM", "AVG"} {
			p, err := plan.Build(townPolicy(t, "add-remove"), plan.Request{SQL: "SELECT " + f + "(" + x + ") FROM people"})
			if err != nil {
				continue // refused is fine
			}
			for _, m := range p.Measures {
				if m.Grid < -1000 || m.Grid > 1000 {
					t.Errorf("%s(%s): grid 2^%d", f, x, m.Grid)
				}
				if r := m.X; m.Kind == bounded.Sum && r.Type == value.Real {
					for _, end := range []float64{r.Range.Lo, r.Range.Hi} {
						if end != 0 && math.Abs(end) < math.Ldexp(1, r.Range.Tiny) {
							t.Errorf("%s(%s): an end %g below 2^%d", f, x, end, r.Range.Tiny)
						}
					}
				}
			}
		}
	}
}

// The shares of all measures add up to the price exactly, and each scale is its sensitivity over its share.
func TestSplitAddsUp(t *testing.T) {
	for _, sql := range []string{
		"SELECT COUNT(*) FROM people",
		"SELECT AVG(age) FROM people",
		"SELECT COUNT(*), SUM(age), AVG(age), AVG(height), COUNT(age) FROM people",
		"SELECT race, COUNT(*), COUNT(*) * 2, AVG(age) / AVG(height) FROM people GROUP BY race HAVING SUM(age) > 3",
		"SELECT department, COUNT(DISTINCT person), SUM(cost), AVG(cost) FROM visits GROUP BY 1",
		"SELECT race, STDDEV(age), CORR(age, height), COUNT(*) FILTER (WHERE age > 60) FROM people GROUP BY race",
	} {
		p := build(t, "add-remove", sql)
		var total privacy.Loss
		for _, m := range p.Measures {
			total = total.Plus(m.Loss)
			share, _ := m.Loss.Pure()
			scale := new(big.Rat).Quo(new(big.Rat).SetInt(m.L1), share.Rat())
			if m.Noise != plan.Laplace || m.Parameter.Cmp(scale) != 0 {
				t.Errorf("%s: %s of scale %s, want %s", sql, m.Noise, m.Parameter, scale)
			}
		}
		if total.String() != p.Price.String() {
			t.Errorf("%s: shares add up to %s of %s", sql, total, p.Price)
		}
		// The same under zCDP: shares of ρ, and σ² = Δ₂²/(2ρ).
		rho, _ := privacy.ParseRho("0.3")
		price := privacy.ZCDPLoss(rho, privacy.Delta{})
		p, err := plan.Build(zcdpPolicy(t, "add-remove"), plan.Request{SQL: sql, Price: price})
		if err != nil {
			t.Fatal(err)
		}
		total = privacy.ZCDPLoss(privacy.Rho{}, privacy.Delta{})
		for _, m := range p.Measures {
			total = total.Plus(m.Loss)
			share, _ := m.Loss.ZCDP()
			sigma2 := new(big.Rat).Quo(new(big.Rat).SetFrac(m.L2Squared, big.NewInt(2)), share.Rat())
			if m.Noise != plan.Gaussian || m.Parameter.Cmp(sigma2) != 0 {
				t.Errorf("%s: %s of σ² = %s, want %s", sql, m.Noise, m.Parameter, sigma2)
			}
		}
		if total.String() != price.String() {
			t.Errorf("%s: shares add up to %s of %s", sql, total, price)
		}
	}
}

// An average takes half its share for the sum and half for the count, and shares the count with COUNT of the same.
func TestAverageSplitsInHalves(t *testing.T) {
	p := build(t, "add-remove", "SELECT AVG(age), COUNT(age) FROM people")
	if len(p.Measures) != 2 {
		t.Fatalf("%d measures, want a sum and one shared count", len(p.Measures))
	}
	for _, m := range p.Measures {
		want := "ε = 0.75" // half of the average's half, and the count's own half
		if m.Kind == bounded.Sum {
			want = "ε = 0.25"
		}
		if m.Loss.String() != want {
			t.Errorf("%s has share %s, want %s", m, m.Loss, want)
		}
	}
}

// A variance takes a third for each of the sum, the sum of squares and the count, and shares the sum and the count with the
// average of the same values. Squares are of what is left after the middle of the range is taken off, so at most a quarter of
// the range's square, and centred once more.
func TestVarianceSplitsInThirds(t *testing.T) {
	p := build(t, "add-remove", "SELECT VAR_POP(age), AVG(age) FROM people")
	if len(p.Measures) != 3 {
		t.Fatalf("%d measures, want a sum, a sum of squares and a count", len(p.Measures))
	}
	for _, m := range p.Measures {
		want, squares := "ε = 5/12", strings.Contains(m.String(), "(mul (sub") // a third of a half, and half of the other half
		if squares {
			want = "ε = 1/6"
		}
		if m.Loss.String() != want {
			t.Errorf("%s has share %s, want %s", m, m.Loss, want)
		}
	}
}

// FILTER is the condition on what is aggregated: the same measures, under one replay key.
func TestFilter(t *testing.T) {
	for filter, plain := range map[string]string{
		"COUNT(*) FILTER (WHERE age > 60)":            "COUNT(CASE WHEN age > 60 THEN 1 END)",
		"COUNT(height) FILTER (WHERE age > 60)":       "COUNT(CASE WHEN age > 60 THEN height END)",
		"SUM(height) FILTER (WHERE age > 60)":         "SUM(CASE WHEN age > 60 THEN height END)",
		"AVG(height) FILTER (WHERE age > 60)":         "AVG(CASE WHEN age > 60 THEN height END)",
		"COVAR_POP(age, height) FILTER (WHERE age>9)": "COVAR_POP(CASE WHEN age>9 THEN age END, CASE WHEN age>9 THEN height END)",
	} {
		a, b := build(t, "add-remove", "SELECT "+filter+" FROM people"), build(t, "add-remove", "SELECT "+plain+" FROM people")
		if strings.HasPrefix(filter, "COVAR") { // the same numbers, written otherwise
			if a.Sensitivity().Cmp(b.Sensitivity()) != 0 {
				t.Errorf("%s has sensitivity %s, %s %s", filter, a.Sensitivity(), plain, b.Sensitivity())
			}
			continue
		}
		if a.Canonical(1) != b.Canonical(1) {
			t.Errorf("%s is\n%s, and %s\n%s", filter, a.Canonical(1), plain, b.Canonical(1))
		}
	}
}

// Questions that release the same have one replay key; others have another.
func TestReplayKey(t *testing.T) {
	base := "SELECT race, COUNT(*), SUM(age) FROM people WHERE age > 3 GROUP BY race"
	key := build(t, "add-remove", base).Key(1)
	for _, same := range []string{
		"select  race, count(*), sum(age) from people where age > 3 group by 1;",
		"SELECT SUM(p.age) AS s, race AS r, COUNT(*) AS n FROM people AS p WHERE (age) > 3 GROUP BY r",
		base + " HAVING COUNT(*) > 10 ORDER BY 2 DESC LIMIT 3",
		"SELECT race, ROUND(SUM(age) / COUNT(*), 1) FROM people WHERE age > 3 GROUP BY race",
	} {
		if got := build(t, "add-remove", same).Key(1); got != key {
			t.Errorf("%s: another key", same)
		}
	}
	for _, other := range []string{
		"SELECT race, COUNT(*), SUM(age) FROM people WHERE age > 4 GROUP BY race",
		"SELECT race, COUNT(*), SUM(age) FROM people GROUP BY race",
		"SELECT race, COUNT(*), SUM(LEAST(age, 80)) FROM people WHERE age > 3 GROUP BY race",
		"SELECT race, COUNT(*) FROM people WHERE age > 3 GROUP BY race",
		"SELECT COUNT(*), SUM(age) FROM people WHERE age > 3",
	} {
		if got := build(t, "add-remove", other).Key(1); got == key {
			t.Errorf("%s: the same key", other)
		}
	}
	if build(t, "add-remove", base).Key(2) == key {
		t.Error("another sealed version has the same key")
	}
	if build(t, "change-one", base).Key(1) == key {
		t.Error("another relation has the same key")
	}
}

// Refusals name the place, and what to write instead.
func TestRefusals(t *testing.T) {
	for _, c := range []struct{ sql, message, hint string }{
		{"SELECT COUNT(*) FROM peple", `there is no table "peple"`, `did you mean "people"?`},
		{"SELECT SUM(agee) FROM people", `there is no column "agee" in table "people"`, `did you mean "age"?`},
		{"SELECT SUM(serial) FROM people", "column serial has no declared bounds", "bounds => (low, high)"},
		{"SELECT SUM(weight) FROM people", "column weight has no declared bounds", "bounds => (low, high)"},
		{"SELECT SUM(serial * 2) FROM people", "column serial has no declared bounds", "LEAST(GREATEST("},
		{"SELECT SUM(note) FROM people", "a number is needed here", ""},
		{"SELECT SUM(voted) FROM people", "needs a number, not a boolean", "CASE WHEN"},
		{"SELECT age FROM people", `column "age" stands outside any aggregate`, "GROUP BY"},
		{"SELECT race FROM people GROUP BY race", "the question has no aggregate", "COUNT(*)"},
		{"SELECT height, COUNT(*) FROM people GROUP BY height", "possible values of this GROUP BY expression are not known", "FLOOR"},
		{"SELECT note, COUNT(*) FROM people GROUP BY note", "possible values of this GROUP BY expression are not known", "declare the column's values"},
		{"SELECT serial, COUNT(*) FROM people GROUP BY serial", "possible values of this GROUP BY expression are not known", "10,000"},
		{"SELECT COUNT(*) FROM people WHERE age", "a condition is needed here", ""},
		{"SELECT COUNT(*) FROM people WHERE age = 'x'", "don't mix", ""},
		{"SELECT COUNT(*) FROM people WHERE age = NULL", "comparison with NULL", "IS NULL"},
		{"SELECT COUNT(*) FROM people WHERE note LIKE note", "pattern of LIKE must be a constant", "constant"},
		{"SELECT COUNT(*) FROM people WHERE SUM(age) > 3", "not allowed here", "HAVING"},
		{"SELECT SUM(COUNT(*)) FROM people", "not allowed here", ""},
		{"SELECT AVG(DISTINCT age) FROM people", "only COUNT and SUM take DISTINCT", "SUM(DISTINCT x) / COUNT(DISTINCT x)"},
		{"SELECT COUNT(DISTINCT NULL) FROM people", "NULL cannot be aggregated", ""},
		{"SELECT SUM(EXP(age)) FROM people WHERE EXP(income) > 0", "overflow", ""},
		{"SELECT SUM(age*age*age*age*age*age*age*age*age*age) FROM people", "overflow", ""},
		{"SELECT COUNT(*) FROM people WHERE age > 99999999999999999999", "", ""},
		{"SELECT COUNT(*) FROM people WHERE height > 1e-30", "2^-60", ""},
		{"SELECT COUNT(*) > 3 FROM people", "a column of an answer is", "HAVING"},
		{"SELECT age, race, height > 3, serial > 5, COUNT(*) FROM people GROUP BY 1, 2, 3, 4, age + 1, born", "more than 100000 cells", ""},
		{"SELECT " + manySums(20) + " FROM people GROUP BY age, race, voted, born", "more than 100000 cells", ""},
		{"SELECT " + manySums(20) + " FROM people GROUP BY age, race, voted, age % 50", "more than 200000 numbers", ""},
		{"SELECT COUNT(*) FROM people GROUP BY 1.5", "not known beforehand", ""},
		{"SELECT COUNT(*) FROM people WHERE serial % -1 = 0", "column serial has no declared bounds", ""},
		{"SELECT COUNT(*) FROM people WHERE age IN (1, CAST(NULL AS integer))", "NULL in a list", ""},
		{"SELECT nosuch(age), COUNT(*) FROM people GROUP BY 1", `there is no function "nosuch"`, ""},
		{"SELECT race, COUNT(*) FROM people GROUP BY 1, 3", "SELECT has no item 3", "its position in SELECT"},
		{"SELECT race, COUNT(*) FROM people GROUP BY ROLLUP (1, 0)", "SELECT has no item 0", "its position in SELECT"},
		{"SELECT race, COUNT(*) FROM people GROUP BY race ORDER BY 3", "SELECT has no item 3", "its position in SELECT"},
		{"SELECT SUM(n) FROM (SELECT person, COUNT(*) AS n FROM visits GROUP BY person, 3) AS q", "SELECT has no item 3", "its position in SELECT"},
		{"SELECT APPROX_QUANTILES(age, 2) FROM people ORDER BY 3", "several columns", ""},
	} {
		_, err := plan.Build(townPolicy(t, "add-remove"), plan.Request{SQL: c.sql})
		var refusal *plan.Error
		var syntax *query.Error
		var hint, message string
		switch {
		case errors.As(err, &refusal):
			message, hint = refusal.Message, refusal.Hint
		case errors.As(err, &syntax):
			message, hint = syntax.Message, syntax.Hint
		default:
			t.Errorf("%s: %v", c.sql, err)
			continue
		}
		if !strings.Contains(message, c.message) || !strings.Contains(hint, c.hint) {
			t.Errorf("%s: %q, hint %q; want %q, %q", c.sql, message, hint, c.message, c.hint)
		}
	}
}

func manySums(n int) string {
	var sums []string
	for i := range n {
		sums = append(sums, fmt.Sprintf("SUM(age + %d)", i))
	}
	return strings.Join(sums, ", ")
}

// A constant that an item is, is one where its place is named.
func TestPlacesOfConstants(t *testing.T) {
	for _, sql := range []string{
		"SELECT 7 AS c, COUNT(*) FROM people GROUP BY 1", "SELECT 7 AS c, COUNT(*) FROM people GROUP BY c ORDER BY 1, c, 2",
		"SELECT SUM(n) FROM (SELECT person, 7 AS c, COUNT(*) AS n FROM visits GROUP BY 1, 2) AS q",
	} {
		if _, err := plan.Build(townPolicy(t, "add-remove"), plan.Request{SQL: sql}); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

// The price is the policy's default, or what was asked for up to the policy's maximum.
func TestPrice(t *testing.T) {
	p := townPolicy(t, "add-remove")
	five, _ := privacy.ParseEpsilon("5")
	above, _ := privacy.ParseEpsilon("5.000000000000000000001")
	sql := "SELECT COUNT(*) FROM people"
	if got, err := plan.Build(p, plan.Request{SQL: sql}); err != nil || got.Price.String() != "ε = 1" {
		t.Errorf("default price: %v, %v", got, err)
	}
	if got, err := plan.Build(p, plan.Request{SQL: sql, Price: privacy.PureLoss(five)}); err != nil || got.Price.String() != "ε = 5" {
		t.Errorf("the maximum: %v, %v", got, err)
	}
	if _, err := plan.Build(p, plan.Request{SQL: sql, Price: privacy.PureLoss(above)}); err == nil {
		t.Error("a price above the maximum was planned")
	}
}

// A grouping has every known value, NULL only where it is declared or made.
func TestKnownKeys(t *testing.T) {
	for _, c := range []struct {
		group string
		want  string
	}{
		{"voted", "[false true]"},
		{"race", "[asian black other white NULL]"},
		{"age >= 18", "[false true]"},
		{"race = 'asian'", "[false true NULL]"},
		{"FLOOR(age / 50)", "[0 1 2]"},
		{"age % 3", "[0 1 2]"},
		{"LEAST(age, 2)", "[0 1 2]"},
		{"CASE WHEN age < 18 THEN 'minor' WHEN age < 65 THEN 'adult' END", "[adult minor NULL]"},
		{"CASE WHEN age < 18 THEN 'minor' ELSE 'adult' END", "[adult minor]"},
		{"CASE race WHEN 'asian' THEN 1 ELSE 0 END", "[0 1]"},
		{"WIDTH_BUCKET(age, 18, 65, 2)", "[0 1 2 3]"},
		{"WIDTH_BUCKET(height, 100.0, 200.0, 3)", "[0 1 2 3 4]"},
		{"COALESCE(race, 'unknown')", "[asian black other unknown white]"},
	} {
		p := build(t, "add-remove", "SELECT COUNT(*) FROM people GROUP BY "+c.group)
		var got []string
		for _, v := range p.Keys[0].Values {
			got = append(got, v.String())
		}
		if text := "[" + strings.Join(got, " ") + "]"; text != c.want {
			t.Errorf("%s: %s, want %s", c.group, text, c.want)
		}
	}
}
