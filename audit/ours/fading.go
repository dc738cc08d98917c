package ours

import (
	"fmt"
	"math/big"
	"slices"

	"dither/internal/expsum"
)

// fading is a sum of exponentials: the function Σ coefficient·e^(−rate·t) of t = 0, 1, 2, …
type fading []struct {
	coefficient *expsum.Number
	rate        *big.Rat
}

func (f fading) with(coefficient *expsum.Number, rate *big.Rat) fading {
	return append(f, struct {
		coefficient *expsum.Number
		rate        *big.Rat
	}{coefficient, rate})
}

// times returns the product f·g.
func (f fading) times(c *calc, g fading) (out fading) {
	for _, a := range f {
		for _, b := range g {
			out = out.with(c.mul(a.coefficient, b.coefficient), new(big.Rat).Add(a.rate, b.rate))
		}
	}
	return out
}

// factor is the conditional probability of an answer of the sparse vector mechanism, as a function of the
// threshold's noise z.
type factor interface {
	at(c *calc, z int64) *expsum.Number
	// beyond returns the function t ↦ at(sign·(far + t)), t = 0, 1, …, where sign is 1 or −1. far must be so large
	// that the function is a sum of exponentials from there on.
	beyond(c *calc, sign, far int64) fading
}

// mass is the factor P(centre + η = z), times total, for noise η with the [geometric] distribution.
type mass struct {
	geometric
	centre int64
}

func (m mass) at(c *calc, z int64) *expsum.Number { return m.geometric.at(c, z-m.centre) }

func (m mass) beyond(c *calc, sign, far int64) fading {
	return fading{}.with(m.at(c, sign*far), m.rate)
}

// least is the factor P(centre + η ≤ z), times total, for noise η with the [geometric] distribution.
type least struct {
	geometric
	centre int64
}

func (m least) at(c *calc, z int64) *expsum.Number { return m.above(c, m.centre-z) }

func (m least) beyond(c *calc, sign, far int64) fading {
	if sign < 0 {
		return fading{}.with(m.at(c, -far), m.rate)
	}
	whole := m.total(c)
	return fading{}.with(whole, new(big.Rat)).with(c.sub(m.at(c, far), whole), m.rate)
}

// rising is the limit of the factor [mass], divided by bᵍ, as the gap g of an answer grows. It is (1 − b)·b^(z −
// centre), with b = e^(−rate).
type rising struct {
	geometric
	centre int64
}

func (m rising) at(c *calc, z int64) *expsum.Number {
	return c.mul(c.sub(c.rat(1, 1), m.b(c, 1)), m.b(c, z-m.centre))
}

func (m rising) beyond(c *calc, sign, far int64) fading {
	return fading{}.with(m.at(c, sign*far), new(big.Rat).Mul(m.rate, big.NewRat(sign, 1)))
}

// summed returns Σ_z ∏ f(z), over all integers z and all factors f, times ∏ (1 − e^(−r)) over the given rates. The
// rates must include every rate that occurs in a tail of the product. far is as in [factor].
func summed(c *calc, rates []*big.Rat, far int64, factors ...factor) *expsum.Number {
	one := c.rat(1, 1)
	others := func(except int) *expsum.Number {
		product := one
		for i, r := range rates {
			if i != except {
				product = c.mul(product, c.sub(one, c.power(r, -1)))
			}
		}
		return product
	}
	inner := c.rat(0, 1)
	for z := 1 - far; z < far; z++ {
		p := one
		for _, f := range factors {
			p = c.mul(p, f.at(c, z))
		}
		inner = c.add(inner, p)
	}
	total := c.mul(inner, others(-1))
	for _, sign := range []int64{-1, 1} {
		tail := fading{}.with(one, new(big.Rat))
		for _, f := range factors {
			tail = tail.times(c, f.beyond(c, sign, far))
		}
		for _, term := range tail {
			i := slices.IndexFunc(rates, func(r *big.Rat) bool { return r.Cmp(term.rate) == 0 })
			if i < 0 {
				c.err = fmt.Errorf("a tail falls at the rate %s", term.rate)
				return total
			}
			total = c.add(total, c.mul(term.coefficient, others(i)))
		}
	}
	return total
}
