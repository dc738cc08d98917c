package table

import "fmt"

// Measured is a margin with its noisy cells.
type Measured struct {
	Noisy
	Values []float64 // one per cell, in the order that Margin describes
}

// Fit is the least-squares estimate of all cells that some measured margins determine. Its tables add up: each cell is
// the sum of its parts in every finer table, up to the rounding of floats.
type Fit struct {
	*Accuracy
	values map[Keys][][]float64 // by component and level: a block of numbers for each node
}

// NewFit fits the measured margins to each other by least squares, weighted by the inverse variances. fixed holds
// declared totals, by level and node; it may be nil. The totals must not contradict each other ([CheckFixed]).
//
// The time is proportional to the number of nodes times Π (n_k + 1) over the numbers n_k of the classifications'
// values.
func NewFit(space *Space, measured []Measured, fixed map[[2]int]int64) (*Fit, error) {
	noisy := make([]Noisy, len(measured))
	for i, m := range measured {
		noisy[i] = m.Noisy
		if err := space.check(m.Margin); err != nil {
			return nil, err
		}
		if len(m.Values) != space.Cells(m.Margin) {
			return nil, fmt.Errorf("a table of %d cells has %d numbers", space.Cells(m.Margin), len(m.Values))
		}
	}
	a, err := NewAccuracy(space, noisy, fixed)
	if err != nil {
		return nil, err
	}
	f := &Fit{a, map[Keys][][]float64{}}
	for t, p := range a.parts {
		f.values[t] = f.smoothValues(t, p, f.average(t, p, measured), fixed)
	}
	return f, nil
}

// average returns, by level, the average of all measurements of component t, weighted by their precisions.
func (f *Fit) average(t Keys, p *part, measured []Measured) [][]float64 {
	s, out := f.space, make([][]float64, len(p.precision))
	width := s.width(t)
	for _, m := range measured {
		if m.Keys&t != t {
			continue
		}
		if out[m.Level] == nil {
			out[m.Level] = make([]float64, s.Hierarchy.Nodes(m.Level)*width)
		}
		weight := 1 / (m.Variance * float64(s.width(m.Keys&^t))) / p.precision[m.Level]
		wide := s.width(m.Keys)
		for i := range s.Hierarchy.Nodes(m.Level) {
			block := s.summed(m.Values[i*wide:(i+1)*wide], m.Keys, t)
			for c, v := range block {
				out[m.Level][i*width+c] += weight * v
			}
		}
	}
	for _, level := range out {
		for i := 0; i < len(level); i += width {
			s.centred(level[i:i+width], t)
		}
	}
	return out
}

// smoothValues computes the estimates whose variances [smooth] computes, from the measurements of one component. Levels
// below the finest measured one have equal parts of their parents' numbers, which no variance describes.
func (f *Fit) smoothValues(t Keys, p *part, own [][]float64, fixed map[[2]int]int64) [][]float64 {
	h, width := f.space.Hierarchy, f.space.width(t)
	out, sums := make([][]float64, len(own)), make([][]float64, len(own))
	for l := range out {
		out[l] = make([]float64, h.Nodes(l)*width)
		sums[l] = make([]float64, len(out[l]))
	}
	for l := p.lowest; l < len(out); l++ {
		for i, at := range p.tree.of[l] {
			constant, declared := fixed[[2]int{l, i}]
			share := 0.0 // of the node's own measurement
			switch {
			case l == p.lowest:
				share = 1
			case p.sum[at] > 0:
				share = p.precision[l] * p.up[at]
			}
			for c := i * width; c < (i+1)*width; c++ {
				switch {
				case t == 0 && declared:
					out[l][c] = float64(constant)
				case share > 0:
					out[l][c] = share*own[l][c] + (1-share)*sums[l][c]
				default:
					out[l][c] = sums[l][c]
				}
				if h.Levels[l].Parent != nil {
					sums[l+1][h.Levels[l].Parent[i]*width+c-i*width] += out[l][c]
				}
			}
		}
	}
	for l := len(out) - 2; l >= 0; l-- {
		var below [][]int
		if l < p.lowest {
			below = h.children(l + 1)
		}
		for i, up := range h.Levels[l].Parent {
			for c := range width {
				x := &out[l][i*width+c]
				above := out[l+1][up*width+c]
				at, over := p.tree.of[l][i], p.tree.of[l+1][up]
				switch {
				case l < p.lowest:
					*x = above / float64(len(below[up]))
				case p.sum[over] > 0:
					*x += p.up[at] / p.sum[over] * (above - sums[l+1][up*width+c])
				}
			}
		}
	}
	return out
}

// Values returns the estimates of a margin's cells. Components that no measurement determines count as 0, or as equal
// parts of the parent's: [Accuracy.Determines] reports whether there are any.
func (f *Fit) Values(m Margin) []float64 {
	width := f.space.width(m.Keys)
	out := make([]float64, f.space.Cells(m))
	for _, t := range m.Keys.subsets() {
		values, ok := f.values[t]
		if !ok {
			continue
		}
		narrow, into := f.space.width(t), f.space.projection(m.Keys, t)
		repeat := float64(f.space.width(m.Keys &^ t))
		for i := range f.space.Hierarchy.Nodes(m.Level) {
			for c := range width {
				out[i*width+c] += values[m.Level][i*narrow+into[c]] / repeat
			}
		}
	}
	return out
}

// Residuals returns, for each measured margin, the mean square of its measured cells' distances from the fit, divided
// by its expected value. A ratio far from 1 means that the noise is not what the variances state.
func (f *Fit) Residuals(measured []Measured) []float64 {
	var out []float64
	for _, m := range measured {
		fitted, variances := f.Values(m.Margin), f.Variances(m.Margin)
		sum, expected, width := 0.0, 0.0, f.space.width(m.Keys)
		for i, y := range m.Values {
			sum += sq(y - fitted[i])
			expected += m.Variance - variances[i/width]
		}
		if expected <= 1e-9*m.Variance*float64(len(m.Values)) { // the fit equals the measurement
			out = append(out, 1)
			continue
		}
		out = append(out, sum/expected)
	}
	return out
}
