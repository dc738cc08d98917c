package postgres

import (
	"slices"

	"dither/internal/engine"
	"dither/internal/plan"
)

// isCopied holds where copies are read: of all tables, or of none (refuseSource).
func isCopied(from engine.Sealed) bool {
	for _, one := range from.Tables {
		return one.Copy != nil
	}
	return from.Copy != nil
}

// refuseSource is refuse for the relation that b is over. That tables are read where they are beside copies of others would break no promise, but an
// answer would be about rows that need not belong together.
func refuseSource(b *plan.Bounded, from engine.Sealed) error {
	copied := isCopied(from)
	for _, one := range from.Tables {
		if (one.Copy != nil) != copied {
			return &engine.RefusedError{
				Message: "some of these tables are read where they are, and change; of others a copy is read, which does not: their rows need not belong together",
				Hint:    "the owner seals all of them with --copy, or none",
			}
		}
	}
	if b.Part != nil {
		return unknown("a part of a relation")
	}
	what := ""
	b.Source.Walk(func(s *plan.Source) {
		if what == "" {
			what = refuseNode(s)
		}
	})
	if what != "" {
		return unknown(what)
	}
	return nil
}

// refuseNode says what of a node is not known, or "".
func refuseNode(s *plan.Source) string {
	inputs := map[plan.SourceOp]int{plan.Scan: 0, plan.Owned: 2, plan.Select: 1, plan.Join: 2, plan.PerUnit: 1, plan.Union: len(s.Inputs)}
	n, ok := inputs[s.Op]
	switch {
	case !ok:
		return "a relation of the kind " + string(s.Op)
	case len(s.Inputs) != n, s.Op == plan.Union && n == 0:
		return "such a relation"
	case s.Where != nil && (s.Op != plan.Select || !known(s.Where)), slices.ContainsFunc(s.Exprs, func(e *plan.Expr) bool { return !known(e) }):
		return "one of its operations"
	case len(s.Exprs) > 0 && s.Op != plan.Select && s.Op != plan.PerUnit, len(s.Aggregates) > 0 && s.Op != plan.PerUnit:
		return "what it computes"
	case s.Op == plan.Join && !bounds(s):
		return "a join that bounds nothing"
	}
	for _, a := range s.Aggregates {
		if !slices.Contains(inners, a.Func) || (a.X == nil) != (a.Func == plan.InnerRows) || a.X != nil && !known(a.X) {
			return "an aggregate of the kind " + string(a.Func)
		}
	}
	return ""
}

// bounds holds where a join says how many rows of its second input may meet one of its first, by something that is equal in them.
func bounds(s *plan.Source) bool {
	for _, i := range s.Within {
		if !slices.ContainsFunc(s.Pairs, func(p plan.Pair) bool { return p.R == i }) {
			return false // rows in which it is NULL are left out beforehand
		}
	}
	second := s.Inputs[1].Units
	return s.Most > 0 && (second || len(s.Within) > 0) && (!second || s.Units) && !slices.ContainsFunc(s.Pairs, func(p plan.Pair) bool { return !known(p.L) })
}

var inners = []plan.InnerFunc{
	plan.InnerRows, plan.InnerCount, plan.InnerDistinct, plan.InnerSum, plan.InnerAverage, plan.InnerMin, plan.InnerMax, plan.InnerAny, plan.InnerAll,
}
