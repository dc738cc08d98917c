package plan_test

import (
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dither/internal/bounded"
	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/stattest"
	"dither/internal/value"
)

const unitsPolicy = `
version: 1
population: {name: people, neighbours: change-one}
budget: {epsilon: 100}
price: {default: 1}
tables:
  people:
    source: {csv: people.csv}
    unit: row
    units: 1000
    part: {column: ward}
    columns:
      age: {type: integer, bounds: [10, 110]}
      income: {type: real, bounds: [-3, 5]}
      gain: {type: real, bounds: [-3, 5], nullable: true}
      grade: {type: integer, values: [1, 2, 3, 4]}
      rank: {type: integer, values_from: wards.rank}
      ward: {type: text, values: [north, south]}
  wards:
    public: true
    source: {csv: wards.csv}
    rows_per_value: {name: 1}
    columns: {name: {type: text}, rank: {type: integer, values: [1, 2]}}
`

func unitsDeclared(t testing.TB, edits ...string) *policy.Policy {
	t.Helper()
	p, err := policy.Decode([]byte(strings.NewReplacer(edits...).Replace(unitsPolicy)), "")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// An answer over the whole table measures no count. One that leaves out rows, or in which a value may be missing, does.
func TestDeclaredUnits(t *testing.T) {
	p := unitsDeclared(t).Filled(func(policy.Origin) ([]value.Value, int, string) {
		return []value.Value{value.OfInt(1), value.OfInt(2)}, 1, ""
	})
	for sql, counted := range map[string]bool{
		"SELECT AVG(age) FROM people":                                                                false,
		"SELECT COUNT(*), AVG(age) FROM people p":                                                    false,
		"SELECT COUNT(*) + SUM(age) FROM people":                                                     false,
		"SELECT VAR_SAMP(income), STDDEV(age) FROM people":                                           false,
		"SELECT CORR(age, income), REGR_SLOPE(income, age) FROM people":                              false,
		"SELECT AVG(grade) FROM people":                                                              false,
		"SELECT AVG(CASE WHEN gain > 0 THEN 1 ELSE 0 END) FROM people":                               false,
		"SELECT AVG(age, contribution_bounds_per_row => (20, 30)) FROM people":                       false,
		"SELECT AVG(income, bounds => auto) FROM people":                                             false,
		"SELECT AVG(age) FROM people HAVING COUNT(*) > 5 ORDER BY 1 LIMIT 3":                         false,
		"SELECT AVG(gain) FROM people":                                                               true,
		"SELECT AVG(rank) FROM people":                                                               true,
		"SELECT CORR(age, gain) FROM people":                                                         true,
		"SELECT REGR_COUNT(age, income), REGR_SLOPE(age, income) FROM people":                        false,
		"SELECT REGR_COUNT(income * 2, age), AVG(grade) FROM people":                                 false,
		"SELECT REGR_COUNT(age, income) * VAR_POP(income) FROM people":                               false,
		"SELECT REGR_COUNT(age, gain) FROM people":                                                   true,
		"SELECT REGR_COUNT(rank, age) FROM people":                                                   true,
		"SELECT REGR_COUNT(age, SQRT(income)) FROM people":                                           true,
		"SELECT REGR_COUNT(age, income) FILTER (WHERE income > 0) FROM people":                       true,
		"SELECT REGR_COUNT(age, income, weight => 2) FROM people":                                    true,
		"SELECT REGR_COUNT(age, income) FROM people WHERE income > 0":                                true,
		"SELECT ward, REGR_COUNT(age, income) FROM people GROUP BY ward":                             true,
		"SELECT AVG(age / (age - 20)) FROM people":                                                   true,
		"SELECT AVG(SQRT(income)) FROM people":                                                       true,
		"SELECT AVG(age) FILTER (WHERE income > 0) FROM people":                                      true,
		"SELECT COUNT(*) FILTER (WHERE income > 0) FROM people":                                      true,
		"SELECT COUNT(*, weight => 2), AVG(age) FROM people":                                         true,
		"SELECT COUNT(age), AVG(income) FROM people":                                                 false,
		"SELECT COUNT(ward), SUM(income) FROM people":                                                false,
		"SELECT COUNT(age * 2 + income), AVG(age) FROM people":                                       false,
		"SELECT COUNT(gain) FROM people":                                                             true,
		"SELECT COUNT(rank) FROM people":                                                             true,
		"SELECT COUNT(COALESCE(gain, income)) FROM people":                                           true,
		"SELECT COUNT(SQRT(income)) FROM people":                                                     true,
		"SELECT COUNT(CASE WHEN age > 50 THEN 1 END) FROM people":                                    true,
		"SELECT COUNT(age) FILTER (WHERE income > 0) FROM people":                                    true,
		"SELECT COUNT(DISTINCT grade) FROM people":                                                   true,
		"SELECT COUNT(age, weight => 2) FROM people":                                                 true,
		"SELECT COUNT(age), AVG(age) FROM people WHERE income > 0":                                   true,
		"SELECT ward, COUNT(age) FROM people GROUP BY ward":                                          true,
		"SELECT COUNT(age) FROM people JOIN wards ON ward = name":                                    true,
		"SELECT COUNT(*), AVG(age) FROM people WHERE income > 0":                                     true,
		"SELECT COUNT(*), AVG(age) FROM people WHERE age >= 10":                                      true,
		"SELECT COUNT(*), AVG(age) FROM people WHERE ward = 'north'":                                 true,
		"SELECT ward, COUNT(*), AVG(age) FROM people GROUP BY ward":                                  true,
		"SELECT ward, COUNT(*), AVG(age) FROM people GROUP BY ROLLUP (ward)":                         true,
		"SELECT COUNT(*), AVG(age) FROM (SELECT age FROM people WHERE income > 0) q":                 true,
		"SELECT COUNT(*), AVG(age) FROM (SELECT age FROM people UNION ALL SELECT age FROM people) q": true,
		"SELECT COUNT(*), AVG(age) FROM people JOIN wards ON ward = name":                            true,
	} {
		q, err := plan.Build(p, plan.Request{SQL: sql})
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		counts := slices.ContainsFunc(q.Measures, func(m *plan.Measure) bool { return !m.Sums() })
		noted := slices.ContainsFunc(q.AnswerNotes(), func(n string) bool { return strings.Contains(n, "1,000") })
		if counts != counted || noted == counted && !strings.HasPrefix(sql, "SELECT COUNT(*, weight") {
			t.Errorf("%s: counts rows: %v, with a note on the declared number: %v", sql, counts, noted)
		}
		if share := q.Measures[0].Loss; !counted && len(q.Measures) == 1 && q.Searches == nil && share.String() != q.Price.String() {
			t.Errorf("%s: its only sum has the share %s", sql, share)
		}
	}
	for _, count := range []string{"COUNT(*)", "COUNT(age)", "COUNT(ward), COUNT(*)", "REGR_COUNT(age, income)"} {
		_, err := plan.Build(p, plan.Request{SQL: "SELECT " + count + " FROM people"})
		if err == nil || !strings.Contains(err.Error(), "nothing to measure") {
			t.Errorf("%s alone is measured, or refused by %v: package free answers it", count, err)
		}
	}
	for item, count := range map[string]string{
		"AVG(age)": "COUNT(income)", "REGR_SLOPE(income, age)": "REGR_COUNT(income, age)", "SUM(income)": "REGR_COUNT(grade, age)",
	} {
		alone, err := plan.Build(p, plan.Request{SQL: "SELECT " + item + " FROM people"})
		if err != nil {
			t.Fatal(err)
		}
		beside, err := plan.Build(p, plan.Request{SQL: "SELECT " + item + ", " + count + " FROM people"})
		if err != nil || beside.Canonical(1) != alone.Canonical(1) {
			t.Errorf("the constant %s changes what is released for %s: %v", count, item, err)
		}
	}
	for item, refusal := range map[string]string{
		"REGR_COUNT(ward, age)": "a number is needed", "REGR_COUNT(age > 3, age)": "not a boolean", "REGR_COUNT(age)": "takes 2 arguments",
		"REGR_COUNT(DISTINCT age, income)": "DISTINCT",
	} {
		if _, err := plan.Build(p, plan.Request{SQL: "SELECT " + item + " FROM people"}); err == nil || !strings.Contains(err.Error(), refusal) {
			t.Errorf("%s: %v, want %q", item, err, refusal)
		}
	}
	if q, err := plan.Build(unitsDeclared(t, "    units: 1000\n", ""), plan.Request{SQL: "SELECT AVG(age) FROM people"}); err != nil ||
		len(q.Measures) != 2 {
		t.Errorf("without a declaration: %v, %v", q, err)
	}
}

// The number of units is bound into replay keys: another one is another policy.
func TestDeclaredUnitsAreInTheKey(t *testing.T) {
	keys := map[string]bool{}
	for _, edit := range [][]string{nil, {"units: 1000", "units: 1001"}, {"    units: 1000\n", ""}} {
		q, err := plan.Build(unitsDeclared(t, edit...), plan.Request{SQL: "SELECT AVG(age) FROM people"})
		if err != nil {
			t.Fatal(err)
		}
		keys[q.Key(1)] = true
	}
	if len(keys) != 3 {
		t.Errorf("%d keys of three policies", len(keys))
	}
}

// Between change-one neighbours with the declared number of rows, of any content, each sum moves by at most its planned
// sensitivity, and so no average moves by more than that divided by the number. The number of rows itself stays.
func TestDeclaredUnitsOfNeighbours(t *testing.T) {
	stattest.Cases(t, 3000)
	const units = 9
	text := strings.Replace(string(enginetest.PolicyText("change-one")), "unit: row,", "unit: row, units: 9,", 1)
	p, err := policy.Decode([]byte(text), ".")
	if err != nil {
		t.Fatal(err)
	}
	declared, moved := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		item := rapid.SampledFrom([]string{
			"AVG(j)", "AVG(y)", "VAR_POP(y)", "STDDEV(y)", "AVG(y * 2 + 1)", "AVG(CASE WHEN i > 0 THEN j ELSE 3 END)", "CORR(y, y + 1)",
			"AVG(COALESCE(x, 1.5))", "SUM(i)", "AVG(y, contribution_bounds_per_row => (1, 7))", "COUNT(*) + SUM(x)", "REGR_COUNT(y, j) + SUM(x)",
		}).Draw(t, "item")
		q, err := plan.Build(p, plan.Request{SQL: "SELECT " + item + " FROM t"})
		if err != nil {
			t.Fatal(err)
		}
		var before []enginetest.Row
		for len(before) < units {
			before = append(before, enginetest.Rows(t, p.Table("t"), units-len(before))...)
		}
		after := neighbour(t, p.Table("t"), before, true)
		for len(after) < units { // the replaced row
			after = append(after, enginetest.Rows(t, p.Table("t"), 1)...)
		}
		if len(after) != units {
			t.Fatalf("a neighbour has %d rows", len(after))
		}
		l1, l2squared := distances(&q.Statement, before, after)
		for i, m := range q.Measures {
			if l1[i].Cmp(m.L1) > 0 || l2squared[i].Cmp(m.L2Squared) > 0 {
				t.Fatalf("%s: %s moves by %s, squared %s; planned %s, %s", item, m, l1[i], l2squared[i], m.L1, m.L2Squared)
			}
			if l1[i].Cmp(new(big.Int).Rsh(m.L1, 1)) > 0 {
				moved++
			}
		}
		if q.Declared > 0 {
			declared++
		}
	})
	if declared < 1000 || moved < 100 {
		t.Errorf("%d answers with the declared number, %d sums that move by more than half of their sensitivity", declared, moved)
	}
}

// Sums of vectors over the whole table have a declared number of rows if each row has all coordinates, and one cell has all
// rows. The sums that remain without a count have sensitivities that are the same beside one, and the whole price.
func TestDeclaredUnitsOfVectors(t *testing.T) {
	p := unitsDeclared(t).Filled(func(policy.Origin) ([]value.Value, int, string) {
		return []value.Value{value.OfInt(1), value.OfInt(2)}, 1, ""
	})
	request := func(coordinates int, centres [][]float64, sums ...plan.SumRequest) plan.VectorRequest {
		return plan.VectorRequest{
			Blocks: []plan.BlockRequest{{Size: coordinates, Norm: bounded.NormL2, Bound: big.NewRat(50, 1)}},
			Sums:   sums, Centres: centres,
		}
	}
	one, first, product := plan.SumRequest{Kind: bounded.SumOne}, plan.SumRequest{Kind: bounded.SumFirst},
		plan.SumRequest{Kind: bounded.SumProduct}
	for sql, declared := range map[string]bool{
		"age, income FROM people":                                 true,
		"age - 60, (income - 1) * (income - 1) FROM people":       true,
		"grade, CASE WHEN gain > 0 THEN 1 ELSE 0 END FROM people": true,
		"age, gain FROM people":                                   false,
		"age, rank FROM people":                                   false,
		"age, SQRT(income) FROM people":                           false,
		"age, income FROM people WHERE income > 0":                false,
		"age, income FROM people WHERE ward = 'north'":            false,
		"age, income FROM people GROUP BY ward":                   false,
		"age, income FROM people JOIN wards ON ward = name":       false,
		"age, income FROM (SELECT age, income FROM people UNION ALL SELECT age, income FROM people) q": false,
	} {
		of := plan.Request{SQL: "SELECT " + sql}
		m, err := plan.BuildMoments(p, of, request(2, nil, first, product))
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		if (m.Declared == 1000) != declared || m.Declared != 0 && !declared {
			t.Errorf("%s: declared %d", sql, m.Declared)
		}
		counted, err := plan.BuildMoments(p, of, request(2, nil, one, first, product))
		if err != nil || counted.Declared != m.Declared || len(counted.Sums) != 3 {
			t.Errorf("%s: a requested count is not measured: %v", sql, err)
			continue
		}
		whole := new(big.Rat)
		for i, s := range m.Sums {
			if o := counted.Sums[i+1]; s.Kind != o.Kind || s.L1.Cmp(o.L1) != 0 || s.L2Squared.Cmp(o.L2Squared) != 0 {
				t.Errorf("%s: %s moves by %s, and beside a count by %s", sql, s.Name(), s.L1, o.L1)
			}
			share, _ := s.Loss.Pure()
			whole.Add(whole, share.Rat())
		}
		if price, _ := m.Price.Pure(); whole.Cmp(price.Rat()) != 0 {
			t.Errorf("%s: the shares add up to %s of %s", sql, whole, m.Price)
		}
	}
	m, err := plan.BuildMoments(p, plan.Request{SQL: "SELECT age, income FROM people"}, request(2, [][]float64{{10, 0}, {90, 0}}, first))
	if err != nil || m.Declared != 0 {
		t.Errorf("the cells of centres: declared %d, %v", m.Declared, err)
	}
}
