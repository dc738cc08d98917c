package plan

import (
	"fmt"
	"math/big"
	"slices"

	"dither/internal/bind"
	"dither/internal/bounded"
	"dither/internal/query"
	"dither/internal/sensitivity"
	"dither/internal/value"
	"dither/privacy"
)

// Search finds bounds for a value from the rows: bounds => auto. It is the first of two accesses for one answer. It
// measures a noisy histogram of the value's magnitudes, from which quantile.AutomaticBounds computes bounds. The
// second access sums the values within these bounds.
//
// Claim: an answer with searches costs its price. Proof. A search is private at its Loss, by the proof of
// AutomaticBounds, because no unit has more than Caps.Rows rows in it. For any bounds that it finds, each measure
// is private at its own share, with the sensitivity of these bounds ([Plan.Found]). A mechanism that is chosen from
// an earlier release composes with it like a fixed mechanism: the losses add up, as pure ε [Dwork & Roth 2014,
// Theorem 3.16] and as ρ [Bun & Steinke 2016, Lemma 2.3]. So the answer costs the sum of its parts' losses, which
// is the price. ∎
type Search struct {
	X             *bounded.Expr
	Look          bounded.Statement // the values of X in order, within the bounds that X has without a search
	FalsePositive float64           // the probability that found bounds are wider than all values
	Loss          privacy.Loss
	// the noisy histogram, which counts the rows with each magnitude: its sensitivities, noise and loss
	Histogram *Measure
}

// falsePositive is the probability that noise alone makes found bounds wider than needed. Wider bounds make an
// answer less accurate, and never less private.
const falsePositive = 1e-6

// Outer returns the one measure of the search's access: X, clamped to the bounds that it has without a search.
func (s *Search) Outer() *bounded.Measure { return s.Look.Measures[0] }

// String returns the search's canonical text, without its share of the price.
func (s *Search) String() string { return searchText(s.Outer()) }

func searchText(outer *bounded.Measure) string { return "bounds of " + outer.String() }

// found reads bounds => auto in a call of SUM or AVG. It refuses the argument in other calls.
func (b *measuring) found(x *query.Call, a *query.Argument) error {
	if x.Name != "sum" && x.Name != "avg" || len(x.Args) != 1 || x.Distinct {
		return bind.Refuse(
			a.At,
			"ask for SUM(x, bounds => auto) first, and give the bounds that it finds: bounds => (low, high)",
			"bounds are found for SUM and AVG only",
		)
	}
	b.given.auto = true
	return nil
}

// searched returns an aggregate of e whose bounds are to be found. Until then, the aggregate is planned with the
// bounds of e itself.
func (b *measuring) searched(name string, e *bounded.Expr, at query.Pos) (unpricedAggregate, error) {
	if bind.AnyColumn(e, bind.IsUnbounded) && bind.IsUnbounded(e) {
		return unpricedAggregate{}, bind.Refuse(
			at,
			"add wide outer bounds to bounds => auto: contribution_bounds_per_row => (-1000000, 1000000); or the owner can declare bounds",
			"bounds => auto searches within outer bounds, and this expression has none",
		)
	}
	outer, err := sumMeasure(e, false, at)
	if err != nil {
		return unpricedAggregate{}, err
	}
	s := &unpricedSearch{x: e, outer: &outer.Measure}
	for _, o := range b.searches {
		if o.String() == s.String() {
			s = o
		}
	}
	if !slices.Contains(b.searches, s) {
		b.searches = append(b.searches, s)
	}
	b.notes.add(
		"Half of the aggregate's share of the price pays for a search for bounds. The stated error is for the widest possible bounds; narrower bounds make it smaller.",
	)
	lo, hi := big.NewInt(outer.Lo), big.NewInt(outer.Hi)
	sum, err := sumWithin(e, &outer.Measure, lo, hi, name == "avg")
	if err != nil {
		return unpricedAggregate{}, err
	}
	sum.search = s
	if sum.X.Weight() > bounded.MaxWeight {
		return unpricedAggregate{}, bind.Refuse(
			at,
			"simplify it",
			"this expression is too large when it is expanded with its bounds",
		)
	}
	if name == "sum" {
		return unpricedAggregate{of: SumFunc, sum: sum}, nil
	}
	return b.average(sum.X, sum, e), nil
}

// sumWithin returns the sum of an expression, clamped to bounds. The bounds lo and hi are in the grid units of
// outer, the expression's own measure, and are first clamped to its range. Unless centred is set, the bounds are
// widened to contain 0, or as nearly as the expression's own range allows. That costs no noise, because the
// sensitivity of a sum depends on the largest magnitude.
func sumWithin(of *bounded.Expr, outer *bounded.Measure, lo, hi *big.Int, centred bool) (*unpricedMeasure, error) {
	clamp := func(n *big.Int) int64 {
		switch {
		case n.Cmp(big.NewInt(outer.Lo)) < 0:
			return outer.Lo
		case n.Cmp(big.NewInt(outer.Hi)) > 0:
			return outer.Hi
		}
		return n.Int64()
	}
	low, high := clamp(lo), clamp(hi)
	if !centred {
		low, high = max(min(low, 0), outer.Lo), min(max(high, 0), outer.Hi)
	}
	if low > high {
		low, high = outer.Lo, outer.Hi
	}
	bound := func(n int64) *bounded.Expr {
		if of.Type == value.Integer {
			return bind.Constant(value.OfInt(n))
		}
		// exact: at most 2^60 units, and 46 bits or fewer for bounds of reals
		x, _ := outer.Units(big.NewInt(n)).Float64()
		return bind.Constant(value.OfReal(min(max(x, of.Range.Lo), of.Range.Hi)))
	}
	at := query.Pos{Line: 1, Column: 1}
	inside, err := bind.Extreme(bounded.OpGreatest)([]*bounded.Expr{of, bound(low)}, at)
	if err == nil {
		inside, err = bind.Extreme(bounded.OpLeast)([]*bounded.Expr{inside, bound(high)}, at)
	}
	if err != nil {
		return nil, err
	}
	there := bind.Logical(bounded.OpNot, &bounded.Expr{Op: bounded.OpNil, Type: value.Boolean, Args: []*bounded.Expr{of}})
	x, err := bind.Choose([]*bounded.Expr{there}, []*bounded.Expr{inside, bind.Constant(value.NullOf(of.Type))}, at)
	if err != nil {
		return nil, err
	}
	m, err := sumMeasure(x, centred, at)
	if err != nil {
		return nil, err
	}
	m.centred = centred
	return m, nil
}

// Within returns the bounds of a searched output's values, and the search. In a plan whose bounds have been found
// ([Plan.Found]), they are the found bounds, and otherwise the values' own bounds. The boolean is false if the
// output has no search.
func (p *Plan) Within(o Output) (lo, hi float64, of *Search, ok bool) {
	if o.Post == nil {
		return 0, 0, nil, false
	}
	o.Post.Walk(func(q *Post) {
		if q.Op != PostAggregate || p.Aggregates[q.Index].Sum == nil || p.Aggregates[q.Index].Sum.Search == nil || ok {
			return
		}
		m := p.Aggregates[q.Index].Sum
		lo, hi = bind.RangeFloats(m.X.Range, m.X.Type)
		of, ok = m.Search, true
	})
	return lo, hi, of, ok
}

// Found returns the plan within found bounds. The slices have an element for each measure: the smallest and the
// largest value that one row adds, in the grid units of the measure's search. Found ignores the elements of
// measures without a search. With grouping sets, each set's measures follow as in overSets. Price, shares, caps and
// order stay the same. The noise follows from the new bounds, at the same shares.
func (p *Plan) Found(lower, upper []*big.Int) (*Plan, error) {
	out := *p
	if len(lower) != len(p.Measures) || len(upper) != len(p.Measures) {
		return nil, fmt.Errorf("found bounds of %d measures, not %d", len(lower), len(p.Measures))
	}
	replaced := map[*Measure]*Measure{}
	var measures []*Measure
	for j, m := range p.Measures {
		if m.Search == nil {
			measures = append(measures, m)
			continue
		}
		sum, err := sumWithin(m.Search.X, m.Search.Outer(), lower[j], upper[j], m.centred)
		if err != nil {
			return nil, err
		}
		found := &Measure{Measure: sum.Measure, Search: m.Search, centred: m.centred, Loss: m.Loss}
		found.text = found.String()
		// it bounds the rounding of any sum of the value, because each such sum has a grid of its own
		found.Rounding = m.Rounding
		found.moves(sensitivity.OfMeasure(&found.Measure, p.Neighbours, p.Caps, len(p.Keys) > 0))
		if err := found.choose(); err != nil {
			return nil, err
		}
		replaced[m] = found
		measures = append(measures, found)
	}
	out.setMeasures(measures)
	out.Aggregates = nil
	for _, a := range p.Aggregates {
		if found := replaced[a.Sum]; found != nil {
			a.Sum = found
			if a.Func == Average {
				a.Lo, a.Hi = bind.RangeFloats(found.X.Range, found.X.Type)
			}
		}
		out.Aggregates = append(out.Aggregates, a)
	}
	if out.Sets != nil {
		sets, err := overSets(&out.Statement, out.Neighbours, out.Measures, out.Sets)
		if err != nil {
			return nil, err
		}
		out.Sets = sets
	}
	return &out, nil
}
