package pld

import (
	"math"

	"dither/internal/exact"
)

// lattice bounds a family's loss distribution, from above and from below, by masses on the points origin + h·k.
//
// A measure μ on losses determines the curve δ(ε) = ∫(1 − e^ε·x)₊ dμ with x = e^(−loss). Composition convolves the
// measures. The curve rises with mass and with the losses. As the integrand is convex in x, the curve also rises if
// an atom is spread over two losses with the same mean of x. The same holds for the curve of every composition,
// because its integrand has the same form in each x. Hence:
//
//   - U spreads all mass in a cell over the cell's two ends, with the same mean of x. Its curve is above the true
//     one. It is the chord interpolation of the curve [Doroshenko, Ghazi, Kamath, Kumar & Manurangsi 2022].
//   - The measure above is U with masses rounded up, and rounding errors of the division moved to the upper end.
//     Its curve is
//     above that of U. The measure below is U with masses rounded down, and these errors moved to the lower end.
//     Its curve is
//     below that of U. above and below differ by rounding only.
//
// [window.lower] bounds how far the curve of U is above the true one.
type lattice struct {
	h, origin    float64
	first        int64     // the number k of the first point
	above, below []float64 // masses at the points
	infinite     bound     // the mass at +∞
	blur         float64   // the largest distance between a mass and its point
	spread       bool      // whether any mass was spread over two points
	growth       bound     // e^h − 1 for a cell between two rounded edges
	rounding     float64   // rounding error of a point
	tolerance    float64   // an atom this close to a point, as a share of a cell, counts as on the point
}

// newLattice returns a lattice of cells + 1 points, beginning with point number first.
func newLattice(h, origin float64, first, cells int64) *lattice {
	l := &lattice{h: h, origin: origin, first: first, above: make([]float64, cells+1), below: make([]float64, cells+1)}
	furthest := max(math.Abs(float64(first)), math.Abs(float64(first+cells)))*h + math.Abs(origin)
	l.blur = 4 * unit * furthest // two roundings in origin + h·k, each smaller than that
	l.rounding = l.blur
	l.growth = bound{exact.Expm1Down(h - 2*l.blur), exact.Expm1Up(h + 2*l.blur)}
	l.tolerance = max(1e-9, 4*l.blur/h)
	return l
}

func (l *lattice) cells() int { return len(l.above) - 1 }

func (l *lattice) edge(j int) bound { return point(l.at(j)) }

func (l *lattice) at(j int) float64 { return l.origin + float64(l.h*float64(l.first+int64(j))) }

// cell spreads a cell's mass over its two ends. With p and q the cell's masses under P and Q, and s = e^(upper
// end)·q, the mass (s − p)/(e^h − 1) goes to the lower end.
func (l *lattice) cell(j int, m mass) {
	if m.p.hi <= 0 {
		return
	}
	least, most := 0.0, m.p.hi
	if m.scaled.lo > m.p.hi && l.growth.hi < math.Inf(1) {
		least = min(m.p.hi, exact.DivDown(exact.SubDown(m.scaled.lo, m.p.hi), l.growth.hi))
	}
	if m.scaled.hi < math.Inf(1) && l.growth.lo > 0 {
		most = min(m.p.hi, max(0, exact.DivUp(exact.SubUp(m.scaled.hi, m.p.lo), l.growth.lo)))
	}
	l.spread = true
	l.above[j] = exact.AddUp(l.above[j], least)
	l.above[j+1] = exact.AddUp(l.above[j+1], exact.SubUp(m.p.hi, least))
	most = min(most, m.p.lo)
	l.below[j] = exact.AddDown(l.below[j], most)
	l.below[j+1] = exact.AddDown(l.below[j+1], max(0, exact.SubDown(m.p.lo, most)))
}

// atom puts an atom on a lattice point if it is on one. Otherwise it spreads the atom over the ends of its cell. If
// an atom is known only to lie in an interval that reaches over several cells, above gets it at the interval's
// upper end, and below at its lower end. Each end is moved outward to a point.
func (l *lattice) atom(loss, p, q bound) {
	switch {
	case math.IsInf(loss.lo, 1):
		l.infinite = l.infinite.add(p)
		return
	case p.hi <= 0:
		return
	}
	place := l.place(loss.mid())
	nearest := min(float64(l.cells()), max(0, math.Round(place)))
	on := math.Abs(place-nearest) <= l.tolerance && loss.hi-loss.lo <= max(1e-3*l.h, 4*l.rounding)
	// The error of a position is less than half the tolerance.
	from, to := l.place(loss.lo)-l.tolerance/2, l.place(loss.hi)+l.tolerance/2
	switch {
	case on:
		j := int(nearest)
		l.blur = max(l.blur,
			math.Abs(place-nearest)*l.h*(1+slack)+(loss.hi-loss.lo)+
				16*unit*(math.Abs(loss.hi)+math.Abs(l.origin))+4*l.rounding)
		l.above[j] = exact.AddUp(l.above[j], p.hi)
		l.below[j] = exact.AddDown(l.below[j], p.lo)
	case !(math.Floor(from) == math.Floor(to) && from >= 0 && to <= float64(l.cells())):
		l.astride(from, to, p)
	default:
		j := int(math.Floor(from))
		l.cell(j, mass{p, q, p.mul(l.edge(j + 1).sub(loss).exp())})
	}
}

// place returns the approximate position of a loss, in cells from the first point.
func (l *lattice) place(loss float64) float64 { return (loss-l.origin)/l.h - float64(l.first) }

// astride handles an atom that lies between two positions: above gets it at the next point above them, and below at
// the next point below them.
func (l *lattice) astride(from, to float64, p bound) {
	if to <= float64(l.cells()) {
		j := int(max(0, math.Ceil(to)))
		l.above[j] = exact.AddUp(l.above[j], p.hi)
	} else { // the loss to is beyond the last point, or NaN
		l.infinite.hi = exact.AddUp(l.infinite.hi, p.hi)
	}
	if from >= 0 {
		j := int(math.Floor(min(from, float64(l.cells()))))
		l.below[j] = exact.AddDown(l.below[j], p.lo)
	}
}

func (l *lattice) outside(below, above mass) {
	l.above[0] = exact.AddUp(l.above[0], below.p.hi)
	l.infinite.hi = exact.AddUp(l.infinite.hi, above.p.hi)
}
