package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dither/internal/bounded"
	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/query"
	"dither/internal/reuse"
	"dither/internal/stattest"
	"dither/internal/value"
)

// Relations go together with distinct counts, bounds per row and group, bounds that are found, quantiles, modes, grouping sets and groups
// that are not known, or are refused: what each looks at moves between neighbours by what is planned, at most.
func TestRelationsMeetEverything(t *testing.T) {
	stattest.Cases(t, 2000)
	for _, relation := range []string{"add-remove", "change-one"} {
		for _, byGroups := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, by groups %t", relation, byGroups), func(t *testing.T) {
				p, err := policy.Decode(enginetest.OpenedRelations(relation, byGroups), ".")
				if err != nil {
					t.Fatal(err)
				}
				seen, refused := map[string]int{}, map[string]string{}
				rapid.Check(t, func(t *rapid.T) {
					request, ofRows := enginetest.Meeting(t)
					q, err := plan.Build(p, request)
					if err != nil {
						refused[err.Error()] = request.SQL
						return
					}
					before := enginetest.RelationRows(t, p, 9)
					m := meeting{q: q, sql: request.SQL, before: before, after: enginetest.RelationNeighbour(t, p, before, ofRows, relation == "change-one")}
					if q.Source == nil && q.Unit != nil { // of one table, whose rows are ranked when they are sealed
						for _, of := range []enginetest.Tables{m.before, m.after} {
							of[q.Table] = enginetest.Ranked(clones(of[q.Table]), q.Unit.Name)
						}
					}
					for _, kind := range m.check(t) {
						seen[kind]++
					}
					for j, of := range q.Measures {
						if _, follows := reuse.NewReader(q).Follow(of, q.Groupings()[0], q); !follows || q.Source == nil {
							continue
						}
						seen["followed"]++
						uncapped := q.Statement // every row of a relation that is followed counts: without caps, the sums are the same
						if uncapped.Caps = (bounded.Caps{Rows: 1000}); of.OfUnits() || q.CellsClamped() {
							continue
						}
						for i, sum := range overTables(&uncapped, q.Groupings()[0], j, before) {
							if capped := overTables(&q.Statement, q.Groupings()[0], j, before)[i]; capped.Cmp(sum) != 0 {
								t.Fatalf("%s: %s is %s in cell %d, and %s without caps\n%v", request.SQL, of, capped, i, sum, before)
							}
						}
					}
				})
				for _, kind := range []string{
					"sums", "found", "ordered", "mode", "sets", "open", "rows", "found in open groups", "found over sets",
					"found beside quantiles", "distinct over sets", "followed",
				} {
					if seen[kind] < 3 {
						t.Errorf("%s: only %d moved", kind, seen[kind])
						for e, sql := range refused {
							t.Log(e, "\n   ", sql)
						}
					}
				}
			})
		}
	}
}

// meeting is one question, over neighbours.
type meeting struct {
	q             *plan.Plan
	sql           string
	before, after enginetest.Tables
}

func (m meeting) twins(t *rapid.T) *enginetest.Twins {
	return &enginetest.Twins{
		Plan: m.q, SQL: m.sql, Of: [2]enginetest.Database{enginetest.Reference{Tables: m.before}, enginetest.Reference{Tables: m.after}},
		Pick: func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "picked") },
	}
}

// check says what moved.
func (m meeting) check(t *rapid.T) (moved []string) {
	moves, err := m.twins(t).Check()
	if err != nil {
		t.Fatalf("%v\n%s\n%v\n%v", err, m.q.Source, m.before, m.after)
	}
	note := func(kind string, any bool) {
		if any {
			moved = append(moved, kind)
		}
	}
	for _, of := range moves {
		if !of.Moved {
			continue
		}
		note(of.Kind, of.Kind != "chosen")
		switch of.Kind {
		case "found":
			note("found in open groups", m.q.Open())
			note("found over sets", m.q.Sets != nil)
			note("found beside quantiles", len(m.q.Quantiles) > 0)
		case "sums":
			note("sets", m.q.Sets != nil)
			note("distinct over sets", m.q.Sets != nil && !of.Measure.Additive())
		}
	}
	return moved
}

// What a relation does not go together with is refused, and says why; what a table of it asks for holds.
func TestRelationsTogether(t *testing.T) {
	text := string(enginetest.OpenedRelations("add-remove", false))
	text = strings.Replace(text, "rows_per_unit: 2, columns: {who:", "rows_per_unit: 2, min_units_per_group: 9, columns: {who:", 1)
	text = strings.Replace(text, "s: {type: text, values: [a, B, \"\"], nullable: true}", "s: {type: text, values_from: r.rs, nullable: true}", 1)
	text = strings.Replace(text, "unit: row, columns: {", "unit: row, columns: {serial: {type: integer}, ", 1)
	p, err := policy.Decode([]byte(text), ".")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ sql, want string }{
		{"SELECT COUNT(*) FROM t a JOIN r b ON a.s = b.rs GROUP BY a.serial", "would be selected by rows, not by units"},
		{"SELECT SUM(a.i, contribution_bounds_per_group => (0, 2)) FROM t a JOIN r b ON a.s = b.rs", "only bounds per row limit what one unit adds to a group"},
		{"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(max_rows_contributed=1) COUNT(*) FROM t a JOIN r b ON a.s = b.rs", "a question cannot bound their number"},
		{"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(max_groups_contributed=1) COUNT(*) FROM t a JOIN r b ON a.s = b.rs GROUP BY b.rk", "a question cannot bound their number"},
		{"SELECT AVG(n) FROM (SELECT person, SUM(i, weight => 2) AS n FROM p GROUP BY person) q", "own rows is exact"},
		{"SELECT AVG(n) FROM (SELECT person, SUM(i, bounds => auto) AS n FROM p GROUP BY person) q", "own rows is exact"},
		{"SELECT AVG(n) FROM (SELECT person, MODE(i) AS n FROM p GROUP BY person) q", "not supported over one unit's rows"},
		{"SELECT AVG(n) FROM (SELECT person, k, COUNT(*) AS n FROM p GROUP BY ROLLUP (person, k)) q", "not supported here"},
		{"SELECT COUNT(*) FROM p a JOIN v b ON a.person = b.who WHERE a.s = 'a'", `column "s" takes its values from r.rs`},
		{"SELECT COUNT(*) FROM (SELECT * FROM p UNION ALL SELECT * FROM p) q", `column "s" takes its values from r.rs`},
		{"SELECT COUNT(*) FROM (SELECT s AS y FROM p) q", `column "s" takes its values from r.rs`},
		{"SELECT COUNT(*) FROM (SELECT WITH DIFFERENTIAL_PRIVACY person FROM p) q", "the clause stands in a subquery whose rows are no answer"},
		{"SELECT a.person, COUNT(*) FROM p a JOIN v b ON a.person = b.who GROUP BY a.person", "each group would hold one unit only"},
		{"SELECT j, COUNT(*) FROM (SELECT person AS id, id AS j FROM p) q GROUP BY j", ""},
		{"SELECT COUNT(DISTINCT b.who) FROM p a LEFT JOIN v b ON a.person = b.who", ""},
	} {
		_, err := plan.Build(p, plan.Request{SQL: c.sql})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v", c.sql, err)
		}
	}
	q, err := plan.Build(p, plan.Request{SQL: "SELECT b.j, COUNT(*) FROM p a JOIN v b ON a.person = b.who GROUP BY b.j"})
	if err != nil || q.Selection.MinUnits != 9 {
		t.Error("a table's least number of units does not hold over its relations", err)
	}
	// who is in v is not who is asked about: of those who have no row there it is NULL, and one value among others
	q, err = plan.Build(p, plan.Request{SQL: "SELECT COUNT(DISTINCT b.who) FROM p a LEFT JOIN v b ON a.person = b.who"})
	if err != nil || q.Measures[0].Kind != bounded.CountDistinct {
		t.Error(err)
	}
	q, err = plan.Build(p, plan.Request{SQL: "SELECT COUNT(DISTINCT x.y) FROM (SELECT person AS y, k AS person FROM p) x"})
	if err != nil || q.Measures[0].Kind != bounded.CountUnits {
		t.Error(err)
	}
	// versions of public tables whose values are read are in the key
	filled := p.Filled(func(policy.Origin) ([]value.Value, int, string) { return []value.Value{value.OfText("a")}, 7, "" })
	for _, sql := range []string{
		"SELECT COUNT(*) FROM p a JOIN v b ON a.person = b.who WHERE a.s = 'a'",
		"SELECT COUNT(*) FROM (SELECT s AS y, person FROM p) q WHERE y = 'a'",
		"SELECT COUNT(*) FROM (SELECT s AS y FROM p UNION ALL SELECT c FROM v) q WHERE y = 'a'",
	} {
		q, err := plan.Build(filled, plan.Request{SQL: sql})
		if err != nil || !strings.Contains(q.Canonical(1, 2, 3), "version 7\n") {
			t.Error(sql, err)
		}
	}
	if _, err := query.Parse("WITH x AS (SELECT person FROM p) SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1) COUNT(*) FROM x"); err != nil {
		t.Error(err)
	}
}
