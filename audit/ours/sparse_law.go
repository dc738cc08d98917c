package ours

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"dither/internal/expsum"
	"dither/mechanism/stream"
)

// sparseVector is a mechanism with the noises that its definition gives it: ρ of scale Δ/ε₁ and ν of 2cΔ/ε₂,
// or of cΔ/ε₂ where queries are monotonic, with ε₁ + ε₂ = ε in the ratio 1 : (2c)^⅔, or 1 : c^⅔, down to
// thousandths [Lyu, Su & Li 2017, Algorithm 7]; values have noise of scale cΔ/ε₃.
type sparseVector struct {
	stream.SparseVector
	threshold, query, value geometric // value has no rate where none are told
}

func sparseNoises(m stream.SparseVector) sparseVector {
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
	v := sparseVector{
		SparseVector: m, threshold: geometric{rate(first, delta)},
		query: geometric{rate(second, each*delta)},
	}
	if !m.Value.IsZero() {
		v.value = geometric{rate(m.Value, c*delta)}
	}
	return v
}

// chance sums over the threshold's noise the chances of answers to some of the queries [Lyu, Su & Li 2017, Theorem 2],
// of all of which total is the sum, times what summed multiplies by; those that are not asked are as good as asked.
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
				answer(i+1, left-1, name+"above, about "+label(x), append(slices.Clone(before), v.notBelow(c, q)),
					c.sub(until, next), c.mul(told, share))
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

// limits are what the last answer comes to where its gap grows, after so many below. With a = e^−(rate of ρ), b =
// e^−(rate of ν), i answers below and gaps beyond all corners, the chance is αbᵍ + β(abⁱ)ᵍ: for z ≥ −g,
// which has b^(g+z), the sum of a^|z|·b^z·∏ b^|z| is a constant less a tail from −g on, and what is beyond −g
// is a geometric series. So the ratio of two inputs is a quotient of linear functions of (abⁱ/b)ᵍ, and between that
// of the least such gap and its limit, the quotient of the α. They are here, over bᵍ and where a < b; for a session
// that ends with the first that is above.
func (v sparseVector) limits(c *calc, all [][]int64) (out []Limit) {
	for i := range all[0] {
		limit := Limit{Output: strings.Repeat("below; ", i) + "above by ever more"}
		for _, queries := range all {
			var answers []factor
			for _, q := range queries[:i] {
				answers = append(answers, v.below(q))
			}
			limit.At = append(limit.At,
				v.chance(c, len(queries), append(answers, rising{v.query, queries[i] - sparseAt})...))
		}
		out = append(out, limit)
	}
	return out
}
