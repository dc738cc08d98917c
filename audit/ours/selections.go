package ours

import (
	"math/big"
	"slices"

	"dither/internal/expsum"
	"dither/mechanism/selection"
	"dither/privacy"
)

func selections() []Subject {
	return []Subject{
		exponential(plainScores), exponentialIntervals(), permuteAndFlip(plainScores),
		noisyMax(plainScores), noisyTop(), topExponential(plainScores),
	}
}

// scores describes how the scores of neighbours may differ: the largest change of a score, and whether all scores
// change in the same direction.
type scores struct {
	name        string // suffix of the subject's name
	sensitivity int64
	monotonic   bool
}

var plainScores = scores{"", 1, false}

// lists returns all lists of n scores from 0 to 2, their names, and the pairs of neighbours.
func (s scores) lists(n int) (all [][]int64, names []string, pairs [][2]int) {
	all, names = vectors(n, 0, 2)
	return all, names, adjacent(len(all), func(i, j int) bool {
		_, most := apart(all[i], all[j])
		return most <= s.sensitivity && (!s.monotonic || oneWay(all[i], all[j]))
	})
}

// rate returns the factor c in the weight exp(c·score). With the sensitivity Δ, it is ε/(2Δ), or ε/Δ for monotonic
// scores, divided by the number of choices.
func (s scores) rate(e privacy.Epsilon, choices int64) *big.Rat {
	reach := choices * s.sensitivity
	if !s.monotonic {
		reach *= 2
	}
	return rate(e, reach)
}

// place returns the index of a list of scores.
func place(all [][]int64, scores ...int64) int {
	return slices.IndexFunc(all, func(v []int64) bool { return slices.Equal(v, scores) })
}

// proportional returns the weights exp(c·u_i) of scores u_i [McSherry & Talwar 2007], where rate is c, and the sum
// of the weights.
func proportional(c *calc, rate *big.Rat, scores []int64) (p []*expsum.Number, total *expsum.Number) {
	for _, u := range scores {
		p = append(p, c.power(rate, u))
	}
	return p, c.add(p...)
}

func exponential(s scores) Subject {
	m := selection.Exponential{Sensitivity: big.NewInt(s.sensitivity), Monotonic: s.monotonic, Epsilon: epsilonOf(1, 1)}
	all, names, pairs := s.lists(3)
	return subject(Subject{
		Name:   "exponential" + s.name,
		About:  "one of three candidates by the exponential mechanism, scores 0…2 that move by 1",
		Source: "McSherry & Talwar 2007",
		domain: domain{
			inputs: names, pair: [2]int{place(all, 1, 1, 1), place(all, 0, 2, 2)},
			draw: func(i int) (drawn, error) {
				out, err := m.Select(exactly(all[i]...))
				return plain(out.Loss, out.Index), err
			},
		},
		law: func() (*Law, error) {
			return lawOf(names, pairs, func(c *calc, i int) (w weights) {
				p, total := proportional(c, s.rate(m.Epsilon, 1), all[i])
				for j, x := range p {
					w.add(c, label(j), x)
				}
				w.total = total
				return w
			})
		},
	})
}

// exponentialIntervals returns a subject that selects an integer. The integers are in runs, and all integers of a
// run have the same score u. The probability of an integer is exp(c·u), divided by the sum of these weights over
// all integers.
func exponentialIntervals() Subject {
	m := selection.Exponential{Sensitivity: big.NewInt(1), Epsilon: epsilonOf(1, 1)}
	lengths := []int64{1, 2, 3}
	all, names, pairs := plainScores.lists(3)
	return subject(Subject{
		Name:   "exponential-intervals",
		About:  "one of six integers in runs of 1, 2 and 3 that share a score, by the exponential mechanism",
		Source: "McSherry & Talwar 2007",
		domain: domain{
			inputs: names, pair: [2]int{place(all, 1, 1, 1), place(all, 0, 2, 2)},
			draw: func(i int) (drawn, error) {
				out, err := m.SelectWithin(func(yield func(selection.OutputInterval) bool) {
					from := int64(0)
					for j, u := range all[i] {
						ends := exactly(from, from+lengths[j], u)
						if !yield(selection.OutputInterval{From: ends[0], To: ends[1], Score: ends[2]}) {
							return
						}
						from += lengths[j]
					}
				})
				if err != nil {
					return drawn{}, err
				}
				return plain(out.Loss, out.Value.Int64()), nil
			},
		},
		law: func() (*Law, error) {
			return lawOf(names, pairs, func(c *calc, i int) (w weights) {
				var each []int64
				for j, u := range all[i] {
					each = append(each, slices.Repeat([]int64{u}, int(lengths[j]))...)
				}
				p, total := proportional(c, rate(m.Epsilon, 2), each)
				for o, x := range p {
					w.add(c, label(o), x)
				}
				w.total = total
				return w
			})
		},
	})
}

// permuteAndFlip returns a subject that goes through the candidates in random order, and selects the first one
// whose coin shows heads [McKenna & Sheldon 2020, Algorithm 1]. The law sums over all n! orders. In an order with i
// in position k, the probability of i is p_i·∏(1 − p_j), over the candidates j before i, where p_j is the
// probability that the coin of j shows heads.
func permuteAndFlip(s scores) Subject {
	m := selection.PermuteAndFlip{
		Sensitivity: big.NewInt(s.sensitivity), Monotonic: s.monotonic,
		Epsilon: epsilonOf(1, 1),
	}
	all, names, pairs := s.lists(3)
	return subject(Subject{
		Name:   "permute-and-flip" + s.name,
		About:  "one of three candidates by permute-and-flip, scores 0…2 that move by 1",
		Source: "McKenna & Sheldon 2020",
		domain: domain{
			inputs: names, pair: [2]int{place(all, 1, 0, 1), place(all, 0, 1, 2)},
			draw: func(i int) (drawn, error) {
				out, err := m.Select(exactly(all[i]...))
				return plain(out.Loss, out.Index), err
			},
		},
		law: func() (*Law, error) {
			return lawOf(names, pairs, func(c *calc, i int) (w weights) {
				scores := all[i]
				best := slices.Max(scores)
				orders := permutations(len(scores))
				w.total = c.rat(int64(len(orders)), 1)
				for _, order := range orders {
					reached := c.rat(1, 1)
					for _, j := range order {
						heads := c.power(s.rate(m.Epsilon, 1), scores[j]-best)
						w.add(c, label(j), c.mul(reached, heads))
						reached = c.mul(reached, c.sub(c.rat(1, 1), heads))
					}
				}
				return w
			})
		},
	})
}

func permutations(n int) [][]int {
	all := [][]int{{}}
	for k := range n {
		var next [][]int
		for _, p := range all {
			for i := range k + 1 {
				next = append(next, slices.Insert(slices.Clone(p), i, k))
			}
		}
		all = next
	}
	return all
}

// topExponential returns a subject that selects repeatedly: it uses the exponential mechanism with ε/K on the
// candidates that remain [Bhaskar, Laxman, Smith & Thakurta 2010].
func topExponential(s scores) Subject {
	const k = 2
	m := selection.TopExponential{
		K: k, Sensitivity: big.NewInt(s.sensitivity), Monotonic: s.monotonic,
		Epsilon: epsilonOf(1, 1),
	}
	all, names, pairs := s.lists(3)
	return subject(Subject{
		Name:   "top-exponential" + s.name,
		About:  "the first two of three candidates, by peeling, scores 0…2 that move by 1",
		Source: "Bhaskar, Laxman, Smith & Thakurta 2010",
		domain: domain{
			inputs: names, pair: [2]int{place(all, 1, 1, 1), place(all, 0, 0, 2)},
			draw: func(i int) (drawn, error) {
				out, err := m.Select(exactly(all[i]...))
				return plain(out.Loss, out.Indices...), err
			},
		},
		law: func() (*Law, error) {
			return lawOf(names, pairs, func(c *calc, i int) (w weights) {
				w.total = c.rat(1, 1)
				p, total := proportional(c, s.rate(m.Epsilon, k), all[i])
				for first := range p {
					for second := range p {
						if first != second {
							left := c.sub(total, p[first])
							w.add(c, label(first, second), c.mul(c.quo(p[first], total), c.quo(p[second], left)))
						}
					}
				}
				return w
			})
		},
	})
}
