package ours

import (
	"math/big"

	"dither/internal/expsum"
	"dither/mechanism"
)

// square is the distribution of two integers with P(z) ∝ b^max(|z₁|, |z₂|), b = e^(−rate). Its methods return
// probabilities multiplied by total, which is (1 − b)²·Σ_z b^‖z‖∞ = (1 − b)² + 8b.
type square struct{ rate *big.Rat }

func (s square) total(c *calc) *expsum.Number {
	b := c.power(s.rate, -1)
	return c.add(c.rat(1, 1), c.mul(c.rat(6, 1), b), c.mul(b, b))
}

// corner returns P(z₁ ≥ x, z₂ ≥ y) times total. Let G(m) be the number of points of [−m, m]² in the corner. Summation
// by parts gives Σ_z b^‖z‖∞ = (1 − b)·Σ_m G(m)·b^m. From m = M := max(|x|, |y|) on, G(M + j) = (j + A)(j + B) with
// A = M − x + 1 and B = M − y + 1. So the rest of the sum is b^M·(b(1 + b) + (A + B)·b(1 − b) + A·B·(1 − b)²)/(1 − b)³.
func (s square) corner(c *calc, x, y int64) *expsum.Number {
	one, b := c.rat(1, 1), c.power(s.rate, -1)
	less := c.sub(one, b)
	side := func(x, m int64) int64 { return max(0, m-max(x, -m)+1) }
	from := max(x, -x, y, -y)
	left, right := from-x+1, from-y+1
	rest := c.add(
		c.mul(b, c.add(one, b)), c.mul(c.rat(left+right, 1), b, less), c.mul(c.rat(left*right, 1), less, less),
	)
	sum := c.mul(c.power(s.rate, -from), rest)
	cube := c.mul(less, less, less)
	for m := range from {
		if points := side(x, m) * side(y, m); points > 0 {
			sum = c.add(sum, c.mul(cube, c.rat(points, 1), c.power(s.rate, -m)))
		}
	}
	return sum
}

// noisyPair returns the distribution of the two numbers x with noise, clamped to [low, high]. A reflection of a
// coordinate of the noise leaves its distribution. So each clamped coordinate is an event z ≥ a, or that without
// z ≥ a + 1.
func (s square) noisyPair(c *calc, x []int64, low, high int64) (w weights) {
	w.total = s.total(c)
	events := func(x, y int64) []int64 {
		switch y {
		case low:
			return []int64{x - low}
		case high:
			return []int64{high - x}
		}
		return []int64{y - x, y - x + 1}
	}
	all, _ := vectors(2, low, high)
	for _, y := range all {
		p := c.rat(0, 1)
		for i, a := range events(x[0], y[0]) {
			for j, b := range events(x[1], y[1]) {
				q := s.corner(c, a, b)
				if i != j {
					p = c.sub(p, q)
				} else {
					p = c.add(p, q)
				}
			}
		}
		w.add(c, label(y...), p)
	}
	return w
}

func cube() Subject {
	m := mechanism.Cube{Sensitivity: big.NewInt(2), Epsilon: epsilonOf(1, 1)}
	all, names := vectors(2, 0, 2)
	const low, high = 0, 2
	return subject(Subject{
		Name: "cube", About: "noise on two counts of which one person may move each by 2",
		Source: "Hardt & Talwar 2010",
		domain: domain{inputs: names, pair: [2]int{0, 8}, draw: func(i int) (drawn, error) {
			out, err := m.Measure(exactly(all[i]...))
			return clamped(out.Loss, low, high, integers(out.Values)...), err
		}},
		law: func() (*Law, error) {
			near := func(i, j int) bool { _, most := apart(all[i], all[j]); return most <= 2 }
			return lawOf(names, adjacent(len(all), near), func(c *calc, i int) weights {
				return square{rate(m.Epsilon, 2)}.noisyPair(c, all[i], low, high)
			})
		},
	})
}
