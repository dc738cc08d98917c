package plan_test

import (
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dither/internal/bounded"
	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/policy"
)

// No score moves by more than the planned sensitivity between neighbours, and no two in opposite directions where the target
// says that it is monotonic.
func TestScoresStayWithinSensitivity(t *testing.T) {
	acrossNeighbours(t, func(t *rapid.T, p *policy.Policy, table string) (*bounded.Statement, func(before, after []enginetest.Row) bool) {
		request := plan.Request{SQL: enginetest.Scores(t, table)}
		q, err := plan.BuildScores(p, request)
		if err != nil {
			return nil, nil
		}
		return &q.Statement, func(before, after []enginetest.Row) bool {
			up, down := false, false
			for _, d := range differences(&q.Statement, before, after)[0] {
				if d.CmpAbs(q.Sensitivity) > 0 {
					t.Fatalf("%s: a score moves by %s; planned %s\n%v\n%v", request.SQL, d, q.Sensitivity, before, after)
				}
				up, down = up || d.Sign() > 0, down || d.Sign() < 0
			}
			if q.Monotonic && up && down {
				t.Fatalf("%s: scores move both ways\n%v\n%v", request.SQL, before, after)
			}
			return up || down
		}
	})
}

// Between neighbours at most the planned number of values come in, and at most as many go; under add/remove only one of both.
func TestOrdersStayWithinSensitivity(t *testing.T) {
	acrossNeighbours(t, func(t *rapid.T, p *policy.Policy, table string) (*bounded.Statement, func(before, after []enginetest.Row) bool) {
		request := plan.Request{SQL: enginetest.Values(t, table)}
		q, err := plan.BuildOrder(p, request)
		if err != nil {
			return nil, nil
		}
		return &q.Statement, func(before, after []enginetest.Row) bool {
			had, has := enginetest.Order(&q.Statement, before), enginetest.Order(&q.Statement, after)
			in, out := int64(0), int64(0)
			for v, n := range had {
				out += max(n-has[v], 0)
				if m := q.Measures[0]; v < m.Lo || v > m.Hi {
					t.Fatalf("%s: %d is out of [%d, %d]", request.SQL, v, m.Lo, m.Hi)
				}
			}
			for v, n := range has {
				in += max(n-had[v], 0)
			}
			if most := q.Sensitivity.Int64(); in > most || out > most {
				t.Fatalf("%s: %d values come in and %d go; planned %d\n%v\n%v", request.SQL, in, out, most, before, after)
			}
			if strings.HasPrefix(q.Neighbours.String(), "add") && in > 0 && out > 0 {
				t.Fatalf("%s: %d values come in and %d go\n%v\n%v", request.SQL, in, out, before, after)
			}
			return in+out > 0
		}
	})
}

func TestTargets(t *testing.T) {
	for _, c := range []struct {
		relation, sql string
		order         bool
		sensitivity   int64
		monotonic     bool
		refused       string
	}{
		{relation: "add-remove", sql: "SELECT race, COUNT(*) FROM people GROUP BY race", sensitivity: 1, monotonic: true},
		{relation: "change-one", sql: "SELECT race, COUNT(*) FROM people GROUP BY race", sensitivity: 1},
		{relation: "add-remove", sql: "SELECT SUM(age), race FROM people GROUP BY race", sensitivity: 115, monotonic: true},
		{relation: "change-one", sql: "SELECT SUM(age) FROM people", sensitivity: 115},
		{relation: "add-remove", sql: "SELECT department, SUM(days) FROM visits GROUP BY department", sensitivity: 12 * 30},
		{relation: "change-one", sql: "SELECT department, SUM(days) FROM visits GROUP BY department", sensitivity: 12 * 32},
		{relation: "add-remove", sql: "SELECT department, COUNT(DISTINCT person) FROM visits GROUP BY department", sensitivity: 1, monotonic: true},
		{relation: "add-remove", sql: "SELECT department, COUNT(*) AS n FROM visits GROUP BY 1", sensitivity: 12, monotonic: true},
		{relation: "add-remove", sql: "SELECT age FROM people", order: true, sensitivity: 1},
		{relation: "change-one", sql: "SELECT cost FROM visits WHERE department = 'a'", order: true, sensitivity: 12},
		{relation: "add-remove", sql: "SELECT race FROM people GROUP BY race", refused: "one score"},
		{relation: "add-remove", sql: "SELECT COUNT(*), SUM(age) FROM people", refused: "one score"},
		{relation: "add-remove", sql: "SELECT AVG(age) FROM people", refused: "one count or sum"},
		{relation: "add-remove", sql: "SELECT COUNT(*) + 1 FROM people", refused: "one count or sum"},
		{relation: "add-remove", sql: "SELECT COUNT(*) FROM people LIMIT 1", refused: "LIMIT"},
		{relation: "add-remove", sql: "SELECT note, COUNT(*) FROM people GROUP BY note", refused: "values"},
		{relation: "add-remove", sql: "SELECT race FROM people", order: true, refused: "number"},
		{relation: "add-remove", sql: "SELECT voted FROM people", order: true, refused: "number"},
		{relation: "add-remove", sql: "SELECT serial FROM people", order: true, refused: "bounds"},
		{relation: "add-remove", sql: "SELECT COUNT(*) FROM people", order: true, refused: "aggregate"},
		{relation: "add-remove", sql: "SELECT age, age FROM people", order: true, refused: "one selected value"},
		{relation: "add-remove", sql: "SELECT age FROM people ORDER BY age", order: true, refused: "ORDER BY"},
	} {
		t.Run(c.relation+" "+c.sql, func(t *testing.T) {
			build := plan.BuildScores
			if c.order {
				build = plan.BuildOrder
			}
			q, err := build(townPolicy(t, c.relation), plan.Request{SQL: c.sql})
			if c.refused != "" {
				if err == nil || !strings.Contains(err.Error(), c.refused) {
					t.Fatalf("error %v, want one about %q", err, c.refused)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if q.Sensitivity.Cmp(big.NewInt(c.sensitivity)) != 0 || q.Monotonic != c.monotonic {
				t.Errorf("sensitivity %s, monotonic %v; want %d, %v", q.Sensitivity, q.Monotonic, c.sensitivity, c.monotonic)
			}
			if q.Key([]int{1}, "a") == q.Key([]int{1}, "b") || q.Key([]int{1}, "a") == q.Key([]int{2}, "a") {
				t.Error("the key does not follow what is released")
			}
		})
	}
}
