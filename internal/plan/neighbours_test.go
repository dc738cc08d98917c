package plan_test

import (
	"fmt"
	"maps"
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

// The exact bounded sums of two neighbouring tables differ by at most the planned sensitivity, measure by measure, for
// random questions over hostile rows, under both relations: the property that all noise rests on.
func TestNeighboursStayWithinSensitivity(t *testing.T) {
	acrossNeighbours(t, func(t *rapid.T, p *policy.Policy, table string) (*bounded.Statement, func(before, after []enginetest.Row) bool) {
		request := plan.Request{SQL: enginetest.Question(t, table)}
		if table == "p" {
			request.MaxGroups = int64(rapid.IntRange(0, 4).Draw(t, "max groups"))
		}
		q, err := plan.Build(p, request)
		if err != nil {
			return nil, nil
		}
		q = foundAnything(t, q)
		return &q.Statement, func(before, after []enginetest.Row) (moved bool) {
			for _, s := range q.Searches {
				searchesStayWithin(t, s, before, after)
			}
			return measuresStayWithin(t, request.SQL, q, before, after)
		}
	})
}

// Under max_groups_contributed = NULL, with bounds per group, units count in as many groups as they may have rows, and
// one of the groups is that of NULL. About 1,700 of the keys that are drawn have that group.
func TestNeighboursWithUnlimitedGroups(t *testing.T) {
	nulls := 0
	type moves = func(before, after []enginetest.Row) bool
	acrossNeighboursOf(t, 600, func(t *rapid.T, p *policy.Policy, table string) (*bounded.Statement, moves) {
		sql := enginetest.PerGroup(t, table)
		q, err := plan.Build(p, plan.Request{SQL: sql})
		if err != nil {
			return nil, nil
		}
		unit := p.Table(table).Unit
		most := min(unit.RowsPerUnit, int64(q.Cells()))
		if !unit.IsRow() && (q.Caps.Rows != 0 || q.Caps.Groups != most) {
			t.Fatalf("%s: a unit of %d rows counts in %v of %d cells", sql, unit.RowsPerUnit, q.Caps, q.Cells())
		}
		for _, k := range q.Keys {
			if slices.ContainsFunc(k.Values, func(v value.Value) bool { return v.Null }) {
				nulls++
			}
		}
		return &q.Statement, func(before, after []enginetest.Row) bool { return measuresStayWithin(t, sql, q, before, after) }
	})
	if nulls < 300 {
		t.Errorf("%d keys had a group of NULL: the test shows nothing", nulls)
	}
}

// A unit with a row in each of three groups, NULL among them, moves such a question exactly as far as planned.
func TestUnlimitedGroupsMoveAsPlanned(t *testing.T) {
	for _, text := range [][]byte{enginetest.PolicyText("add-remove"), enginetest.ByGroups("add-remove")} {
		p, err := policy.Decode(text, ".")
		if err != nil {
			t.Fatal(err)
		}
		q, err := plan.Build(p, plan.Request{SQL: "SELECT WITH DIFFERENTIAL_PRIVACY " +
			"OPTIONS(max_groups_contributed=NULL) s, COUNT(*, contribution_bounds_per_group => (0, 1)), " +
			"SUM(i, contribution_bounds_per_group => (0, 5)) FROM p GROUP BY s"})
		if err != nil {
			t.Fatal(err)
		}
		var rows []enginetest.Row
		for _, s := range []value.Value{value.OfText("a"), value.OfText("B"), value.NullOf(value.Text)} {
			rows = append(rows, enginetest.Row{"person": value.OfInt(1), "s": s, "i": value.OfInt(9)})
		}
		l1, _ := distances(&q.Statement, enginetest.Ranked(rows, "person"), nil)
		for i, m := range q.Measures {
			if l1[i].Sign() == 0 || l1[i].Cmp(m.L1) != 0 {
				t.Errorf("a unit moves %s by %s, and %s is planned", m, l1[i], m.L1)
			}
		}
	}
}

// measuresStayWithin reports whether a measure moves, and fails if one moves farther than planned.
func measuresStayWithin(t *rapid.T, sql string, q *plan.Plan, before, after []enginetest.Row) (moved bool) {
	t.Helper()
	for _, g := range q.Groupings() {
		l1, l2squared := distancesOver(&q.Statement, g, before, after)
		distinctOver(q, g, l1, l2squared, func(b *bounded.Statement, g plan.Grouping) ([]*big.Int, []*big.Int) {
			return distancesOver(b, g, before, after)
		})
		for i, m := range g.Measures {
			if l1[i].Cmp(m.L1) > 0 || l2squared[i].Cmp(m.L2Squared) > 0 {
				t.Fatalf("%s: measure %s over keys %v moves by %s, squared L2 %s; planned %s, %s\n%v\n%v",
					sql, m, g.Keys, l1[i], l2squared[i], m.L1, m.L2Squared, before, after)
			}
			moved = moved || l1[i].Sign() > 0
		}
	}
	return moved
}

// acrossNeighbours draws pairs of neighbouring tables of hostile rows, more than 10,000, under both relations and with units
// bounded in both ways, and checks each with what ask gives: a bounded aggregate, and a check of it that says whether
// anything moved.
func acrossNeighbours(t *testing.T, ask func(*rapid.T, *policy.Policy, string) (*bounded.Statement, func(before, after []enginetest.Row) bool)) {
	t.Helper()
	acrossNeighboursOf(t, 2600, ask) // of each of four
}

// acrossNeighboursOf is that with so many pairs of each of four kinds.
func acrossNeighboursOf(t *testing.T, pairs int, ask func(*rapid.T, *policy.Policy, string) (*bounded.Statement, func(before, after []enginetest.Row) bool)) {
	t.Helper()
	stattest.Cases(t, pairs)
	acrossRelations(t, ask)
}

// acrossRelations is that, as often as cases says.
func acrossRelations(t *testing.T, ask func(*rapid.T, *policy.Policy, string) (*bounded.Statement, func(before, after []enginetest.Row) bool)) {
	t.Helper()
	for _, relation := range []string{"add-remove", "change-one", "add-remove by groups", "change-one by groups"} {
		t.Run(relation, func(t *testing.T) {
			relation, byGroups := strings.CutSuffix(relation, " by groups")
			text := enginetest.PolicyText
			if byGroups {
				text = enginetest.ByGroups
			}
			p, err := policy.Decode(text(relation), ".")
			if err != nil {
				t.Fatal(err)
			}
			admitted, moved := 0, 0
			rapid.Check(t, func(t *rapid.T) {
				table := rapid.SampledFrom([]string{"t", "p"}).Draw(t, "table")
				b, check := ask(t, p, table)
				if b == nil {
					return
				}
				admitted++
				before := enginetest.Rows(t, p.Table(table), 14)
				after := neighbour(t, p.Table(table), before, relation == "change-one")
				if unit := p.Table(table).Unit.Column; unit != "" {
					before, after = enginetest.Ranked(clones(before), unit), enginetest.Ranked(clones(after), unit)
				}
				if check(before, after) {
					moved++
				}
			})
			if admitted < 30 || moved < 10 {
				t.Errorf("%d questions were admitted and %d moved: the test shows nothing", admitted, moved)
			}
		})
	}
}

// clones copies rows that are to be ranked.
func clones(rows []enginetest.Row) []enginetest.Row {
	out := make([]enginetest.Row, len(rows))
	for i, r := range rows {
		out[i] = maps.Clone(r)
	}
	return out
}

// neighbour removes all rows of one unit, or replaces them by those of another.
func neighbour(t *rapid.T, table *policy.Table, rows []enginetest.Row, replace bool) []enginetest.Row {
	if len(rows) == 0 {
		return rows
	}
	victim := rapid.IntRange(0, len(rows)-1).Draw(t, "victim")
	unit := table.Unit.Column
	var out []enginetest.Row
	for i, r := range rows {
		gone := i == victim
		if unit != "" {
			who := rows[victim][unit]
			gone = !who.Null && !r[unit].Null && r[unit].Int == who.Int
		}
		if !gone {
			out = append(out, r)
		}
	}
	if !replace || unit != "" && rows[victim][unit].Null {
		return out
	}
	most := 1
	if unit != "" {
		most = 6 // more than the cap
	}
	for _, r := range enginetest.Rows(t, table, most) {
		if unit != "" {
			r[unit] = value.OfInt(1000) // somebody new
		}
		out = append(out, r)
	}
	if unit == "" && len(out) < len(rows) { // a replacement keeps the number of units
		out = append(out, enginetest.Rows(t, table, 1)...)
	}
	return out
}

// differences are, for each measure, by how much each cell is greater in before than in after.
func differences(b *bounded.Statement, before, after []enginetest.Row) []map[string]*big.Int {
	out := make([]map[string]*big.Int, len(b.Measures))
	for i := range out {
		out[i] = map[string]*big.Int{}
	}
	add := func(sign int64) func([]value.Value, []*big.Int) {
		return func(keys []value.Value, sums []*big.Int) {
			for i, s := range sums {
				cell := bounded.GroupName(keys)
				if out[i][cell] == nil {
					out[i][cell] = new(big.Int)
				}
				out[i][cell].Add(out[i][cell], new(big.Int).Mul(s, big.NewInt(sign)))
			}
		}
	}
	enginetest.Sum(b, before, add(1))
	enginetest.Sum(b, after, add(-1))
	return out
}

// distances are how far each measure's vector moves: L1, and the square of L2.
func distances(b *bounded.Statement, before, after []enginetest.Row) (l1, l2squared []*big.Int) {
	return norms(differences(b, before, after))
}

// distancesOver are those of the measures over a grouping: sums of the cells of all keys.
func distancesOver(b *bounded.Statement, g plan.Grouping, before, after []enginetest.Row) (l1, l2squared []*big.Int) {
	over := make([]map[string]*big.Int, len(b.Measures))
	add := func(sign int64) func([]value.Value, []*big.Int) {
		return func(keys []value.Value, sums []*big.Int) {
			var of []value.Value
			for _, k := range g.Keys {
				of = append(of, keys[k])
			}
			cell := fmt.Sprintf("%q", of)
			for i, s := range sums {
				if over[i] == nil {
					over[i] = map[string]*big.Int{}
				}
				if over[i][cell] == nil {
					over[i][cell] = new(big.Int)
				}
				over[i][cell].Add(over[i][cell], new(big.Int).Mul(s, big.NewInt(sign)))
			}
		}
	}
	enginetest.Sum(b, before, add(1))
	enginetest.Sum(b, after, add(-1))
	return norms(over)
}

// norms are each measure's L1 distance, and the square of its L2 distance, between the two tables' vectors.
func norms(of []map[string]*big.Int) (l1, l2squared []*big.Int) {
	l1, l2squared = make([]*big.Int, len(of)), make([]*big.Int, len(of))
	for i, cells := range of {
		l1[i], l2squared[i] = new(big.Int), new(big.Int)
		for _, d := range cells {
			l1[i].Add(l1[i], new(big.Int).Abs(d))
			l2squared[i].Add(l2squared[i], new(big.Int).Mul(d, d))
		}
	}
	return l1, l2squared
}
