package engine

import (
	"fmt"
	"math/big"

	"dither/internal/plan"
	"dither/internal/value"
	"dither/mechanism"
)

// Groups are the groups that there are of keys that are open: those in which at least one unit counts. Of each it holds the
// keys, the number of units, and the measures' exact sums. Which there are, and how many, is as secret as the sums: what
// leaves is an opaque partition of each, for a mechanism to select from, and the keys of those that it names.
type Groups struct {
	b     *plan.Bounded
	place map[string]int
	names []string
	units []*big.Int
	sums  []*big.Int // of the groups one after the other
}

// NewGroups starts with none, for a bounded aggregate without Counting.
func NewGroups(b *plan.Bounded) *Groups { return &Groups{b: b, place: map[string]int{}} }

// Add adds a result row of b.Counting(), whose last sum is the number of units; a nil sum counts as 0. A row in which no unit
// counts makes no group.
func (g *Groups) Add(keys []value.Value, sums []*big.Int) {
	last := len(g.b.Measures)
	units := sums[last]
	if units == nil || units.Sign() <= 0 {
		return
	}
	name := plan.GroupName(keys)
	i, there := g.place[name]
	if !there {
		i = len(g.names)
		g.place[name] = i
		g.names, g.units = append(g.names, name), append(g.units, units)
		for _, s := range sums[:last] {
			if s == nil {
				s = new(big.Int)
			}
			g.sums = append(g.sums, s)
		}
		return
	}
	g.units[i] = new(big.Int).Add(g.units[i], units)
	for j, s := range sums[:last] {
		if s != nil {
			g.sums[i*last+j] = new(big.Int).Add(g.sums[i*last+j], s)
		}
	}
}

// Units are the groups as partitions, by their numbers of units.
func (g *Groups) Units() []mechanism.Partition {
	out := make([]mechanism.Partition, len(g.names))
	for i, name := range g.names {
		out[i] = mechanism.NewPartition(name, mechanism.NewExact(g.units[i]))
	}
	return out
}

// Chosen gives the keys and the exact sums of the groups that a mechanism released by these names. The error is a defect, and
// quotes no key.
func (g *Groups) Chosen(names []string) (keys [][]value.Value, sums [][]mechanism.Exact, err error) {
	n := len(g.b.Measures)
	for _, name := range names {
		i, there := g.place[name]
		if !there {
			return nil, nil, fmt.Errorf("defect: a group was selected that is not there")
		}
		key, err := g.b.Group(name)
		if err != nil {
			return nil, nil, err
		}
		row := make([]mechanism.Exact, n)
		for j := range row {
			row[j] = mechanism.NewExact(g.sums[i*n+j])
		}
		keys, sums = append(keys, key), append(sums, row)
	}
	return keys, sums, nil
}
