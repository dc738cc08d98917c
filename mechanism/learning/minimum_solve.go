package learning

import (
	"context"
	"math"
	"math/big"
	"math/bits"
	"runtime"
	"slices"

	"dither/mechanism"
	"dither/mechanism/internal/opaque"
)

// newtonPasses is the most passes over the rows for Newton's method.
const newtonPasses = 100

// sum128 is the exact sum of up to 2^64 64-bit integers.
type sum128 struct {
	hi int64
	lo uint64
}

func (s *sum128) add(v int64) {
	var carry uint64
	s.lo, carry = bits.Add64(s.lo, uint64(v), 0)
	s.hi += v>>63 + int64(carry)
}

func (s *sum128) plus(o sum128) {
	var carry uint64
	s.lo, carry = bits.Add64(s.lo, o.lo, 0)
	s.hi += o.hi + int64(carry)
}

// float returns the sum with a relative error of at most 2^-52.
func (s sum128) float() float64 {
	if s.hi < 0 { // negate the sum, so that both parts are positive
		lo, borrow := bits.Sub64(0, s.lo, 0)
		return -(float64(-s.hi-int64(borrow))*0x1p64 + float64(lo))
	}
	return float64(s.hi)*0x1p64 + float64(s.lo)
}

// landscape is the objective J near one θ: its gradient with a certified error, and data for Newton's method, as
// float64.
type landscape struct {
	theta    []float64
	value    float64
	gradient []float64
	hessian  []float64 // the lower triangle, row by row; nil if not requested
	next     []float64 // T̂(θ), the next iterate
	kappa    float64   // κ = β/Λ(n): see Minimiser
	off      float64   // κ·‖θ − T̂(θ)‖, rounded up: a bound on the distance to the minimum
}

// better reports whether l is closer to the minimum than o: its value of the objective J is lower, or its bound off
// is less than half of o's. The second test decides if rounding hides a difference of J.
func (l *landscape) better(o *landscape) bool { return l.value < o.value || l.off < o.off/2 }

// worker accumulates the sums of one goroutine.
type worker struct {
	sums     []sum128
	value    float64
	hessian  []float64
	integers []int64
	x        []float64
}

// inquiry is what a solver minimises over: the rows, and a linear term ⟨b, θ⟩ that is added to the objective J, in units of
// the sums of gradients. There is no such term if tilt is nil.
type inquiry struct {
	*opaque.Reader
	tilt []*big.Int
}

// look evaluates the objective J at θ, which must be in the ball, in one pass over the rows. newton requests the
// value and the Hessian.
func (m *Minimiser) look(ctx context.Context, in inquiry, theta []float64, newton bool) (*landscape, error) {
	workers := make([]worker, runtime.GOMAXPROCS(0))
	for i := range workers {
		w := &workers[i]
		w.sums, w.integers, w.x = make([]sum128, m.d), make([]int64, m.d), make([]float64, m.d)
		if newton {
			w.hessian = make([]float64, m.d*(m.d+1)/2)
		}
	}
	slope, unit := math.Ldexp(1, m.slopeBits), math.Ldexp(1, m.rowGrid)
	err := in.Each(ctx, len(workers), func(n int, records []byte) {
		w := &workers[n]
		for ; len(records) > 0; records = records[in.Record():] {
			y := in.Decode(records, w.integers, w.x, unit)
			m.clamp(w.integers, w.x, unit)
			l, first, second := m.curve.at(dot(theta, w.x), y)
			s := int64(math.RoundToEven(first * slope))
			for i, x := range w.integers {
				w.sums[i].add(s * x)
			}
			if newton {
				w.value += l
				k := 0
				for i, x := range w.x {
					f := second * x
					for _, o := range w.x[:i+1] {
						w.hessian[k] += f * o
						k++
					}
				}
			}
		}
	})
	if err != nil {
		return nil, err
	}
	all := workers[0]
	for _, w := range workers[1:] {
		for i, s := range w.sums {
			all.sums[i].plus(s)
		}
		all.value += w.value
		for i, h := range w.hessian {
			all.hessian[i] += h
		}
	}
	return m.survey(in, theta, &all), nil
}

// clamp limits the predictors of a row to ±cap.
func (m *Minimiser) clamp(integers []int64, x []float64, unit float64) {
	if m.cap == 0 {
		return
	}
	for i, v := range integers {
		if to := min(max(v, -m.cap), m.cap); to != v {
			integers[i], x[i] = to, float64(to)*unit
		}
	}
}

// survey computes a landscape at θ from the sums over the rows.
func (m *Minimiser) survey(in inquiry, theta []float64, sums *worker) *landscape {
	n := in.Rows()
	l := &landscape{
		theta: theta, value: sums.value, hessian: sums.hessian, gradient: make([]float64, m.d),
		next: make([]float64, m.d),
	}
	lambda := m.lambda * max(1, float64(n)/float64(m.objective.Rows))
	beta := (float64(n)*m.curve.bend*m.bound*m.bound + lambda) * (1 + 0x1p-40)
	slopes := in.slopes(sums.sums)
	for i := range theta {
		l.gradient[i] = math.Ldexp(slopes[i], m.rowGrid-m.slopeBits) + lambda*theta[i]
		l.next[i] = theta[i] - l.gradient[i]/beta
		l.value += lambda / 2 * theta[i] * theta[i]
		if in.tilt != nil {
			b, _ := new(big.Float).SetInt(in.tilt[i]).Float64()
			l.value += math.Ldexp(b, m.rowGrid-m.slopeBits) * theta[i]
		}
		if l.hessian != nil {
			l.hessian[i*(i+3)/2] += lambda
		}
	}
	m.project(l.next)
	away := 0.0
	for i := range theta {
		away += (theta[i] - l.next[i]) * (theta[i] - l.next[i])
	}
	l.kappa = beta / lambda
	l.off = math.Sqrt(away) * l.kappa * (1 + 0x1p-30)
	return l
}

// mostBits is the most bits of a sum of gradients: longer vectors are shortened, so that the squares of the vector that T̂
// projects fit in float64. A unit of the sums is at most 4, and β at least 2^-60, so the vector is shorter than 2^470.
const mostBits = 400

// slopes returns the sums of the rows' gradients and of the tilt, each with a relative error of at most 2^-52. A vector with
// a sum of more than mostBits bits is shortened to that, without turning it.
func (in inquiry) slopes(sums []sum128) []float64 {
	out := make([]float64, len(sums))
	if in.tilt == nil {
		for i, s := range sums {
			out[i] = s.float()
		}
		return out
	}
	all, most := make([]*big.Int, len(sums)), 0
	for i, s := range sums {
		all[i] = s.integer()
		most = max(most, all[i].Add(all[i], in.tilt[i]).BitLen())
	}
	for i, x := range all {
		f := new(big.Float).SetInt(x)
		out[i], _ = f.SetMantExp(f, min(0, mostBits-most)).Float64()
	}
	return out
}

// project shortens θ to the length (1 − 2^-42)·r if it is longer, where r is the radius of the ball.
func (m *Minimiser) project(theta []float64) {
	if length := norm(theta); length > m.r*(1-0x1p-42) {
		shrink := m.r / length * (1 - 0x1p-42)
		for i := range theta {
			theta[i] *= shrink
		}
	}
}

func norm(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v * v
	}
	return math.Sqrt(sum)
}

// fits opens rows for reading. It returns ErrRows unless the rows have the shape for which the sensitivity was
// computed.
func (m *Minimiser) fits(rows *mechanism.Rows) (*opaque.Reader, error) {
	in, err := opaque.OpenRows(rows, m.d)
	if err != nil {
		return nil, err
	}
	if in.Reach() != m.reach || in.Grid() != m.rowGrid || in.Most() > m.unit.MaxRows {
		return nil, mechanism.ErrRows
	}
	return in, nil
}

// solve returns a θ within the tolerance of the minimum (see [Minimiser]) of the objective with the given tilt, or of the
// objective alone if tilt is nil.
func (m *Minimiser) solve(ctx context.Context, rows *mechanism.Rows, tilt []*big.Int) ([]float64, error) {
	read, err := m.fits(rows)
	if err != nil {
		return nil, err
	}
	in := inquiry{read, tilt}
	best, _, err := m.descend(ctx, in)
	if err == nil && best.off > m.target {
		best, err = m.glide(ctx, in, best)
	}
	for pass := int64(0); err == nil && pass < m.passes && best.off > m.target; pass++ {
		best, err = m.look(ctx, in, best.next, false)
	}
	if err != nil {
		return nil, err
	}
	return best.theta, nil
}

// descend runs Newton's method until the target is met, the passes are used up, or there is no progress.
func (m *Minimiser) descend(ctx context.Context, in inquiry) (best *landscape, pass int, err error) {
	if best, err = m.look(ctx, in, make([]float64, m.d), true); err != nil {
		return nil, 1, err
	}
	for pass = 1; pass < newtonPasses && best.off > m.target; pass++ {
		to := m.newton(best)
		if to == nil {
			break
		}
		at, err := m.look(ctx, in, to, true)
		if err != nil {
			return nil, pass, err
		}
		for ; pass < newtonPasses-1 && at.off > m.target && !at.better(best); pass++ { // halve the step
			to = slices.Clone(to)
			for i := range to {
				to[i] = (to[i] + best.theta[i]) / 2
			}
			m.project(to)
			if at, err = m.look(ctx, in, to, true); err != nil {
				return nil, pass, err
			}
		}
		if at.off > m.target && !at.better(best) {
			break
		}
		best = at
	}
	return best, pass, nil
}

// glide continues from a landscape with Nesterov's accelerated steps [Nesterov 2004, scheme 2.2.19]. It needs about
// √κ passes, where T̂ alone needs κ (κ and T̂ are those of [Minimiser]). It serves a narrow HuberLoss, for which
// Newton's method does not settle. It returns the landscape with the least bound off that it met.
func (m *Minimiser) glide(ctx context.Context, in inquiry, best *landscape) (*landscape, error) {
	at, last := best, best.theta
	for pass := int64(0); pass < m.glides && at.off > m.target; pass++ {
		root := math.Sqrt(at.kappa)
		beyond, to := (root-1)/(root+1), slices.Clone(at.next)
		for i := range to {
			to[i] += beyond * (to[i] - last[i])
		}
		m.project(to)
		last = at.next
		var err error
		if at, err = m.look(ctx, in, to, false); err != nil {
			return nil, err
		}
		if at.off < best.off {
			best = at
		}
	}
	return best, nil
}

// newton returns the minimum over the ball of the second-order expansion of J at l: (H + νI)⁻¹(Hθ − ∇J), where H is
// the Hessian of J, with the ν ≥ 0 that leads into the ball. It returns nil if the float64 computation breaks down.
func (m *Minimiser) newton(l *landscape) []float64 {
	c := make([]float64, m.d)
	for i := range c {
		for j := range c {
			c[i] += l.hessian[triangle(i, j)] * l.theta[j]
		}
		c[i] -= l.gradient[i]
	}
	at := func(nu float64) []float64 { return solveRaised(l.hessian, c, nu) }
	to := at(0)
	if to == nil {
		return nil
	}
	if norm(to) > m.r {
		lo, hi := 0.0, norm(c)/m.r
		for range 60 {
			middle := (lo + hi) / 2
			if to = at(middle); to == nil {
				return nil
			}
			if norm(to) > m.r {
				lo = middle
			} else {
				hi = middle
			}
		}
	}
	m.project(to)
	if length := norm(to); math.IsNaN(length) || math.IsInf(length, 0) {
		return nil
	}
	return to
}

// triangle returns the index of an entry of a symmetric matrix in its lower triangle.
func triangle(i, j int) int {
	i, j = max(i, j), min(i, j)
	return i*(i+1)/2 + j
}

// solveRaised solves (H + νI)x = c by Cholesky decomposition, where h is the lower triangle of H. It returns nil if
// that breaks down.
func solveRaised(h, c []float64, nu float64) []float64 {
	d := len(c)
	l := slices.Clone(h)
	for i := range d {
		for j := range i + 1 {
			s := l[triangle(i, j)]
			if i == j {
				s += nu
			}
			a, b := l[i*(i+1)/2:], l[j*(j+1)/2:]
			for k := range j {
				s -= a[k] * b[k]
			}
			switch {
			case i != j:
				l[triangle(i, j)] = s / l[triangle(j, j)]
			case s > 0:
				l[triangle(i, i)] = math.Sqrt(s)
			default:
				return nil
			}
		}
	}
	x := slices.Clone(c)
	for i := range d {
		for k := range i {
			x[i] -= l[triangle(i, k)] * x[k]
		}
		x[i] /= l[triangle(i, i)]
	}
	for i := d - 1; i >= 0; i-- {
		for k := i + 1; k < d; k++ {
			x[i] -= l[triangle(k, i)] * x[k]
		}
		x[i] /= l[triangle(i, i)]
	}
	return x
}
