package ours

import (
	"math/big"

	"dither/internal/expsum"
)

// calc computes with exact numbers. It keeps the first error in err. After an error, every result is 0.
type calc struct{ err error }

func (c *calc) keep(x *expsum.Number, err error) *expsum.Number {
	if c.err == nil {
		c.err = err
	}
	if c.err != nil {
		return expsum.Rat(new(big.Rat))
	}
	return x
}

func (c *calc) rat(num, den int64) *expsum.Number { return expsum.Rat(big.NewRat(num, den)) }

func (c *calc) parse(text string) *expsum.Number { return c.keep(expsum.Parse(text)) }

// exp returns e^r.
func (c *calc) exp(r *big.Rat) *expsum.Number { return c.keep(expsum.Exp(r)) }

// power returns e^(k·r).
func (c *calc) power(r *big.Rat, k int64) *expsum.Number {
	return c.exp(new(big.Rat).Mul(r, big.NewRat(k, 1)))
}

func (c *calc) add(xs ...*expsum.Number) *expsum.Number {
	total := c.rat(0, 1)
	for _, x := range xs {
		total = c.keep(total.Add(x))
	}
	return total
}

func (c *calc) sub(x, y *expsum.Number) *expsum.Number { return c.keep(x.Sub(y)) }

func (c *calc) mul(xs ...*expsum.Number) *expsum.Number {
	product := c.rat(1, 1)
	for _, x := range xs {
		product = c.keep(product.Mul(x))
	}
	return product
}

func (c *calc) quo(x, y *expsum.Number) *expsum.Number { return c.keep(x.Quo(y)) }

// geometric is the two-sided geometric distribution over the integers, P(Z = z) = (1 − b)/(1 + b)·b^|z| with b =
// e^(−rate) [Ghosh, Roughgarden & Sundararajan 2009, Definition 2.1]. It is the discrete Laplace distribution of
// scale 1/rate. Its methods return probabilities multiplied by total, which is 1 + b.
type geometric struct{ rate *big.Rat }

// total returns 1 + b, with b = e^(−rate). The other methods of [geometric] return probabilities multiplied by this
// total.
func (g geometric) total(c *calc) *expsum.Number { return c.add(c.rat(1, 1), g.b(c, 1)) }

// b returns bᵏ, with b = e^(−rate).
func (g geometric) b(c *calc, k int64) *expsum.Number { return c.power(g.rate, -k) }

// at returns P(Z = z) times total: (1 − b)·b^|z|, with b = e^(−rate).
func (g geometric) at(c *calc, z int64) *expsum.Number {
	k := max(z, -z)
	return c.sub(g.b(c, k), g.b(c, k+1))
}

// above returns P(Z ≥ z) times total. With b = e^(−rate), this is Σ_{k≥z} (1 − b)bᵏ = bᶻ for z ≥ 1. For z < 1 it is
// 1 + b − b^(1−z), by symmetry.
func (g geometric) above(c *calc, z int64) *expsum.Number {
	if z >= 1 {
		return g.b(c, z)
	}
	return c.sub(g.total(c), g.b(c, 1-z))
}

// clampedAt returns the probability, times total, that min(max(x + Z, low), high) = y.
func (g geometric) clampedAt(c *calc, x, y, low, high int64) *expsum.Number {
	switch y {
	case low:
		return g.above(c, x-low) // P(Z ≤ low − x) = P(Z ≥ x − low)
	case high:
		return g.above(c, high-x)
	}
	return g.at(c, y-x)
}

// noisyVector returns the distribution of the vector x with independent noise on each coordinate, clamped to [low,
// high]. The function label names the outputs.
func (g geometric) noisyVector(c *calc, x []int64, low, high int64) (w weights) {
	w.total = c.rat(1, 1)
	for range x {
		w.total = c.mul(w.total, g.total(c))
	}
	all, _ := vectors(len(x), low, high)
	for _, y := range all {
		p := c.rat(1, 1)
		for i := range x {
			p = c.mul(p, g.clampedAt(c, x[i], y[i], low, high))
		}
		w.add(c, label(y...), p)
	}
	return w
}

func (c *calc) least(xs ...*expsum.Number) *expsum.Number {
	best := xs[0]
	for _, x := range xs[1:] {
		if order, err := x.Cmp(best); err != nil {
			c.keep(x, err)
		} else if order < 0 {
			best = x
		}
	}
	return best
}

// above reports whether x > r. After an error it returns false.
func (c *calc) above(x *expsum.Number, r *big.Rat) bool {
	if c.err != nil {
		return false
	}
	order, err := x.Cmp(expsum.Rat(r))
	c.keep(x, err)
	return order > 0
}

// within returns P(|Z| ≤ k) times total, for a variable Z with the distribution g.
func (c *calc) within(g geometric, k int64) *expsum.Number {
	return c.sub(c.sub(g.total(c), g.b(c, k+1)), g.b(c, k+1))
}
