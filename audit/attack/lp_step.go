package attack

import "math"

// targets holds, for each product of a variable and its multiplier, the change that a step aims at.
type targets struct{ x, w, below, above []float64 }

// move is the change of all variables and multipliers in one step.
type move struct{ x, toX, toW, below, above, toBelow, toTop []float64 } // w changes by −x

// step makes one step of the search. It returns false if rounding prevents further progress.
func (s *interior) step() bool {
	if !s.factor() {
		return false
	}
	predicted := s.toward(s.gaps(0, nil))
	mean := s.meanAfter(predicted, 0, 0)
	primal, dual := s.reach(predicted, 1)
	after := s.meanAfter(predicted, primal, dual)
	ratio := after / mean
	m := s.toward(s.gaps(mean*ratio*ratio*ratio, &predicted))
	primal, dual = s.reach(m, 0.995)
	if !(primal > 1e-12) && !(dual > 1e-12) {
		return false
	}
	add(s.x, m.x, primal)
	add(s.w, m.x, -primal)
	add(s.below, m.below, primal)
	add(s.above, m.above, primal)
	add(s.toX, m.toX, dual)
	add(s.toW, m.toW, dual)
	add(s.toBelow, m.toBelow, dual)
	add(s.toTop, m.toTop, dual)
	return true
}

func add(to, by []float64, times float64) {
	for i := range to {
		to[i] += times * by[i]
	}
}

// weight holds the quotients of a row's two multipliers by its two slacks.
type weight struct{ lower, upper float64 }

func (s *interior) weight(i int) weight {
	return weight{s.toBelow[i] / s.below[i], s.toTop[i] / s.above[i]}
}

func (w weight) sum() float64        { return w.lower + w.upper }
func (w weight) difference() float64 { return w.lower - w.upper }

// factor builds and factors the matrix of a step. Let D₁ and D₂ hold the quotients of multipliers and slacks of
// each row, and E the sum of these quotients for x and w. For LeastSum, each row's t is eliminated, and the matrix
// is Aᵀ·4D₁D₂/(D₁+D₂)·A + E. For LeastMax it is Aᵀ(D₁+D₂)A + E, with one more row and column for t, which hold
// Aᵀ(D₁−D₂)1.
func (s *interior) factor() bool {
	q := s.matrix
	q.clear()
	for i, row := range s.rows {
		w := s.weight(i)
		own := w.sum()
		if s.fit == LeastSum {
			own = 4 * (w.lower / w.sum()) * w.upper
		}
		for a, j := range row { // columns ascend, so this fills the lower triangle
			line := q.row(int(j))
			for _, k := range row[:a+1] {
				line[k] += own
			}
		}
		if s.fit == LeastMax {
			last := q.row(s.people)
			for _, j := range row {
				last[j] += w.difference()
			}
			last[s.people] += w.sum()
		}
	}
	for j := range s.x {
		q.row(j)[j] += s.toX[j]/s.x[j] + s.toW[j]/s.w[j]
	}
	return q.factor()
}

// meanAfter returns the mean product of a variable and its multiplier, after the variables make the share primal of
// a move, and the multipliers the share dual.
func (s *interior) meanAfter(m move, primal, dual float64) float64 {
	sum := 0.0
	for j := range s.x {
		sum += (s.x[j]+primal*m.x[j])*(s.toX[j]+dual*m.toX[j]) + (s.w[j]-primal*m.x[j])*(s.toW[j]+dual*m.toW[j])
	}
	for i := range s.rows {
		sum += (s.below[i]+primal*m.below[i])*(s.toBelow[i]+dual*m.toBelow[i]) +
			(s.above[i]+primal*m.above[i])*(s.toTop[i]+dual*m.toTop[i])
	}
	return sum / float64(2*s.people+2*len(s.rows))
}

// gaps returns the changes that move every product to aim. If p is not nil, it subtracts the second-order term of
// the predicted move p.
func (s *interior) gaps(aim float64, p *move) targets {
	out := targets{
		make([]float64, s.people), make([]float64, s.people), make([]float64, len(s.rows)),
		make([]float64, len(s.rows)),
	}
	for j := range s.x {
		out.x[j], out.w[j] = aim-s.x[j]*s.toX[j], aim-s.w[j]*s.toW[j]
		if p != nil {
			out.x[j] -= p.x[j] * p.toX[j]
			out.w[j] += p.x[j] * p.toW[j]
		}
	}
	for i := range s.rows {
		out.below[i], out.above[i] = aim-s.below[i]*s.toBelow[i], aim-s.above[i]*s.toTop[i]
		if p != nil {
			out.below[i] -= p.below[i] * p.toBelow[i]
			out.above[i] -= p.above[i] * p.toTop[i]
		}
	}
	return out
}

// toward returns Newton's move for the given targets. The move preserves the constraints of the primal and the dual
// program.
func (s *interior) toward(g targets) move {
	m, n := len(s.rows), s.people
	right := make([]float64, s.matrix.n)
	bound := make([]float64, m) // each row's term in the equation for t
	for i, row := range s.rows {
		w := s.weight(i)
		lower, upper := g.below[i]/s.below[i], g.above[i]/s.above[i]
		bound[i] = lower + upper
		push := lower - upper
		if s.fit == LeastSum {
			push -= w.difference() / w.sum() * bound[i]
		} else {
			right[n] += bound[i]
		}
		for _, j := range row {
			right[j] += push
		}
	}
	for j := range s.x {
		right[j] += g.x[j]/s.x[j] - g.w[j]/s.w[j]
	}
	s.matrix.solve(right)
	out := move{
		x: right[:n], toX: make([]float64, n), toW: make([]float64, n), below: make([]float64, m),
		above:   make([]float64, m),
		toBelow: make([]float64, m), toTop: make([]float64, m),
	}
	for j, d := range out.x {
		out.toX[j] = (g.x[j] - s.toX[j]*d) / s.x[j]
		out.toW[j] = (g.w[j] + s.toW[j]*d) / s.w[j]
	}
	for i, row := range s.rows {
		d := dot(row, out.x)
		w := s.weight(i)
		t := (bound[i] - w.difference()*d) / w.sum()
		if s.fit == LeastMax {
			t = right[n]
		}
		out.below[i], out.above[i] = t+d, t-d
		out.toBelow[i] = (g.below[i] - s.toBelow[i]*out.below[i]) / s.below[i]
		out.toTop[i] = (g.above[i] - s.toTop[i]*out.above[i]) / s.above[i]
	}
	return out
}

// reach returns the largest shares of a move that keep all variables, and all multipliers, above 0. The shares are
// at most 1. Each variable covers at most its distance to 0, times keep.
func (s *interior) reach(m move, keep float64) (primal, dual float64) {
	most := func(at, by []float64, sign, so float64) float64 {
		for i, d := range by {
			if d *= sign; d < 0 {
				so = math.Min(so, -keep*at[i]/d)
			}
		}
		return so
	}
	primal = most(s.above, m.above, 1, most(s.below, m.below, 1, most(s.w, m.x, -1, most(s.x, m.x, 1, 1))))
	dual = most(s.toTop, m.toTop, 1, most(s.toBelow, m.toBelow, 1, most(s.toW, m.toW, 1, most(s.toX, m.toX, 1, 1))))
	return primal, dual
}
