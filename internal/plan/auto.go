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

func (s *Search) pay(share privacy.Loss) { s.Loss = s.Loss.Plus(share) }

// Outer is the one measure of the look: what X's rows lie between by themselves.
func (s *Search) Outer() *bounded.Measure { return s.Look.Measures[0] }

// String is the search's canonical text, without its share of the price.
func (s *Search) String() string { return "bounds of " + s.Outer().String() }

// found plans bounds => auto for a call's one argument.
func (b *builder) found(x *query.Call, a *query.Argument) error {
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
func (b *builder) searched(name string, e *bounded.Expr, at query.Pos) (Aggregate, error) {
	if bind.AnyColumn(e, bind.IsUnbounded) && bind.IsUnbounded(e) {
		return Aggregate{}, bind.Refuse(
			at,
			"give it outer bounds, as wide as you like: contribution_bounds_per_row => (-1000000, 1000000) beside bounds => auto; or the owner declares them",
			"bounds are found within bounds that are known beforehand, and this has none",
		)
	}
	outer, err := sumMeasure(e, false, at)
	if err != nil {
		return Aggregate{}, err
	}
	s := &Search{
		X:             e,
		Look:          bounded.Statement{Measures: []*bounded.Measure{&outer.Measure}, Ordered: true},
		FalsePositive: falsePositive,
	}
	for _, o := range b.plan.Searches {
		if o.String() == s.String() {
			s = o
		}
	}
	if !slices.Contains(b.plan.Searches, s) {
		b.plan.Searches = append(b.plan.Searches, s)
	}
	b.note(
		"Bounds are looked for first, at half of the aggregate's share of the price. The error that is told is that within the widest bounds there are; it is smaller within narrower ones.",
	)
	lo, hi := big.NewInt(outer.Lo), big.NewInt(outer.Hi)
	sum, err := s.within(lo, hi, name == "avg")
	if err != nil {
		return Aggregate{}, err
	}
	if sum.X.Weight() > bounded.MaxWeight {
		return Aggregate{}, bind.Refuse(
			at,
			"simplify it",
			"this expression is too large once it is written out with its bounds",
		)
	}
	if name == "sum" {
		return Aggregate{Func: SumFunc, Sum: sum}, nil
	}
	return average(sum.X, sum, countMeasure(bounded.CountValue, e)), nil
}

// within is the sum of X within bounds in the look's grid units. They are held within X's own, whatever they are; and those of a
// plain sum reach to 0, or as near to it as X's own do: what is nearer to 0 costs no noise, and need not be moved.
func (s *Search) within(lo, hi *big.Int, centred bool) (*Measure, error) {
	outer := s.Outer()
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
		if s.X.Type == value.Integer {
			return bind.Constant(value.OfInt(n))
		}
		// exact: at most 2^60 units, of 46 bits or fewer where they are real bounds
		x, _ := outer.Units(big.NewInt(n)).Float64()
		return bind.Constant(value.OfReal(min(max(x, s.X.Range.Lo), s.X.Range.Hi)))
	}
	at := query.Pos{Line: 1, Column: 1}
	inside, err := bind.Extreme(bounded.OpGreatest)([]*bounded.Expr{s.X, bound(low)}, at)
	if err == nil {
		inside, err = bind.Extreme(bounded.OpLeast)([]*bounded.Expr{inside, bound(high)}, at)
	}
	if err != nil {
		return nil, err
	}
	there := bind.Logical(bounded.OpNot, &bounded.Expr{Op: bounded.OpNil, Type: value.Boolean, Args: []*bounded.Expr{s.X}})
	x, err := bind.Choose([]*bounded.Expr{there}, []*bounded.Expr{inside, bind.Constant(value.NullOf(s.X.Type))}, at)
	if err != nil {
		return nil, err
	}
	m, err := sumMeasure(x, centred, at)
	if err != nil {
		return nil, err
	}
	m.Search, m.centred = s, centred
	return m, nil
}

// looks completes the searches' looks, once the plan's own is. A row is in one bin of the histogram, so that the histogram moves by at
// most Rows =: m in L1 norm and m² in squared L2 norm under add/remove, and by twice each under change-one (quantile.Tree
// has the proof).
func (b *builder) looks() error {
	for _, s := range b.plan.Searches {
		outer := s.Outer()
		s.Look = b.plan.Statement // the same rows, but those of groups that are not known are among them
		s.Look.Keys, s.Look.Other, s.Look.Measures, s.Look.Ordered, s.Look.Caps = nil, false, []*bounded.Measure{
			outer,
		}, true, b.rowsOnly()
		m := big.NewInt(s.Look.Caps.Rows)
		h := countMeasure(bounded.CountValue, s.X)
		h.L1, h.L2Squared, h.Loss = m, new(big.Int).Mul(m, m), s.Loss
		if b.plan.Neighbours == privacy.ChangeOne {
			h.L1, h.L2Squared = new(big.Int).Lsh(h.L1, 1), h.L2Squared.Lsh(h.L2Squared, 1)
		}
		if err := h.choose(); err != nil {
			return bind.Refuse(query.Pos{}, "", "no noise can be chosen: %v", err)
		}
		s.Histogram = h
	}
	return nil
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
		found, err := m.Search.within(lower[j], upper[j], m.centred)
		if err != nil {
			return nil, err
		}
		found.text = found.String()
		found.Loss, found.Rounding = m.Loss, m.Rounding // which bounds any sum of the value on a grid of its own
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
		if err := out.overSets(); err != nil {
			return nil, err
		}
	}
	return &out, nil
}
