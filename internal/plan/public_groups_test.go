package plan_test

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/query"
	"dither/internal/reuse"
	"dither/internal/stattest"
	"dither/internal/value"
)

const publicGroupsPolicy = `
version: 1
population: {name: town}
budget: {epsilon: 10, delta: 1e-6, selection_delta: 5e-7}
tables:
  visits:
    source: {csv: v.csv}
    unit: person
    rows_per_unit: 20
    columns:
      person: {type: integer}
      ward: {type: text, values_from: wards.ward}
      maybe: {type: text, values_from: wards.ward, nullable: true}
      home: {type: text}
      old: {type: text, values: [a, b]}
      cost: {type: integer, bounds: [0, 100]}
  wards: {public: true, source: {csv: w.csv}, columns: {ward: {type: text}, home: {type: text, values_from: wards.home}, old: {type: text}, bed: {type: text}}}
`

const publicOptions = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(group_selection_strategy=PUBLIC_GROUPS) "

func publicGroupsOf(t *testing.T) *policy.Policy {
	t.Helper()
	p, err := policy.Decode([]byte(publicGroupsPolicy), ".")
	if err != nil {
		t.Fatal(err)
	}
	return p.Filled(func(o policy.Origin) ([]value.Value, int, string) {
		if o.Column == "home" {
			return []value.Value{value.OfText("x"), value.OfText("y")}, 3, ""
		}
		return []value.Value{value.OfText("a"), value.OfText("b"), value.OfText("empty")}, 3, ""
	})
}

// The join for PUBLIC_GROUPS is the question over its table of persons alone: the groups are the public values, NULL is none, and where the plain
// question has these groups, it is the same release.
func TestPublicGroups(t *testing.T) {
	p := publicGroupsOf(t)
	for _, c := range []struct{ sql, same, groups string }{
		{"ward, COUNT(*) FROM visits RIGHT OUTER JOIN (SELECT DISTINCT ward FROM wards) USING (ward) GROUP BY ward", "SELECT ward, COUNT(*) FROM visits GROUP BY ward", "a b empty"},
		{"w.ward, COUNT(*) FROM visits RIGHT JOIN (SELECT DISTINCT ward FROM wards) w ON visits.ward = w.ward GROUP BY w.ward", "SELECT ward, COUNT(*) FROM visits GROUP BY ward", "a b empty"},
		{"w.ward, COUNT(*) FROM (SELECT DISTINCT ward FROM wards) AS w LEFT JOIN visits v ON w.ward = v.ward GROUP BY w.ward", "SELECT ward, COUNT(*) FROM visits GROUP BY ward", "a b empty"},
		{"here AS x, SUM(cost) FROM visits RIGHT JOIN (SELECT DISTINCT ward AS here FROM wards) w ON ward = here GROUP BY 1 ORDER BY x", "SELECT ward, SUM(cost) FROM visits GROUP BY ward", "a b empty"},
		{"ward, COUNT(*) FROM (SELECT * FROM visits WHERE cost > 5) v RIGHT JOIN (SELECT DISTINCT ward FROM wards) USING (ward) GROUP BY ROLLUP (ward)", "SELECT ward, COUNT(*) FROM visits WHERE cost > 5 GROUP BY ROLLUP (ward)", "a b empty"},
		{"ward, COUNT(DISTINCT person), MEDIAN(cost) FROM visits RIGHT JOIN (SELECT DISTINCT ward FROM wards) USING (ward) GROUP BY ward", "SELECT ward, COUNT(DISTINCT person), MEDIAN(cost) FROM visits GROUP BY ward", "a b empty"},
		{"w.ward, COUNT(*) FROM visits RIGHT JOIN (SELECT DISTINCT ward FROM wards) w ON maybe = w.ward GROUP BY w.ward", "", "a b empty"},
		{"home, COUNT(*) FROM visits RIGHT JOIN (SELECT DISTINCT home FROM wards) USING (home) GROUP BY home", "", "x y"},
	} {
		q, err := plan.Build(p, plan.Request{SQL: publicOptions + c.sql})
		if err != nil {
			t.Errorf("%s: %v", c.sql, err)
			continue
		}
		if got := fmt.Sprint(q.Tables()); got != "[visits]" || q.Source != nil {
			t.Errorf("%s: reads %s, %v", c.sql, got, q.Source)
		}
		var groups []string
		for _, v := range q.Keys[0].Values {
			groups = append(groups, v.String())
		}
		if strings.Join(groups, " ") != c.groups || q.Selection != nil {
			t.Errorf("%s: groups %v", c.sql, groups)
		}
		if !strings.Contains(q.Canonical(1), "version 3\n") {
			t.Errorf("%s: the public table's version is not in %s", c.sql, q.Canonical(1))
		}
		if c.same == "" {
			continue
		}
		same, err := plan.Build(p, plan.Request{SQL: c.same})
		if err != nil || same.Key(1) != q.Key(1) {
			t.Errorf("%s\n%s\nis not\n%s\n%v", c.sql, q.Canonical(1), same.Canonical(1), err)
		}
	}
	// Rows of other values are dropped, so that neither of two questions follows from the other.
	maybe, err := plan.Build(p, plan.Request{SQL: publicOptions + "w.ward, COUNT(*) FROM visits RIGHT JOIN (SELECT DISTINCT ward FROM wards) w ON maybe = w.ward GROUP BY w.ward"})
	if err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{"SELECT maybe, COUNT(*) FROM visits GROUP BY maybe", "SELECT COUNT(*) FROM visits"} {
		q, err := plan.Build(p, plan.Request{SQL: sql})
		if err != nil {
			t.Fatal(err)
		}
		if q.Key(1) == maybe.Key(1) || reuse.NewReader(q).Tells(maybe) || reuse.NewReader(maybe).Tells(q) {
			t.Errorf("%s is told by what dropped rows, or tells it", sql)
		}
	}
}

// What is not declared is refused with the declaration; what is not answered, with what is.
func TestPublicGroupsRefusals(t *testing.T) {
	p := publicGroupsOf(t)
	for _, c := range []struct{ sql, want, hint string }{
		{publicOptions + "w.bed, COUNT(*) FROM visits v RIGHT JOIN (SELECT DISTINCT bed FROM wards) w ON v.home = w.bed GROUP BY w.bed", "the policy does not declare that the groups of home are the values of wards.bed", "the owner can declare, for column home of table visits: values_from: wards.bed"},
		{publicOptions + "old, COUNT(*) FROM visits v RIGHT JOIN (SELECT DISTINCT old FROM wards) w USING (old) GROUP BY old", "the policy does not declare that the groups of old are the values of wards.old", "the owner can declare, for column old of table visits: values_from: wards.old, in place of what it declares now"},
		{publicOptions + "w.home, COUNT(*) FROM visits v RIGHT JOIN (SELECT DISTINCT home FROM wards) w ON v.old = w.home GROUP BY w.home", "the policy does not declare that the groups of old are the values of wards.home", "the owner can declare, for column old of table visits: values_from: wards.home, in place of what it declares now"},
		{"SELECT ward, COUNT(*) FROM visits RIGHT JOIN (SELECT DISTINCT ward FROM wards) USING (ward) GROUP BY ward", "this join would add rows that belong to nobody", "write SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(group_selection_strategy=PUBLIC_GROUPS) …, which shows exactly the public table's groups"},
		{publicOptions + "ward, COUNT(*) FROM visits RIGHT JOIN (SELECT DISTINCT ward FROM wards) USING (ward) GROUP BY visits.ward", "under PUBLIC_GROUPS, GROUP BY takes only the public table's column", "write GROUP BY ward"},
		{publicOptions + "COUNT(*) FROM visits RIGHT JOIN (SELECT DISTINCT ward FROM wards) w USING (ward) GROUP BY GROUPING SETS (())", "a join for PUBLIC_GROUPS needs a GROUP BY of its column", "write GROUP BY ward"},
		{publicOptions + "w.ward, COUNT(*) FROM visits RIGHT JOIN (SELECT DISTINCT ward FROM wards) w USING (ward) WHERE cost > 3 GROUP BY w.ward", "PUBLIC_GROUPS takes no WHERE: it would drop empty groups", "put the condition into a subquery: FROM (SELECT * FROM … WHERE …) AS t"},
		{"SELECT COUNT(*) FROM (SELECT DISTINCT ward, cost FROM visits) v", "SELECT DISTINCT is not supported here: whether a row stays would depend on other persons' rows", "write SELECT visits.person, ward, cost … GROUP BY visits.person, ward, cost: each person's values then occur once"},
		{"SELECT COUNT(*) FROM visits v JOIN (SELECT DISTINCT ward FROM wards) w ON v.ward = w.ward", "SELECT DISTINCT of public rows can only list the groups of PUBLIC_GROUPS", "leave DISTINCT out, if the owner declares rows_per_value for the join's column; or, to group by its values, write OPTIONS(group_selection_strategy=PUBLIC_GROUPS) and t RIGHT JOIN (SELECT DISTINCT x FROM p) USING (x)"},
	} {
		refusedWith(t, p, c.sql, c.want, c.hint)
	}
	// what hints say to write is taken
	for _, sql := range []string{
		"SELECT COUNT(*) FROM (SELECT visits.person, ward, cost FROM visits GROUP BY visits.person, ward, cost) v",
		publicOptions + "w.ward, COUNT(*) FROM (SELECT * FROM visits WHERE cost > 3) AS t RIGHT JOIN (SELECT DISTINCT ward FROM wards) w USING (ward) GROUP BY w.ward",
	} {
		if _, err := plan.Build(p, plan.Request{SQL: sql}); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
	// neither are they groups of what has none
	for _, build := range []func(*policy.Policy, plan.Request) (*plan.Target, error){plan.BuildRows, plan.BuildOrder, plan.BuildScores} {
		if _, err := build(p, plan.Request{SQL: publicOptions + "cost FROM visits RIGHT JOIN (SELECT DISTINCT ward FROM wards) USING (ward)"}); err == nil || !strings.Contains(err.Error(), "needs a GROUP BY of its column") {
			t.Error(err)
		}
	}
	p, err := policy.Decode([]byte(publicGroupsPolicy), ".")
	if err != nil {
		t.Fatal(err)
	}
	refusedWith(t, p, publicOptions+"ward, COUNT(*) FROM visits RIGHT JOIN (SELECT DISTINCT ward FROM wards) USING (ward) GROUP BY ward", `column "ward" takes its values from wards.ward, and they are not known here`, "the owner can seal it: dither seal wards")
}

// refusedWith checks a refusal and its hint.
func refusedWith(t *testing.T, p *policy.Policy, sql, want, hint string) {
	t.Helper()
	_, err := plan.Build(p, plan.Request{SQL: sql})
	if err == nil {
		t.Errorf("%s: is taken", sql)
		return
	}
	if got := hintOf(err); !strings.HasSuffix(err.Error(), want) || got != hint {
		t.Errorf("%s\ngot  %v\n     %s\nwant %s\n     %s", sql, err, got, want, hint)
	}
}

func hintOf(err error) string {
	var mine *plan.Error
	var parsed *query.Error
	switch {
	case errors.As(err, &mine):
		return mine.Hint
	case errors.As(err, &parsed):
		return parsed.Hint
	}
	return ""
}

// Over hostile rows the join is what declared values are: rows of other values, and of NULL, are dropped before a unit is bounded.
func TestPublicGroupsOverHostileRows(t *testing.T) {
	const text = `
version: 1
population: {name: hostile}
budget: {epsilon: 10}
tables:
  p: {source: {csv: p.csv}, unit: person, rows_per_unit: 2, columns: {person: {type: integer}, own: {type: text%s}, maybe: {type: text%s}, day: {type: date%s}, x: {type: integer, bounds: [-3, 9], nullable: true}}}
  g: {public: true, source: {csv: g.csv}, columns: {own: {type: text%s}, maybe: {type: text}, day: {type: date%s}}}
`
	known := func(o policy.Origin) ([]value.Value, int, string) {
		if o.Column == "day" {
			return []value.Value{value.OfDay(0), value.OfDay(10957), value.OfDay(10961)}, 1, ""
		}
		return []value.Value{value.OfText(""), value.OfText("B"), value.OfText("a"), value.OfText("nobody")}, 1, ""
	}
	decoded := func(own, maybe, day, ofOwn, ofDay string) *policy.Policy {
		p, err := policy.Decode(fmt.Appendf(nil, text, own, maybe, day, ofOwn, ofDay), ".")
		if err != nil {
			t.Fatal(err)
		}
		return p.Filled(known)
	}
	joined := decoded(", nullable: true", ", values_from: g.maybe, nullable: true", ", nullable: true", ", values_from: g.own", ", values_from: g.day")
	constants := decoded(", nullable: true", ", nullable: true", ", nullable: true", "", "").WithPublic(
		func(o policy.Origin) ([]value.Value, string) {
			values, _, _ := known(o)
			return values, ""
		})
	listed := decoded(`, values: ["", B, a, nobody]`, `, values: ["", B, a, nobody]`, ", values: [1970-01-01, 2000-01-01, 2000-01-05]", "", "")
	stattest.Cases(t, 600)
	told := 0
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.SampledFrom([]string{"own", "maybe", "day"}).Draw(t, "key")
		where := rapid.SampledFrom([]string{"p", "(SELECT * FROM p WHERE x > 0 OR own <> 'a') p", "(SELECT own, maybe, day, x, person AS who FROM p WHERE own IS NULL OR maybe <> 'B' OR day > DATE '1999-01-01') p"}).Draw(t, "rows")
		what := "COUNT(*), SUM(x), COUNT(DISTINCT x), COUNT(DISTINCT " + key + ")"
		by := rapid.SampledFrom([]string{" GROUP BY h.%s", " GROUP BY ROLLUP (h.%s)"}).Draw(t, "by")
		declared := rapid.Bool().Draw(t, "declared") // or else the public values are constants of the question
		p := constants
		if declared {
			p = joined
		}
		q, err := plan.Build(p, plan.Request{SQL: publicOptions + "h." + key + ", " + strings.ReplaceAll(what, "DISTINCT "+key, "DISTINCT h."+key) + " FROM " + where + " RIGHT JOIN (SELECT DISTINCT " + key + " FROM g) h ON p." + key + " = h." + key + fmt.Sprintf(by, key)})
		if err != nil {
			t.Fatal(err)
		}
		rows := enginetest.Rows(t, joined.Table("p"), 14)
		ranked := enginetest.Ranked(clones(rows), "person")
		// the other question drops these rows by what it declares of that column alone
		other, err := plan.Build(declaring(p, listed, key), plan.Request{SQL: "SELECT " + key + ", " + what + " FROM " + where + strings.Replace(fmt.Sprintf(by, key), "h.", "", 1)})
		if err != nil {
			t.Fatal(err)
		}
		sums := func(q *plan.Plan) string {
			var lines []string
			enginetest.Sum(&q.Statement, ranked, func(keys []value.Value, sums []*big.Int) { lines = append(lines, fmt.Sprint(keys, sums)) })
			slices.Sort(lines)
			return strings.Join(lines, "\n")
		}
		if got, want := sums(q), sums(other); got != want {
			t.Fatalf("%s by %s:\n%s\nwant\n%s", key, where, got, want)
		} else if got != "" {
			told++
		}
		for i, m := range q.Measures {
			o := other.Measures[i]
			if !declared && m.L1.Cmp(o.L1) >= 0 && m.L2Squared.Cmp(o.L2Squared) >= 0 {
				continue // distinct values of the column are not known to be few
			}
			if m.L1.Cmp(o.L1) != 0 || m.L2Squared.Cmp(o.L2Squared) != 0 {
				t.Fatalf("%s moves by %s, and %s by %s", m, m.L1, o, o.L1)
			}
		}
	})
	if told < 100 {
		t.Errorf("only %d told anything", told)
	}
}

// declaring is p with one column declared as in q.
func declaring(p, q *policy.Policy, column string) *policy.Policy {
	out := *p
	out.Tables = slices.Clone(p.Tables)
	t := *p.Table("p")
	t.Columns = slices.Clone(t.Columns)
	for i, c := range t.Columns {
		if c.Name == column {
			t.Columns[i] = q.Table("p").Column(column)
		}
	}
	out.Tables[0] = &t
	return &out
}
