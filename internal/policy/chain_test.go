package policy_test

import (
	"fmt"
	"slices"
	"testing"

	"dither/internal/policy"
	"dither/internal/value"
	"dither/privacy"
)

// A world small enough to try everything: two persons, and for each table the rows of a person that there may be. A
// database is the set of its rows, of which there are eight.
type world = uint8

const (
	worlds = 1 << 8
	far    = 100
)

type model struct{ tables []table }

type table struct {
	m       int      // rows of a person
	persons [2]world // the rows of each
}

func newModel(rows ...int) model {
	var out model
	at := 0
	for _, m := range rows {
		mask := world(1)<<m - 1
		out.tables = append(out.tables, table{m, [2]world{mask << at, mask << (at + m)}})
		at += 2 * m
	}
	return out
}

func (t table) rows() world { return t.persons[0] | t.persons[1] }

func singles(set world) (rows []world) {
	for ; set != 0; set &= set - 1 {
		rows = append(rows, set&-set)
	}
	return rows
}

func subsets(set world, yield func(world)) {
	for s := set; s != 0; s = (s - 1) & set {
		yield(s)
	}
}

// units says what each table's unit is: "row", "id", or "" for a table that is not there.
type units []string

func (m model) covered(u units) (byRow world, byPerson [2]world) {
	for i, t := range m.tables {
		switch u[i] {
		case "row":
			byRow |= t.rows()
		case "id":
			byPerson[0] |= t.persons[0]
			byPerson[1] |= t.persons[1]
		}
	}
	return byRow, byPerson
}

// neighbours of a database, straight from the definition of the relation. Under add-remove only removals: the relation
// is symmetric.
func (m model) neighbours(u units, relation privacy.Neighbours, d world, yield func(world)) {
	byRow, byPerson := m.covered(u)
	for _, row := range singles(d & byRow) {
		if relation == privacy.AddRemove {
			yield(d &^ row)
			continue
		}
		for _, t := range m.tables {
			if t.rows()&row != 0 {
				for _, other := range singles(t.rows() &^ d) {
					yield(d&^row | other)
				}
			}
		}
	}
	for person, rows := range byPerson {
		mine := d & rows
		if mine == 0 {
			continue
		}
		if relation == privacy.AddRemove {
			yield(d &^ mine)
			continue
		}
		subsets(rows, func(s world) { yield(d&^mine | s) })
		if other := byPerson[1-person]; d&other == 0 { // another person must be new: their number stays
			subsets(other, func(s world) { yield(d&^mine | s) })
		}
	}
}

// distances are the lengths of the shortest chains of neighbours between databases.
func (m model) distances(u units, relation privacy.Neighbours) *[worlds][worlds]int {
	var edges [worlds][]world
	for d := range worlds {
		m.neighbours(u, relation, world(d), func(e world) {
			edges[d] = append(edges[d], e)
			edges[e] = append(edges[e], world(d))
		})
	}
	var out [worlds][worlds]int
	for d := range worlds {
		for e := range worlds {
			out[d][e] = far
		}
		out[d][d] = 0
		for queue := []world{world(d)}; len(queue) > 0; queue = queue[1:] {
			for _, e := range edges[queue[0]] {
				if out[d][e] == far {
					out[d][e] = out[d][queue[0]] + 1
					queue = append(queue, e)
				}
			}
		}
	}
	return &out
}

// terms are the model's, as a policy would give them.
func (m model) terms(t *testing.T, u units, relation privacy.Neighbours) policy.Terms {
	var lines []string
	for i, table := range m.tables {
		switch u[i] {
		case "row":
			lines = append(lines, fmt.Sprint(i, " row"))
		case "id":
			lines = append(lines, fmt.Sprintf("%d id integer≤%d", i, table.m))
		}
	}
	out := terms(t, lines...)
	out.Neighbours = relation
	return out
}

// allUnits lists every way that n tables may be.
func allUnits(n int) []units {
	if n == 0 {
		return []units{{}}
	}
	var out []units
	for _, u := range allUnits(n - 1) {
		for _, kind := range []string{"", "row", "id"} {
			out = append(out, append(slices.Clone(u), kind))
		}
	}
	return out
}

// For every change of some tables' units and of the relation, the factor is at least the longest of the shortest chains
// of old neighbours between new neighbours, which is what the theorem needs; and, where persons have several rows
// everywhere, it is no larger. Old answers do not see a table that was not there. A removed table keeps its unit.
func TestFactorIsTheLongestChain(t *testing.T) {
	for _, c := range []struct {
		model model
		tight bool
	}{{newModel(2, 2), true}, {newModel(2, 1, 1), false}, {newModel(1, 3), false}} {
		all, relations := allUnits(len(c.model.tables)), []privacy.Neighbours{privacy.AddRemove, privacy.ChangeOne}
		allowed := 0
		for _, old := range all {
			for _, relation := range relations {
				chain := c.model.distances(old, relation)
				for _, next := range all {
					for _, nextRelation := range relations {
						if compareChange(t, c.model, chain, old, next, relation, nextRelation, c.tight) {
							allowed++
						}
					}
				}
			}
		}
		t.Logf("%d changes allowed", allowed)
		if allowed < len(all)*len(all)*2 {
			t.Error("too few changes are allowed")
		}
	}
}

// compareChange reports that one change is allowed, after comparing its factor with the chains.
func compareChange(
	t *testing.T, m model, chain *[worlds][worlds]int, old, next units, relation,
	nextRelation privacy.Neighbours, tight bool,
) bool {
	t.Helper()
	var checked []policy.Check
	covered, seen := slices.Clone(next), world(0)
	for i, table := range m.tables {
		checked = append(checked,
			policy.Check{Table: fmt.Sprint(i), Column: "id", Type: value.Integer, Rows: int64(table.m)})
		if next[i] == "" {
			covered[i] = old[i]
		}
		if old[i] != "" {
			seen |= table.rows()
		}
	}
	longest := 1
	for d := range worlds {
		m.neighbours(covered, nextRelation, world(d), func(e world) {
			longest = max(longest, chain[world(d)&seen][e&seen])
		})
	}
	name := fmt.Sprintf("%q %v → %q %v", old, relation, next, nextRelation)
	factor, _, err := policy.Reread(m.terms(t, old, relation), m.terms(t, next, nextRelation), checked...)
	if err != nil {
		if relation == privacy.AddRemove {
			t.Errorf("%s: refused, with chains of %d: %v", name, longest, err)
		}
		return false
	}
	k := int(factor)
	switch {
	case longest >= far:
		t.Errorf("%s: allowed, and no chain joins them", name)
	case k < longest:
		t.Errorf("%s: ×%d, and a chain needs %d", name, k, longest)
	case k > longest && tight && relation == nextRelation:
		t.Errorf("%s: ×%d, and %d would do", name, k, longest)
	}
	return true
}
