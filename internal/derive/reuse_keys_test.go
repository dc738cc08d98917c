package derive_test

import (
	"math"
	"strings"
	"testing"

	"dither/internal/derive"
	"dither/internal/value"
)

// Every question that follows from another one's release without noise has its own exact answer, for keys with and without
// a value for the rows without a known one, for values that a key maps to NULL, and for conditions on these rows.
func TestFollowingIsExact(t *testing.T) {
	rows := people(120)
	for k := range rows {
		switch k % 7 {
		case 0:
			rows[k]["g"] = value.OfText("z") // not among the values
		case 1:
			rows[k]["i"] = value.NullOf(value.Integer)
		}
	}
	nullable := strings.Replace(survey, "i: {type: integer, bounds: [0, 115]}", "i: {type: integer, bounds: [0, 115], nullable: true}", 1)
	keys := []string{
		"g", "i", "COALESCE(g, 'q')", "COALESCE(g, 'a')", "COALESCE(g, '')", "COALESCE(i, -5)", "COALESCE(i, 7)", "COALESCE(i > 50, FALSE)",
		"CASE WHEN g = 'a' THEN 1 ELSE 0 END", "g IS NULL", "COALESCE(g, 'q'), i", "g, COALESCE(i, -5)", "COALESCE(i, -5), COALESCE(g, 'q')",
	}
	wheres := []string{
		"", "g = 'a'", "g IS NULL", "g IS DISTINCT FROM 'a'", "i > 50", "i IS NULL", "g = 'b' AND i < 30", "COALESCE(g, 'a') = 'a'", "i IS NULL OR i < 10",
	}
	type asked struct {
		sql    string
		answer *derive.Answer
		truth  [][]derive.Cell
	}
	var all []asked
	for _, key := range append([]string{""}, keys...) {
		for _, where := range wheres {
			sql := "SELECT COUNT(*), SUM(i) FROM t" + whereOf(where)
			if key != "" {
				sql += " GROUP BY " + key
			}
			p := planIn(t, nullable, sql, "1")
			answer, err := derive.New(p)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, asked{sql, answer, answer.Rows(exactSets(p, rows), 0.05)})
		}
	}
	follows, through := 0, 0
	for _, key := range keys {
		for _, where := range wheres[:3] {
			earlier := "SELECT COUNT(*), SUM(i) FROM t" + whereOf(where) + " GROUP BY " + key
			q := planIn(t, nullable, earlier, "1")
			of := []*derive.Earlier{{Plan: q, Numbers: exactSets(q, rows)}}
			for _, p := range all {
				if _, ok := p.answer.From(of, false, false); !ok {
					continue
				}
				follows++
				if strings.Contains(key, "COALESCE") && !strings.Contains(p.sql, key) {
					through++
				}
				for i, row := range p.answer.Rows(nil, 0.05) {
					for k := range row {
						if d := row[k].Estimate.Value - p.truth[i][k].Estimate.Value; math.Abs(d) > 1e-6 {
							t.Errorf("%s from %s: row %d is off by %g", p.sql, earlier, i, d)
						}
					}
				}
				p.answer.Forget()
			}
		}
	}
	t.Logf("%d questions follow, %d through another key", follows, through)
	if follows < 200 || through < 50 {
		t.Errorf("%d questions follow, %d through another key: the test shows little", follows, through)
	}
}

func whereOf(condition string) string {
	if condition == "" {
		return ""
	}
	return " WHERE " + condition
}
