package postgres

import (
	"slices"

	"dither/internal/bounded"
	"dither/internal/engine"
)

// isCopied reports whether the statement reads copies. refuseSource ensures that a relation reads copies of all its
// tables, or of none.
func isCopied(from engine.Sealed) bool {
	for _, one := range from.Tables {
		return one.Copy != nil
	}
	return from.Copy != nil
}

// refuseSource is refuse for the relation of b. A relation may not combine tables read in place with copies of
// others. That would break no promise, but the answer would combine rows of different times.
func refuseSource(b *bounded.Statement, from engine.Sealed) error {
	copied := isCopied(from)
	for _, one := range from.Tables {
		if (one.Copy != nil) != copied {
			return &engine.RefusedError{
				Message: "some of these tables are read in place and may change, but others are read from copies: " +
					"their rows may be from different times",
				Hint: "ask the owner to seal all of them with --copy, or none",
			}
		}
	}
	if b.Part != nil {
		return unknown("a part of a relation")
	}
	what := ""
	b.Source.Walk(func(s *bounded.Source) {
		if what == "" {
			what = refuseNode(s)
		}
	})
	if what != "" {
		return unknown(what)
	}
	return nil
}

// refuseNode describes what this engine does not support in s, not counting its inputs, or returns "".
func refuseNode(s *bounded.Source) string {
	inputs := map[bounded.SourceOp]int{
		bounded.Scan: 0, bounded.Owned: 2, bounded.Select: 1, bounded.Join: 2,
		bounded.PerUnit: 1, bounded.Window: 1, bounded.Union: len(s.Inputs),
	}
	n, ok := inputs[s.Op]
	switch {
	case !ok:
		return "a relation of the kind " + string(s.Op)
	case len(s.Inputs) != n, s.Op == bounded.Union && n == 0:
		return "such a relation"
	case s.Where != nil && (s.Op != bounded.Select || !known(s.Where)),
		slices.ContainsFunc(s.Exprs, func(e *bounded.Expr) bool { return !known(e) }):
		return "one of its operations"
	case len(s.Exprs) > 0 && s.Op != bounded.Select && s.Op != bounded.PerUnit, len(s.Aggregates) > 0 &&
		s.Op != bounded.PerUnit:
		return "what it computes"
	case s.Op == bounded.Join && !bounds(s):
		return "a join without a bound"
	case s.Op == bounded.Window && (!s.Units || slices.ContainsFunc(s.Windows, func(w bounded.Windowed) bool {
		return !slices.Contains(windows, w.Func)
	})):
		return "a window of this kind"
	}
	for _, a := range s.Aggregates {
		if !slices.Contains(inners, a.Func) || (a.X == nil) != (a.Func == bounded.InnerRows) || a.X != nil &&
			!known(a.X) {
			return "an aggregate of the kind " + string(a.Func)
		}
	}
	return ""
}

// bounds reports whether a join limits how many rows of its second input join one row of the first. The limit is by
// the unit, or by columns Within that are compared for equality.
func bounds(s *bounded.Source) bool {
	for _, i := range s.Within {
		if !slices.ContainsFunc(s.Pairs, func(p bounded.Pair) bool { return p.R == i }) {
			// joined drops rows with NULL in this column, which is correct only if the column is compared
			return false
		}
	}
	second := s.Inputs[1].Units
	return s.Most > 0 && (second || len(s.Within) > 0) && (!second || s.Units) &&
		!slices.ContainsFunc(s.Pairs, func(p bounded.Pair) bool { return !known(p.L) })
}

var inners = []bounded.InnerFunc{
	bounded.InnerRows, bounded.InnerCount, bounded.InnerDistinct, bounded.InnerSum, bounded.InnerAverage,
	bounded.InnerMin, bounded.InnerMax, bounded.InnerAny, bounded.InnerAll,
	bounded.InnerPlaced, bounded.InnerBetween,
}

var windows = []bounded.WindowFunc{
	bounded.RowNumber, bounded.Rank, bounded.DenseRank, bounded.Lag, bounded.Lead, bounded.FirstValue,
}
