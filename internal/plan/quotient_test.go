package plan_test

import (
	"slices"
	"strings"
	"testing"

	"dither/internal/plan"
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
