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
	// Bound is a certified lower bound on the RMSE of every strategy with least squares, for the same noise.
	Bound float64
}

// Limits of candidates.
const (
	maxParts    = 128 // of a plan
	maxSeparate = 64  // terms that are measured one by one
)

// Choose compares what could be measured, by exact expected errors:
//
//   - identity: each cell;
//   - product: one product of a matrix for each column. Each matrix is the best one for the column's questions, weighted
//     by the errors in the other columns; the columns take turns. For one term and a price in ρ it is the optimum;
//   - residuals: for each set of columns that a term asks about, the differences from the means in these columns, summed
//     over the others. An answer adds up its parts, as for marginals;
//   - separate: each term by itself, with the best product for it.
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

func (b *builder) identity() (*Plan, error) {
	var pieces []piece
	for _, c := range b.workload.columns {
		p, err := b.cells(c)
		if err != nil {
			return nil, err
		}
		pieces = append(pieces, p)
	}
	return b.single("identity", pieces), nil
}

// cells measures each value of a column.
func (b *builder) cells(c column) (piece, error) {
	if c.flat() {
		return &even{cells: c.cells, a: 1, unit: b.unit}, nil
	}
	w, err := strategy.Values(c.cells)
	if err != nil {
		return nil, err
	}
	s, err := strategy.New("identity", w, strategy.Identity(c.cells), b.unit)
	if err != nil {
		return nil, err
	}
	return &chosen{Strategy: s, spread: s.Spread()}, nil
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

// even returns the best even piece for the weights of totals and values, by a search over the share of the total in the
// squared norm (or the norm, for Laplace noise) of a column.
func (b *builder) even(c column, weights []float64, most float64) piece {
	loss := func(e *even) (sum float64) {
		for i, f := range c.factors {
			sum += weights[i] / most * errorsOf(e, f).sum
		}
		return sum
	}
	const scale = 1 << 12
	at := func(share float64) *even {
		e := &even{cells: c.cells, unit: b.unit}
		if b.unit == strategy.Rho {
			share = math.Sqrt(share)
			e.a = max(1, int64(math.Round(scale*math.Sqrt(1-share*share))))
		} else {
			e.a = max(1, int64(math.Round(scale*(1-share))))
		}
		e.b = int64(math.Round(scale * share))
		return e
	}
	only := true
	for i, f := range c.factors {
		only = only && (f.kind == total || weights[i] == 0)
	}
	if only {
		return &mean{cells: c.cells}
	}
	best := &even{cells: c.cells, a: 1, unit: b.unit}
	least := loss(best)
	low, high := 0.0, 1-1.0/scale
	for range 60 { // the loss is convex in the share, or nearly so
		x, y := low+(high-low)*0.382, low+(high-low)*0.618
		if loss(at(x)) < loss(at(y)) {
			high = y
		} else {
			low = x
		}
	}
	if e := at(low); loss(e) < least*(1-1e-6) {
		best = e
	}
	return best
}

// residuals returns the plan of one part for each set of columns that some term asks about, from the pieces of a product.
// It returns nil if there is one set, or if there are too many.
func (b *builder) residuals(pieces []piece) (*Plan, error) {
	w := b.workload
	if len(w.terms) == 1 && len(w.columns) == 1 {
		return nil, nil
	}
	centred := make([]piece, len(pieces))
	for k, p := range pieces {
		n := w.columns[k].cells
		switch of := p.(type) {
		case *chosen:
			centred[k] = b.centred(of, n)
		case *even:
			if centred[k] = (&even{cells: n, a: 1, unit: b.unit, centred: true}); b.unit == strategy.Rho {
				centred[k] = &apart{cells: n}
			}
		}
	}
	means := make([]piece, len(pieces))
	for k, c := range w.columns {
		means[k] = &mean{cells: c.cells}
	}
	var parts []part
	index := map[uint]int{}
	serves := make([][]int, len(w.terms))
	for t, of := range w.terms {
		var asked uint
		for k, f := range of.of {
			if w.columns[k].factors[f].kind != total && w.columns[k].cells > 1 {
				asked |= 1 << k
			}
		}
		for set := asked; ; set = (set - 1) & asked { // all subsets
			i, known := index[set]
			if !known {
				if len(parts) == maxParts {
					return nil, nil
				}
				i = len(parts)
				index[set] = i
				one := part{}
				for k := range pieces {
					if set>>k&1 == 1 {
						one.pieces = append(one.pieces, centred[k])
					} else {
						one.pieces = append(one.pieces, means[k])
					}
				}
				parts = append(parts, one)
			}
			serves[t] = append(serves[t], i)
			if set == 0 {
				break
			}
		}
	}
	return newPlan("residuals", w, b.unit, parts, serves), nil
}

// centred returns the measurement of questions' differences from their means: the best one for the workload of a
// product's piece, if it is small and under Gaussian noise, or the piece itself.
func (b *builder) centred(of *chosen, n int) piece {
	if b.unit == strategy.Rho && n > 1 && n <= strategy.MaxCentred {
		// a workload that determines few cells has no such strategy
		if s, err := strategy.OptimalCentred(of.Workload()); err == nil {
			return &chosen{Strategy: s, spread: s.Centred(), centred: true}
		}
	}
	return &chosen{Strategy: of.Strategy, spread: of.Centred(), centred: true}
}

// separate returns the plan of one part for each term, or nil if there is one term, or too many.
func (b *builder) separate([]piece) (*Plan, error) {
	w := b.workload
	if len(w.terms) == 1 || len(w.terms) > maxSeparate {
		return nil, nil
	}
	var parts []part
	serves := make([][]int, len(w.terms))
	known := map[[2]int]piece{}
	for t, of := range w.terms {
		var one part
		for k, i := range of.of {
			c := w.columns[k]
			p := known[[2]int{k, i}]
			if p == nil {
				var err error
				if p, err = b.alone(c, i); err != nil {
					return nil, err
				}
				known[[2]int{k, i}] = p
			}
			one.pieces = append(one.pieces, p)
		}
		parts, serves[t] = append(parts, one), []int{t}
	}
	return newPlan("separate", w, b.unit, parts, serves), nil
}

// alone returns the best measurement of a column for one of its factors.
func (b *builder) alone(c column, i int) (piece, error) {
	switch f := c.factors[i]; {
	case f.kind == total:
		return &mean{cells: c.cells}, nil
	case f.kind == values && c.flat():
		return &even{cells: c.cells, a: 1, unit: b.unit}, nil
	case c.cells > 256 && !f.of.Structured(): // its optimisation takes long, and the product's was made
		return b.cells(c)
	}
	w, err := c.factors[i].workload()
	if err != nil {
		return nil, err
	}
	p, _, err := b.optimum(w)
	return p, err
}
