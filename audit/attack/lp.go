package attack

import (
	"errors"
	"fmt"
	"math"
)

// Fit is the norm of the residuals that a reconstruction minimises.
type Fit int

// The norms that a reconstruction can minimise.
const (
	// LeastSum minimises the sum of the absolute residuals. It tolerates some answers that are far off [Dwork,
	// McSherry & Talwar 2007].
	LeastSum Fit = iota
	// LeastMax minimises the largest absolute residual. It is the attack on noise with a known bound [after Dinur &
	// Nissim 2003].
	LeastMax
)

// ParseFit returns the fit named "sum" or "max". Other texts are ErrParameter.
func ParseFit(text string) (Fit, error) {
	switch text {
	case "sum":
		return LeastSum, nil
	case "max":
		return LeastMax, nil
	}
	return 0, fmt.Errorf("%w: the fit must be sum or max, not %q", ErrParameter, text)
}

// check returns ErrParameter for an unknown fit.
func (f Fit) check() error {
	if f != LeastSum && f != LeastMax {
		return fmt.Errorf("%w: there is no fit %d", ErrParameter, int(f))
	}
	return nil
}

// String returns "sum" or "max".
func (f Fit) String() string {
	if f == LeastMax {
		return "max"
	}
	return "sum"
}

// errNotSolved reports a linear program for which the search found no solution with a small enough gap.
var errNotSolved = errors.New("the linear program was not solved")

// program is a linear program: find x in [0, 1]ⁿ that minimises ‖answers − Ax‖, in the norm fit. rows holds, for
// each row of A, the columns with entry 1. All other entries are 0.
type program struct {
	people  int
	rows    [][]int32
	answers []float64
	fit     Fit
}

// solution is a point x of a program, with its norm value. No point has a norm below lower.
type solution struct {
	x            []float64
	value, lower float64
}

// Limits of the search: the number of steps, and two relative gaps between value and lower.
const (
	mostSteps = 100
	closed    = 1e-9 // the search ends at this gap
	tolerated = 1e-6 // a solution with a larger gap is an error
)

// solve finds a solution by a primal-dual interior-point method with Mehrotra's corrector, from a feasible point
// [Mehrotra 1992; Nocedal & Wright 2006, §14.2]. Each step factors one positive definite matrix with a row for each
// person.
//
// Claim: the norm of every x in [0, 1]ⁿ is at least lower. In the following, a are the answers. Proof: let y be in
// the unit ball of the dual norm. Then ‖a − Ax‖ ≥ yᵀ(a − Ax) by Hölder's inequality, and yᵀ(a − Ax) ≥ aᵀy − Σⱼ
// max(0, (Aᵀy)ⱼ) because 0 ≤ x ≤ 1. lower is the last expression, for the y that the search finds, scaled into the
// ball. ∎ So the result does not depend on the correctness of the search. A gap above 10⁻⁶ of 1 + ‖a − Ax‖ is an
// error. Answers are between −n and 2n, so this gap is far below one person, in the largest residual and in the
// mean residual.
func (p program) solve() (solution, error) {
	s := newInterior(p)
	best := s.certify()
	for range mostSteps {
		if best.gap() <= closed || !s.step() {
			break
		}
		if now := s.certify(); now.gap() < best.gap() {
			best = now
		}
	}
	if !(best.gap() <= tolerated) {
		return solution{}, fmt.Errorf("%w: a gap of %.3g remains", errNotSolved, best.gap())
	}
	return best, nil
}

func (s solution) gap() float64 { return (s.value - s.lower) / (1 + math.Abs(s.value)) }

// interior is a point of the search, with all variables above 0. x holds the unknowns, and w is 1 − x. For each
// row, t bounds the residual, and the slacks are below = t − (a − Ax) and above = t + (a − Ax), where a are the
// answers. LeastSum has one t for each row, and LeastMax one t for all rows. toX, toW, toBelow and toTop are the
// multipliers of x, w, below and above. The search moves all products of a variable and its multiplier to 0.
type interior struct {
	program
	x, w, toX, toW               []float64 // one entry for each person
	below, above, toBelow, toTop []float64 // one entry for each row
	matrix                       *symmetric
}

func newInterior(p program) *interior {
	m, n := len(p.rows), p.people
	s := &interior{
		program: p, x: make([]float64, n), w: make([]float64, n), toX: make([]float64, n), toW: make([]float64, n),
		below: make([]float64, m), above: make([]float64, m), toBelow: make([]float64, m), toTop: make([]float64, m),
	}
	for j := range s.x {
		s.x[j], s.w[j] = 0.5, 0.5
	}
	residual := p.residuals(s.x)
	largest, total := 0.0, 0.0
	for _, r := range residual {
		largest, total = math.Max(largest, math.Abs(r)), total+math.Abs(r)
	}
	room, weight := 1+total/float64(m), 0.5
	if p.fit == LeastMax {
		weight = 0.5 / float64(m)
	}
	mean := 0.0
	for i, r := range residual {
		t := math.Abs(r) + room
		if p.fit == LeastMax {
			t = largest + room
		}
		s.below[i], s.above[i], s.toBelow[i], s.toTop[i] = t-r, t+r, weight, weight
		mean += weight * t / float64(m)
	}
	for j := range s.x {
		s.toX[j], s.toW[j] = 2*mean, 2*mean
	}
	size := n
	if p.fit == LeastMax {
		size++ // one more unknown: the common t
	}
	s.matrix = newSymmetric(size)
	return s
}

// residuals returns a − Ax, with a the answers.
func (p program) residuals(x []float64) []float64 {
	out := make([]float64, len(p.rows))
	for i, row := range p.rows {
		out[i] = p.answers[i] - dot(row, x)
	}
	return out
}

// dot returns the product of a row of A and x.
func dot(row []int32, x []float64) float64 {
	sum := 0.0
	for _, j := range row {
		sum += x[j]
	}
	return sum
}

// certify returns the norm at x and the lower bound from the multipliers. It computes both from the answers, not
// from the slacks of the search.
func (s *interior) certify() solution {
	out := solution{x: append([]float64(nil), s.x...)}
	for j, x := range out.x {
		out.x[j] = math.Min(1, math.Max(0, x))
	}
	y, scale := make([]float64, len(s.rows)), 0.0
	for i, r := range s.residuals(out.x) {
		y[i] = s.toBelow[i] - s.toTop[i]
		if s.fit == LeastMax {
			out.value, scale = math.Max(out.value, math.Abs(r)), scale+math.Abs(y[i])
		} else {
			out.value, scale = out.value+math.Abs(r), math.Max(scale, math.Abs(y[i]))
		}
	}
	scale = math.Max(1, scale)
	image := make([]float64, s.people)
	for i, row := range s.rows {
		y[i] /= scale
		out.lower += s.answers[i] * y[i]
		for _, j := range row {
			image[j] += y[i]
		}
	}
	for _, v := range image {
		out.lower -= math.Max(0, v)
	}
	out.lower = math.Max(0, out.lower) // norms are never negative
	return out
}
