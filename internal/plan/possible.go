package plan

import (
	"slices"

	"dither/internal/bind"
	"dither/internal/bounded"
	"dither/internal/prune"
	"dither/internal/query"
	"dither/internal/value"
)

// Possible returns which groups can have rows. It returns nil if the keys are unknown, if there are none, and if the
// question asks for every group of a public table.
//
// A plan measures the groups of all known keys, whether WHERE leaves rows in them or not, and an answer shows the
// possible ones. So the measurements, prices and replay keys do not depend on this package's understanding of
// conditions: when it learns to exclude more groups, every earlier release still answers its question. A question with
// more groups than an answer may have is planned over the possible values of its keys instead (keysPossible).
//
// Both are functions of the question and the policy, so an answer that lacks a group reveals nothing about rows.
func (p *Plan) Possible() *prune.Groups {
	if p.Open() || p.everyGroup || len(p.Keys) == 0 || p.RowVectors != nil {
		return nil
	}
	return prune.Where(p.Where, p.Columns).Groups(p.Keys)
}

// Reachable reports, for each cell (group) of a grouping of the plan in their order, whether it can have rows. It
// returns nil if all can. With grouping sets, each key is examined by itself, as in an answer.
func (p *Plan) Reachable(g Grouping) []bool {
	groups, keys := p.Possible(), p.Keys
	if groups != nil && p.Sets != nil {
		alone := &prune.Groups{}
		keys = nil
		for _, k := range g.Keys {
			keys, alone.Values = append(keys, p.Keys[k]), append(alone.Values, groups.Values[k])
		}
		groups = alone
	}
	if groups == nil || groups.All(keys) {
		return nil
	}
	return reachable(groups, keys, allKeys(len(keys)))
}

// Reachable reports, for each cell (group) in their order, whether it can have rows. It returns nil if all can.
func (m *Moments) Reachable() []bool {
	if m.Centred() || len(m.Keys) == 0 {
		return nil
	}
	groups := prune.Where(m.Where, m.Columns).Groups(m.Keys)
	if groups.All(m.Keys) {
		return nil
	}
	return reachable(groups, m.Keys, allKeys(len(m.Keys)))
}

// reachable reports for each combination of the keys' values whether it can occur. The last key of the order runs
// fastest.
func reachable(groups *prune.Groups, keys []bounded.Key, order []int) []bool {
	cells := 1
	for _, k := range order {
		cells *= len(keys[k].Values)
	}
	out, at := make([]bool, cells), make([]int, len(keys))
	for i := range out {
		rest, can := i, true
		for _, k := range slices.Backward(order) {
			n := len(keys[k].Values)
			listed, found := slices.BinarySearch(groups.Values[k], rest%n)
			at[k], can, rest = listed, can && found, rest/n
		}
		out[i] = can && groups.Has(at)
	}
	return out
}

// grid returns the grid of a real grouping expression, or nil if there is none.
func (b *keying) grid(e *bounded.Expr, at query.Pos) *bind.Grid {
	return b.GridOf(e, at, func(whole *bounded.Expr) ([]value.Value, bool) {
		if b.job.keys != keysPossible {
			return nil, false
		}
		return prune.Where(b.where, b.Columns).Values(whole)
	})
}

// possibleKey returns the key of a grouping expression with those values that rows can have which satisfy WHERE. It
// returns false if they are not known.
func (b *keying) possibleKey(e *bounded.Expr, at query.Pos) (bounded.Key, bool) {
	rows := prune.Where(b.where, b.Columns)
	k, err := b.Key(e, at)
	if err != nil {
		values, ok := rows.Values(e)
		if !ok || e.Type == value.Real {
			return bounded.Key{}, false
		}
		k = b.KeyOf(e, values)
	}
	all := k.Values
	k.Values = nil
	for _, i := range rows.Groups([]bounded.Key{{Expr: e, Values: all}}).Values[0] {
		k.Values = append(k.Values, all[i])
	}
	return k, len(k.Values) > 0
}
