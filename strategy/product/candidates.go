package product

import (
	"math"

	"dither/strategy"
)

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

// separate returns the plan of one part for each term, or nil if there is one term, or too many, or if it would take long.
// Each part has a share of the price, so many parts are far from the best plan.
func (b *builder) separate([]piece) (*Plan, error) {
	w := b.workload
	if len(w.terms) == 1 || len(w.terms) > maxSeparate || b.separateWork() > mostSeparateWork {
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
	return newPlan(apartName, w, b.unit, parts, serves), nil
}

// separateWork returns the cubes of the numbers of cells for which separate optimises by dense algebra.
func (b *builder) separateWork() (out float64) {
	for _, c := range b.workload.columns {
		for _, f := range c.factors {
			quick := f.kind == total || f.kind == values && c.flat() || b.unit == strategy.Rho && f.of.Structured()
			if !quick && !c.slow(f) {
				out += math.Pow(float64(c.cells), 3)
			}
		}
	}
	return out
}

// slow reports whether the optimisation for a factor alone takes long.
func (c column) slow(f Factor) bool { return c.cells > 256 && !f.of.Structured() }

// alone returns the best measurement of a column for one of its factors.
func (b *builder) alone(c column, i int) (piece, error) {
	switch f := c.factors[i]; {
	case f.kind == total:
		return &mean{cells: c.cells}, nil
	case f.kind == values && c.flat():
		return &even{cells: c.cells, a: 1, unit: b.unit}, nil
	case c.slow(f): // the product's optimisation was made
		return b.cells(c)
	}
	w, err := c.factors[i].workload()
	if err != nil {
		return nil, err
	}
	p, _, err := b.optimum(w)
	return p, err
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
