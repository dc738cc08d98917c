package ours

import (
	"fmt"
	"math/big"
	"slices"

	"dither/internal/expsum"
	"dither/mechanism"
	"dither/privacy"
)

// fading is Σ coefficient·e^(−rate·t) as a function of t = 0, 1, 2, …
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

// times is the product of two.
func (f fading) times(c *calc, g fading) (out fading) {
	for _, a := range f {
		for _, b := range g {
			out = out.with(c.mul(a.coefficient, b.coefficient), new(big.Rat).Add(a.rate, b.rate))
		}
	}
	return out
}

// factor is a function of the threshold's noise: the chance of an answer, given that noise.
type factor interface {
	at(c *calc, z int64) *expsum.Number
	// beyond is the function at ±(far + t), t = 0, 1, …, where far is beyond all its corners; sign is 1 or −1.
	beyond(c *calc, sign, far int64) fading
}

// mass is that of centre + η = z, times 1 + b.
type mass struct {
	geometric
	centre int64
}

func (m mass) at(c *calc, z int64) *expsum.Number { return m.geometric.at(c, z-m.centre) }

func (m mass) beyond(c *calc, sign, far int64) fading {
	return fading{}.with(m.at(c, sign*far), m.rate)
}

// least is P(centre + η ≤ z), times 1 + b.
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

// summed is Σ over all integers z of the product of factors, times ∏ (1 − e^(−r)) over rates, which are all that occur in tails.
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

// A session of two queries of 0 or 1 against the threshold 1, which ends with the first that is above; gaps up to 1 are told
// apart, and values between 0 and 1.
const (
	sparseAt    = 1
	sparseGaps  = 1
	sparseFar   = 5 // beyond all corners: queries and gaps are within 3 of the threshold
	sparseValue = 1
)

func sparse() []Subject {
	return []Subject{
		sparseSubject("sparse-vector", "two queries against a threshold until one is above, with the gap",
			mechanism.SparseVector{Sensitivity: big.NewInt(1), Epsilon: epsilonOf(1, 1), Gap: true, Positives: 1}),
		sparseSubject("sparse-vector-values", "two queries against a threshold until one is above, with its noisy value",
			mechanism.SparseVector{Sensitivity: big.NewInt(1), Epsilon: epsilonOf(1, 2), Value: epsilonOf(1, 2), Positives: 1}),
	}
}

func sparseSubject(name, about string, m mechanism.SparseVector) Subject {
	all, names := vectors(2, 0, 1)
	return subject(Subject{
		Name: name, About: about,
		Source: "Dwork, Naor, Reingold, Rothblum & Vadhan 2009; Lyu, Su & Li 2017, Algorithm 7",
		domain: domain{inputs: names, pair: [2]int{place(all, 1, 0), place(all, 0, 1)}, draw: func(i int) (drawn, error) {
			return sparseDraw(m, all[i])
		}},
		law: func() (*Law, error) {
			first, second, err := m.Split()
			if err != nil {
				return nil, err
			}
			pairs := adjacent(len(all), func(int, int) bool { return true })
			return lawOf(names, pairs, func(c *calc, i int) weights { return sparseLaw(c, m, first, second, all[i]) })
		},
	})
}

// sparseDraw names a session's answers: how many were below before, then the gap, then the value.
func sparseDraw(m mechanism.SparseVector, queries []int64) (drawn, error) {
	session, err := m.Begin()
	if err != nil {
		return drawn{}, err
	}
	for below, q := range exactly(queries...) {
		a, err := session.Ask(q, big.NewInt(sparseAt))
		if err != nil {
			return drawn{}, err
		}
		if !a.Above {
			continue
		}
		text := fmt.Sprint(below, " below, then above")
		folded := text
		if a.Gap != nil {
			text += " by " + a.Gap.String()
			folded = text
		}
		if a.Value != nil {
			folded = text + ", about " + label(min(max(a.Value.Int64(), 0), sparseValue))
			text += ", about " + a.Value.String()
		}
		return drawn{text, folded, session.Loss()}, nil
	}
	text := fmt.Sprint(len(queries), " below")
	return drawn{text, text, session.Loss()}, nil
}

// sparseLaw is the sum over the threshold's noise of the chances of the answers [Lyu, Su & Li 2017, Theorem 2]: below is q + ν ≤
// T + ρ − 1, and above by g is q + ν = T + ρ + g. Without a gap above is what is not below.
func sparseLaw(c *calc, m mechanism.SparseVector, first, second privacy.Epsilon, queries []int64) (w weights) {
	threshold, query := rate(first, 1), rate(second, 2)
	var rates []*big.Rat
	for k := range int64(len(queries)) + 1 {
		r := new(big.Rat).Mul(query, big.NewRat(k, 1))
		rates = append(rates, r.Add(r, threshold))
	}
	scale := c.rat(1, 1)
	for _, r := range rates {
		scale = c.mul(scale, c.sub(c.rat(1, 1), c.power(r, -1)))
	}
	rho, nu := mass{geometric{threshold}, 0}, geometric{query}
	below := func(q int64) factor { return least{nu, q - sparseAt + 1} }
	chance := func(answers ...factor) *expsum.Number { // those not asked are as good as asked
		p := summed(c, rates, sparseFar, append(answers, rho)...)
		for range len(queries) - len(answers) {
			p = c.mul(p, nu.total(c))
		}
		return p
	}
	w.total = c.mul(scale, rho.total(c))
	for range queries {
		w.total = c.mul(w.total, nu.total(c))
	}
	var before []factor
	until := w.total // the chance that all so far were below
	for i, q := range queries {
		name := fmt.Sprint(i, " below, then above")
		next := chance(append(slices.Clone(before), below(q))...)
		if m.Gap {
			for g := range int64(sparseGaps + 1) {
				above := mass{nu, q - sparseAt - g}
				w.add(c, fmt.Sprint(name, " by ", g), chance(append(slices.Clone(before), above)...))
			}
		} else {
			w.value(c, m, name, c.sub(until, next), q)
		}
		before, until = append(before, below(q)), next
	}
	w.add(c, fmt.Sprint(len(queries), " below"), until)
	return w
}

// value splits the chance of an answer by the value told with it, of noise of scale Δ/ε₃.
func (w *weights) value(c *calc, m mechanism.SparseVector, name string, chance *expsum.Number, q int64) {
	if m.Value.IsZero() {
		w.add(c, name, chance)
		return
	}
	z := geometric{rate(m.Value, 1)}
	for v := range int64(sparseValue + 1) {
		share := c.quo(z.clampedAt(c, q, v, 0, sparseValue), z.total(c))
		w.add(c, name+", about "+label(v), c.mul(chance, share))
	}
}
