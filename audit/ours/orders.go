package ours

import (
	"math/big"

	"dither/internal/expsum"
	"dither/mechanism"
	"dither/mechanism/quantile"
	"dither/privacy"
)

// The domain and the unit of the subjects for order statistics: values from 0 to 2, datasets of at most two rows,
// and one row for each person.
var (
	orderDomain = quantile.Domain{Lower: 0, Upper: 2}
	orderUnit   = mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1}
)

const (
	orderPoints = 3
	orderRows   = 2
)

func orders() []Subject {
	return []Subject{
		oneQuantile("quantile", orderUnit), independentQuantiles(), approximateQuantiles(),
		ladderQuantile(), jointQuantiles(),
	}
}

// orderSubject returns the subject for one mechanism of order statistics. sides are two neighbouring datasets.
func orderSubject(
	name, about, source string, unit mechanism.Unit, sides [2][]int64,
	release func(mechanism.Ordered) (quantile.OrderStatistics, error), law func(c *calc, data []int64) weights,
) Subject {
	data, names := multisets(orderPoints, orderRows)
	return subject(Subject{
		Name: name, About: about, Source: source,
		domain: domain{
			inputs: names, pair: [2]int{place(data, sides[0]...), place(data, sides[1]...)},
			draw: func(i int) (drawn, error) {
				out, err := release(ordered(data[i]))
				return plain(out.Loss, out.Values...), err
			},
		},
		law: func() (*Law, error) {
			return lawOf(names, neighboursOf(data, unit), func(c *calc, i int) weights { return law(c, data[i]) })
		},
	})
}

// share is the position and the weight of a row in a section of the data.
type share struct {
	at     int64
	weight *big.Rat
}

// chances returns the exponential mechanism for a quantile of rank q: P(o) ∝ exp(−ε·d(o)/(2Δ)) for o from low to
// high [Smith 2011]. The rank error is d(o) = max(0, B(o) − q·n, q·n − A(o)), where B(o) is the weight of the rows
// below o, A(o) the weight of the rows at or below o, and n the weight of all rows. For one row, Δ is max(q, 1 − q)
// if a row is added or removed, and 1 if it is changed. For a unit it is multiplied by the unit's rows. p[0]
// belongs to low, and total is the sum of p.
func chances(
	c *calc, unit mechanism.Unit, rows []share, low, high int64, q *big.Rat, e *big.Rat,
) (p []*expsum.Number, total *expsum.Number) {
	delta := new(big.Rat).Sub(big.NewRat(1, 1), q)
	switch {
	case unit.Neighbours == privacy.ChangeOne:
		delta.SetInt64(1)
	case q.Cmp(delta) > 0:
		delta.Set(q)
	}
	delta.Mul(delta, big.NewRat(unit.MaxRows, 1))
	n := new(big.Rat)
	for _, r := range rows {
		n.Add(n, r.weight)
	}
	sought := n.Mul(n, q)
	for o := low; o <= high; o++ {
		below, upTo := new(big.Rat), new(big.Rat)
		for _, r := range rows {
			if r.at < o {
				below.Add(below, r.weight)
			}
			if r.at <= o {
				upTo.Add(upTo, r.weight)
			}
		}
		d := new(big.Rat)
		for _, off := range []*big.Rat{below.Sub(below, sought), upTo.Sub(sought, upTo)} {
			if off.Cmp(d) > 0 {
				d.Set(off)
			}
		}
		d.Mul(d, e).Quo(d, delta).Mul(d, big.NewRat(-1, 2))
		p = append(p, c.exp(d))
	}
	return p, c.add(p...)
}

// wholeRows returns the rows with weight 1 each.
func wholeRows(data []int64) (rows []share) {
	for _, x := range data {
		rows = append(rows, share{x, big.NewRat(1, 1)})
	}
	return rows
}

func oneQuantile(name string, unit mechanism.Unit) Subject {
	m := quantile.Single{Domain: orderDomain, Unit: unit, Rank: big.NewRat(1, 2), Epsilon: epsilonOf(1, 1)}
	sides := [2][]int64{{0}, {0, 1}}
	if unit.Neighbours == privacy.ChangeOne {
		sides = [2][]int64{{0}, {2}}
	}
	return orderSubject(name, "the median of at most two rows of 0…2, by the exponential mechanism", "Smith 2011", unit,
		sides, m.Release, func(c *calc, data []int64) (w weights) {
			p, total := chances(c, unit, wholeRows(data), 0, 2, m.Rank, m.Epsilon.Rat())
			for o, x := range p {
				w.add(c, label(o), x)
			}
			w.total = total
			return w
		})
}

func independentQuantiles() Subject {
	m := quantile.Independent{
		Domain: orderDomain, Unit: orderUnit, Ranks: []*big.Rat{big.NewRat(1, 4), big.NewRat(3, 4)},
		Epsilon: epsilonOf(1, 1),
	}
	return orderSubject("independent-quantiles",
		"both quartiles of at most two rows of 0…2, each by the exponential mechanism", "Smith 2011", orderUnit,
		[2][]int64{{0, 1}, {1}}, m.Release, func(c *calc, data []int64) (w weights) {
			half := new(big.Rat).Quo(m.Epsilon.Rat(), big.NewRat(2, 1))
			first, all := chances(c, orderUnit, wholeRows(data), 0, 2, m.Ranks[0], half)
			second, rest := chances(c, orderUnit, wholeRows(data), 0, 2, m.Ranks[1], half)
			w.total = c.mul(all, rest)
			for a, x := range first {
				for b, y := range second {
					w.add(c, label(min(a, b), max(a, b)), c.mul(x, y))
				}
			}
			return w
		})
}

// approximateQuantiles returns a subject that recurses [Kaplan, Schnapp & Stemmer 2022, Algorithm 1]. It finds the
// median v with a share of ε. With the rest of ε, it finds the median of the rows on each side of v. A row at v
// counts half on each side. The shares are those that the mechanism declares.
func approximateQuantiles() Subject {
	m := quantile.Approximate{
		Domain: orderDomain, Unit: orderUnit, Ranks: []*big.Rat{big.NewRat(1, 4), big.NewRat(1, 2), big.NewRat(3, 4)},
		Epsilon: epsilonOf(1, 1),
	}
	return orderSubject("approximate-quantiles", "the three quartiles of at most two rows of 0…2, by recursion",
		"Kaplan, Schnapp & Stemmer 2022", orderUnit,
		[2][]int64{{0}, {0, 1}}, m.Release, func(c *calc, data []int64) (w weights) {
			first, half := new(big.Rat).Mul(m.Shares()[1], m.Epsilon.Rat()), big.NewRat(1, 2)
			level := new(big.Rat).Sub(m.Epsilon.Rat(), first)
			middle, total := chances(c, orderUnit, wholeRows(data), 0, 2, half, first)
			w.total = c.rat(1, 1)
			for v, x := range middle {
				cut := int64(v)
				var left, right []share
				for _, row := range data {
					switch {
					case row < cut:
						left = append(left, share{row, big.NewRat(1, 1)})
					case row > cut:
						right = append(right, share{row, big.NewRat(1, 1)})
					default:
						left, right = append(left, share{row, half}), append(right, share{row, half})
					}
				}
				low, lows := chances(c, orderUnit, left, 0, cut, half, level)
				high, highs := chances(c, orderUnit, right, cut, 2, half, level)
				p := c.quo(x, total)
				for a, y := range low {
					for b, z := range high {
						w.add(c, label(a, v, v+b), c.mul(p, c.quo(y, lows), c.quo(z, highs)))
					}
				}
			}
			return w
		})
}

// jointQuantiles returns a subject with one bin for each integer, and two levels in each bin. A row has (2l + 1)/4
// of its mass before level l of its bin.
//
// The law is P(sequence) ∝ w·exp(−ε·d/(2Δ)), with d = Σ|n_j − g_j·n| over the masses n_j between the positions of
// the sequence, and Δ = 2(1 − min g). The g_j are the differences between successive ranks, and n is the number of
// rows. w is 1/2 if a position occurs twice, and 1 if not [Gillenwater, Joseph & Kulesza 2021, section 3]. The
// mechanism computes in floats and pays for a public bound on their error. So its ε is smaller than that of this
// law, by a relative 10⁻¹⁰ or so.
func jointQuantiles() Subject {
	m := quantile.Joint{
		Domain: orderDomain, Unit: orderUnit, Ranks: []*big.Rat{big.NewRat(1, 4), big.NewRat(3, 4)}, Bins: orderPoints,
		Epsilon: epsilonOf(1, 1),
	}
	s := orderSubject("joint-quantiles", "both quartiles of at most two rows of 0…2, by one exponential mechanism",
		"Gillenwater, Joseph & Kulesza 2021", orderUnit,
		[2][]int64{{0}, {0, 2}}, m.Release, func(c *calc, data []int64) (w weights) {
			const levels = 2
			n := big.NewRat(int64(len(data)), 1)
			before := func(place int) *big.Rat {
				total := new(big.Rat)
				for _, x := range data {
					switch bin := int64(place / levels); {
					case x < bin:
						total.Add(total, big.NewRat(1, 1))
					case x == bin:
						total.Add(total, big.NewRat(int64(2*(place%levels)+1), 2*levels))
					}
				}
				return total
			}
			gaps := []*big.Rat{big.NewRat(1, 4), big.NewRat(1, 2), big.NewRat(1, 4)}
			w.total = c.rat(0, 1)
			for first := range orderPoints * levels {
				for second := first; second < orderPoints*levels; second++ {
					ends := []*big.Rat{new(big.Rat), before(first), before(second), n}
					d := new(big.Rat)
					for j, g := range gaps {
						between := new(big.Rat).Sub(ends[j+1], ends[j])
						between.Sub(between, new(big.Rat).Mul(g, n))
						d.Add(d, between.Abs(between))
					}
					d.Mul(d, m.Epsilon.Rat()).Quo(d, big.NewRat(-3, 1)) // 2Δ = 4·(1 − 1/4)
					p := c.exp(d)
					if first == second {
						p = c.mul(p, c.rat(1, 2))
					}
					w.add(c, label(first/levels, second/levels), p)
					w.total = c.add(w.total, p)
				}
			}
			return w
		})
	law := s.law
	s.law = func() (*Law, error) {
		l, err := law()
		if err == nil {
			l.Ideal = true // no other goroutine has l yet
		}
		return l, err
	}
	return s
}
