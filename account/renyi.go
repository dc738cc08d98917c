package account

import (
	"math"
	"math/big"
	"math/bits"

	"dither/internal/exact"
)

// Renyi is a mechanism's loss as Rényi differential privacy [Mironov 2017]: at each order α > 1 an upper bound on
// D_α(M(D)‖M(D′)) = ln E[(P/Q)^α] / (α−1), the expectation under Q, over all neighbours D and D′ in both
// orders. At the order +Inf it is the largest loss, ln sup P/Q. A float is a true bound at the very order that the
// float is. At orders of at most 1, and NaN, it is +Inf, which says nothing.
//
// Rényi's divergence does not fall in its order, and (α−1)·D_α is convex in it, since it is the logarithm of a
// moment.
//
// Given invalid parameters, a negative ε or a nil σ², the functions that make a Renyi return one that promises
// nothing: +Inf at every order.
type Renyi func(order float64) (upper float64)

// nothing promises nothing.
func nothing(float64) float64 { return math.Inf(1) }

// renyi evaluates at at valid orders, and never below 0.
func renyi(at func(order float64) float64) Renyi {
	return func(order float64) float64 {
		if !(order > 1) {
			return math.Inf(1)
		}
		return max(at(order), 0)
	}
}

// ComposeRenyi is the loss of mechanisms on the same data, one after another: at each order the sum [Mironov 2017,
// Proposition 1]. It also holds for adaptively chosen mechanisms, if at each order the loss of each is bounded in
// advance.
func ComposeRenyi(parts ...Renyi) Renyi {
	return renyi(func(order float64) float64 {
		sum := 0.0
		for _, part := range parts {
			sum = exact.AddUp(sum, part(order))
		}
		return sum
	})
}

// Times is the loss of n mechanisms that each have loss r. A negative n counts as 0.
func (r Renyi) Times(n int64) Renyi {
	if n <= 0 {
		return renyi(func(float64) float64 { return 0 })
	}
	times := exact.FloatUp(new(big.Rat).SetInt64(n))
	return renyi(func(order float64) float64 { return exact.MulUp(times, r(order)) })
}

// Least is the lesser of two bounds r and s of one loss, at each order.
func (r Renyi) Least(s Renyi) Renyi {
	return renyi(func(order float64) float64 { return min(r(order), s(order)) })
}

// Group is what a mechanism of loss r promises k people together. With c = ⌈log₂ k⌉ it is, at an order α ≥ 2,
// at most 3^c times the loss at α·2^c [Mironov 2017, Proposition 2], and here the product of (2β−3/2)/(β−1)
// over β = α, 2α, …, α·2^(c−1), each of which is at most 5/2 from 2 on and nears 2; at most k times the
// largest loss too. A k of at most 0 is no loss.
//
// Proof. A step doubles the people: let S stand midway between P and Q. By Cauchy and Schwarz, ∫P^β·Q^(1−β) =
// ∫P^β·S^(½−β)·S^(β−½)·Q^(1−β) ≤ (∫P^(2β)·S^(1−2β))^½·(∫S^(2β−1)·Q^(2−2β))^½,
// which says [ibid., Corollary 4] D_β(P‖Q) ≤ (β−½)/(β−1)·D_2β(P‖S) + D_(2β−1)(S‖Q), and
// D_(2β−1) ≤ D_2β. ∎
func (r Renyi) Group(k int64) Renyi {
	if k <= 1 {
		return r.Times(k)
	}
	doublings := bits.Len64(uint64(k - 1))
	chain := func(order float64) float64 {
		factor := 1.0
		for range doublings {
			step := exact.DivUp(exact.SubUp(2*order, 1.5), exact.SubDown(order, 1)) // an infinite order ends below
			factor, order = exact.MulUp(factor, step), 2*order
		}
		return exact.MulUp(factor, r(order))
	}
	return renyi(func(order float64) float64 {
		most := r.Times(k)(math.Inf(1))
		if math.IsInf(4*math.Ldexp(order, doublings), 1) {
			return most
		}
		return min(chain(order), chain(max(order, 2)), most) // D_α ≤ D₂ up to 2
	})
}

// renyiUpper is the upper end of what evaluate gives, at a precision where it is narrow.
func renyiUpper(evaluate func(bits uint) exact.Interval) float64 {
	return renyiUpperTo(1<<12, evaluate)
}

// renyiUpperTo is renyiUpper that does not go beyond a precision. Whatever the precision, the end is a bound.
func renyiUpperTo(last uint, evaluate func(bits uint) exact.Interval) float64 {
	for bits := uint(128); ; bits *= 2 {
		x := evaluate(bits)
		lower, upper := x.Floats()
		if bits >= last || upper <= math.SmallestNonzeroFloat64 || upper-lower <= upper*0x1p-45 {
			return max(upper, 0)
		}
	}
}

// decay is e^(−x), x ≥ 0. Beyond the range of Exp it is all that is from 0 to the least there.
func decay(x exact.Interval, bits uint) exact.Interval {
	const edge = 1 << 20
	zero, limit := exact.IntervalOf(new(big.Rat), bits), exact.IntervalOf(big.NewRat(edge, 1), bits)
	switch {
	case x.Lo().Cmp(limit.Hi()) >= 0:
		return exact.Hull(zero, zero.Sub(limit).Exp())
	case x.Hi().Cmp(limit.Lo()) > 0:
		return exact.Hull(zero, zero.Sub(exact.PointOf(x.Lo(), bits+64)).Exp())
	}
	return zero.Sub(x).Exp()
}

// shortfall is 1 − e^(−x), x ≥ 0, with its digits where x is small.
func shortfall(x exact.Interval, bits uint) exact.Interval {
	one := exact.IntervalOf(big.NewRat(1, 1), bits)
	if x.Hi().Cmp(big.NewFloat(0.5)) > 0 {
		return one.Sub(decay(x, bits))
	}
	e := x.Expm1()
	return e.Quo(one.Add(e))
}

// whole is the integer n, as an interval.
func whole(n int64, bits uint) exact.Interval {
	return exact.IntervalOf(new(big.Rat).SetInt64(n), bits)
}

// power is xⁿ for x ≥ 0 and n ≥ 0.
func power(x exact.Interval, n int64) exact.Interval {
	result := exact.PointOf(big.NewFloat(1), max(x.Lo().Prec(), x.Hi().Prec()))
	for ; n > 0; n /= 2 {
		if n%2 == 1 {
			result = result.Mul(x)
		}
		x = x.Mul(x)
	}
	return result
}

// lesser is the one with the lower upper end of two bounds from above, and larger the other.
func lesser(x, y exact.Interval) exact.Interval {
	if x.Hi().Cmp(y.Hi()) <= 0 {
		return x
	}
	return y
}

func larger(x, y exact.Interval) exact.Interval {
	if x.Hi().Cmp(y.Hi()) <= 0 {
		return y
	}
	return x
}
