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
	values map[Keys][][][]float64 // by component, level and node: a block of numbers
}

// NewFit fits the measured margins to each other by least squares, weighted by the inverse variances. fixed holds
// declared totals, by level and node; it may be nil. The totals must not contradict each other ([CheckFixed]).
//
// The time is proportional to the number of nodes times Π (n_k + d_k²) over the numbers of the classifications' values and
// coordinates.
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
	f := &Fit{a, map[Keys][][][]float64{}}
	for t, p := range a.parts {
		f.values[t] = f.smoothValues(p, f.average(p, measured), fixed)
	}
	return f, nil
}

// average returns, by level and node, the information that the level's own measurements have about a component. It is nil
// in a level without measurements.
func (f *Fit) average(p *part, measured []Measured) [][][]float64 {
	s, out := f.space, make([][][]float64, len(p.info))
	for _, m := range measured {
		if !p.in(m.Keys) {
			continue
		}
		if out[m.Level] == nil {
			out[m.Level] = make([][]float64, s.Hierarchy.Nodes(m.Level))
		}
		wide := s.Width(m.Keys)
		for i := range out[m.Level] {
			out[m.Level][i] = plus(out[m.Level][i], 1/m.Variance, p.information(m.Values[i*wide:(i+1)*wide], m.Keys))
		}
	}
	return out
}

// plus adds f·x to out, which may be nil.
func plus(out []float64, f float64, x []float64) []float64 {
	if out == nil {
		out = make([]float64, len(x))
	}
	for i, v := range x {
		out[i] += f * v
	}
	return out
}

// applied adds to out the product of a matrix over the coordinates and a block.
func (c *component) applied(out, matrix, block []float64) {
	for a, to := range c.at {
		for b, from := range c.at {
			if f := matrix[a*c.dim+b]; f != 0 {
				for _, w := range c.within {
					out[to+w] += f * block[from+w]
				}
			}
		}
	}
}

// smoothValues computes the estimates whose covariances [smooth] computes, from the measurements of one component.
// Coordinates that neither a level nor a finer one determines are equal parts of their parents' numbers, which no variance
// describes.
func (a *Accuracy) smoothValues(p *part, own [][][]float64, fixed map[[2]int]int64) [][][]float64 {
	h, d := a.space.Hierarchy, p.component.dim
	all := len(p.at) * len(p.within)
	out, sums := make([][][]float64, len(own)), make([][][]float64, len(own))
	for l := range out {
		out[l], sums[l] = make([][]float64, h.Nodes(l)), make([][]float64, h.Nodes(l))
		for i := range out[l] {
			out[l][i], sums[l][i] = make([]float64, all), make([]float64, all)
		}
	}
	for l := p.lowest(); l < len(out); l++ {
		for i, at := range p.tree.of[l] {
			x, info := out[l][i], make([]float64, all)
			if own[l] != nil {
				copy(info, own[l][i])
			}
			p.applied(info, of(p.back, at, d), sums[l][i])
			if p.exact[at] {
				constant, declared := fixed[[2]int{l, i}]
				value := sums[l][i][0]
				if declared {
					value = float64(constant)
				}
				for k, to := range p.at {
					info[to] -= p.first[at*d+k] * value
				}
				x[0] = value
			}
			p.applied(x, of(p.up, at, d), info)
			if h.Levels[l].Parent != nil {
				plus(sums[l+1][h.Levels[l].Parent[i]], 1, x)
			}
		}
	}
	for l := len(out) - 2; l >= 0; l-- {
		children := h.children(l + 1)
		gain, excess := make([]float64, d*d), make([]float64, all)
		for i, up := range h.Levels[l].Parent {
			x, above := out[l][i], out[l+1][up]
			for c, v := range above {
				excess[c] = v - sums[l+1][up][c]
			}
			multiply(gain, of(p.up, p.tree.of[l][i], d), of(p.back, p.tree.of[l+1][up], d), d)
			p.applied(x, gain, excess)
			for k, known := range p.known[l] {
				for _, w := range p.within {
					if !known {
						x[p.at[k]+w] = above[p.at[k]+w] / float64(len(children[up]))
					}
				}
			}
		}
	}
	return out
}

// Values returns the estimates of a margin's cells. Components that no measurement determines count as 0, or as equal
// parts of the parent's: [Accuracy.Determines] reports whether there are any.
func (f *Fit) Values(m Margin) []float64 {
	width := f.space.Width(m.Keys)
	out := make([]float64, f.space.Cells(m))
	for _, t := range f.space.contrasts(m.Keys).subsets() {
		if p := f.parts[t]; p != nil {
			for i, block := range f.values[t][m.Level] {
				plus(out[i*width:(i+1)*width], 1, p.cells(block, m.Keys))
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
		sum, expected := 0.0, 0.0
		for i, y := range m.Values {
			sum += sq(y - fitted[i])
			expected += m.Variance - variances[i]
		}
		if expected <= 1e-9*m.Variance*float64(len(m.Values)) { // the fit equals the measurement
			out = append(out, 1)
			continue
		}
		out = append(out, sum/expected)
	}
	return out
}

func sq(x float64) float64 { return x * x }
