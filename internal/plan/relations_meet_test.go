package plan_test

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/query"
	"dither/internal/value"
	"dither/privacy"
)

// Relations go together with distinct counts, bounds per row and group, bounds that are found, quantiles, modes, grouping sets and groups
// that are not known, or are refused: what each looks at moves between neighbours by what is planned, at most.
func TestRelationsMeetEverything(t *testing.T) {
	cases(t, 2000)
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
					for _, of := range q.Measures {
						if _, follows := q.Follow(of, q.Groupings()[0], q); follows && q.Source != nil {
							t.Fatalf("%s: a relation is followed", request.SQL)
						}
					}
				})
				for _, kind := range []string{"sums", "found", "ordered", "mode", "sets", "open", "rows", "found in open groups", "found over sets", "found beside quantiles", "distinct over sets"} {
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

// check says what moved.
func (m meeting) check(t *rapid.T) (moved []string) {
	note := func(kind string, any bool) {
		if any {
			moved = append(moved, kind)
		}
	}
	if s := m.q.Rows; s != nil {
		gone, come := m.apart(&s.Look)
		if gone > 1 || come > 1 || m.q.Neighbours == privacy.AddRemove && come > 0 {
			t.Fatalf("%s: of the units' numbers of rows %d go and %d come\n%v\n%v", m.sql, gone, come, m.before, m.after)
		}
		note("rows", gone+come > 0)
		m.q = enginetest.FoundRows(t, m.q)
	}
	q := m.q
	for _, s := range q.Searches {
		gone, come := m.apart(&s.Look)
		if r := s.Look.Caps.Rows; gone > r || come > r || q.Neighbours == privacy.AddRemove && come > 0 {
			t.Fatalf("%s: a search's rows: %d go and %d come, of %d\n%v\n%v", m.sql, gone, come, r, m.before, m.after)
		}
		if moves := big.NewInt(gone + come); moves.Cmp(s.Histogram.L1) > 0 || gone*gone+come*come > s.Histogram.L2Squared.Int64() {
			t.Fatalf("%s: a search's histogram: %d rows go and %d come, of %s\n%v\n%v", m.sql, gone, come, s.Histogram.L1, m.before, m.after)
		}
		note("found", gone+come > 0)
		note("found in open groups", q.Open() && gone+come > 0)
		note("found over sets", q.Sets != nil && gone+come > 0)
		note("found beside quantiles", len(q.Quantiles) > 0 && gone+come > 0)
	}
	if q.Open() {
		m.q = foundAnything(t, q)
		note("open", m.groups(t))
		return moved
	}
	if len(q.Measures) > 0 {
		q := foundAnything(t, q)
		for _, g := range q.Groupings() {
			l1, l2squared := m.over(&q.Bounded, g)
			distinctOver(q, g, l1, l2squared, m.over)
			for i, of := range g.Measures {
				if l1[i].Cmp(of.L1) > 0 || l2squared[i].Cmp(of.L2Squared) > 0 {
					t.Fatalf("%s\n%s\nmeasure %s over keys %v moves by %s, squared L2 %s; planned %s, %s\n%v\n%v", m.sql, q.Source, of, g.Keys, l1[i], l2squared[i], of.L1, of.L2Squared, m.before, m.after)
				}
				note("sums", l1[i].Sign() > 0)
				note("sets", q.Sets != nil && l1[i].Sign() > 0)
				note("bounds per group over sets", q.Sets != nil && of.Cells != nil && l1[i].Sign() > 0)
				note("distinct over sets", q.Sets != nil && !of.Additive() && l1[i].Sign() > 0)
			}
		}
	}
	for _, of := range q.Orders() {
		m.orders(t, of, note)
		note("ordered over sets", q.Sets != nil)
	}
	return moved
}

// orders checks the looks for quantiles and modes, of one grouping.
func (m meeting) orders(t *rapid.T, q *plan.Plan, note func(string, bool)) {
	for _, v := range q.OrderedValues() {
		gone, come := m.apart(q.Ordered(v))
		if r := q.OrderCaps.MostRows(); gone > r || come > r || q.Neighbours == privacy.AddRemove && come > 0 {
			t.Fatalf("%s: of %s, %d rows go and %d come; %d may\n%v\n%v", m.sql, v, gone, come, r, m.before, m.after)
		}
		left, right := m.tallied(q.Ordered(v))
		for _, o := range q.Quantiles {
			if d := scoresApart(o, left, right); o.Value == v && d.Cmp(o.Sensitivity) > 0 {
				t.Fatalf("%s: scores of %s move by %s, planned %s\n%v\n%v", m.sql, o, d, o.Sensitivity, m.before, m.after)
			}
		}
		note("ordered", gone+come > 0)
	}
	for _, o := range q.Modes {
		l1, _ := m.over(q.Counted(o), plan.Grouping{})
		total := l1[0].Int64() // in one cell, where none has keys
		if n := len(q.Counted(o).Keys); n > 0 {
			all := plan.Grouping{}
			for k := range n {
				all.Keys = append(all.Keys, k)
			}
			l1, _ = m.over(q.Counted(o), all)
			total = l1[0].Int64()
		}
		most := o.Rows
		if q.Neighbours == privacy.ChangeOne {
			most *= 2
		}
		if total > most {
			t.Fatalf("%s: scores of %s move by %d in all, of %d\n%v\n%v", m.sql, o, total, most, m.before, m.after)
		}
		note("mode", total > 0)
	}
}

// groups checks which groups there are, and what is measured of those that are chosen.
func (m meeting) groups(t *rapid.T) bool {
	q := m.q
	there := q.Bounded
	there.Other = false
	first, second := enginetest.GroupsOf(&there, m.before), enginetest.GroupsOf(&there, m.after)
	differ, squared := int64(0), int64(0)
	var chosen [][]value.Value
	for _, name := range union(first, second) {
		d := units(first[name]) - units(second[name])
		if d != 0 {
			differ++
		}
		squared += d * d
		if d*d > 1 {
			t.Fatalf("%s: a group differs by %d units\n%v\n%v", m.sql, d, m.before, m.after)
		}
		if rapid.Bool().Draw(t, "chosen") {
			group, err := there.Group(name)
			if err != nil {
				t.Fatal(err)
			}
			chosen = append(chosen, group)
		}
	}
	if s := q.Selection; differ > s.Optimal.Keys || squared > s.Gaussian.L2Squared.Int64() {
		t.Fatalf("%s: %d groups differ, by %d squared: told %+v\n%v\n%v", m.sql, differ, squared, s, m.before, m.after)
	}
	plan.SortGroups(chosen)
	after := q.Choose(chosen)
	l1, l2squared := apartWithin(&after.Bounded, first, second)
	if q.Other {
		all := plan.Grouping{}
		for k := range after.KeyTypes() {
			all.Keys = append(all.Keys, k)
		}
		l1, l2squared = m.over(&after.Bounded, all)
	}
	for i, of := range q.Measures {
		if l1[i].Cmp(of.L1) > 0 || l2squared[i].Cmp(of.L2Squared) > 0 {
			t.Fatalf("%s: %v: measure %s moves by %s, squared L2 %s; planned %s, %s\n%v\n%v", m.sql, chosen, of, l1[i], l2squared[i], of.L1, of.L2Squared, m.before, m.after)
		}
	}
	return differ > 0
}

func union[T any](a, b map[string]T) (out []string) {
	for name := range a {
		out = append(out, name)
	}
	for name := range b {
		if _, both := a[name]; !both {
			out = append(out, name)
		}
	}
	return out
}

// apart is how many rows of a look are in one and not in the other.
func (m meeting) apart(b *plan.Bounded) (gone, come int64) { return apart(m.tallied(b)) }

// tallied is how many rows of a look have each value, by cell, of both.
func (m meeting) tallied(b *plan.Bounded) (left, right map[string]map[int64]int64) {
	of := func(tables enginetest.Tables) map[string]map[int64]int64 {
		out := map[string]map[int64]int64{}
		enginetest.OrderCellsOf(b, tables, func(keys []value.Value, v int64) {
			cell := fmt.Sprintf("%q", keys)
			if out[cell] == nil {
				out[cell] = map[int64]int64{}
			}
			out[cell][v]++
		})
		return out
	}
	return of(m.before), of(m.after)
}

// over is distancesOver of a relation.
func (m meeting) over(b *plan.Bounded, g plan.Grouping) (l1, l2squared []*big.Int) {
	over := make([]map[string]*big.Int, len(b.Measures))
	for i := range over {
		over[i] = map[string]*big.Int{}
	}
	for sign, tables := range []enginetest.Tables{m.before, m.after} {
		enginetest.SumOf(b, tables, func(keys []value.Value, sums []*big.Int) {
			var of []value.Value
			for _, k := range g.Keys {
				of = append(of, keys[k])
			}
			cell := plan.GroupName(of)
			for i, s := range sums {
				if over[i][cell] == nil {
					over[i][cell] = new(big.Int)
				}
				over[i][cell].Add(over[i][cell], new(big.Int).Mul(s, big.NewInt(int64(1-2*sign))))
			}
		})
	}
	return norms(over)
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
		{"SELECT SUM(a.i, contribution_bounds_per_group => (0, 2)) FROM t a JOIN r b ON a.s = b.rs", "nothing bounds what one adds to a group but bounds of rows"},
		{"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(max_rows_contributed=1) COUNT(*) FROM t a JOIN r b ON a.s = b.rs", "a question cannot bound these"},
		{"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(max_groups_contributed=1) COUNT(*) FROM t a JOIN r b ON a.s = b.rs GROUP BY b.rk", "a question cannot bound these"},
		{"SELECT AVG(n) FROM (SELECT person, SUM(i, weight => 2) AS n FROM p GROUP BY person) q", "an aggregate is exact"},
		{"SELECT AVG(n) FROM (SELECT person, SUM(i, bounds => auto) AS n FROM p GROUP BY person) q", "an aggregate is exact"},
		{"SELECT AVG(n) FROM (SELECT person, MEDIAN(i) AS n FROM p GROUP BY person) q", "not supported over one unit's rows"},
		{"SELECT AVG(n) FROM (SELECT person, k, COUNT(*) AS n FROM p GROUP BY ROLLUP (person, k)) q", "not supported here"},
		{"SELECT COUNT(*) FROM p a JOIN v b ON a.person = b.who WHERE a.s = 'a'", `the values of column "s" are those of r.rs`},
		{"SELECT COUNT(*) FROM (SELECT * FROM p UNION ALL SELECT * FROM p) q", `the values of column "s" are those of r.rs`},
		{"SELECT COUNT(*) FROM (SELECT s AS y FROM p) q", `the values of column "s" are those of r.rs`},
		{"SELECT COUNT(*) FROM (SELECT WITH DIFFERENTIAL_PRIVACY person FROM p) q", "the clause is given once"},
		{"SELECT a.person, COUNT(*) FROM p a JOIN v b ON a.person = b.who GROUP BY a.person", "each group would be one unit's"},
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
	if err != nil || q.Measures[0].Kind != plan.CountDistinct {
		t.Error(err)
	}
	q, err = plan.Build(p, plan.Request{SQL: "SELECT COUNT(DISTINCT x.y) FROM (SELECT person AS y, k AS person FROM p) x"})
	if err != nil || q.Measures[0].Kind != plan.CountUnits {
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
