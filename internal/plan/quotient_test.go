package plan_test

import (
	"slices"
	"strings"
	"testing"

	"dither/internal/plan"
	"dither/internal/policy"
)

// A quotient of two integers drops the fraction, and a note says so unless the question writes FLOOR. FLOOR of a
// quotient that is not negative keeps the canonical text that older releases have.
func TestQuotientsOfIntegers(t *testing.T) {
	p := townPolicy(t, "add-remove")
	for x, want := range map[string]struct {
		text string
		note bool
	}{
		"age / 10":                     {`(floor (div (to_real "age") real:"10"))`, true},
		"FLOOR(age / 10)":              {`(floor (div (to_real "age") real:"10"))`, false},
		"(age - 50) / 10":              {`(quo (sub "age" integer:"50") integer:"10")`, true},
		"FLOOR((age - 50) / 10)":       {`(quo (sub "age" integer:"50") integer:"10")`, false},
		"FLOOR(age / 10.0)":            {`(floor (div (to_real "age") real:"10"))`, false},
		"WIDTH_BUCKET(age, 0, 100, 5)": {"", false},
	} {
		q, err := plan.Build(p, plan.Request{SQL: "SELECT SUM(" + x + ") FROM people WHERE age > 1"})
		if err != nil {
			t.Fatalf("%s: %v", x, err)
		}
		if got := q.Statement.Measures[0].X.String(); want.text != "" && got != want.text {
			t.Errorf("%s: %s, want %s", x, got, want.text)
		}
		noted := slices.ContainsFunc(q.Notes, func(n string) bool { return strings.Contains(n, "drops the fraction") })
		if noted != want.note {
			t.Errorf("%s: notes %q", x, q.Notes)
		}
	}
}

// A sum of integers is a bigint, and a sum of bigints is numeric, whose quotients keep the fraction.
func TestQuotientsOfSums(t *testing.T) {
	p, err := policy.Decode([]byte(relationsPolicy), ".")
	if err != nil {
		t.Fatal(err)
	}
	const inner = "(SELECT who, doctor, COUNT(*) AS n, SUM(cost) AS s FROM visits GROUP BY who, doctor) q"
	for x, drops := range map[string]bool{
		"SUM(n) / 2": false, "SUM(s) / 2": false, "(SUM(n) - SUM(s)) / 2": false, "SUM(n + 1) / COUNT(*)": false, "SUM(MOD(n, 3)) / 2": false,
		"MAX(n) / 2": true, "COUNT(n) / 2": true, "SUM(doctor % 5) / 2": true, "SUM(LENGTH('ab')) / 2": true,
	} {
		q, err := plan.Build(p, plan.Request{SQL: "SELECT SUM(h) FROM (SELECT who, " + x + " AS h FROM " + inner + " GROUP BY who) r"})
		if err != nil {
			t.Fatalf("%s: %v", x, err)
		}
		noted := slices.ContainsFunc(q.Notes, func(n string) bool { return strings.Contains(n, "drops the fraction") })
		if noted != drops {
			t.Errorf("%s: notes %q in %s", x, q.Notes, q.Source)
		}
	}
}
