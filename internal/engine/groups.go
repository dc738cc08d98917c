package engine

import (
	"errors"
	"math/big"

	"dither/internal/bounded"
	"dither/internal/value"
	"dither/mechanism"
)

// Unchosen is b before anything is chosen.
func Unchosen(b *bounded.Statement) *bounded.Statement {
	out := *b
	out.Chosen, out.Other = nil, false
	return &out
}

// Groups are the groups that there are of keys that are open: those in which at least one unit counts. Of each it holds
// the keys, the number of units, and the measures' exact sums. Which there are, and how many, is as secret as the sums:
// what leaves is an opaque partition of each, for a mechanism to select from, and the keys of those that it names.
type Groups struct {
	b     *bounded.Statement
	names []string
	units []*big.Int
	sums  []*big.Int // of the groups one after the other
}

// NewGroups starts with none, for a bounded aggregate without Counting.
func NewGroups(b *bounded.Statement) *Groups { return &Groups{b: b} }

// Add adds a group: a result row of b.Counting(), whose last sum is the number of units; a nil sum counts as 0. A row
// in which no unit counts makes no group. No two rows have the same keys: mechanisms refuse groups of one name.
func (g *Groups) Add(keys []value.Value, sums []*big.Int) {
	last := len(g.b.Measures)
	units := sums[last]
	if units == nil || units.Sign() <= 0 {
		return
	}
	g.names, g.units = append(g.names, bounded.GroupName(keys)), append(g.units, units)
	for _, s := range sums[:last] {
		if s == nil {
			s = new(big.Int)
		}
		g.sums = append(g.sums, s)
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

// Chosen gives the keys and the exact sums of the groups that a mechanism released by these names, in their order. The
// error is a defect, and quotes no key.
func (g *Groups) Chosen(names []string) (keys [][]value.Value, sums [][]mechanism.Exact, err error) {
	place := make(map[string]int, len(names))
	for i, name := range names {
		place[name] = i
	}
	keys, sums = make([][]value.Value, len(names)), make([][]mechanism.Exact, len(names))
	n := len(g.b.Measures)
	for i, name := range g.names {
		at, chosen := place[name]
		if !chosen {
			continue
		}
		if keys[at], err = g.b.Group(name); err != nil {
			return nil, nil, err
		}
		for _, s := range g.sums[i*n : (i+1)*n] {
			sums[at] = append(sums[at], mechanism.NewExact(s))
		}
		delete(place, name)
	}
	if len(place) > 0 {
		return nil, nil, errors.New("defect: a group was selected that is not there")
	}
	return keys, sums, nil
}
