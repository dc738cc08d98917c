package product

import (
	"fmt"
	"math"

	"dither/strategy"
)

// Choice is the outcome of a comparison.
type Choice struct {
	Candidates []strategy.Candidate
	Chosen     *Plan // the candidate of least RMSE; the first of several
	Measurable *Plan // the best candidate that one measurement can release; nil if none can be
	// Agreeing is the best of these in which the same measurements answer all terms, so that answers agree with each other:
	// any but separate. [RestoreChoice] leaves it nil.
	Agreeing *Plan
	// Bound is a certified lower bound on the RMSE of every strategy with least squares, for the same noise.
	Bound float64
}

// apartName is the name of the candidate that measures each term by itself.
const apartName = "separate"

// Limits of candidates.
const (
	maxParts    = 128 // of a plan
	maxSeparate = 64  // terms that are measured one by one
	// the most work of the plan that measures terms one by one: see separateWork. It takes some three seconds
	mostSeparateWork = 3e7
)

// Choose compares what could be measured, by exact expected errors:
//
//   - identity: each cell;
//   - product: one product of a matrix for each column. Each matrix is the best one for the column's questions, weighted
//     by the errors in the other columns; the columns take turns. For one term and a price in ρ it is the optimum;
//   - residuals: for each set of columns that a term asks about, the differences from the means in these columns, summed
//     over the others. An answer adds up its parts, as for marginals;
//   - separate: each term by itself, with the best product for it, if this is found within seconds.
func Choose(w *Workload, unit strategy.Unit) (*Choice, error) {
	c := &Choice{}
	add := func(p *Plan) {
		if p == nil {
			return
		}
		c.Candidates = append(c.Candidates, strategy.Candidate{Name: p.Name, Expected: p.Expected})
		if c.Chosen == nil || p.RMSE < c.Chosen.RMSE*(1-1e-9) {
			c.Chosen = p
		}
		if p.fits() && (c.Measurable == nil || p.RMSE < c.Measurable.RMSE*(1-1e-9)) {
			c.Measurable = p
		}
		if p.fits() && p.Name != apartName && (c.Agreeing == nil || p.RMSE < c.Agreeing.RMSE*(1-1e-9)) {
			c.Agreeing = p
		}
	}
	b := newBuilder(w, unit)
	identity, err := b.identity()
	if err != nil {
		return nil, err
	}
	add(identity)
	best, err := b.product()
	if err != nil {
		return nil, err
	}
	add(best)
	for _, build := range []func(pieces []piece) (*Plan, error){b.residuals, b.separate} {
		p, err := build(best.parts[0].pieces)
		if err != nil {
			return nil, err
		}
		add(p)
	}
	c.Bound = math.Min(b.bound(), c.Chosen.RMSE)
	return c, nil
}

// builder makes the candidates for a workload.
type builder struct {
	workload *Workload
	unit     strategy.Unit
	duals    [][]float64 // by column, of the last product; nil for 1 in every cell
	optima   map[string]optimum
}

// optimum is the best measurement of one column for a workload, and the certificate of its bound.
type optimum struct {
	piece piece
	dual  []float64
}

func newBuilder(w *Workload, unit strategy.Unit) *builder {
	return &builder{workload: w, unit: unit, optima: map[string]optimum{}}
}

// single returns the plan of one part.
func (b *builder) single(name string, pieces []piece) *Plan {
	serves := make([][]int, len(b.workload.terms))
	for i := range serves {
		serves[i] = []int{0}
	}
	return newPlan(name, b.workload, b.unit, []part{{pieces: pieces}}, serves)
}

// product returns the plan of one product. It chooses the matrix of each column in turn.
func (b *builder) product() (*Plan, error) {
	w := b.workload
	plan, err := b.identity()
	if err != nil {
		return nil, err
	}
	rounds := 4
	for _, c := range w.columns {
		switch {
		case len(w.terms) == 1 || c.cells > 256 && !c.flat():
			rounds = 1
		case b.unit == strategy.Epsilon && c.cells > 64 && !c.flat():
			rounds = min(rounds, 2)
		}
	}
	pieces, table := plan.parts[0].pieces, plan.table()
	b.duals = make([][]float64, len(w.columns))
	for range rounds {
		for k, c := range w.columns {
			weights := make([]float64, len(c.factors))
			for _, t := range w.terms {
				v := t.weight
				for j, f := range t.of {
					if j != k {
						v *= table[0][j][f].sum
					}
				}
				weights[t.of[k]] += v
			}
			if pieces[k], b.duals[k], err = b.best(c, weights); err != nil {
				return nil, err
			}
			for f := range c.factors {
				table[0][k][f] = errorsOf(pieces[k], c.factors[f])
			}
		}
	}
	return b.single("product", pieces), nil
}

// best returns the best measurement of a column for its factors with these weights, and the certificate of its bound.
func (b *builder) best(c column, weights []float64) (piece, []float64, error) {
	most := 0.0
	for _, v := range weights {
		most = max(most, v)
	}
	if c.flat() {
		return b.even(c, weights, most), nil, nil
	}
	var all []strategy.Workload
	for i, f := range c.factors {
		v := weights[i] / most
		if v < 1e-9 {
			continue
		}
		w, err := f.workload()
		if err == nil && v != 1 {
			w, err = w.Weighted(v)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("%w: %w", ErrWorkload, err)
		}
		all = append(all, w)
	}
	u, err := strategy.Union(all...)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrWorkload, err)
	}
	return b.optimum(u)
}

// optimum returns the best measurement of one column for a workload, and the certificate of its bound.
func (b *builder) optimum(w strategy.Workload) (piece, []float64, error) {
	digest := w.Digest()
	if o, known := b.optima[digest]; known {
		return o.piece, o.dual, nil
	}
	var s *strategy.Strategy
	var y []float64
	var err error
	if b.unit == strategy.Rho {
		s, y, _, err = strategy.OptimalWithDual(w)
	} else {
		var c *strategy.Choice
		if c, err = strategy.Choose(w, b.unit); err == nil {
			s, y = c.Chosen, strategy.Dual(w)
		}
	}
	if err != nil {
		return nil, nil, err
	}
	p := &chosen{Strategy: s, spread: s.Spread()}
	b.optima[digest] = optimum{p, y}
	return p, y, nil
}
