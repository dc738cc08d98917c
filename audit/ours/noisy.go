package ours

import (
	"math/big"
	"slices"

	"dither/internal/expsum"
	"dither/mechanism/selection"
)

// differences is P(η₁ + o₁ = η₂ + o₂ = …) for independent two-sided geometric variables: the sum of ∏(1
// − b)·b^|z − o_j| over all integers z, times (1 + b)ⁿ·(1 − bⁿ)/(1 − b)ⁿ, so that no quotient is left.
// Below and above all o_j terms fall by bⁿ from one z to the next.
func (g geometric) differences(c *calc, offsets ...int64) *expsum.Number {
	n, low, high := int64(len(offsets)), slices.Min(offsets), slices.Max(offsets)
	at := func(z int64) *expsum.Number {
		distance := int64(0)
		for _, o := range offsets {
			distance += max(z-o, o-z)
		}
		return g.b(c, distance)
	}
	inner := c.rat(0, 1)
	for z := low + 1; z < high; z++ {
		inner = c.add(inner, at(z))
	}
	ends := at(low)
	if high > low {
		ends = c.add(ends, at(high))
	} else {
		ends = c.add(ends, c.mul(ends, g.b(c, n))) // both tails, of which z = low is in one
	}
	return c.add(ends, c.mul(inner, c.sub(c.rat(1, 1), g.b(c, n))))
}

// differencesTotal is what differences are given times: (1 + b)ⁿ(1 − bⁿ)/(1 − b)ⁿ.
func (g geometric) differencesTotal(c *calc, n int) *expsum.Number {
	one := c.rat(1, 1)
	total := c.sub(one, g.b(c, int64(n)))
	for range n {
		total = c.mul(total, c.quo(g.total(c), c.sub(one, g.b(c, 1))))
	}
	return total
}

// rankings is the law of the order of noisy scores with all gaps between them: A_{i_r} ≥ A_{i_{r+1}} + [i_{r+1} <
// i_r], and g_r is by how much [Ding, Wang, Zhang & Kifer 2019, with ties broken by place]. Gaps up to most are told
// apart.
func (g geometric) rankings(c *calc, scores []int64, most int64, told int) (w weights) {
	n := len(scores)
	w.total = g.differencesTotal(c, n)
	lists, _ := vectors(n-1, 0, most)
	for _, order := range permutations(n) {
		for _, gaps := range lists {
			// A_{i_r} − A_{i_n} − u_{i_r}: what η of i_r is above the common z, sign changed
			offsets := make([]int64, n)
			above := int64(0)
			for r := n - 1; r >= 0; r-- {
				if r < n-1 {
					above += gaps[r]
					if order[r+1] < order[r] {
						above++
					}
				}
				offsets[r] = scores[order[r]] - above
			}
			w.add(c, label(order[:told]...)+" by "+label(gaps...), g.differences(c, offsets...))
		}
	}
	return w
}

// limits are what rankings come to where some of the gaps grow: of two candidates the one, of three either or both.
//
// Of two, with D the distance of the offsets, differences are bᴰ(D + k), k a constant, times a constant. D is the gap
// plus a constant of the input, so that the ratio of two inputs is a constant times a quotient of linear functions of
// the gap: it lies between that of the least gap for which this holds and the limit, where D + k cancels.
//
// Of three, with A and B the distances of the middle offset from the least and from the greatest, they are b^(A+B)·(C
// − κ(bᴬ + bᴮ)), times a constant. A and B are the gaps plus constants of the input, as soon as the gaps are at
// least 1, so that the ratio of two inputs is a constant times a quotient of linear functions of (s, t) = (b^g₁,
// b^g₂), whose denominator is above 0. On a rectangle, and on a side of one, such a quotient is greatest at a corner:
// at gaps of 1, 0 or without end.
func (g geometric) limits(c *calc, all [][]int64, told int) (out []Limit) {
	n := len(all[0])
	one := c.rat(1, 1)
	whole := c.quo(g.total(c), c.sub(one, g.b(c, 1)))                                   // C = (1 + b)/(1 − b)
	less := c.sub(c.quo(one, c.sub(one, g.b(c, 1))), c.quo(one, c.sub(one, g.b(c, 3)))) // κ
	last, _ := vectors(1, 0, 1)
	for _, order := range permutations(n) {
		name := label(order[:told]...) + " by "
		tie := func(r int) int64 { // A of order[r] is above that of the next by the gap and this
			if order[r+1] < order[r] {
				return 1
			}
			return 0
		}
		// offsets' distance, less the gap
		apart := func(u []int64, r int) int64 { return u[order[r+1]] - u[order[r]] + tie(r) }
		if n == 2 {
			limit := Limit{Output: name + "ever more"}
			for _, u := range all {
				limit.At = append(limit.At, g.b(c, apart(u, 0)))
			}
			out = append(out, limit)
			continue
		}
		both := Limit{Output: name + "ever more, ever more"}
		for _, u := range all {
			both.At = append(both.At, g.b(c, apart(u, 0)+apart(u, 1)))
		}
		out = append(out, both)
		for _, gap := range last {
			first := Limit{Output: name + "ever more, " + label(gap...)}
			second := Limit{Output: name + label(gap...) + ", ever more"}
			for _, u := range all {
				// One distance is d, whichever of the two is greater; the other grows from the far one of them.
				d := apart(u, 1) + gap[0]
				near := c.sub(whole, c.mul(less, g.b(c, max(d, -d))))
				first.At = append(first.At, c.mul(g.b(c, apart(u, 0)+max(d, 0)), near))
				d = apart(u, 0) + gap[0]
				near = c.sub(whole, c.mul(less, g.b(c, max(d, -d))))
				second.At = append(second.At, c.mul(g.b(c, apart(u, 1)+max(d, 0)), near))
			}
			out = append(out, first, second)
		}
	}
	return out
}

// rankingLaw is a law of rankings, with its limits.
func (g geometric) rankingLaw(names []string, pairs [][2]int, all [][]int64, most int64, told int) (*Law, error) {
	l, err := lawOf(names, pairs, func(c *calc, i int) weights { return g.rankings(c, all[i], most, told) })
	if err != nil {
		return nil, err
	}
	c := new(calc)
	l.Folded, l.Limits = true, g.limits(c, all, told)
	return l, c.err
}

// noisyMax is of two candidates, of whom the gap tells the whole difference.
func noisyMax(s scores) Subject {
	const most = 6
	m := selection.NoisyMax{Sensitivity: big.NewInt(s.sensitivity), Monotonic: s.monotonic, Epsilon: epsilonOf(1, 1)}
	all, names, pairs := s.lists(2)
	return subject(Subject{
		Name:   "noisy-max" + s.name,
		About:  "the better of two candidates by report-noisy-max, and by how much, scores 0…2 that move by 1",
		Source: "Dwork & Roth 2014, Claim 3.9; Ding, Wang, Zhang & Kifer 2019",
		domain: domain{
			inputs: names, pair: [2]int{place(all, 1, 1), place(all, 2, 0)},
			draw: func(i int) (drawn, error) {
				out, err := m.Select(exactly(all[i]...))
				if err != nil {
					return drawn{}, err
				}
				text := label(out.Index) + " by " + out.Gap.String()
				return drawn{text: text, folded: text, loss: out.Loss}, nil
			},
		},
		law: func() (*Law, error) {
			return geometric{s.rate(m.Epsilon, 1)}.rankingLaw(names, pairs, all, most, 1)
		},
	})
}

// noisyTop is two of three, so that both gaps are told.
func noisyTop() Subject {
	const k, most = 2, 1
	m := selection.NoisyTop{K: k, Sensitivity: big.NewInt(1), Epsilon: epsilonOf(2, 1)}
	all, names := vectors(3, 0, 1)
	pairs := adjacent(len(all), func(int, int) bool { return true })
	return subject(Subject{
		Name:   "noisy-top",
		About:  "the first two of three candidates by noisy scores, and by how much, scores 0 and 1 that move by 1",
		Source: "Qiao, Su & Zhang 2021; Ding, Wang, Zhang & Kifer 2019",
		domain: domain{
			inputs: names, pair: [2]int{place(all, 1, 1, 0), place(all, 0, 0, 1)},
			draw: func(i int) (drawn, error) {
				out, err := m.Select(exactly(all[i]...))
				if err != nil {
					return drawn{}, err
				}
				text := label(out.Indices...) + " by " + label(integers(out.Gaps)...)
				return drawn{text: text, folded: text, loss: out.Loss}, nil
			},
		},
		law: func() (*Law, error) {
			return geometric{rate(m.Epsilon, 2*k)}.rankingLaw(names, pairs, all, most, k)
		},
	})
}
