package pld

import (
	"math"

	"dither/internal/exact"
)

// lattice is a family's loss distribution on the points origin + h·k, bounded from both sides.
//
// A measure μ on losses stands for the curve δ(ε) = ∫(1 − e^ε·x)₊ dμ, x = e^(−loss), and composition
// convolves. The curve rises with mass, with the loss, and, since the integrand is convex in x, with every spread of an
// atom over two losses that keeps its mean x; so does the curve of every composition, whose integrand is of the same
// form in each x. Hence:
//
//   - U, the spread of all that lies in a cell over the cell's two ends with its mean x, is above the truth. It is the
//     chord interpolation of the curve [Doroshenko, Ghazi, Kamath, Kumar & Manurangsi 2022].
//   - above, which is U with masses rounded up and weight moved to the upper end, is above U; below, with masses
//     rounded down and weight moved to the lower end, is under U. They differ by rounding alone.
//
// curve.go bounds how far U is above the truth.
type lattice struct {
	h, origin    float64
	first        int64     // the number of point 0
	above, below []float64 // masses at the points
	infinite     bound     // the mass at +∞
	blur         float64   // every mass lies within blur of its point
	spread       bool      // some mass was spread, and not on a point already
	growth       bound     // e^h − 1, of a cell between two edges as rounded
	rounding     float64   // of a point
	tolerance    float64   // the share of a cell within which an atom counts as on a point
}

// newLattice makes a lattice of points from first on, with one cell less than points.
func newLattice(h, origin float64, first, cells int64) *lattice {
	l := &lattice{h: h, origin: origin, first: first, above: make([]float64, cells+1), below: make([]float64, cells+1)}
	furthest := max(math.Abs(float64(first)), math.Abs(float64(first+cells)))*h + math.Abs(origin)
	l.blur = 4 * unit * furthest // origin + h·k in floats: two roundings, of less than that
	l.rounding = l.blur
	l.growth = bound{exact.Expm1Down(h - 2*l.blur), exact.Expm1Up(h + 2*l.blur)}
	l.tolerance = max(1e-9, 4*l.blur/h)
	return l
}

func (l *lattice) cells() int { return len(l.above) - 1 }

func (l *lattice) edge(j int) bound { return point(l.at(j)) }

func (l *lattice) at(j int) float64 { return l.origin + float64(l.h*float64(l.first+int64(j))) }

// cell spreads a cell's mass: of p, with e^(upper end)·q = s, the share (s − p)/(e^h − 1) goes to the lower end.
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

// atom puts an atom on the point that it is on, or spreads it over the cell that it is in. One known only to lie in an
// interval that several cells share is put above at the interval's upper end and below at its lower end, on points or
// beyond them.
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
	// Places are off by less than half the tolerance.
	from, to := l.place(loss.lo)-l.tolerance/2, l.place(loss.hi)+l.tolerance/2
	switch {
	case on:
		j := int(nearest)
		l.blur = max(l.blur,
			math.Abs(place-nearest)*l.h*(1+slack)+(loss.hi-loss.lo)+16*unit*(math.Abs(loss.hi)+math.Abs(l.origin))+4*l.rounding)
		l.above[j] = exact.AddUp(l.above[j], p.hi)
		l.below[j] = exact.AddDown(l.below[j], p.lo)
	case !(math.Floor(from) == math.Floor(to) && from >= 0 && to <= float64(l.cells())):
		l.astride(from, to, p)
	default:
		j := int(math.Floor(from))
		l.cell(j, mass{p, q, p.mul(l.edge(j + 1).sub(loss).exp())})
	}
}

// place is roughly the position of a loss among the points.
func (l *lattice) place(loss float64) float64 { return (loss-l.origin)/l.h - float64(l.first) }

// astride moves an atom that lies between two places to the points around.
func (l *lattice) astride(from, to float64, p bound) {
	if to <= float64(l.cells()) {
		j := int(max(0, math.Ceil(to)))
		l.above[j] = exact.AddUp(l.above[j], p.hi)
	} else { // or it is unknown
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
