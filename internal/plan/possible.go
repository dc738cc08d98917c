package plan

import (
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
