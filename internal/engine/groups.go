package engine

import (
	"errors"
	"math/big"

	"dither/internal/bounded"
	"dither/internal/value"
	"dither/mechanism"
)

// Unchosen returns a copy of b as it was before private key selection: without Chosen and Other.
func Unchosen(b *bounded.Statement) *bounded.Statement {
	out := *b
	out.Chosen, out.Other = nil, false
	return &out
}

// Groups holds the existing groups of unknown keys: those in which at least one unit counts. For each group it
// holds the keys, the number of units, and the exact sums of the measures. The set of groups and its size are as
// secret as the sums. So Groups exposes only an opaque partition for each group, from which a mechanism selects,
// and the keys of the groups that a mechanism selected.
type Groups struct {
	b     *bounded.Statement
	names []string
	units []*big.Int
	sums  []*big.Int // the sums of the first group, then those of the second, and so on
}

// NewGroups returns an empty Groups for b, which is a statement before [bounded.Statement.Counting].
func NewGroups(b *bounded.Statement) *Groups { return &Groups{b: b} }

// Add adds a group: a result row of b.Counting(), whose last sum is the number of units. A nil sum counts as 0. A
// row with no unit is ignored. No two calls may have the same keys, because mechanisms refuse two groups with the
// same name.
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

// Units returns the groups as partitions: their names, with their numbers of units.
func (g *Groups) Units() []mechanism.Partition {
	out := make([]mechanism.Partition, len(g.names))
	for i, name := range g.names {
		out[i] = mechanism.NewPartition(name, mechanism.NewExact(g.units[i]))
	}
	return out
}

// Chosen returns the keys and the exact sums of the groups with these names, in the order of names. The names must
// be those that a mechanism released. An error is a defect of the program, and quotes no key.
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
