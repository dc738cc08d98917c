package plan

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"dither/internal/bind"
	"dither/internal/bounded"
	"dither/internal/nearest"
	"dither/internal/query"
	"dither/internal/value"
)

// given has the named arguments of one call of an aggregate, such as bounds => (0, 10).
type given struct {
	terms
	auto    bool      // bounds => auto
	cells   *cellSpan // contribution_bounds_per_group; nil if not given
	outside *cellSpan // the bounds of CLIPPED, which counts the rows outside of them; nil if not given
}

// cellSpan is a pair of bounds on a value, or on one unit's contribution to a group.
type cellSpan struct {
	at     query.Pos
	lo, hi *big.Rat
}

// argumentNames are the names of the named arguments of aggregates.
var argumentNames = []string{
	"weight",
	"epsilon",
	"bounds",
	"contribution_bounds_per_row",
	"contribution_bounds_per_group",
}

// otherArguments maps GoogleSQL's arguments that are not supported to the reason and a hint.
var otherArguments = map[string][2]string{
	"report_format": {
		"an aggregate returns one number",
		"use --format json, which writes each number with its interval",
	},
	"contribution_bounding_strategy": {"contribution bounding is chosen for the whole question", "leave it out"},
	"max_contributions_per_group": {
		"contribution_bounds_per_group limits how often a unit counts in a group",
		"write contribution_bounds_per_group => (0, n)",
	},
}

// arguments returns the call without its named arguments. It stores the arguments about the price in b.given, and
// wraps the aggregate's argument in its bounds. With bounds => auto, bounds of rows are the outer bounds of the
// search.
func (b *measuring) arguments(x *query.Call) (*query.Call, error) {
	b.given = given{}
	out := *x
	out.Named, out.Args = nil, slices.Clone(x.Args)
	var bounded string
	for i := range x.Named {
		a := &x.Named[i]
		if !slices.Contains(argumentNames, a.Name) {
			if why, ok := otherArguments[a.Name]; ok {
				return nil, bind.Refuse(a.At, why[1], "%s is not supported: %s", a.Name, why[0])
			}
			hint := "there is " + strings.Join(argumentNames, ", ")
			if best := nearest.Name(a.Name, argumentNames); best != "" {
				hint = "did you mean " + best + "?"
			}
			return nil, bind.Refuse(a.At, hint, "there is no argument %s", query.QuoteName(a.Name))
		}
		if a.Name == "weight" || a.Name == "epsilon" {
			if err := b.given.price(b.policy, a); err != nil {
				return nil, err
			}
			continue
		}
		if strings.HasSuffix(a.Name, "per_group") {
			if err := b.perGroup(&out, a); err != nil {
				return nil, err
			}
			continue
		}
		if a.Word() == "auto" && !b.given.auto {
			if err := b.found(&out, a); err != nil {
				return nil, err
			}
			continue
		}
		if bounded != "" {
			return nil, bind.Refuse(a.At, "leave one out", "%s and %s set the same bounds", bounded, a.Name)
		}
		bounded = a.Name
		if err := b.perRow(&out, a); err != nil {
			return nil, err
		}
	}
	if b.given.auto && b.given.cells != nil {
		return nil, bind.Refuse(b.given.cells.at, "leave one out", "bounds => auto finds bounds per row, not per group")
	}
	return &out, nil
}

// span reads a pair (low, high).
func span(a *query.Argument) (lo, hi *big.Rat, err error) {
	low, high, ok := a.Pair()
	if ok {
		lo, hi = bind.NumberLiteral(low), bind.NumberLiteral(high)
	}
	if lo == nil || hi == nil {
		return nil, nil, bind.Refuse(
			a.At,
			"write "+a.Name+" => (0, 100)",
			"bounds are two constant numbers, the lower one first",
		)
	}
	if lo.Cmp(hi) > 0 {
		return nil, nil, bind.Refuse(a.At, "put the lower one first", "the lower bound is above the upper one")
	}
	return lo, hi, nil
}

// perRow clamps the value of each row: x becomes CASE WHEN x IS NOT NULL THEN LEAST(GREATEST(x, low), high) END. So
// everything that is proved of expressions holds for it. Bounds beyond the range of x have no effect.
func (b *measuring) perRow(x *query.Call, a *query.Argument) error {
	lo, hi, err := span(a)
	if err != nil {
		return err
	}
	switch {
	case x.Name == "clipped":
		b.given.outside = &cellSpan{at: a.At, lo: lo, hi: hi}
		return nil
	case x.Name == "count" || x.Star || len(x.Args) == 0 || bind.Moments[x.Name] == 2:
		return bind.Refuse(a.At, "leave it out", "%s has no single value to bound", x.Name)
	}
	e, err := b.Row(x.Args[0])
	if err != nil {
		return err
	}
	if !bind.IsNumber(e.Type) { // refused when the measure is made
		return nil
	}
	if e.Type == value.Integer && (!lo.IsInt() || !hi.IsInt()) {
		return bind.Refuse(a.At, "use whole numbers", "the bounds of an integer are integers")
	}
	at := a.At
	least, most := rangeRats(e.Range, e.Type)
	if lo.Cmp(most) > 0 || hi.Cmp(least) < 0 {
		return bind.Refuse(at, "", "the bounds exclude all values: these lie between %s and %s", short(least), short(most))
	}
	inside := x.Args[0]
	if lo.Cmp(least) > 0 {
		inside = &query.Call{At: at, Name: "greatest", Args: []query.Expr{inside, ratLiteral(lo, e.Type, at)}}
	}
	if hi.Cmp(most) < 0 {
		inside = &query.Call{At: at, Name: "least", Args: []query.Expr{inside, ratLiteral(hi, e.Type, at)}}
	}
	if lo.Cmp(least) < 0 || hi.Cmp(most) > 0 {
		b.notes.add(
			"The bounds of %s reach beyond the declared range of its argument, %s to %s, and are clamped to it.",
			strings.ToUpper(x.Name),
			short(least),
			short(most),
		)
	}
	if inside != x.Args[0] {
		there := &query.Is{At: at, X: x.Args[0], What: query.IsNull, Not: true}
		x.Args[0] = &query.Case{At: at, Whens: []query.When{{Cond: there, Result: inside}}}
	}
	return nil
}

// rangeRats returns the ends of a number's range as rationals.
func rangeRats(r bounded.Range, t value.Type) (lo, hi *big.Rat) {
	if t == value.Integer {
		return new(big.Rat).SetInt64(r.IntLo), new(big.Rat).SetInt64(r.IntHi)
	}
	return new(big.Rat).SetFloat64(r.Lo), new(big.Rat).SetFloat64(r.Hi)
}

// short writes a bound for a message.
func short(r *big.Rat) string {
	if r.IsInt() && r.Num().BitLen() < 64 {
		return r.Num().String()
	}
	f, _ := r.Float64()
	return value.OfReal(f).String()
}

// perGroup reads the bounds on one unit's contribution to one group. If each row is a unit, that contribution is
// the value of the row, or 1.
func (b *measuring) perGroup(x *query.Call, a *query.Argument) error {
	lo, hi, err := span(a)
	if err != nil {
		return err
	}
	counts := x.Name == "count" && !x.Distinct
	switch row := b.Table.Unit.IsRow(); {
	case row && b.Source != nil && b.Table.Unit.RowsPerUnit > 1:
		return bind.Refuse(
			a.At,
			"write contribution_bounds_per_row => (low, high)",
			"each row is a unit here, and FROM makes up to %d rows of it: only bounds per row limit what one unit adds to a group",
			b.Table.Unit.RowsPerUnit,
		)
	case row && counts:
		if lo.Sign() > 0 || hi.Cmp(big.NewRat(1, 1)) < 0 {
			return bind.Refuse(a.At, "leave it out", "each row is a unit here, and counts as 1")
		}
		return nil
	case row:
		return b.perRow(x, a)
	case x.Name == "count" && x.Distinct:
		return bind.Refuse(
			a.At,
			"leave it out",
			"COUNT(DISTINCT …) takes no bounds per group: a unit's contribution is bounded for the whole question",
		)
	case !counts && x.Name != "sum":
		return bind.Refuse(
			a.At,
			"write contribution_bounds_per_row => (low, high)",
			"%s takes no bounds per group: what one %s adds to a group is bounded per row",
			x.Name,
			b.Table.Unit.Column,
		)
	}
	b.given.cells = &cellSpan{at: a.At, lo: lo, hi: hi}
	return nil
}

// notes are sentences for the analyst on how dither read the question.
type notes []string

func (n *notes) add(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !slices.Contains(*n, text) {
		*n = append(*n, text)
	}
}
