package synth

import (
	"context"
	"math"
	"math/big"
	"slices"

	"dither/curator"
	"dither/internal/simplex"
	"dither/internal/splitmix"
	"dither/synth/aim"
	"dither/synth/internal/layout"
	"dither/synth/model"
)

const (
	mwemRounds = 10
	mwemCells  = 1 << 20 // the largest number of combinations of values
	mwemTotal  = 20      // the number of rows takes one part of this number of the price
	// the number of passes over all measurements, in each round: as many as mwemWork multiplications allow, within
	// bounds
	mwemPasses = 20
	mostPasses = 500
	mwemWork   = 1 << 17
)

// mwem measures the number of rows, and then, in rounds, selects the marginal in which a full table of weights is most
// wrong and measures it. Each round multiplies the weights by exp((y − x)/2n) for the noisy and the own count of their
// cell, for all measurements so far, in several passes. The result is the last table; the published one is the mean of
// all rounds' tables, which is further off if later rounds replay all measurements. A measurement stops moving the
// weights once they are as near to it as its noise explains, so that they do not fit the noise.
//
// If there is one marginal, it takes one measurement, and no price selects it: ten measurements at a tenth of ε each have
// ten times the variance together. Passes would end at the measurement itself, so the weights become a smoothed one
// (shrunk) without passes.
//
// Source: Hardt, Ligett and McSherry, "A simple and practical algorithm for differentially private data release", NIPS
// 2012.
func (s *synthesis) mwem(ctx context.Context) error {
	number := new(big.Rat).Quo(s.total, big.NewRat(mwemTotal, 1))
	if err := s.measure(ctx, [][]int{{}}, number); err != nil {
		return err
	}
	rest := new(big.Rat).Sub(s.total, number)
	sets := s.candidates[1:s.shaped]
	if len(sets) == 1 { // there is nothing to select
		if err := s.measure(ctx, sets, rest); err != nil {
			return err
		}
		n := numberOf(s.measured) // the sum of a marginal is the number of rows too
		t := newHistogram(s.domain.Sizes(), n)
		t.forbid(s.forbidden(), n)
		t.settle(s.measured[1], n)
		s.table = t
		s.result.Rounds++
		return nil
	}
	each := rest.Quo(rest, big.NewRat(2*mwemRounds, 1))
	n := numberOf(s.measured)
	t := newHistogram(s.domain.Sizes(), n)
	t.forbid(s.forbidden(), n)
	passes := max(mwemPasses, min(mwemWork/len(t.weights), mostPasses))
	var all []model.Measurement // by marginal
	for range mwemRounds {
		at, err := s.furthest(ctx, t, sets, each)
		if err != nil {
			return err
		}
		if err := s.measure(ctx, [][]int{sets[at]}, each); err != nil {
			return err
		}
		all = merged(all, s.measured[len(s.measured)-1])
		for range passes {
			moved := false
			for _, y := range all {
				moved = t.multiply(y, n) || moved
			}
			if !moved {
				break
			}
		}
		s.result.Rounds++
	}
	s.table = t
	return nil
}

// numberOf returns the number of rows from measurements of all rows, by their inverse variances. It is at least 1.
func numberOf(all []model.Measurement) float64 {
	sum, precision := 0.0, 0.0
	for _, y := range all {
		total := 0.0
		for _, v := range y.Values {
			total += v
		}
		of := 1 / (y.Variance * float64(len(y.Values)))
		sum, precision = sum+total*of, precision+of
	}
	return max(sum/precision, 1)
}

// furthest selects the marginal in which the table is most wrong, and returns its index.
func (s *synthesis) furthest(ctx context.Context, t *histogram, sets [][]int, price *big.Rat) (int, error) {
	options := make([]curator.Option, len(sets))
	for i, set := range sets {
		score, err := aim.NewScore(aim.Marginal{Attributes: set, Weight: 1}, t.marginal(set), 0)
		if err != nil {
			return 0, err
		}
		options[i] = option(s.places[name(set)], score)
	}
	return s.chosen(ctx, options, price)
}

// histogram is a distribution over all combinations of values.
type histogram struct {
	sizes   []int
	weights []float64 // by cell, of which the last attribute changes fastest; together total
	total   float64
	walks   map[string]*layout.Walk
}

// newHistogram returns the even distribution.
func newHistogram(sizes []int, total float64) *histogram {
	cells := 1
	for _, n := range sizes {
		cells *= n
	}
	h := &histogram{sizes: sizes, weights: make([]float64, cells), total: total, walks: map[string]*layout.Walk{}}
	for i := range h.weights {
		h.weights[i] = total / float64(cells)
	}
	return h
}

// forbid sets the weights of forbidden cells to 0, where every factor leaves them.
func (h *histogram) forbid(constraints []model.Constraint, total float64) {
	for _, c := range constraints {
		factor := make([]float64, len(c.Allowed))
		for i, allowed := range c.Allowed {
			if allowed {
				factor[i] = 1
			}
		}
		w, _ := h.walk(c.Attributes)
		w.Multiply(h.weights, factor)
	}
	h.scale(total)
}

// scale multiplies the weights so that they have a sum.
func (h *histogram) scale(total float64) {
	sum := 0.0
	for _, x := range h.weights {
		sum += x
	}
	for i := range h.weights {
		h.weights[i] *= total / sum
	}
}

// walk returns the walk from the cells to those of a marginal, and the number of the latter.
func (h *histogram) walk(set []int) (w *layout.Walk, cells int) {
	cells = 1
	for _, a := range set {
		cells *= h.sizes[a]
	}
	w, known := h.walks[name(set)]
	if !known {
		all := make([]int, len(h.sizes))
		for a := range all {
			all[a] = a
		}
		of := layout.New(h.sizes, all, set)
		w = &of
		h.walks[name(set)] = w
	}
	return w, cells
}

// marginal returns the counts of a marginal.
func (h *histogram) marginal(set []int) []float64 {
	w, cells := h.walk(set)
	out := make([]float64, cells)
	w.Sum(out, h.weights)
	return out
}

// merged adds a measurement to those of other marginals, or to that of the same one.
func merged(all []model.Measurement, y model.Measurement) []model.Measurement {
	at := slices.IndexFunc(all, func(m model.Measurement) bool { return slices.Equal(m.Attributes, y.Attributes) })
	if at < 0 {
		return append(all, y)
	}
	before := &all[at]
	sum := before.Variance + y.Variance
	values := make([]float64, len(y.Values))
	for i, v := range y.Values {
		values[i] = (before.Values[i]*y.Variance + v*before.Variance) / sum
	}
	before.Values, before.Variance = values, before.Variance*y.Variance/sum
	return all
}

// multiply updates the weights by a measurement, keeps their sum, and returns true. If the weights are already as near
// to the measurement as the real counts are expected to be, it leaves them: more would fit them to the noise.
func (h *histogram) multiply(y model.Measurement, n float64) bool {
	factor := h.marginal(y.Attributes)
	apart := 0.0
	for i, x := range factor {
		apart += (y.Values[i] - x) * (y.Values[i] - x)
	}
	if apart <= y.Variance*float64(len(factor)) {
		return false
	}
	for i, x := range factor {
		factor[i] = math.Exp(max(-30, min((y.Values[i]-x)/(2*n), 30)))
	}
	w, _ := h.walk(y.Attributes)
	w.Multiply(h.weights, factor)
	h.scale(n)
	return true
}

// settle sets the weights so that they have the smoothed counts of the only measurement, and the sum n. Forbidden cells
// stay empty.
func (h *histogram) settle(y model.Measurement, n float64) {
	factor := h.marginal(y.Attributes)
	var open []int
	var values []float64
	for i, x := range factor {
		if x > 0 {
			open, values = append(open, i), append(values, y.Values[i])
		}
	}
	for k, v := range simplex.Project(shrunk(values, y.Variance), n) {
		factor[open[k]] = v / factor[open[k]]
	}
	w, _ := h.walk(y.Attributes)
	w.Multiply(h.weights, factor)
}

// Total implements distribution.
func (h *histogram) Total() float64 { return h.total }

// Sample implements distribution. Each cell has its expected number of rows, rounded up or down at random. The rows of
// a batch are in random order.
func (h *histogram) Sample(rows int64, _ model.Drawing, source model.Words, yield func([][]int32) error) error {
	words, ok := source.(*splitmix.Stream)
	if !ok {
		return usage("", "rows need repeatable words")
	}
	sum := 0.0
	for _, w := range h.weights {
		sum += w
	}
	for ; rows > 0; rows -= model.Batch {
		n := int(min(rows, model.Batch))
		cells, last := make([]int, 0, n), 0
		passed, u := 0.0, float64(words.Word()>>11)/(1<<53)
		for cell, w := range h.weights {
			if w > 0 {
				last = cell
			}
			for passed += w * float64(n) / sum; len(cells) < n && float64(len(cells))+u < passed; {
				cells = append(cells, cell)
			}
		}
		for len(cells) < n { // the rounding of the sums
			cells = append(cells, last)
		}
		columns := make([][]int32, len(h.sizes))
		for a := range columns {
			columns[a] = make([]int32, n)
		}
		for i := n - 1; i >= 0; i-- {
			k := words.Below(i + 1)
			cells[i], cells[k] = cells[k], cells[i]
			rest := cells[i]
			for a := len(h.sizes) - 1; a >= 0; a-- {
				columns[a][i], rest = int32(rest%h.sizes[a]), rest/h.sizes[a]
			}
		}
		if err := yield(columns); err != nil {
			return err
		}
	}
	return nil
}
