package curator

import (
	"context"
	"math/big"

	"dither/internal/bounded"
	"dither/internal/derive"
	"dither/internal/plan"
	"dither/internal/release"
	"dither/internal/value"
	"dither/noise"
)

// Measurements are the noisy vectors from which a question is answered, with the exact distribution of their noise.
// Any later computation on them is free.
type Measurements struct {
	ID string // the name of the release in the ledger
	// the expressions that identify a cell, in canonical order. The order in the question's text does not matter,
	// so it does not change the release
	Keys    []string
	Grouped []int // for each expression of GROUP BY, in the question's order, its index in Keys
	// for each cell, the values of its keys: nil, int64, float64, string or bool. A date is a string. nil is NULL,
	// or a total over that key
	Cells     [][]any
	Possible  Possible
	Vectors   []Vector
	RowsBound *RowsBound // the bound on rows, if the question asked to find it first; else nil
	// the estimate of what the bounds cut; nil if the question and the policy ask for none
	Truncation *Truncation
	Limits     *Limits // what bounds the release
	Price      Loss
	Remaining  Loss
	Replayed   bool // returned from an earlier release, at no cost
}

// Possible states for each cell whether it can have rows. WHERE leaves none in the others, so their exact numbers are
// 0, and an answer leaves them out. It follows from the question and the policy, never from rows. It is nil if all
// cells can.
type Possible []bool

// Has reports whether the cell with this index can have rows.
func (p Possible) Has(cell int) bool { return p == nil || p[cell] }

// Vector is one noisy vector: a count or a sum for every cell (group).
type Vector struct {
	// "sum", "count", "distinct" for a count of distinct values, or "spread": n times the sum of the squares, less the square
	// of the sum, for the declared number n of units
	Name string
	// the expression that is summed, in the notation of plans: operations with their arguments in parentheses. For
	// a count of values, the expression that must not be NULL; "" for a count of rows
	Of     string
	Values []*big.Int // one per cell, in units of Unit
	// the index in Cells of the cell of Values[0]. It is not 0 if several groupings have vectors of their own
	First  int
	Unit   *big.Rat // the unit of Values: 1 for counts, and the square of a row's unit for a spread
	Centre *big.Rat // the number subtracted from each row's value before summing, in the value's own unit
	// the least and the greatest value of a row, before Centre was subtracted, in the value's own unit
	Bounds [2]*big.Rat
	Noise  noise.Distribution // the noise, independent for each value, in units of Unit
	// the number of rows that are summed, if it is a declared constant of the policy; else 0. It has no noise and no price
	Rows int64
	Loss Loss // the vector's share of the price
}

// Measure releases a vector of bounded linear queries, with noise on each number. It takes the questions that
// [Session.Answer] takes. Both make the same measurements, so each replays the other's releases. Measure refuses
// the options Whole and Combine, which only change how an answer is presented.
//
// By composition, the loss is the price: the measures' shares add up to it. The cells of one measure form one
// vector under one mechanism (mechanism.Laplace or mechanism.Gaussian), and the plan proves its sensitivity.
func (c *Session) Measure(ctx context.Context, q Question) (*Measurements, error) {
	if err := c.asks(&q.Analyst); err != nil {
		return nil, err
	}
	c.timed(&q.SQL)
	ctx = c.kernel.Arrives(ctx)
	if err := q.plainly("Measure"); err != nil {
		return nil, err
	}
	a, err := c.ask(q)
	if err != nil {
		return nil, c.public(err)
	}
	if len(a.plan.Quantiles)+len(a.plan.Modes) > 0 {
		return nil, &Error{
			Code:    CodeUsage,
			Message: "Measure supports sums and counts, but not quantiles or modes",
			Hint:    "use Answer or Rank",
		}
	}
	s, err := c.measured(ctx, a)
	if err != nil {
		return nil, err
	}
	return c.measurements(a, s)
}

// measurements returns the public form of a question's released numbers.
func (c *Session) measurements(a *asked, s *release.Released) (_ *Measurements, err error) {
	out, firsts := c.cells(a, len(s.Numbers))
	out.ID, out.RowsBound, out.Replayed = s.Name(), c.rowsBound(a), s.Replayed
	if s.Truncation != nil {
		if out.Truncation, err = c.truncation(a, s.Truncation); err != nil {
			return nil, c.after(s, err)
		}
	}
	for i, g := range a.plan.Groupings() {
		first, end := firsts[i], firsts[i+1]
		for j, m := range g.Measures {
			d, err := derive.NoiseOf(m)
			if err != nil {
				return nil, c.after(s, err)
			}
			v := Vector{
				Name:   m.Name(),
				First:  first,
				Unit:   m.Unit(),
				Centre: m.RowUnits(m.Centre),
				Noise:  d,
				Rows:   m.Rows,
				Loss:   c.loss(m.Loss),
			}
			if m.Sums() || m.Kind == bounded.CountValue {
				v.Of = m.X.String()
			}
			switch m.Kind {
			case bounded.CountDistinct: // a count of distinct values does not count rows
				v.Name, v.Of = "distinct", m.X.String()
			case bounded.SumDistinct:
				v.Name, v.Of = "distinct sum", m.X.String()
			}
			for i, end := range []int64{m.Lo, m.Hi} {
				v.Bounds[i] = m.RowUnits(end + m.Centre)
			}
			for _, cell := range s.Numbers[first:end] {
				v.Values = append(v.Values, cell[j])
			}
			out.Vectors = append(out.Vectors, v)
		}
	}
	out.Remaining, err = c.remains(s)
	return out, err
}

// ExplainMeasure returns what is known of the measurements of a question before anything is spent: the cells, which of
// them can have rows, the bounds and the price. The cells of unknown keys are not known. It is free, and reads no row.
func (c *Session) ExplainMeasure(_ context.Context, q Question) (*Measurements, error) {
	if err := c.asks(&q.Analyst); err != nil {
		return nil, err
	}
	c.timed(&q.SQL)
	a, err := c.ask(q)
	if err != nil {
		return nil, c.public(err)
	}
	n := 0
	if !a.plan.Open() {
		n = a.plan.Cells()
	}
	out, _ := c.cells(a, n)
	return out, nil
}

// cells returns the measurements of a question without values. Without grouping sets, they have n cells: for unknown
// keys, those that were released. The indices are those of the first cell of each grouping, and the number of cells.
func (c *Session) cells(a *asked, n int) (out *Measurements, firsts []int) {
	out = &Measurements{Grouped: a.plan.Grouped, Limits: c.limits(a.plan), Price: c.loss(a.plan.Price)}
	for _, k := range a.plan.Keys {
		out.Keys = append(out.Keys, k.Expr.String())
	}
	if a.plan.Other {
		out.Keys = append(out.Keys, plan.OtherName)
	}
	for _, g := range a.plan.Groupings() {
		first, n, keys := len(out.Cells), n, a.plan.CellKeys
		if a.plan.Sets != nil {
			n, keys = g.Cells(&a.plan.Statement), func(i int) []value.Value { return g.CellKeys(&a.plan.Statement, i) }
		}
		for i := range n {
			out.Cells = append(out.Cells, keyValues(keys(i)))
		}
		if can := a.plan.Reachable(g); can != nil {
			for len(out.Possible) < first { // the cells of groupings without conditions on their keys
				out.Possible = append(out.Possible, true)
			}
			out.Possible = append(out.Possible, can...)
		}
		firsts = append(firsts, first)
	}
	for out.Possible != nil && len(out.Possible) < len(out.Cells) {
		out.Possible = append(out.Possible, true)
	}
	return out, append(firsts, len(out.Cells))
}

// measured replays or releases everything that a question needs: its measures, then quantiles and modes. The cells
// (groups) of one measure are one vector under one mechanism.
func (c *Session) measured(ctx context.Context, a *asked) (*release.Released, error) {
	s, err := c.take(ctx, a.query)
	if err != nil {
		return nil, err
	}
	if err := c.settle(a, s); err != nil {
		return nil, c.after(s, err)
	}
	return s, nil
}

// settle completes the question's plan with the results that were released besides the measures: a bound on rows,
// bounds of values, and the selected groups. It removes the numbers of the search for bounds from s.
func (c *Session) settle(a *asked, s *release.Released) (err error) {
	if a.plan.Rows != nil {
		p, err := a.plan.WithRows(s.Rows)
		if err == nil {
			err = a.follow(p)
		}
		if err != nil {
			return err
		}
	}
	if n := len(a.plan.Measures); len(a.plan.Searches) > 0 {
		p, err := a.plan.Found(s.Numbers[0][:n], s.Numbers[1][:n])
		if err == nil {
			err = a.follow(p)
		}
		if err != nil {
			return err
		}
		s.Numbers = s.Numbers[2:]
	}
	if a.plan.Selection != nil {
		return a.follow(a.plan.Choose(s.Groups)) // the selection does not change the noise that ask prepared
	}
	return nil
}
