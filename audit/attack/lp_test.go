package attack

import (
	"math"
	"testing"
)

// made is a program of random questions, with answers that are off by up to bound.
func made(seed uint64, people, questions int, bound float64, fit Fit) program {
	s := newStream(seed)
	p := program{people: people, fit: fit}
	truth := make([]bool, people)
	for j := range truth {
		truth[j] = s.bit()
	}
	for range questions {
		var row []int32
		answer := s.within(bound)
		for j := range people {
			if s.bit() {
				row = append(row, int32(j))
				if truth[j] {
					answer++
				}
			}
		}
		p.rows, p.answers = append(p.rows, row), append(p.answers, answer)
	}
	return p
}

// vertex is a point where as many constraints are tight as there are unknowns, or nil if they do not determine one.
func vertex(lines [][]float64, pick []int) []float64 {
	n := len(pick)
	a := make([][]float64, n)
	for i, k := range pick {
		a[i] = append([]float64(nil), lines[k]...)
	}
	for i := range n {
		best := i
		for k := i; k < n; k++ {
			if math.Abs(a[k][i]) > math.Abs(a[best][i]) {
				best = k
			}
		}
		if a[i], a[best] = a[best], a[i]; math.Abs(a[i][i]) < 1e-9 {
			return nil
		}
		for k := range n {
			if f := a[k][i] / a[i][i]; k != i && f != 0 {
				for c := i; c <= n; c++ {
					a[k][c] -= f * a[i][c]
				}
			}
		}
	}
	out := make([]float64, n)
	for i := range out {
		out[i] = a[i][n] / a[i][i]
	}
	return out
}

// best is the least norm by looking at every vertex: the constraints are residuals of 0 (or, for the largest, of ±t)
// and the sides of the box.
func (p program) best() float64 {
	n := p.people
	unknowns := n
	if p.fit == LeastMax {
		unknowns++
	}
	var lines [][]float64
	line := func(columns []int32, t, right float64) {
		l := make([]float64, unknowns+1)
		for _, j := range columns {
			l[j] = 1
		}
		if p.fit == LeastMax {
			l[n] = t
		}
		l[unknowns] = right
		lines = append(lines, l)
	}
	for i, row := range p.rows {
		line(row, 1, p.answers[i])
		if p.fit == LeastMax {
			line(row, -1, p.answers[i])
		}
	}
	for j := range n {
		line([]int32{int32(j)}, 0, 0)
		line([]int32{int32(j)}, 0, 1)
	}
	least := math.Inf(1)
	var choose func(pick []int, from int)
	choose = func(pick []int, from int) {
		if len(pick) == unknowns {
			x := vertex(lines, pick)
			for j := 0; x != nil && j < n; j++ {
				if x[j] < -1e-9 || x[j] > 1+1e-9 {
					return
				}
			}
			if x == nil {
				return
			}
			sum, largest := 0.0, 0.0
			for _, r := range p.residuals(x[:n]) {
				sum, largest = sum+math.Abs(r), math.Max(largest, math.Abs(r))
			}
			if p.fit == LeastMax {
				sum = largest
			}
			least = math.Min(least, sum)
			return
		}
		for k := from; k < len(lines); k++ {
			choose(append(pick[:len(pick):len(pick)], k), k+1)
		}
	}
	choose(nil, 0)
	return least
}

// The least norm is that of the best vertex, and the certificate is below it.
func TestProgramAgainstEveryVertex(t *testing.T) {
	for seed := range uint64(60) {
		for _, fit := range []Fit{LeastSum, LeastMax} {
			p := made(seed, 1+int(seed%3), 1+int(seed%5), []float64{0, 1, 3, 100}[seed%4], fit)
			s, err := p.solve()
			if err != nil {
				t.Fatalf("seed %d, %v: %v", seed, fit, err)
			}
			want := p.best()
			if slack := 1e-8 * (1 + want); math.Abs(s.value-want) > slack || s.lower > want+1e-12*(1+want) ||
				s.lower < want-slack {
				t.Errorf("seed %d, %v: %g, at least %g, but the best vertex has %g", seed, fit, s.value, s.lower, want)
			}
		}
	}
}

// The same as HiGHS finds (scipy 1.17.1, linprog) for the same questions and answers.
func TestProgramAgainstHiGHS(t *testing.T) {
	for _, c := range []struct {
		fit  Fit
		want float64
	}{{LeastSum, 613.181366968}, {LeastMax, 3.54839174919}} {
		s, err := made(1, 64, 320, 4, c.fit).solve()
		if err != nil || math.Abs(s.value-c.want) > 1e-6 || s.lower > c.want+1e-9 {
			t.Errorf("%v: %.10g, at least %.10g, want %.10g (%v)", c.fit, s.value, s.lower, c.want, err)
		}
	}
}

// Programs without a unique or a proper solution are solved too: the same question many times, one about nobody or
// everybody, answers that are far off. The least norms are found by hand.
func TestDegeneratePrograms(t *testing.T) {
	everybody := []int32{0, 1, 2}
	for _, c := range []struct {
		name         string
		p            program
		sum, largest float64
	}{
		{"nobody", program{people: 3, rows: [][]int32{nil, nil}, answers: []float64{0, 5}}, 5, 5},
		{"everybody", program{people: 3, rows: [][]int32{everybody}, answers: []float64{2}}, 0, 0},
		// Of three people: any of the medians from 2 to 3, and 3, which is as near the middle of 1 and 6 as they come.
		{"repeated", program{people: 3, rows: [][]int32{everybody, everybody, everybody, everybody}, answers: []float64{1, 2, 3, 6}}, 6, 3},
		{"far", program{people: 3, rows: [][]int32{{0}, {1}, everybody}, answers: []float64{-3, 6, 6}}, 3 + 5 + 4, 5},
		{"tiny", program{people: 3, rows: [][]int32{{0}, {1}, everybody}, answers: []float64{1e-300, 5e-324, 1}}, 0, 0},
		{"exact", program{people: 3, rows: [][]int32{{0}, {1}, {2}, everybody}, answers: []float64{1, 0, 1, 2}}, 0, 0},
		{"at odds", program{people: 1, rows: [][]int32{{0}, {0}}, answers: []float64{0, 1}}, 1, 0.5},
	} {
		for fit, want := range map[Fit]float64{LeastSum: c.sum, LeastMax: c.largest} {
			c.p.fit = fit
			s, err := c.p.solve()
			if err != nil || math.Abs(s.value-want) > 1e-8 || s.lower > want+1e-12 || s.lower < want-1e-8 {
				t.Errorf("%s, %v: %g, at least %g, want %g (%v)", c.name, fit, s.value, s.lower, want, err)
				continue
			}
			for _, x := range s.x {
				if !(x >= 0 && x <= 1) {
					t.Errorf("%s, %v: %v is outside", c.name, fit, s.x)
				}
			}
		}
	}
}

func BenchmarkProgram(b *testing.B) {
	for _, fit := range []Fit{LeastSum, LeastMax} {
		p := made(1, 64, 320, 4, fit)
		b.Run(fit.String(), func(b *testing.B) {
			for b.Loop() {
				if _, err := p.solve(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
