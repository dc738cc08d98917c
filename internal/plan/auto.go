package plan

import (
	"fmt"
	"math/big"
	"slices"

	"dither/internal/bind"
	"dither/internal/bounded"
	"dither/internal/query"
	"dither/internal/value"
	"dither/privacy"
)

// Search finds bounds for a value by looking at rows: bounds => auto. It is the first of two looks of one answer: a noisy histogram
// of the value's magnitudes, of which quantile.AutomaticBounds tells the bounds, and then the sums within these bounds.
//
// Privacy: the search is private at its Loss, by AutomaticBounds' proof, since no unit has more than Rows rows in it. Whatever bounds
// it finds, within the value's own, each of the measures is private at its own share, with the sensitivity of those bounds
// (Found). A mechanism that is chosen with a view of what another released composes with it as if it had been fixed: the losses add
// up, as pure ε [Dwork & Roth 2014, Theorem 3.16] and as ρ [Bun & Steinke 2016, Lemma 2.3]. So the answer costs what its
// parts cost together, the price.
type Search struct {
	X             *bounded.Expr
	Look          bounded.Statement // X's values in order, at its own bounds
	FalsePositive float64           // the probability of bounds beyond all values
	Loss          privacy.Loss
	Histogram     *Measure // the noisy histogram's sensitivities, noise and loss: how many rows have each magnitude
}

// falsePositive is how often noise alone makes found bounds wider than they need to be. That spoils an answer, never its privacy.
const falsePositive = 1e-6

// Outer is the one measure of the look: what X's rows lie between by themselves.
func (s *Search) Outer() *bounded.Measure { return s.Look.Measures[0] }

// String is the search's canonical text, without its share of the price.
func (s *Search) String() string { return searchText(s.Outer()) }

func searchText(outer *bounded.Measure) string { return "bounds of " + outer.String() }

// found plans bounds => auto for a call's one argument.
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

// searched is the aggregate of e within bounds that are to be found. Till then it is planned at e's own.
func (b *measuring) searched(name string, e *bounded.Expr, at query.Pos) (unpricedAggregate, error) {
	if bind.AnyColumn(e, bind.IsUnbounded) && bind.IsUnbounded(e) {
		return unpricedAggregate{}, bind.Refuse(
			at,
			"give it outer bounds, as wide as you like: contribution_bounds_per_row => (-1000000, 1000000) beside bounds => auto; or the owner declares them",
			"bounds are found within bounds that are known beforehand, and this has none",
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
		"Bounds are looked for first, at half of the aggregate's share of the price. The error that is told is that within the widest bounds there are; it is smaller within narrower ones.",
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
			"this expression is too large once it is written out with its bounds",
		)
	}
	if name == "sum" {
		return unpricedAggregate{of: SumFunc, sum: sum}, nil
	}
	return average(sum.X, sum, countMeasure(bounded.CountValue, e)), nil
}

// within is the sum of X within bounds in the look's grid units. They are held within X's own, whatever they are; and those of a
// plain sum reach to 0, or as near to it as X's own do: what is nearer to 0 costs no noise, and need not be moved.
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
		// exact: at most 2^60 units, of 46 bits or fewer where they are real bounds
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

// Within are the bounds that an output's values were held within by a search, with the searches: found ones, or in a plan the values'
// own. ok is false where nothing was searched.
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

// Found is the plan within found bounds: of each measure the least and the most that a row adds, in its search's grid units, of which
// those that have no search are not read. Over grouping sets each set's vectors follow too, as splitSets divides the price among them. Price, shares, caps and order are the plan's own; noise follows from the bounds,
// as ever, for the same share of the price.
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
		found.Rounding = m.Rounding // which bounds any sum of the value on a grid of its own
		found.bound(p.Neighbours, p.Caps, len(p.Keys) > 0)
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
