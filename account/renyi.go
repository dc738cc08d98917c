package account

import (
	"math"
	"math/big"
	"math/bits"

	"dither/internal/exact"
)

// Renyi is a mechanism's loss as Rényi differential privacy [Mironov 2017]. At each order α > 1 it returns an upper
// bound of D_α(M(D)‖M(D′)) = ln E[(P/Q)^α] / (α−1), for all neighbours D and D′ in both orders. P and Q are the
// laws of M(D) and M(D′), and the expectation is under Q. At the order +Inf it returns a bound of the largest loss,
// ln sup P/Q. The bound holds for the exact value of the float order. For orders of at most 1, and for NaN, it is
// +Inf.
//
// Rényi divergence does not decrease in its order α. (α−1)·D_α is convex in α, because it is the logarithm of a
// moment.
//
// Functions that return a Renyi return +Inf at every order for invalid parameters, such as a negative ε or a nil
// σ².
type Renyi func(order float64) (upper float64)

// nothing is the Renyi that bounds nothing: +Inf at every order.
func nothing(float64) float64 { return math.Inf(1) }

// renyi returns a Renyi that calls the function at for valid orders, and is never below 0.
func renyi(at func(order float64) float64) Renyi {
	return func(order float64) float64 {
		if !(order > 1) {
			return math.Inf(1)
		}
		return max(at(order), 0)
	}
}

// ComposeRenyi returns the joint loss of mechanisms that run on the same data one after another: at each order, the
// sum [Mironov 2017, Proposition 1]. It also holds for adaptively chosen mechanisms, if the loss of each at each
// order is bounded in advance.
func ComposeRenyi(parts ...Renyi) Renyi {
	return renyi(func(order float64) float64 {
		sum := 0.0
		for _, part := range parts {
			sum = exact.AddUp(sum, part(order))
		}
		return sum
	})
}

// Times returns the loss of n mechanisms that each have loss r. A negative n counts as 0.
func (r Renyi) Times(n int64) Renyi {
	if n <= 0 {
		return renyi(func(float64) float64 { return 0 })
	}
	times := exact.FloatUp(new(big.Rat).SetInt64(n))
	return renyi(func(order float64) float64 { return exact.MulUp(times, r(order)) })
}

// Least returns the lesser of two bounds r and s of one loss, at each order.
func (r Renyi) Least(s Renyi) Renyi {
	return renyi(func(order float64) float64 { return min(r(order), s(order)) })
}

// Group returns the loss for k people together of a mechanism that has loss r for one person. Let c = ⌈log₂ k⌉. At
// an order α ≥ 2 the loss is at most 3^c times the loss at α·2^c [Mironov 2017, Proposition 2]. Group uses a
// smaller factor: the product of (2β−3/2)/(β−1) over β = α, 2α, …, α·2^(c−1). For β ≥ 2 each of these is at most
// 5/2. The loss is also at most k times the largest loss r(+Inf). For k ≤ 0 there is no loss.
//
// Proof. Each of the c steps doubles the number of people. Let P and Q be laws at twice the distance, and S a law
// halfway between them. By the Cauchy-Schwarz inequality, ∫P^β·Q^(1−β) = ∫P^β·S^(½−β)·S^(β−½)·Q^(1−β) ≤
// (∫P^(2β)·S^(1−2β))^½·(∫S^(2β−1)·Q^(2−2β))^½. This says that D_β(P‖Q) ≤ (β−½)/(β−1)·D_2β(P‖S) + D_(2β−1)(S‖Q)
// [ibid., Corollary 4]. And D_(2β−1) ≤ D_2β. ∎
func (r Renyi) Group(k int64) Renyi {
	if k <= 1 {
		return r.Times(k)
	}
	doublings := bits.Len64(uint64(k - 1))
	chain := func(order float64) float64 {
		factor := 1.0
		for range doublings {
			// for an infinite order, the result is not used
			step := exact.DivUp(exact.SubUp(2*order, 1.5), exact.SubDown(order, 1))
			factor, order = exact.MulUp(factor, step), 2*order
		}
		return exact.MulUp(factor, r(order))
	}
	return renyi(func(order float64) float64 {
		most := r.Times(k)(math.Inf(1))
		if math.IsInf(4*math.Ldexp(order, doublings), 1) {
			return most
		}
		return min(chain(order), chain(max(order, 2)), most) // up to order 2, D_α ≤ D₂
	})
}

// renyiUpper returns the upper end of the interval that evaluate returns, at a precision in bits at which the
// interval is narrow.
func renyiUpper(evaluate func(bits uint) exact.Interval) float64 {
	return renyiUpperTo(128, 1<<12, 0x1p-45, evaluate)
}

// renyiUpperTo is renyiUpper with a first and a largest precision, and a width, as a share of the result, at which the
// interval is narrow. At any precision, the result is an upper bound.
func renyiUpperTo(first, last uint, narrow float64, evaluate func(bits uint) exact.Interval) float64 {
	for bits := first; ; bits *= 2 {
		x := evaluate(bits)
		lower, upper := x.Floats()
		if bits >= last || upper <= math.SmallestNonzeroFloat64 || upper-lower <= upper*narrow {
			return max(upper, 0)
		}
	}
}

// decay returns e^(−x), for x ≥ 0. If x is beyond the range of Exp, it returns the interval from 0 to the value at
// the end of that range.
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

// shortfall returns 1 − e^(−x), for x ≥ 0, without loss of precision for small x.
func shortfall(x exact.Interval, bits uint) exact.Interval {
	one := exact.IntervalOf(big.NewRat(1, 1), bits)
	if x.Hi().Cmp(big.NewFloat(0.5)) > 0 {
		return one.Sub(decay(x, bits))
	}
	e := x.Expm1()
	return e.Quo(one.Add(e))
}

// whole returns the integer n as an interval.
func whole(n int64, bits uint) exact.Interval {
	return exact.IntervalOf(new(big.Rat).SetInt64(n), bits)
}

// power returns xⁿ, for x ≥ 0 and n ≥ 0.
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

// lesser returns the interval with the lower upper end, and larger the other interval.
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
