package plan

import (
	"slices"

	"dither/internal/bind"
	"dither/internal/bounded"
	"dither/internal/value"
)

// SetLook returns the statement for a grouping set's measures that are not Additive. It reads the same rows as the
// plan's statement, in the set's own cells. It returns nil if there are no such measures, or if the set has all
// keys, so that the plan's statement has its cells.
//
// Claim: the proof at [sensitivity.OfMeasure] holds for the set's vector. Under a cap on rows, the plan
// chooses which rows of a unit count. (For a relation, the same rule applies to the columns that this statement
// evaluates.) A unit counts in at most Groups of the set's cells, or in all if there are fewer. So L1 and the
// squared L2 move by at most Groups for counts of units. For counts of distinct values they move by at most Rows
// and Rows². The vectors of several sets are several mechanisms, whose losses add up. ∎
//
// For any data, the numbers of several sets obey inequalities, but no equalities. dither makes no use of the
// inequalities.
func (p *Plan) SetLook(g Grouping) *bounded.Statement {
	if p.Sets == nil || len(g.Keys) == len(p.Keys) {
		return nil
	}
	var own []*Measure
	for _, m := range p.Measures {
		if !m.Additive() {
			own = append(own, m)
		}
	}
	if len(own) == 0 {
		return nil
	}
	look := p.Statement
	look.Where, look.Keys = inGroups(&p.Statement, g.Keys), nil
	look.Measures, look.Caps = withoutNoise(own), capsOver(&p.Statement, g, &own[0].Measure)
	for _, k := range g.Keys {
		look.Keys = append(look.Keys, p.Keys[k])
	}
	return &look
}

// capsOver returns the caps for a measure over a grouping's cells (groups). For an Additive measure, they are the
// plan's caps, which bound the table of all keys. For any other measure, the cap on groups is at most the number of the
// grouping's cells.
func capsOver(b *bounded.Statement, g Grouping, m *bounded.Measure) bounded.Caps {
	c := b.Caps
	if !m.Additive() && c.Groups > 0 && !b.Open() {
		c.Groups = min(c.Groups, int64(g.Cells(b)))
	}
	return c
}

// inGroups returns WHERE, and the condition that the row is in a group by each key. The engine itself enforces that
// for the keys in kept.
func inGroups(b *bounded.Statement, kept []int) *bounded.Expr {
	where := b.Where
	for i := range b.Keys {
		if k := &b.Keys[i]; !k.NullGroup() && !slices.Contains(kept, i) {
			where = bind.Conjunction(
				where,
				bind.Logical(bounded.OpNot, &bounded.Expr{Op: bounded.OpNil, Type: value.Boolean, Args: []*bounded.Expr{k.Expr}}),
			)
		}
	}
	return where
}
