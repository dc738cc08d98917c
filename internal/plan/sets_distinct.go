package plan

import (
	"slices"

	"dither/internal/bind"
	"dither/internal/bounded"
	"dither/internal/value"
)

// SetLook is what a grouping set's measures that are not Additive are taken of: the same rows, in the set's own cells; nil where there are none,
// or where the set has all keys, whose cells are the plan's own.
//
// Which rows of a unit count is the plan's choice under a cap on rows (of a relation: by the same rule, of what this look evaluates), and a unit is counted in at most Groups of the set's
// cells, or in all where these are fewer. So bound's proof holds for the set's vector as for any: L1 and the square of L2 move by at most Groups for
// units; and by at most Rows, and its square, for distinct values (countDistinct). Vectors of several sets are several mechanisms, whose
// losses add up. Nothing ties the numbers of several sets to each other but what is true of any data: no equality, and nothing is made of the rest.
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

// capsOver are the caps under which a measure is taken over a grouping's cells: the plan's, which bound the table of all keys, of which one that is
// Additive is made of sums; and else of the grouping's own.
func capsOver(b *bounded.Statement, g Grouping, m *bounded.Measure) bounded.Caps {
	c := b.Caps
	if !m.Additive() && c.Groups > 0 && !b.Open() {
		c.Groups = min(c.Groups, int64(g.Cells(b)))
	}
	return c
}

// inGroups is WHERE, and that the row is in a group by each key: for those keys that a look keeps, its engine sees to that itself.
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
