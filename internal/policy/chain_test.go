package policy_test

import (
	"fmt"
	"math/bits"
	"testing"

	"dither/internal/policy"
	"dither/privacy"
)

// A world small enough to try everything: two tables, two persons, two rows each. A database is the set of its rows.
type world = uint8

const (
	worldRows = 8
	worlds    = 1 << worldRows
	far       = 100
)

func tableOf(row int) int         { return row / 4 }
func rowsOf(table int) world      { return 0xF << (4 * table) }
func personRows(person int) world { return 0x33 << (2 * person) }
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

// units says what each table's unit is: "row", "id …", or "" for a table that is not there.
type units [2]string

func (u units) rows() (byRow, byPerson world) {
	for table, unit := range u {
		switch unit {
		case "":
		case "row":
			byRow |= rowsOf(table)
		default:
			byPerson |= rowsOf(table)
		}
	}
	return byRow, byPerson
}

// neighbours of a database, straight from the definition of the relation. Under add-remove only removals: the relation is
// symmetric.
func (u units) neighbours(relation privacy.Neighbours, d world, yield func(world)) {
	byRow, byPerson := u.rows()
	for _, row := range singles(d & byRow) {
		if relation == privacy.AddRemove {
			yield(d &^ row)
			continue
		}
		for table := range u {
			if rowsOf(table)&row != 0 {
				for _, other := range singles(rowsOf(table) &^ d) {
					yield(d&^row | other)
				}
			}
		}
	}
	for person := range 2 {
		mine := d & byPerson & personRows(person)
		if mine == 0 {
			continue
		}
		if relation == privacy.AddRemove {
			yield(d &^ mine)
			continue
		}
		for other := range 2 {
			if other == person || d&byPerson&personRows(other) == 0 { // another person must be new: their number stays
				subsets(byPerson&personRows(other), func(s world) { yield(d&^mine | s) })
			}
		}
	}
}

// distances are the lengths of the shortest chains of neighbours between databases.
func (u units) distances(relation privacy.Neighbours) *[worlds][worlds]int {
	var edges [worlds][]world
	for d := range worlds {
		u.neighbours(relation, world(d), func(e world) {
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

// For every change of two tables' units and of the relation, the factor is at least the longest of the shortest chains of
// old neighbours between new neighbours, which is what the theorem needs; and no larger, where something changes. Old
// answers do not see a table that was not there. A removed table keeps its unit.
func TestFactorIsTheLongestChain(t *testing.T) {
	const person = "id integer≤2"
	kinds := []string{"", "row", person}
	relations := []privacy.Neighbours{privacy.AddRemove, privacy.ChangeOne}
	checked := []policy.Check{{Table: "0", Column: "id", Rows: 2}, {Table: "1", Column: "id", Rows: 2}}
	of := func(u units, relation privacy.Neighbours) policy.Terms {
		var lines []string
		for i, unit := range u {
			if unit != "" {
				lines = append(lines, fmt.Sprint(i, " ", unit))
			}
		}
		out := terms(t, lines...)
		out.Neighbours = relation
		return out
	}
	var all []units
	for _, a := range kinds {
		for _, b := range kinds {
			all = append(all, units{a, b})
		}
	}
	allowed := 0
	for _, old := range all {
		for _, oldRelation := range relations {
			chain := old.distances(oldRelation)
			seenRow, seenPerson := old.rows()
			seen := seenRow | seenPerson
			for _, next := range all {
				for _, nextRelation := range relations {
					covered := next
					for i := range covered {
						if next[i] == "" {
							covered[i] = old[i]
						}
					}
					longest := 0
					for d := range worlds {
						covered.neighbours(nextRelation, world(d), func(e world) {
							longest = max(longest, chain[world(d)&seen][e&seen])
						})
					}
					factor, _, err := policy.Reread(of(old, oldRelation), of(next, nextRelation), checked...)
					name := fmt.Sprintf("%q %v → %q %v", old, oldRelation, next, nextRelation)
					switch {
					case err != nil && oldRelation == privacy.AddRemove:
						t.Errorf("%s: refused, with chains of %d: %v", name, longest, err)
					case err != nil:
					case longest >= far:
						t.Errorf("%s: allowed, and no chain joins them", name)
					default:
						allowed++
						k := int(factor.Num().Int64())
						if k < longest {
							t.Errorf("%s: ×%d, and a chain needs %d", name, k, longest)
						}
						if oldRelation == nextRelation && k > max(longest, 1) {
							t.Errorf("%s: ×%d, and %d would do", name, k, longest)
						}
					}
				}
			}
		}
	}
	if allowed < 150 || bits.OnesCount8(personRows(1)) != 4 {
		t.Error("changes allowed:", allowed)
	}
}
