package ours

import (
	"math"
	"math/big"

	"dither/internal/expsum"
	"dither/mechanism"
)

// steps is the staircase distribution P(Z = z) ∝ e^(−ε·s(|z|)) with s(k) = ⌊(k + Δ − r)/Δ⌋ [Geng & Viswanath 2014,
// the discrete case]. Δ is length, and r is the length of the first step. s is 0 for k < r, and then rises by 1
// after every Δ integers.
type steps struct {
	epsilon   *big.Rat
	length, r int64
}

// at returns e^(−ε·s(|z|)).
func (s steps) at(c *calc, z int64) *expsum.Number {
	return c.power(s.epsilon, -((max(z, -z) + s.length - s.r) / s.length))
}

// total returns the sum of at(z) over all z. The first step contributes 2r − 1. All other steps together contribute
// 2Δ·b/(1 − b), with Δ = length and b = e^(−ε).
func (s steps) total(c *calc) *expsum.Number {
	b, one := c.power(s.epsilon, -1), c.rat(1, 1)
	return c.add(c.rat(2*s.r-1, 1), c.quo(c.mul(c.rat(2*s.length, 1), b), c.sub(one, b)))
}

// bestStep returns the length r of the first step, from 1 to length, that has the smallest expected error [Geng &
// Viswanath 2014]. It sums up to terms that are below 10⁻³⁰ of the first one.
func bestStep(epsilon float64, length int64, squared bool) (best int64) {
	least := math.Inf(1)
	for r := int64(1); r <= length; r++ {
		sum, total := 0.0, 0.0
		for z := int64(0); z < length*int64(2+70/epsilon); z++ {
			p := math.Exp(-epsilon * float64((z+length-r)/length))
			if z > 0 {
				p *= 2
			}
			size := float64(z)
			if squared {
				size *= size
			}
			sum, total = sum+p*size, total+p
		}
		if sum/total < least {
			best, least = r, sum/total
		}
	}
	return best
}

// folded moves y towards [low, high] by multiples of Δ, until it is less than Δ outside the interval. This loses
// nothing. Outside the interval, a step of Δ multiplies the probability under every input by e^(−ε), so the ratios
// of probabilities stay the same.
func (s steps) folded(y, low, high int64) int64 {
	for y < low-s.length+1 {
		y += s.length
	}
	for y > high+s.length-1 {
		y -= s.length
	}
	return y
}

func staircase(name string, squared bool) Subject {
	const length, low, high = 3, 0, 3
	m := mechanism.Staircase{Sensitivity: big.NewInt(length), Epsilon: epsilonOf(2, 1), Squared: squared}
	all, names := vectors(1, low, high)
	s := steps{m.Epsilon.Rat(), length, bestStep(2, length, squared)}
	return subject(Subject{
		Name: name, About: "staircase noise on one number that one person moves by 3",
		Source: "Geng & Viswanath 2014",
		domain: domain{inputs: names, pair: [2]int{0, length}, draw: func(i int) (drawn, error) {
			out, err := m.Measure(exactly(all[i]...))
			if err != nil {
				return drawn{}, err
			}
			y := out.Values[0].Int64()
			return drawn{text: label(y), folded: label(s.folded(y, low-s.r, high+s.r)), loss: out.Loss}, nil
		}},
		law: func() (*Law, error) {
			return lawOf(names, adjacent(len(all), func(int, int) bool { return true }),
				func(c *calc, i int) (w weights) {
					w.total = s.total(c)
					// outside [from, to], every step has the length Δ under every input
					x, from, to := all[i][0], low-s.r, high+s.r
					many := c.sub(c.rat(1, 1), c.power(s.epsilon, -1))
					for y := from - length + 1; y < to+length; y++ {
						p := s.at(c, y-x)
						if y <= from || y >= to { // includes all outputs that are folded into y
							p = c.quo(p, many)
						}
						w.add(c, label(y), p)
					}
					return w
				})
		},
	})
}
