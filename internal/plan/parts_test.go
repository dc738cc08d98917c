package plan_test

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dither/internal/bounded"
	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/value"
)

// What parallel composition rests on, black box: over hostile rows, two neighbours differ in questions that are confined to one part
// each for as many parts as the policy says at most, twice as many under change-one, whatever else the questions ask. The rows'
// own parts are not looked at: only what moves. And it is attained (of some 200 cases of each kind in at least one of ten: false alarms below 1e-9).
func TestUnitsMoveTheirOwnPartsOnly(t *testing.T) {
	most := map[string]int{}
	acrossNeighbours(t, func(t *rapid.T, p *policy.Policy, table string) (*bounded.Statement, func(before, after []enginetest.Row) bool) {
		if rapid.IntRange(0, 9).Draw(t, "some of the cases will do") > 0 {
			return nil, nil
		}
		var confined []*plan.Plan
		what := rapid.SampledFrom([]string{"COUNT(*)", "SUM(x), SUM(i)", "AVG(y)", "s, COUNT(k)"}).Draw(t, "what")
		for _, k := range []int{-3, 0, 5} {
			sql := fmt.Sprintf("SELECT %s FROM %s WHERE k = %d", what, table, k)
			if rapid.Bool().Draw(t, "and") {
				sql += rapid.SampledFrom([]string{" AND (b OR i > 2)", " AND x IS NOT NULL", " AND d >= '2000-01-01'"}).Draw(t, "condition")
			}
			if what[0] == 's' {
				sql += " GROUP BY s"
			}
			q, err := plan.Build(p, plan.Request{SQL: sql})
			if err != nil || q.Part == nil || len(q.Part.Values) != 1 {
				t.Fatalf("%s: %v %v", sql, err, q)
			}
			confined = append(confined, q)
		}
		each := int(p.Table(table).Part.PerUnit)
		name := fmt.Sprintf("%s of %d under %s", table, each, p.Population.Neighbours)
		return &confined[0].Statement, func(before, after []enginetest.Row) bool {
			before, after = inParts(before), inParts(after)
			moved := 0
			for _, q := range confined {
				l1, _ := distances(&q.Statement, before, after)
				for _, d := range l1 {
					if d.Sign() > 0 {
						moved++
						break
					}
				}
			}
			limit := each
			if p.Population.Neighbours.String() == "change-one" {
				limit *= 2
			}
			if moved > limit {
				t.Fatalf("%d parts move: %s\n%v\n%v", moved, name, before, after)
			}
			most[name] = max(most[name], moved)
			return moved > 0
		}
	})
	for name, want := range map[string]int{
		"t of 1 under add-remove": 1, "t of 1 under change-one": 2, "p of 1 under add-remove": 1, "p of 1 under change-one": 2,
		"p of 2 under add-remove": 2,
	} {
		if most[name] != want {
			t.Errorf("%s: %d parts move at most, want %d", name, most[name], want)
		}
	}
}

// inParts puts most rows into some part, by the row alone: few hostile values are parts.
func inParts(rows []enginetest.Row) []enginetest.Row {
	for _, r := range rows {
		sum := 0
		for _, c := range fmt.Sprint(r) {
			sum += int(c)
		}
		if n := sum % 7; n < 6 {
			r["k"] = value.OfInt([]int64{-3, 0, 5}[n/2])
		}
	}
	return rows
}

const partedPolicy = `version: 1
population: {name: p}
budget: {epsilon: 1}
tables:
  v:
    source: {csv: v.csv}
    unit: person
    rows_per_unit: 4
    part: {column: PART, per_unit: 2}
    columns:
      person: {type: integer}
      party: {type: text, values: [D, R, I], nullable: true}
      member: {type: boolean, nullable: true}
      day: {type: date, bounds: [2026-01-01, 2026-01-05]}
      year: {type: integer, bounds: [1, 4]}
      x: {type: real, bounds: [0, 1]}
`

// Which parts a condition confines a question to: by hand.
func TestConfined(t *testing.T) {
	for _, c := range []struct {
		part, where string
		want        []string // nil for everybody
	}{
		{"party", "party = 'D'", []string{"D"}},
		{"party", "'D' = party AND x > 0.5", []string{"D"}},
		{"party", "party IN ('R', 'D')", []string{"D", "R"}},
		{"party", "party <> 'D'", []string{"I", "R"}},
		{"party", "NOT party = 'D'", []string{"I", "R"}},
		{"party", "NOT (party IN ('D', 'I'))", []string{"R"}},
		{"party", "party NOT IN ('D', 'I')", []string{"R"}},
		{"party", "(party = 'D') IS TRUE", []string{"D"}},
		{"party", "party = 'D' OR party = 'R' AND member", []string{"D", "R"}},
		{"party", "(party = 'D' OR x > 0.5) AND party <> 'R' AND party <> 'I'", []string{"D"}},
		{"party", "party = 'D' AND party = 'R'", nil}, // nothing at all: nobody need be told apart
		{"party", "party IN ('D', 'R', 'I')", nil},
		{"party", "party IS NULL", nil},
		{"party", "party IS NOT NULL", nil},
		{"party", "(party = 'D') IS NOT TRUE", nil},
		{"party", "(party = 'D') IS UNKNOWN", nil},
		{"party", "party = 'D' OR x > 0.5", nil},
		{"party", "COALESCE(party, 'D') = 'D'", nil},
		{"party", "party LIKE 'D'", nil},
		{"party", "NOT (party = 'D' AND x > 0.5)", nil},
		{"party", "x > 0.5", nil},
		{"party", "CASE WHEN party = 'D' THEN TRUE ELSE FALSE END", nil},
		{"member", "member", []string{"true"}},
		{"member", "NOT member AND x < 1", []string{"false"}},
		{"member", "member = FALSE", []string{"false"}},
		{"member", "member IS FALSE", []string{"false"}},
		{"day", "day BETWEEN DATE '2026-01-02' AND DATE '2026-01-03'", []string{"2026-01-02", "2026-01-03"}},
		{"day", "day < '2026-01-03' AND day > '2026-01-01'", []string{"2026-01-02"}},
		{"day", "DATE '2026-01-04' <= day", []string{"2026-01-04", "2026-01-05"}},
		{"day", "day NOT BETWEEN DATE '2026-01-02' AND DATE '2026-01-05'", nil}, // safe, if not the least
		{"day", "date_trunc('day', day) = '2026-01-02'", nil},
		{"year", "year >= 3", []string{"3", "4"}},
		{"year", "year = 9", nil},
		{"year", "year = 2.0", nil},
		{"year", "year + 1 = 2", nil},
	} {
		p, err := policy.Decode([]byte(replaced(partedPolicy, "PART", c.part)), ".")
		if err != nil {
			t.Fatal(err)
		}
		q, err := plan.Build(p, plan.Request{SQL: "SELECT COUNT(*) FROM v WHERE " + c.where})
		if err != nil {
			t.Errorf("%s: %v", c.where, err)
			continue
		}
		if _, got := q.Confinement(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.where, got, c.want)
		}
	}
}

// A subquery that only selects and renames leaves no trace, in the parts either; any other relation is about everybody.
func TestConfinedRelations(t *testing.T) {
	p := policyOf(t, []byte(replaced(partedPolicy, "PART", "party")))
	for from, want := range map[string][]string{
		"(SELECT party AS p, x FROM v WHERE party <> 'I') q WHERE p = 'D'":                                           {"D"},
		"(SELECT party AS p FROM v WHERE party <> 'I') q":                                                            {"D", "R"},
		"(SELECT p AS party FROM (SELECT party AS p FROM v WHERE party = 'D') a WHERE p <> 'R') b WHERE party < 'R'": {"D"},
		"(SELECT CASE WHEN party = 'D' THEN 'R' ELSE 'D' END AS party FROM v) q WHERE party = 'D'":                   nil,
		"(SELECT x > 0 AS party, party AS member FROM v) q WHERE party AND member = 'R'":                             {"R"},
		"(SELECT party FROM v WHERE party = 'D' UNION ALL SELECT party FROM v WHERE party = 'D') q":                  nil,
		"(SELECT person, MAX(x) AS m FROM v WHERE party = 'D' GROUP BY person) q":                                    nil,
		"v a JOIN v b USING (person) WHERE a.party = 'D' AND b.party = 'D'":                                          nil,
		"v a, v b WHERE a.person = b.person AND a.party = 'D'":                                                       nil,
	} {
		q, err := plan.Build(p, plan.Request{SQL: "SELECT COUNT(*) FROM " + from})
		if err != nil {
			t.Errorf("%s: %v", from, err)
			continue
		}
		if _, got := q.Confinement(); !slices.Equal(got, want) || q.Source != nil && q.Part != nil {
			t.Errorf("%s: %q, want %q", from, got, want)
		}
	}
}

// A confined question is no replay of one that is not, and the other way round: other rows may count.
func TestPartsAreInTheKey(t *testing.T) {
	key := func(part string) string {
		p, err := policy.Decode([]byte(replaced(partedPolicy, "PART", part)), ".")
		if err != nil {
			t.Fatal(err)
		}
		q, err := plan.Build(p, plan.Request{SQL: "SELECT COUNT(*) FROM v WHERE party = 'D'"})
		if err != nil {
			t.Fatal(err)
		}
		return q.Canonical(1)
	}
	if a, b := key("party"), key("day"); slices.Equal(lines(a, "part "), lines(b, "part ")) {
		t.Error(a, b)
	}
}

func replaced(text, old, with string) string { return strings.ReplaceAll(text, old, with) }

func lines(text, prefix string) (out []string) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, prefix) {
			out = append(out, line)
		}
	}
	return out
}

// Conditions of any shape, against every row of a small world: no row that WHERE keeps is in a part that is not charged, or in none.
func TestConfinedByAnyCondition(t *testing.T) {
	p := policyOf(t, []byte(replaced(partedPolicy, "PART", "party")))
	nullOr := func(of value.Type, vs ...value.Value) []value.Value { return append(vs, value.NullOf(of)) }
	var world []enginetest.Row
	for _, party := range nullOr(value.Text, value.OfText("D"), value.OfText("I"), value.OfText("R"), value.OfText("none of them")) {
		for _, member := range nullOr(value.Boolean, value.OfBool(false), value.OfBool(true)) {
			for _, x := range nullOr(value.Real, value.OfReal(0), value.OfReal(1)) {
				world = append(world, enginetest.Row{
					"person": value.OfInt(int64(len(world))), "party": party, "member": member, "x": x, "day": value.OfDay(20454), "year": value.OfInt(1),
				})
			}
		}
	}
	world = enginetest.Ranked(world, "person")
	confined := 0
	rapid.Check(t, func(t *rapid.T) {
		var condition func(depth int) string
		condition = func(depth int) string {
			atoms := []string{
				"party = 'D'", "'R' = party", "party <> 'I'", "party < 'I'", "'I' <= party", "party IN ('D', 'R')", "party NOT IN ('I')", "party BETWEEN 'D' AND 'I'",
				"party NOT BETWEEN 'D' AND 'D'", "party IS NULL", "party IS NOT NULL", "member", "x > 0.5", "x = 0 OR party = 'D'", "TRUE", "FALSE",
				"CASE WHEN party = 'D' THEN member END", "COALESCE(party, 'D') = 'D'", "NULLIF(party, 'D') = 'R'", "party LIKE 'D%'", "upper(party) = 'D'",
			}
			if depth == 0 {
				return rapid.SampledFrom(atoms).Draw(t, "atom")
			}
			a := condition(depth - 1)
			switch rapid.IntRange(0, 7).Draw(t, "form") {
			case 0, 1:
				return "(" + a + ") AND (" + condition(depth-1) + ")"
			case 2, 3:
				return "(" + a + ") OR (" + condition(depth-1) + ")"
			case 4:
				return "NOT (" + a + ")"
			case 5:
				return "(" + a + ")" + rapid.SampledFrom([]string{" IS TRUE", " IS NOT TRUE", " IS FALSE", " IS NOT FALSE", " IS UNKNOWN", " = TRUE", " <> TRUE", " IN (FALSE)"}).Draw(t, "is")
			case 6:
				return "CASE WHEN " + a + " THEN " + condition(depth-1) + " ELSE " + condition(depth-1) + " END"
			}
			return a
		}
		sql := "SELECT COUNT(*) FROM v WHERE " + condition(rapid.IntRange(0, 3).Draw(t, "depth"))
		q, err := plan.Build(p, plan.Request{SQL: sql})
		if err != nil {
			return
		}
		_, parts := q.Confinement()
		if parts == nil {
			return
		}
		confined++
		for _, row := range world {
			enginetest.Sum(&q.Statement, []enginetest.Row{row}, func(_ []value.Value, sums []*big.Int) {
				if sums[0].Sign() != 0 && (row["party"].Null || !slices.Contains(parts, row["party"].Text)) {
					t.Fatalf("%s is charged to %q, and counts %v", sql, parts, row)
				}
			})
		}
	})
	if confined < 10 {
		t.Errorf("%d were confined: the test shows nothing", confined)
	}
}
