// Package span estimates the cells of a histogram from the answers of strategies. It reads the integers of strategies,
// never rows or released numbers. So everything that it computes is post-processing.
package span

import (
	"fmt"
	"slices"

	"dither/internal/plan"
	"dither/mechanism/linear"
	"dither/noise"
)

// Limits of an estimate. Beyond them, a histogram is not estimated, which is never wrong.
const (
	MaxSide    = 512     // the columns of a matrix that is inverted
	MaxNumbers = 1 << 16 // the numbers of a measurement
	maxSteps   = 1 << 24 // additions for one table
)

// Measurement has what a plan of strategies determines about the cells of its histogram.
type Measurement struct {
	sizes []int // the number of values of each key of the plan's Base
	parts []part
}

// part is the answers of one product of matrices, one for each of its keys.
type part struct {
	keys    []int // of the plan's Base; the last one changes fastest
	factors []*factor
	first   int // the index of its first number among those of the measurement
	numbers int
	centred bool // the matrices measure the differences of cells from their mean
	noise   noise.Distribution
}

// Term is a released number with its coefficient.
type Term struct {
	Number int
	Weight float64
}

// Sum is an estimate of a sum of cells: a combination of released numbers, whose noises are independent.
type Sum struct {
	Terms []Term
	Error *noise.Combination
}

// New returns what a plan determines. It returns nil if its parts are too large, if they determine no cell, or if their
// keys choose which rows of a unit count.
func New(p *plan.Linear) *Measurement {
	if p.OrdersByContents() || p.Numbers() > MaxNumbers {
		return nil
	}
	m, first := &Measurement{}, 0
	for _, k := range p.Base.Keys {
		m.sizes = append(m.sizes, len(k.Values))
	}
	known := map[string]*factor{}
	for _, of := range p.Parts {
		if one := m.part(p, of, known); one != nil {
			one.first, one.numbers = first, of.Strategy.Rows()
			m.parts = append(m.parts, *one)
		}
		first += of.Strategy.Rows()
	}
	if len(m.parts) == 0 {
		return nil
	}
	return m
}

// part returns a part of the plan; nil if it is no single product of invertible or of centred matrices.
func (m *Measurement) part(p *plan.Linear, of *plan.MeasuredPart, known map[string]*factor) *part {
	products := of.Strategy.Products()
	if len(products) != 1 || len(products[0]) != max(len(of.Keys), 1) {
		return nil
	}
	out := &part{}
	var err error
	if out.noise, err = of.Answers.Noise.Distribution(of.Answers.Parameter); err != nil {
		return nil
	}
	centred := 0
	for i, matrix := range products[0] {
		size := 1
		if len(of.Keys) > 0 {
			out.keys = append(out.keys, p.Grouped[of.Keys[i]])
			size = m.sizes[out.keys[i]]
		}
		if matrix.Columns() != size {
			return nil
		}
		f := factorOf(matrix, known)
		if f == nil {
			return nil
		}
		if f.centred {
			centred++
		}
		out.factors = append(out.factors, f)
	}
	if out.centred = centred > 0; out.centred && centred < len(out.factors) {
		return nil
	}
	return out
}

// Sums estimates sums of cells of the table over some keys of the plan's Base, in increasing order: one for each list of
// the table's cells. ok is false if the measurement does not determine all of them.
//
// A part with all of the table's keys determines the cells by least squares: the pseudo-inverse of a Kronecker product is
// the product of the pseudo-inverses, and cells are summed over the part's other keys. Otherwise the table is a sum over
// the sets S of its keys: of the differences from the means in S, which a part with centred matrices measures, divided
// among the values of the other keys. The result is the estimate of the least variance.
func (m *Measurement) Sums(keys []int, cells [][]int) (out []Sum, ok bool) {
	best := 0.0
	try := func(parts []*part) {
		sums, done := m.sums(parts, keys, cells)
		if !done {
			return
		}
		total := 0.0
		for _, s := range sums {
			total += s.Error.Variance()
		}
		if !ok || total < best {
			out, best, ok = sums, total, true
		}
	}
	for i := range m.parts {
		p := &m.parts[i]
		if !p.centred && !slices.ContainsFunc(keys, func(k int) bool { return !slices.Contains(p.keys, k) }) {
			try([]*part{p})
		}
	}
	if parts := m.residuals(keys); parts != nil {
		try(parts)
	}
	return out, ok
}

// residuals returns the total and the centred parts whose contributions add up to the table over the keys, one for each
// set of keys with several values. It returns nil if one is missing.
func (m *Measurement) residuals(keys []int) (out []*part) {
	var split []int
	for _, k := range keys {
		if m.sizes[k] > 1 {
			split = append(split, k)
		}
	}
	if len(split) > 16 || len(split) == 0 {
		return nil
	}
	for set := range 1 << len(split) {
		var wanted []int
		for j, k := range split {
			if set>>j&1 == 1 {
				wanted = append(wanted, k)
			}
		}
		i := slices.IndexFunc(m.parts, func(p part) bool {
			return p.centred == (len(wanted) > 0) && slices.Equal(slices.Sorted(slices.Values(p.keys)), wanted)
		})
		if i < 0 {
			return nil
		}
		out = append(out, &m.parts[i])
	}
	return out
}

// sums returns the estimates of sums of cells that add up contributions of parts. ok is false if a part does not
// determine a cell, and if it would take too many steps.
func (m *Measurement) sums(parts []*part, keys []int, cells [][]int) (out []Sum, ok bool) {
	steps := 0
	for _, list := range cells {
		for _, p := range parts {
			steps += (len(list) + 1) * p.numbers
		}
	}
	if steps > maxSteps {
		return nil, false
	}
	for _, list := range cells {
		s := Sum{Error: &noise.Combination{}}
		for _, p := range parts {
			weights := make([]float64, p.numbers)
			for _, cell := range list {
				one := p.weights(m.sizes, keys, cell)
				if one == nil {
					return nil, false
				}
				for i, w := range one {
					weights[i] += w
				}
			}
			s.add(p, weights)
		}
		out = append(out, s)
	}
	return out, true
}

// weights returns the coefficients of the part's contribution to a cell of the table over the keys; nil if the part does
// not determine it.
func (p *part) weights(sizes, keys []int, cell int) []float64 {
	at := map[int]int{}
	share := 1.0
	for _, k := range slices.Backward(keys) {
		at[k] = cell % sizes[k]
		cell /= sizes[k]
		if p.centred || len(p.keys) == 0 {
			if !slices.Contains(p.keys, k) {
				share /= float64(sizes[k])
			}
		}
	}
	out := []float64{share}
	for i, f := range p.factors {
		row := f.total
		if len(p.keys) > 0 {
			if v, given := at[p.keys[i]]; given {
				row = f.row(v)
			}
		}
		if row == nil {
			return nil
		}
		next := make([]float64, 0, len(out)*len(row))
		for _, a := range out {
			for _, b := range row {
				next = append(next, a*b)
			}
		}
		out = next
	}
	return out
}

// add adds a part's numbers with their coefficients. The error's coefficients are rounded up, beyond the rounding of
// the arithmetic.
func (s *Sum) add(p *part, weights []float64) {
	times := map[float64]float64{}
	for i, w := range weights {
		if w != 0 {
			s.Terms = append(s.Terms, Term{p.first + i, w})
			times[max(w, -w)*(1+1e-9)]++
		}
	}
	sizes := make([]float64, 0, len(times))
	for w := range times {
		sizes = append(sizes, w)
	}
	slices.Sort(sizes)
	for _, w := range sizes {
		s.Error.Add(w, p.noise, times[w])
	}
}

// factorOf returns what a matrix determines; nil if it determines nothing that this package uses.
func factorOf(m linear.Matrix, known map[string]*factor) *factor {
	s, err := linear.NewStrategy(linear.Product{m})
	if err != nil {
		return nil
	}
	digest := fmt.Sprint(m.Columns(), " ", s.Digest())
	f, found := known[digest]
	if !found {
		f = newFactor(m)
		known[digest] = f
	}
	return f
}
