package account

import (
	"math"
	"math/big"
	"sync"

	"dither/internal/exact"
)

// PoissonSampled returns the loss, under add/remove, of a mechanism that runs on a Poisson sample: each person is
// in the sample with probability q, independently [Zhu & Wang 2019; Mironov, Talwar & Zhang 2019, Section 3.1]. r
// is the mechanism's loss on the sample, also under add/remove. The result is computed at integer orders, and by
// convexity between them. For a q outside [0, 1] it is +Inf at every order. For Gaussian noise RenyiSampledGaussian
// is tighter.
//
// Proof. Fix the other people in the sample. The output laws are then P = (1−q)S + qT and Q = S, where S and T are
// the output laws on two neighbours. E_Q[(P/Q)^α] is jointly convex, so no mixture over the other people is worse
// than the worst such pair. Let x = T/S, which has mean 1 under S, and e_j = e^((j−1)D_j), where D_j is the loss r
// at the order j. C(α,j) is a binomial coefficient. Then
//
//	E_S[(P/S)^α] = Σ_j C(α,j)(1−q)^(α−j)q^j·E_S[x^j] ≤ 1 + Σ_{j≥2} C(α,j)(1−q)^(α−j)q^j·(e_j − 1).
//
// In the other order, E_P[(S/P)^α] = Σ_j C(α,j)·E_P[((S−P)/P)^j], where S − P = q(S−T). The term of j = 1 is 0. The
// other terms are at most C(α,j)q^j·∫|S−T|^j/P^(j−1). Since P^(1−j) is convex in P, the integral is at most the
// larger of E_S[|1−x|^j] and E_T[|1/x−1|^j]. Each of these is at most 1 + e_j. At j = 2 each is at most e₂ − 1.
// With m = e^(D_∞) − 1 ≥ |1−x|, each is at most (e₂−1)·m^(j−2). In addition, S/P ≤ 1/(1−q). At the order +Inf, P/S
// ≤ 1 + qm, and S/P ≤ 1/(1−q+q/(1+m)), which is no larger. ∎
func (r Renyi) PoissonSampled(q *big.Rat) Renyi {
	return r.sampled(q, func(m moments, order int64) exact.Interval {
		forth, back := whole(0, m.bits), whole(0, m.bits)
		weight, plain := power(m.rest, order), m.one // C(α,j)(1−q)^(α−j)q^j and C(α,j)q^j
		for j := range order + 1 {
			if j >= 2 {
				forth = forth.Add(weight.Mul(m.less[j]))
				back = back.Add(plain.Mul(m.apart(j)))
			}
			next := whole(order-j, m.bits).Mul(m.q).Quo(whole(j+1, m.bits))
			weight, plain = weight.Mul(next).Quo(m.rest), plain.Mul(next)
		}
		// 1/(1−q)^(α−1) − 1
		if most := m.q.Quo(m.rest).Log1p().Mul(whole(order-1, m.bits)); most.Hi().Cmp(big.NewFloat(reach)) < 0 {
			back = lesser(back, most.Expm1())
		}
		return larger(forth, back)
	})
}

// FixedSampled returns the loss, under change-one, of a mechanism that runs on a sample without replacement of a
// fixed number of people, a share q of all [Wang, Balle & Kasiviswanathan 2019, Theorem 9]. r is the mechanism's
// loss on the sample, also under change-one. The result is computed at integer orders, and by convexity between
// them. For a q outside [0, 1] it is +Inf at every order.
//
// Proof. Let one person change. Draw the other people of a sample, and one more person who takes the place of the
// changing person if that one is not drawn. Given this draw, the output laws are P = qT + (1−q)S and Q = qU +
// (1−q)S, where S, T and U are output laws on data that are neighbours of each other. By joint convexity, no
// mixture over draws is worse than the worst such pair. E_Q[(P/Q)^α] = Σ_j C(α,j)·E_Q[((P−Q)/Q)^j]. The term of j =
// 1 is 0. Since Q^(1−j) is convex in Q, the other terms are at most C(α,j)q^j times the larger of ∫|T−U|^j/S^(j−1)
// and ∫|T−U|^j/U^(j−1). Let e_j = e^((j−1)D_j) and m = e^(D_∞) − 1, where D_j is the loss r at the order j. Both
// integrals have three bounds: 2e_j, because |T−U|^j ≤ T^j + U^j; m^j·e_j, because |T−U| ≤ m·min(T, U); and at j =
// 2, 4(e₂−1), because (T−U)² ≤ 2(T−S)² + 2(U−S)². At the order +Inf, S ≥ T/(1+m) and U ≥ T/(1+m), so P/Q ≤ 1 + qm.
// ∎
func (r Renyi) FixedSampled(q *big.Rat) Renyi {
	return r.sampled(q, func(m moments, order int64) exact.Interval {
		sum, plain := whole(0, m.bits), m.one // C(α,j)q^j
		for j := range order + 1 {
			if j >= 2 {
				sum = sum.Add(plain.Mul(m.threeApart(j)))
			}
			plain = plain.Mul(whole(order-j, m.bits).Mul(m.q)).Quo(whole(j+1, m.bits))
		}
		return sum
	})
}

// sampled returns a sampled loss from its moments at integer orders: moment returns e^((α−1)D_α) − 1 at an order α.
// Here D_α is the sampled loss. It is at most r, and at most ln(1 + q(e^(D_∞)−1)), where D_∞ is the loss r at the
// order +Inf.
func (r Renyi) sampled(q *big.Rat, moment func(m moments, order int64) exact.Interval) Renyi {
	switch {
	case q == nil || q.Sign() < 0 || q.Cmp(big.NewRat(1, 1)) > 0:
		return nothing
	case q.Sign() == 0:
		return renyi(func(float64) float64 { return 0 })
	case q.Cmp(big.NewRat(1, 1)) == 0:
		return r
	}
	q, rest := new(big.Rat).Set(q), new(big.Rat).Sub(big.NewRat(1, 1), q)
	at := remembered(func(j int64) float64 { return r(float64(j)) })
	largest := r(math.Inf(1))
	swing := exact.AddUp(exact.MulUp(exact.FloatUp(q), exact.Expm1Up(largest)), 1) // may be +Inf
	top := min(largest, exact.LogUp(swing))
	grown := remembered(func(j int64) exact.Interval { return momentLess1(at(j), j, 128) })
	atInteger := remembered(func(n int64) float64 {
		if !(float64(n)*at(n) < reach) {
			return math.Inf(1)
		}
		return renyiUpper(func(bits uint) exact.Interval {
			m := moments{
				bits: bits, one: whole(1, bits), q: exact.IntervalOf(q, bits),
				rest: exact.IntervalOf(rest, bits),
			}
			m.gather(n, at, grown, largest)
			return moment(m, n).Log1p().Quo(whole(n-1, bits))
		})
	})
	return renyi(func(order float64) float64 {
		bound := min(r(order), top)
		if order > maxSampledOrder || bound == 0 {
			return bound
		}
		return min(bound, betweenIntegers(order, atInteger))
	})
}

// remembered returns a function that calls f and caches its results. It is safe for concurrent use.
func remembered[N comparable, T any](f func(n N) T) func(n N) T {
	var known sync.Map
	return func(n N) T {
		if v, ok := known.Load(n); ok {
			return v.(T)
		}
		v := f(n)
		known.Store(n, v)
		return v
	}
}

// moments holds moments of a loss D up to one order, at one precision in bits, for the formulas of sampling.
type moments struct {
	bits         uint
	one, q, rest exact.Interval   // 1, q and 1 − q
	less         []exact.Interval // less[j] is e_j − 1 = e^((j−1)D_j) − 1
	swings       []exact.Interval // swings[j] is (e^(D_∞)−1)^j; nil if D_∞ is not small
}

// gather computes the moments up to an order at which D is finite. D does not decrease in its order, so D(order) is
// a bound wherever a lower order has a larger or infinite bound.
func (m *moments) gather(order int64, at func(j int64) float64, grown func(j int64) exact.Interval, largest float64) {
	most := at(order)
	for j := range order + 1 {
		switch {
		case j < 2:
			m.less = append(m.less, whole(0, m.bits)) // e_0 = e_1 = 1
		case at(j) > most:
			m.less = append(m.less, momentLess1(most, j, m.bits))
		case m.bits == 128:
			m.less = append(m.less, grown(j))
		default:
			m.less = append(m.less, momentLess1(at(j), j, m.bits))
		}
	}
	if !(largest < 10) {
		return
	}
	swing, power := exact.IntervalOf(new(big.Rat).SetFloat64(largest), m.bits).Expm1(), m.one
	for range order + 1 {
		m.swings = append(m.swings, power)
		power = power.Mul(swing)
	}
}

// momentLess1 returns e^((j−1)d) − 1. (j−1)d must be at most reach.
func momentLess1(d float64, j int64, bits uint) exact.Interval {
	r := new(big.Rat).SetFloat64(d)
	return exact.IntervalOf(r.Mul(r, new(big.Rat).SetInt64(j-1)), bits).Expm1()
}

// apart returns an upper bound of ∫|S−T|^j/S^(j−1), for output laws S and T on neighbours and j ≥ 2.
func (m moments) apart(j int64) exact.Interval {
	if j == 2 {
		return m.less[2]
	}
	bound := m.one.Add(m.one).Add(m.less[j]) // the bound 1 + e_j
	if m.swings != nil {
		bound = lesser(bound, m.swings[j-2].Mul(m.less[2]))
	}
	return bound
}

// threeApart returns an upper bound of ∫|T−U|^j/S^(j−1), for output laws S, T and U on data that are neighbours of
// each other, and j ≥ 2.
func (m moments) threeApart(j int64) exact.Interval {
	factor := whole(2, m.bits)
	if m.swings != nil {
		factor = lesser(factor, m.swings[j])
	}
	bound := factor.Mul(m.one.Add(m.less[j]))
	if j == 2 {
		bound = lesser(bound, whole(4, m.bits).Mul(m.less[2]))
	}
	return bound
}
