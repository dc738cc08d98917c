package derive

import (
	"math/big"
	"slices"

	"dither/internal/plan"
	"dither/internal/prune"
	"dither/internal/value"
)

// possible says which groups of a plan can have rows: see [plan.Plan.Possible]. An answer shows and fits these alone.
//
// Claim: the tables over the possible values of the keys are consistent, as those over all values are. Proof. A group of
// another value has no row, so each of its exact sums is 0. A coarser group's exact sum is then the sum over its groups of
// possible values. So the noisy tables, without the groups of other values, measure complete tables over the possible
// values, with the same noise. The fit in lattice needs nothing else. ∎
type possible struct {
	plan   *plan.Plan // as it is measured
	groups *prune.Groups
	none   bool    // no group can have rows
	pick   [][]int // for each grouping, the indices of the groups of possible values
}

// possibleOf returns the plan over the possible values of its keys. It returns p itself, and nil, if all groups are
// possible. If none is, it returns p too.
func possibleOf(p *plan.Plan) (*plan.Plan, *possible) {
	groups := p.Possible()
	if groups == nil || groups.All(p.Keys) {
		return p, nil
	}
	return (&possible{groups: groups}).showing(p)
}

// showing returns the same for a plan that differs only in post-processing.
func (o *possible) showing(p *plan.Plan) (*plan.Plan, *possible) {
	out := &possible{plan: p, groups: o.groups}
	for _, values := range o.groups.Values {
		out.none = out.none || len(values) == 0
	}
	if out.none {
		return p, out
	}
	for _, g := range p.Groupings() {
		out.pick = append(out.pick, pick(p, g, o.groups.Values))
	}
	return over(p, o.groups.Values), out
}

// measured returns the plan as it is measured.
func (o *possible) measured(p *plan.Plan) *plan.Plan {
	if o == nil {
		return p
	}
	return o.plan
}

// of returns the released numbers of the groups of possible values.
func (o *possible) of(sums [][]*big.Int) [][]*big.Int {
	if o == nil || sums == nil {
		return sums
	}
	var out [][]*big.Int
	for i, g := range o.plan.Groupings() {
		for _, at := range o.pick[i] {
			out = append(out, sums[at])
		}
		sums = sums[g.Cells(&o.plan.Statement):]
	}
	return out
}

// follow returns the entries of a grouping's groups of possible values.
func (o *possible) follow(g plan.Grouping, cells [][]int) [][]int {
	if o == nil || o.none {
		return cells
	}
	out := make([][]int, 0, len(cells))
	for _, at := range pick(o.plan, g, o.groups.Values) {
		out = append(out, cells[at])
	}
	return out
}

// has reports whether the i-th group of possible values is possible.
func (o *possible) has(i int) bool {
	if o == nil {
		return true
	}
	cell := make([]int, len(o.groups.Values))
	for k := len(cell) - 1; k >= 0; k-- {
		n := len(o.groups.Values[k])
		cell[k] = i % n
		i /= n
	}
	return o.groups.Has(cell)
}

// Groups returns how many groups the answer has, over all grouping sets, before HAVING and LIMIT.
func (a *Answer) Groups() int {
	n := 0
	for i := range a.plan.Groupings() {
		n += a.GroupsIn(i)
	}
	return n
}

// GroupsIn returns how many groups one grouping of the answer has, before HAVING and LIMIT.
func (a *Answer) GroupsIn(set int) int {
	g := a.plan.Groupings()[set]
	switch {
	case a.possible != nil && a.possible.none:
		return 0
	case a.possible == nil || a.plan.Sets != nil:
		return g.Cells(&a.plan.Statement)
	}
	n := 0
	for i := range g.Cells(&a.plan.Statement) {
		if a.possible.has(i) {
			n++
		}
	}
	return n
}

// over returns the plan's post-processing over some values of each key, given by their indices. The groups are those of
// the values, and so must be the numbers.
func over(p *plan.Plan, values [][]int) *plan.Plan {
	out := *p
	out.Keys = slices.Clone(p.Keys)
	for i, indices := range values {
		of := p.Keys[i].Values
		out.Keys[i].Values = make([]value.Value, len(indices))
		for j, at := range indices {
			out.Keys[i].Values[j] = of[at]
		}
	}
	return &out
}

// pick returns, for the cells (groups) of a grouping of the plan in their order, the indices of those with the given
// values of their keys.
func pick(p *plan.Plan, g plan.Grouping, values [][]int) []int {
	out := []int{0}
	for _, k := range g.Keys {
		n, next := len(p.Keys[k].Values), make([]int, 0, len(out)*len(values[k]))
		for _, cell := range out {
			for _, v := range values[k] {
				next = append(next, cell*n+v)
			}
		}
		out = next
	}
	return out
}
