package curator

import "testing"

// A quotient whose divisor cannot be told from 0 has no interval, and the answer says why, also if a further SELECT computes
// it. The divisor counts nobody, so it leaves its own interval with a probability of 1e-9.
func TestQuotientsWithoutAnInterval(t *testing.T) {
	c := limitsHome(t)
	const nobody = "COUNT(*) FILTER (WHERE kind = 'nobody')"
	for sql, why := range map[string]string{
		"SELECT SUM(x) / " + nobody + " AS v FROM rows":                                whyZero,
		"SELECT 1 - SUM(x) / " + nobody + " AS v FROM rows":                            whyZero,
		"SELECT s / n AS v FROM (SELECT SUM(x) AS s, " + nobody + " AS n FROM rows) q": whyZero,
		"SELECT SUM(x) / (COUNT(*) + 1000000) AS v FROM rows":                          "",
		"SELECT 7 / (n + 1000000) AS v FROM (SELECT COUNT(*) AS n FROM rows) q":        "",
	} {
		r := must[*Release](t)(c.Answer(t.Context(), Question{SQL: sql, Confidence: "0.999999999", Fresh: true}))
		e, got := r.Rows[0][0].Estimate, r.Columns[0].NoInterval
		if e.Value == nil && r.Measured != nil {
			continue // the noisy divisor is 0, and a quotient by 0 is NULL in every row of an answer
		}
		if got != why || e.Bare != (why != "") || (e.Low == nil) != (why != "") || (e.High == nil) != (why != "") {
			t.Errorf("%s: %+v, %q", sql, e, got)
		}
	}
}

// If some rows have an interval, the reason is about the others.
func TestSomeQuotientsWithoutAnInterval(t *testing.T) {
	number := realNumber(1)
	r := &Release{
		Columns: []Column{{Name: "v", Kind: Measure}, {Name: "w", Kind: Measure, NoInterval: whySome}},
		Rows: []Row{
			{{Estimate: &Estimate{Value: number, Low: number, High: number}}, {Estimate: &Estimate{Value: number, Low: number}}},
			{{Estimate: &Estimate{Value: number}}, {Estimate: &Estimate{Value: number, High: number}}},
		},
	}
	r.markUnbounded()
	if r.Columns[0].NoInterval != whySome || r.Rows[0][0].Estimate.Bare || !r.Rows[1][0].Estimate.Bare {
		t.Errorf("%q, %+v", r.Columns[0].NoInterval, r.Rows)
	}
	if r.Columns[1].NoInterval != "" || r.Rows[0][1].Estimate.Bare {
		t.Errorf("an interval with one end: %q, %+v", r.Columns[1].NoInterval, r.Rows)
	}
}

// A quotient by a mode that may be 0 has no interval at any price, and the explanation says so.
func TestQuotientsByModes(t *testing.T) {
	c := limitsHome(t)
	for sql, why := range map[string]string{
		"SELECT COUNT(*) / MODE(x) AS v FROM rows":           whyModes,
		"SELECT 2 - COUNT(*) / (MODE(x) + 5) AS v FROM rows": whyModes,
		"SELECT COUNT(*) / (MODE(x) + 6) AS v FROM rows":     "",
		"SELECT MODE(x) / COUNT(*) AS v FROM rows":           "",
	} {
		e := must[*Explanation](t)(c.Explain(t.Context(), Question{SQL: sql}))
		if got := e.Columns[0].NoInterval; got != why {
			t.Errorf("%s: %q", sql, got)
		}
	}
}
