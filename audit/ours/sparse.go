package ours

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"dither/internal/expsum"
	"dither/mechanism"
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

// rising is what mass comes to for gaps ever larger, over bᵍ: (1 − b)·b^(z − centre).
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

// A session of two queries of 0 or 1 against the threshold 1, which ends with so many that are above; gaps up to 3 are told
// apart, and values between −3 and 4.
const (
	sparseAt   = 1
	sparseGaps = 3
	sparseFar  = 6 // beyond all corners: queries and gaps are within 4 of the threshold
	sparseLow  = -3
	sparseHigh = 4
)

func sparse() []Subject {
	one, half := epsilonOf(1, 1), epsilonOf(1, 2)
	return []Subject{
		sparseSubject("sparse-vector", "two queries against a threshold until one is above, with the gap", 2,
			mechanism.SparseVector{Sensitivity: big.NewInt(1), Epsilon: one, Gap: true, Positives: 1}),
		sparseSubject("sparse-vector-values", "two queries against a threshold until one is above, with its noisy value", 2,
			mechanism.SparseVector{Sensitivity: big.NewInt(1), Epsilon: half, Value: half, Positives: 1}),
	}
}

// sparseSubject has neighbours whose queries move by the sensitivity at most, and in one direction where they are monotonic.
func sparseSubject(name, about string, queries int, m mechanism.SparseVector) Subject {
	most := m.Sensitivity.Int64()
	all, names := vectors(queries, 0, most)
	near := func(i, j int) bool { return !m.Monotonic || oneWay(all[i], all[j]) }
	pair := [2]int{place(all, most, 0), place(all, 0, most)}
	if queries == 1 {
		pair = [2]int{0, 1}
	} else if m.Monotonic {
		pair = [2]int{place(all, 0, 0), place(all, most, most)}
	}
	return subject(Subject{
		Name: name, About: about,
		Source: "Dwork, Naor, Reingold, Rothblum & Vadhan 2009; Lyu, Su & Li 2017, Algorithm 7",
		domain: domain{inputs: names, pair: pair, draw: func(i int) (drawn, error) {
			return sparseDraw(m, all[i])
		}},
		law: func() (*Law, error) {
			v := sparseNoises(m)
			l, err := lawOf(names, adjacent(len(all), near), func(c *calc, i int) weights { return v.law(c, all[i]) })
			if err != nil || !m.Gap {
				return l, err
			}
			c := new(calc)
			l.Folded, l.Limits = true, v.limits(c, all)
			return l, c.err
		},
	})
}

// oneWay says that no two numbers move in opposite directions.
func oneWay(a, b []int64) bool {
	up, down := false, false
	for i := range a {
		up, down = up || a[i] < b[i], down || a[i] > b[i]
	}
	return !up || !down
}

// sparseDraw names a session's answers: of each query that it is below, or above and by how much, and its value.
func sparseDraw(m mechanism.SparseVector, queries []int64) (drawn, error) {
	session, err := m.Begin()
	if err != nil {
		return drawn{}, err
	}
	var text, folded []string
	for _, q := range exactly(queries...) {
		if session.Left() == 0 {
			break
		}
		a, err := session.Ask(q, big.NewInt(sparseAt))
		if err != nil {
			return drawn{}, err
		}
		told, near := "below", "below"
		if a.Above {
			told = "above"
			if a.Gap != nil {
				told += " by " + a.Gap.String()
			}
			near = told
		}
		if a.Value != nil {
			near = told + ", about " + label(min(max(a.Value.Int64(), sparseLow), sparseHigh))
			told += ", about " + a.Value.String()
		}
		text, folded = append(text, told), append(folded, near)
	}
	return drawn{text: strings.Join(text, "; "), folded: strings.Join(folded, "; "), loss: session.Loss()}, nil
}

// sparseVector is a mechanism with the noises that its definition gives it: ρ of scale Δ/ε₁ and ν of 2cΔ/ε₂, or of cΔ/ε₂ where queries
// are monotonic, with ε₁ + ε₂ = ε in the ratio 1 : (2c)^⅔, or 1 : c^⅔, down to thousandths [Lyu, Su & Li 2017, Algorithm 7]; values have noise of scale cΔ/ε₃.
type sparseVector struct {
	mechanism.SparseVector
	threshold, query, value geometric // value has no rate where none are told
}

func sparseNoises(m mechanism.SparseVector) sparseVector {
	c, delta := int64(m.Positives), m.Sensitivity.Int64()
	each := 2 * c
	if m.Monotonic {
		each = c
	}
	thousandths := int64(1) // (each)^⅔ in thousandths, rounded down: the last t with t³ ≤ each²·10⁹
	for (thousandths+1)*(thousandths+1)*(thousandths+1) <= each*each*1e9 {
		thousandths++
	}
	first := m.Epsilon.Share(1000, 1000+thousandths)
	second := m.Epsilon.Minus(first)
	v := sparseVector{SparseVector: m, threshold: geometric{rate(first, delta)}, query: geometric{rate(second, each*delta)}}
	if !m.Value.IsZero() {
		v.value = geometric{rate(m.Value, c*delta)}
	}
	return v
}

// chance sums over the threshold's noise the chances of answers to some of the queries [Lyu, Su & Li 2017, Theorem 2], of all of which
// total is the sum, times what summed multiplies by; those that are not asked are as good as asked.
func (v sparseVector) chance(c *calc, queries int, answers ...factor) (p *expsum.Number) {
	p = summed(c, v.rates(queries), sparseFar, append(slices.Clone(answers), mass{v.threshold, 0})...)
	for range queries - len(answers) {
		p = c.mul(p, v.query.total(c))
	}
	return p
}

func (v sparseVector) total(c *calc, queries int) *expsum.Number {
	p := v.threshold.total(c)
	for _, r := range v.rates(queries) {
		p = c.mul(p, c.sub(c.rat(1, 1), c.power(r, -1)))
	}
	for range queries {
		p = c.mul(p, v.query.total(c))
	}
	return p
}

// rates are those at which products of factors fall: −1 is of one that rises instead.
func (v sparseVector) rates(queries int) (rates []*big.Rat) {
	for k := int64(-1); k <= int64(queries); k++ {
		r := new(big.Rat).Mul(v.query.rate, big.NewRat(k, 1))
		if r.Add(r, v.threshold.rate); r.Sign() > 0 {
			rates = append(rates, r)
		}
	}
	return rates
}

// below is q + ν ≤ T + ρ − 1, above by g is q + ν = T + ρ + g, and above without a gap is what is not below.
func (v sparseVector) below(q int64) factor { return least{v.query, q - sparseAt + 1} }

// law goes through the answers: before are the factors of those so far, and until is their chance.
func (v sparseVector) law(c *calc, queries []int64) (w weights) {
	w.total = v.total(c, len(queries))
	var answer func(i, left int, name string, before []factor, until, told *expsum.Number)
	// A value splits the chance of its answer by a share, told.
	answer = func(i, left int, name string, before []factor, until, told *expsum.Number) {
		if i == len(queries) || left == 0 {
			w.add(c, name, c.mul(until, told))
			return
		}
		if i > 0 {
			name += "; "
		}
		q := queries[i]
		below := append(slices.Clone(before), v.below(q))
		next := v.chance(c, len(queries), below...)
		answer(i+1, left, name+"below", below, next, told)
		switch {
		case v.Gap:
			for g := range int64(sparseGaps + 1) {
				above := append(slices.Clone(before), mass{v.query, q - sparseAt - g})
				answer(i+1, left-1, fmt.Sprint(name, "above by ", g), above, v.chance(c, len(queries), above...), told)
			}
		case v.value.rate != nil:
			for x := int64(sparseLow); x <= sparseHigh; x++ {
				share := c.quo(v.value.clampedAt(c, q, x, sparseLow, sparseHigh), v.value.total(c))
				answer(i+1, left-1, name+"above, about "+label(x), append(slices.Clone(before), v.notBelow(c, q)), c.sub(until, next), c.mul(told, share))
			}
		default:
			answer(i+1, left-1, name+"above", append(slices.Clone(before), v.notBelow(c, q)), c.sub(until, next), told)
		}
	}
	answer(0, v.Positives, "", nil, w.total, c.rat(1, 1))
	return w
}

// notBelow is the chance of what is above: the whole less that of below.
func (v sparseVector) notBelow(c *calc, q int64) factor { return rest{v.below(q), v.query.total(c)} }

// rest is a whole less a factor.
type rest struct {
	factor
	whole *expsum.Number
}

func (r rest) at(c *calc, z int64) *expsum.Number { return c.sub(r.whole, r.factor.at(c, z)) }

func (r rest) beyond(c *calc, sign, far int64) (out fading) {
	out = out.with(r.whole, new(big.Rat))
	for _, term := range r.factor.beyond(c, sign, far) {
		out = out.with(c.sub(c.rat(0, 1), term.coefficient), term.rate)
	}
	return out
}

// limits are what the last answer comes to where its gap grows, after so many below. With a = e^−(rate of ρ), b = e^−(rate of ν), i
// answers below and gaps beyond all corners, the chance is αbᵍ + β(abⁱ)ᵍ: for z ≥ −g, which has b^(g+z), the sum of a^|z|·b^z·∏ b^|z| is
// a constant less a tail from −g on, and what is beyond −g is a geometric series. So the ratio of two inputs is a quotient of linear functions of
// (abⁱ/b)ᵍ, and between that of the least such gap and its limit, the quotient of the α. They are here, over bᵍ and where a < b; for a
// session that ends with the first that is above.
func (v sparseVector) limits(c *calc, all [][]int64) (out []Limit) {
	for i := range all[0] {
		limit := Limit{Output: strings.Repeat("below; ", i) + "above by ever more"}
		for _, queries := range all {
			var answers []factor
			for _, q := range queries[:i] {
				answers = append(answers, v.below(q))
			}
			limit.At = append(limit.At, v.chance(c, len(queries), append(answers, rising{v.query, queries[i] - sparseAt})...))
		}
		out = append(out, limit)
	}
	return out
}
