package ours

import (
	"math/big"
	"slices"

	"dither/internal/expsum"
	"dither/mechanism/selection"
)

// differences returns P(η₁ + o₁ = η₂ + o₂ = …) for independent geometric variables ηⱼ and offsets oⱼ, times (1 +
// b)ⁿ·(1 − bⁿ)/(1 − b)ⁿ, with b = e^(−rate). The probability is the sum of ∏((1 − b)/(1 + b)·b^|z − oⱼ|) over all
// integers z. The factor makes the result free of quotients. Below and above all offsets, the terms fall by bⁿ from
// one z to the next.
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
		ends = c.add(ends, c.mul(ends, g.b(c, n))) // both tails; z = low is in one of them
	}
	return c.add(ends, c.mul(inner, c.sub(c.rat(1, 1), g.b(c, n))))
}

// differencesTotal returns the factor (1 + b)ⁿ(1 − bⁿ)/(1 − b)ⁿ by which [geometric.differences] multiplies.
func (g geometric) differencesTotal(c *calc, n int) *expsum.Number {
	one := c.rat(1, 1)
	total := c.sub(one, g.b(c, int64(n)))
	for range n {
		total = c.mul(total, c.quo(g.total(c), c.sub(one, g.b(c, 1))))
	}
	return total
}

// rankings returns the joint distribution of the order of the noisy scores A₁, A₂, … and of the gaps between them.
// In the order i₁, i₂, …, the gap g_r is A_{i_r} − A_{i_{r+1}}, minus 1 if i_{r+1} < i_r, because ties are broken
// by index [Ding, Wang, Zhang & Kifer 2019]. The outputs list gaps up to the argument most. The argument told is
// the number of candidates that an output names, from the first on.
func (g geometric) rankings(c *calc, scores []int64, most int64, told int) (w weights) {
	n := len(scores)
	w.total = g.differencesTotal(c, n)
	lists, _ := vectors(n-1, 0, most)
	for _, order := range permutations(n) {
		for _, gaps := range lists {
			// Let u be the scores and A the noisy scores. With the offset u_{i_r} − (A_{i_r} − A_{i_n}), the noise
			// of every candidate plus its offset is the same number, A_{i_n}.
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

// limits returns the limits of the probabilities in [geometric.rankings] as some gaps grow. With two candidates
// there is one gap. With three there are two, and either or both may grow.
//
// Two candidates: let D be the distance between the offsets. The value of [geometric.differences] is bᴰ(D + k),
// times a constant, with a constant k. D is the gap plus a constant of the input. So the ratio of two inputs is a
// constant times a quotient of two linear functions of the gap. From the least gap for which D has this form, the
// ratio lies between its value there and its limit, in which D + k cancels.
//
// Three candidates: let A and B be the distances of the middle offset from the least and from the greatest. The
// value of differences is b^(A+B)·(C − κ(bᴬ + bᴮ)), times a constant, where C and κ depend on b only. For gaps of
// at least 1, A and B are the gaps plus constants of the input. So the ratio of two inputs is a constant times a
// quotient of two linear functions of (s, t) = (b^g₁, b^g₂), with a positive denominator. On a rectangle, and on a
// side of it, such a quotient is largest at a corner. The corners are gaps of 0, gaps of 1, and infinite gaps.
func (g geometric) limits(c *calc, all [][]int64, told int) (out []Limit) {
	n := len(all[0])
	one := c.rat(1, 1)
	whole := c.quo(g.total(c), c.sub(one, g.b(c, 1))) // C, which is (1 + b)/(1 − b)
	// κ, which is 1/(1 − b) − 1/(1 − b³)
	less := c.sub(c.quo(one, c.sub(one, g.b(c, 1))), c.quo(one, c.sub(one, g.b(c, 3))))
	last, _ := vectors(1, 0, 1)
	for _, order := range permutations(n) {
		name := label(order[:told]...) + " by "
		tie := func(r int) int64 { // the noisy score of order[r] exceeds that of order[r+1] by the gap plus this
			if order[r+1] < order[r] {
				return 1
			}
			return 0
		}
		// the distance between two successive offsets, without the gap
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
				// The two offsets whose gap is fixed are d apart, in either order. The third offset moves away, and
				// A + B is its distance from the farther of the two.
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

// rankingLaw returns the law of [geometric.rankings], with its limits.
func (g geometric) rankingLaw(names []string, pairs [][2]int, all [][]int64, most int64, told int) (*Law, error) {
	l, err := lawOf(names, pairs, func(c *calc, i int) weights { return g.rankings(c, all[i], most, told) })
	if err != nil {
		return nil, err
	}
	c := new(calc)
	l.Folded, l.Limits = true, g.limits(c, all, told)
	return l, c.err
}

// noisyMax returns a subject with two candidates, so the gap reveals the whole difference of the noisy scores.
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

// noisyTop returns a subject that selects two of three candidates, so the output contains both gaps.
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
