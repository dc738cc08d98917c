package table

import (
	"math"
	"slices"
)

// proportional is the number of rounds of iterative proportional fitting.
const proportional = 30

// near returns the numbers that the integers of a margin should be near: the fit. If the measurements do not determine
// the margin, and numbers may not be negative, it returns a table with the sums that it shares with all margins. The
// table starts from the sums of the same tables of children, so that it is nearly the sum of these. Without children, all
// cells start equal. Iterative proportional fitting then gives it the sums of the margins [Bishop, Fienberg & Holland
// 1975, §3.5].
func (r *rounder) near(m Margin) []float64 {
	if r.signed || r.fit.Determines(m) {
		return r.fit.Values(m)
	}
	var parts []proportion
	for _, keys := range r.shared(m) {
		p := proportion{r.space.projection(m.Keys, keys), r.space.Width(keys), r.fit.Values(Margin{m.Level, keys})}
		for i, x := range p.want {
			p.want[i] = math.Max(0, x)
		}
		parts = append(parts, p)
	}
	below := slices.ContainsFunc(r.margins, func(of Margin) bool { return of.Level < m.Level && of.Keys&m.Keys != 0 })
	out, width := make([]float64, r.space.Cells(m)), r.space.Width(m.Keys)
	if finer := (Margin{m.Level - 1, m.Keys}); below && r.space.Cells(finer) <= MaxJoint {
		up := r.space.Hierarchy.Levels[finer.Level].Parent
		for i, x := range r.near(finer) {
			out[up[i/width]*width+i%width] += x
		}
	} else {
		out = slices.Repeat([]float64{1}, len(out))
	}
	for range proportional {
		for _, p := range parts {
			p.scale(out, width)
		}
	}
	return out
}

// shared returns the largest sets of classifications that the margin shares with one of the rounded margins, and whose sums
// the measurements determine.
func (r *rounder) shared(m Margin) (out []Keys) {
	for _, of := range r.margins {
		keys := of.Keys & m.Keys
		if r.fit.Determines(Margin{m.Level, keys}) && !slices.ContainsFunc(out, func(k Keys) bool { return keys&^k == 0 }) {
			out = slices.DeleteFunc(out, func(k Keys) bool { return k&^keys == 0 })
			out = append(out, keys)
		}
	}
	return out
}

// proportion holds wanted sums of a table: for each node, narrow of them.
type proportion struct {
	into   []int // for each cell of a block, the index of its sum
	narrow int
	want   []float64
}

// scale multiplies the cells of each sum by one number, which makes the sum the wanted one.
func (p *proportion) scale(x []float64, width int) {
	got := make([]float64, len(p.want))
	for i, v := range x {
		got[i/width*p.narrow+p.into[i%width]] += v
	}
	for i := range x {
		if at := i/width*p.narrow + p.into[i%width]; got[at] > 0 {
			x[i] *= p.want[at] / got[at]
		}
	}
}
