package plan_test

import (
	"strings"
	"testing"

	"dither/internal/plan"
)

// A cast to integer rounds halves away from zero where PostgreSQL has a numeric, and to even where it has double precision.
func TestCastsRoundAsInPostgreSQL(t *testing.T) {
	p := callsPolicy(t, "epsilon: 10")
	for cast, even := range map[string]bool{
		"(branch / 10.0)::int":                         false,
		"(EXTRACT(year FROM day) / 10)::int":           false,
		"(-ABS(branch * 0.5))::int":                    false,
		"(EXTRACT(day FROM day)::int / 10.0)::int":     false,
		"(branch / 10.0::double precision)::int":       true,
		"(date_part('year', day) / 10)::int":           true,
		"minutes::int":                                 true,
		"(minutes / 10.0)::int":                        true,
		"(SQRT(branch) * 0.5)::int":                    true,
		"COALESCE(branch / 4.0, minutes)::int":         true,
		"CAST(COALESCE(branch / 4.0, 0.5) AS integer)": false,
	} {
		inner := strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(cast, "CAST("), " AS integer)"), "::int")
		keys := [2]string{}
		for i, x := range []string{cast, "ROUND(" + inner + ")"} {
			q, err := plan.Build(p, plan.Request{SQL: "SELECT SUM(" + x + ") FROM calls"})
			if err != nil {
				t.Fatalf("%s: %v", x, err)
			}
			keys[i] = q.Key(1)
		}
		if (keys[0] != keys[1]) != even {
			t.Errorf("%s rounds halves to even: want %v", cast, even)
		}
	}
}
