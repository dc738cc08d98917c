package ours

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"dither/internal/expsum"
	"dither/mechanism/stream"
)

// sparseVector is the mechanism with the noise that its definition prescribes [Lyu, Su & Li 2017, Algorithm 7]. Δ
// is the sensitivity of a query, and c the number of positive answers. The threshold's noise ρ has scale Δ/ε₁. The
// queries' noise ν has scale 2cΔ/ε₂, or cΔ/ε₂ for monotonic queries. ε is divided into ε₁ and ε₂ in the ratio 1 :
// (2c)^⅔, or 1 : c^⅔, rounded down to thousandths. The noise of values has scale cΔ/ε₃.
type sparseVector struct {
	stream.SparseVector
	threshold, query, value geometric // value.rate is nil if no values are released
}

func sparseNoises(m stream.SparseVector) sparseVector {
	c, delta := int64(m.Positives), m.Sensitivity.Int64()
	each := 2 * c
	if m.Monotonic {
		each = c
	}
	thousandths := int64(1) // the rounded ratio in thousandths: the largest t with t³ ≤ each²·10⁹
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

// chance returns the probability of the given answers to the first queries, times v.total(c, queries). It sums over
// the threshold's noise [Lyu, Su & Li 2017, Theorem 2]. Queries without a given answer may have any answer.
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

// rates returns the decay rates that occur in the tails of the products of factors. The first rate, for k = −1,
// belongs to the factor [rising], which grows.
func (v sparseVector) rates(queries int) (rates []*big.Rat) {
	for k := int64(-1); k <= int64(queries); k++ {
		r := new(big.Rat).Mul(v.query.rate, big.NewRat(k, 1))
		if r.Add(r, v.threshold.rate); r.Sign() > 0 {
			rates = append(rates, r)
		}
	}
	return rates
}

// below returns the probability of the answer "below" to the query q, given the threshold's noise ρ. For a query q
// with noise ν and the threshold T, "below" means q + ν ≤ T + ρ − 1, and "above by g" means q + ν = T + ρ + g.
// "Above" without a gap is the complement of "below".
func (v sparseVector) below(q int64) factor { return least{v.query, q - sparseAt + 1} }

// law returns the distribution of the answers to a list of queries. It goes through all sequences of answers.
// before holds the factors of the answers so far, and until is their probability, times v.total.
func (v sparseVector) law(c *calc, queries []int64) (w weights) {
	w.total = v.total(c, len(queries))
	var answer func(i, left int, name string, before []factor, until, told *expsum.Number)
	// told is the probability of the released values, given the answers.
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

// notBelow returns the probability of the answer "above", given the threshold's noise. It is the complement of
// [sparseVector.below].
func (v sparseVector) notBelow(c *calc, q int64) factor { return rest{v.below(q), v.query.total(c)} }

// rest is the factor whole − f, where f is the embedded factor.
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

// limits returns the limits of the probabilities of "above by g" after i answers "below", as the gap g grows. It is
// for sessions that end with the first answer "above".
//
// Let a = e^−(rate of ρ) and b = e^−(rate of ν). For gaps beyond far, the probability has the form αbᵍ + β(abⁱ)ᵍ,
// with constants α and β. To see this, split the sum over the threshold's noise z at −g. For z ≥ −g the last factor
// is b^(g+z), and the sum of a^|z|·b^z·∏ b^|z| is a constant minus a tail that begins at −g. For z < −g the sum is
// a geometric series.
//
// So the ratio of two inputs is a quotient of linear functions of (abⁱ/b)ᵍ. It lies between its value at the least
// such gap and its limit. As a < b, the limit is the quotient of the two α. The method returns the α, which are the
// limits of the probabilities divided by bᵍ.
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
