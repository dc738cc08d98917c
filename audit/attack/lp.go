package attack

import (
	"errors"
	"fmt"
	"math"
)

// Fit is the norm of the residuals to minimise when no secret explains the answers exactly.
type Fit int

// The fits.
const (
	// LeastSum is the least sum of absolute residuals, which forgives some answers that are far off [Dwork, McSherry &
	// Talwar 2007].
	LeastSum Fit = iota
	// LeastMax is the least largest residual: the attack on noise that is known to be bounded [after Dinur & Nissim
	// 2003].
	LeastMax
)

// ParseFit reads "sum" or "max".
func ParseFit(text string) (Fit, error) {
	switch text {
	case "sum":
		return LeastSum, nil
	case "max":
		return LeastMax, nil
	}
	return 0, fmt.Errorf("%w: a fit is sum or max, not %q", ErrParameter, text)
}

// check refuses an unknown fit.
func (f Fit) check() error {
	if f != LeastSum && f != LeastMax {
		return fmt.Errorf("%w: there is no fit %d", ErrParameter, int(f))
	}
	return nil
}

// String is "sum" or "max".
func (f Fit) String() string {
	if f == LeastMax {
		return "max"
	}
	return "sum"
}

// errNotSolved reports a linear program whose certificate did not close.
var errNotSolved = errors.New("the linear program was not solved")

// program is a linear program: the x in [0, 1]ⁿ that makes ‖answers − Ax‖ least, in the norm that fit says.
// Each row of A is 0 but for the columns that it lists, where it is 1.
type program struct {
	people  int
	rows    [][]int32
	answers []float64
	fit     Fit
}

// solution is a point of a program with its certificate: no point has a norm below lower.
type solution struct {
	x            []float64
	value, lower float64
}

// Limits of the iteration.
const (
	mostSteps = 100
	closed    = 1e-9 // the relative gap at which a program is solved
	tolerated = 1e-6 // the one with which its solution is still one
)

// solve is a primal-dual interior-point method with Mehrotra's corrector [Mehrotra 1992; Nocedal & Wright 2006,
// §14.2], begun at a feasible point. Each step factors one positive definite matrix with a row for each person.
//
// The result does not rest on the iteration: for any y in the unit ball of the dual norm and any x in the box, ‖a −
// Ax‖ ≥ yᵀ(a − Ax) ≥ aᵀy − Σⱼ max(0, (Aᵀy)ⱼ), by Hölder, then as 0 ≤ x ≤ 1. The right side is
// computed from the y that is found, scaled into the ball, and a gap above 10⁻⁶ of 1 + ‖a − Ax‖ is an error.
// As answers lie within −n and 2n, that is small beside a person for the largest residual, and for the mean one.
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

// interior is a point strictly inside: x and w = 1 − x; for each row the slacks below = t − (a − Ax) and above =
// t + (a − Ax), where t bounds the residual (a t for each row, whose sum is least; or one t for all); and the
// multiplier of each. Products of a slack and its multiplier all fall to 0.
type interior struct {
	program
	x, w, toX, toW               []float64 // by person
	below, above, toBelow, toTop []float64 // by row
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
		size++ // the one t
	}
	s.matrix = newSymmetric(size)
	return s
}

// residuals are a − Ax.
func (p program) residuals(x []float64) []float64 {
	out := make([]float64, len(p.rows))
	for i, row := range p.rows {
		out[i] = p.answers[i] - dot(row, x)
	}
	return out
}

// dot is the product of a row and x.
func dot(row []int32, x []float64) float64 {
	sum := 0.0
	for _, j := range row {
		sum += x[j]
	}
	return sum
}

// certify computes the norm at x and the bound by the multipliers, both from the answers and not from the iteration's
// slacks.
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
	out.lower = math.Max(0, out.lower) // no norm is below 0
	return out
}
