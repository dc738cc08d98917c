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

// Measurements are the noisy vectors that a question is answered from, with the exact distribution of their noise: what
// any later computation starts from, at no cost.
type Measurements struct {
	ID string // of the release in the ledger
	// the expressions that name a cell, in an order of their own: whichever the question named first, it is the
	// same release
	Keys    []string
	Grouped []int // of each expression of GROUP BY, in the question's order, its place among Keys
	// of each cell, its keys' values: nil, int64, float64, string or bool; a date is its text. nil also where it is
	// a total
	Cells     [][]any
	Vectors   []Vector
	RowsBound *RowsBound // where the bound on rows was found; else nil
	Price     Loss
	Remaining Loss
	Replayed  bool // from an earlier release, at no cost
}

// Vector is one noisy vector: a count or a sum for every cell.
type Vector struct {
	Name string // "sum", "count", or "distinct" of a count of distinct values
	// the expression that is added up, as plans write it: an operation and its arguments in parentheses; of a
	// count, what is not NULL in the rows that count, or ""
	Of     string
	Values []*big.Int         // by cell, in Units
	First  int                // the cell of the first value; not 0 where several groupings have vectors of their own
	Unit   *big.Rat           // of the values: 1 for counts
	Centre *big.Rat           // what was subtracted from each row's value before the sum, in the value's own unit
	Bounds [2]*big.Rat        // the least and the largest value of a row, likewise, before Centre was subtracted
	Noise  noise.Distribution // of each value independently, in Units
	Loss   Loss               // the vector's share of the price
}

// Measure is the kernel's first primitive: a vector of bounded linear queries, with noise on each number. The question is one
// that Answer takes, and the two replay each other: what is measured is the same, and Answer computes from it. Whole and
// Combine present an answer, so Measure refuses them.
//
// Its loss is the price by composition: the measures' shares add up to it, each measure's cells are one vector under one
// mechanism (mechanism.Laplace or mechanism.Gaussian), whose sensitivity the plan proves.
func (c *Session) Measure(ctx context.Context, q Question) (*Measurements, error) {
	if err := c.asks(&q.Analyst); err != nil {
		return nil, err
	}
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
			Message: "Measure gives sums and counts, and no quantiles or modes",
			Hint:    "use Answer, or Rank",
		}
	}
	s, err := c.measured(ctx, a)
	if err != nil {
		return nil, err
	}
	return c.measurements(a, s)
}

// measurements are what was released of a question.
func (c *Session) measurements(a *asked, s *release.Released) (_ *Measurements, err error) {
	out := &Measurements{
		ID:        s.Name(),
		Grouped:   a.plan.Grouped,
		RowsBound: c.rowsBound(a),
		Price:     c.loss(a.plan.Price),
		Replayed:  s.Replayed,
	}
	for _, k := range a.plan.Keys {
		out.Keys = append(out.Keys, k.Expr.String())
	}
	if a.plan.Other {
		out.Keys = append(out.Keys, plan.OtherName)
	}
	for _, g := range a.plan.Groupings() {
		// of groups that were not known, those that were released
		first, n, keys := len(out.Cells), len(s.Numbers), a.plan.CellKeys
		if a.plan.Sets != nil {
			n, keys = g.Cells(&a.plan.Statement), func(i int) []value.Value { return g.CellKeys(&a.plan.Statement, i) }
		}
		for i := range n {
			out.Cells = append(out.Cells, keyValues(keys(i)))
		}
		for j, m := range g.Measures {
			d, err := derive.NoiseOf(m)
			if err != nil {
				return nil, c.after(s, err)
			}
			v := Vector{
				Name:   m.Name(),
				First:  first,
				Unit:   m.Unit(),
				Centre: m.Units(big.NewInt(m.Centre)),
				Noise:  d,
				Loss:   c.loss(m.Loss),
			}
			if m.Kind == bounded.Sum || m.Kind == bounded.CountValue {
				v.Of = m.X.String()
			}
			if m.Kind == bounded.CountDistinct { // which is no count of rows
				v.Name, v.Of = "distinct", m.X.String()
			}
			for i, end := range []int64{m.Lo, m.Hi} {
				v.Bounds[i] = m.Units(new(big.Int).Add(big.NewInt(end), big.NewInt(m.Centre)))
			}
			for _, cell := range s.Numbers[first:len(out.Cells)] {
				v.Values = append(v.Values, cell[j])
			}
			out.Vectors = append(out.Vectors, v)
		}
	}
	out.Remaining, err = c.remains(s)
	return out, err
}

// measured takes the measures of a question: each measure's cells are one vector under one mechanism. Quantiles and modes follow.
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

// settle makes the plan that of what was found and released beside the numbers: a bound on rows, bounds of values, which it takes off the numbers,
// and groups.
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
		return a.follow(a.plan.Choose(s.Groups)) // its noises are those of the plan that ask prepared
	}
	return nil
}
