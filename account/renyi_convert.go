package account

import (
	"math"
	"math/big"
	"math/bits"

	"dither/internal/exact"
	"dither/privacy"
)

// A mechanism with Rényi divergence D_α at an order α is (ε, δ)-differentially private for every ε ≥ 0, with
// [Canonne, Kamath & Steinke 2020, Proposition 12]
//
//	ln δ = (α−1)(D_α − ε) + (α−1)·ln(1−1/α) − ln α.
//
// The proof is at the conversions of package privacy, where zCDP is the case D_α = αρ. For a given δ, the formula
// gives ε = D_α + ln(1−1/α) + (ln 1/δ − ln α)/(α−1). At the order +Inf, the privacy loss Z is at most D_∞. The
// least δ is E[max(0, 1−e^(ε−Z))], which is at most 1 − e^(ε−D_∞).
//
// Every order gives a valid bound, so the choice of orders needs no certificate. The search finds the best order of
// the form 1 + 2^k, and then searches between its neighbours.

// Epsilon returns an ε at which a mechanism of loss r is (ε, d)-differentially private, by the best order found. It
// is +Inf if no order gives a finite ε.
func (r Renyi) Epsilon(d privacy.Delta) float64 {
	return r.epsilonBy(bestOrder, nil, d)
}

// search returns an order at which f is least, or nearly so.
type search func(f func(order float64) float64) (order float64)

// epsilonBy is Epsilon with two sources of orders: the search `best`, and the list `others`.
func (r Renyi) epsilonBy(best search, others []float64, d privacy.Delta) float64 {
	f := r.epsilonAt(d)
	among, _ := r.EpsilonAmong(others, d)
	return min(f(math.Inf(1)), f(best(f)), among)
}

// EpsilonAmong is Epsilon with the given orders only. It also returns the best of them.
func (r Renyi) EpsilonAmong(orders []float64, d privacy.Delta) (epsilon, order float64) {
	f := r.epsilonAt(d)
	epsilon, order = math.Inf(1), math.Inf(1)
	for _, o := range orders {
		if e := f(o); e < epsilon {
			epsilon, order = e, o
		}
	}
	return epsilon, order
}

// Delta returns a δ, at most 1, at which a mechanism of loss r is (e, δ)-differentially private, by the best order
// found.
func (r Renyi) Delta(e privacy.Epsilon) float64 {
	return r.deltaBy(bestOrder, nil, e)
}

// deltaBy is Delta with two sources of orders: the search `best`, and the list `others`.
func (r Renyi) deltaBy(best search, others []float64, e privacy.Epsilon) float64 {
	epsilon := exact.FloatDown(e.Rat())
	at := func(order float64) float64 { return lnDelta(r(order), order, epsilon) }
	least := at(best(at))
	for _, order := range others {
		least = min(least, at(order))
	}
	return min(1, exact.ExpUp(min(least, 0)), deltaAtMost(r(math.Inf(1)), epsilon))
}

// epsilonAt returns the bound of ε at d as a function of the order.
func (r Renyi) epsilonAt(d privacy.Delta) func(order float64) float64 {
	one := big.NewRat(1, 1)
	if d.Rat().Cmp(one) >= 0 {
		return func(float64) float64 { return 0 }
	}
	surprise, rest := math.Inf(1), 0.0
	if !d.IsZero() {
		half := exact.IntervalOf(big.NewRat(1, 2), gaussianBits)
		_, surprise = twiceSurprise(d.Rat()).Mul(half).Floats()
		rest = exact.LogUp(exact.FloatUp(one.Sub(one, d.Rat())))
	}
	return func(order float64) float64 {
		if !(order > 1) || math.IsInf(surprise, 1) && !math.IsInf(order, 1) {
			return math.Inf(1)
		}
		loss := r(order)
		switch {
		case math.IsInf(loss, 1):
			return loss
		case math.IsInf(order, 1):
			return max(0, exact.AddUp(loss, rest))
		}
		over, less := exact.SubUp(surprise, exact.LogDown(order)), exact.SubDown(order, 1)
		if over < 0 {
			less = exact.SubUp(order, 1)
		}
		return max(0, exact.AddUp(exact.AddUp(loss, lnShare(order)), exact.DivUp(over, less)))
	}
}

// lnShare returns an upper bound of ln(1−1/α), where α is the order.
func lnShare(order float64) float64 {
	return min(0, exact.LogUp(exact.DivUp(exact.SubUp(order, 1), order)))
}

// lnDelta returns an upper bound of ln δ at a finite order.
func lnDelta(loss, order, epsilon float64) float64 {
	if math.IsInf(loss, 1) {
		return loss
	}
	less, slope := exact.SubDown(order, 1), exact.AddUp(exact.SubUp(loss, epsilon), lnShare(order))
	if slope > 0 {
		less = exact.SubUp(order, 1)
	}
	return exact.SubUp(exact.MulUp(less, slope), exact.LogDown(order))
}

// deltaAtMost returns an upper bound of 1 − e^(ε−D), where largest is D, or 0 if D ≤ ε.
func deltaAtMost(largest, epsilon float64) float64 {
	if largest <= epsilon {
		return 0
	}
	return min(1, -exact.Expm1Down(exact.SubDown(epsilon, largest)))
}

// bestOrder searches for the finite order at which f is least. It assumes that f first falls and then rises.
func bestOrder(f func(order float64) float64) float64 {
	const lowest, highest = -30, 60
	best, least := 0, math.Inf(1)
	scan := func(from, to, step int) {
		for k, worse := from, 0; k != to && worse < 2; k += step {
			switch value := f(1 + math.Ldexp(1, k)); {
			case value < least:
				best, least, worse = k, value, 0
			case !math.IsInf(least, 1):
				worse++
			}
		}
	}
	scan(0, highest, 1)
	scan(-1, lowest, -1)
	if math.IsInf(least, 1) {
		return 2
	}
	found := 1 + math.Ldexp(1, best)
	try := func(u float64) float64 {
		order := 1 + math.Exp2(u)
		value := f(order)
		if value < least {
			found, least = order, value
		}
		return value
	}
	// First narrow the bracket by golden-section search, at orders on a grid, so that cached values are found
	// again. Then twice move to the vertex of the parabola through three points.
	onGrid := func(u float64) float64 { return try(math.Round(u*64) / 64) }
	golden := (math.Sqrt(5) - 1) / 2
	low, high := float64(best-1), float64(best+1)
	left, right := high-golden*(high-low), low+golden*(high-low)
	atLeft, atRight := onGrid(left), onGrid(right)
	for range 9 {
		if atLeft < atRight {
			high, right, atRight = right, left, atLeft
			left = high - golden*(high-low)
			atLeft = onGrid(left)
		} else {
			low, left, atLeft = left, right, atRight
			right = low + golden*(high-low)
			atRight = onGrid(right)
		}
	}
	for _, h := range []float64{0x1p-6, 0x1p-10} {
		u, at := math.Log2(found-1), least
		before, after := try(u-h), try(u+h)
		if bend := before - 2*at + after; bend > 0 {
			try(u + h/2*(before-after)/bend)
		}
	}
	return found
}

// bestInteger searches for the integer order from 2 to largest at which f is least. It assumes that f first falls
// and then rises.
func bestInteger(f func(order float64) float64, largest int) float64 {
	best := 2
	least := f(2)
	for s := 1 << (bits.Len(uint(largest)) - 1); s > 0; s /= 2 {
		// the order with the least f is less than 2s away from best
		for _, order := range []int{best - s, best + s} {
			if order < 2 || order > largest {
				continue
			}
			if value := f(float64(order)); value < least {
				best, least = order, value
			}
		}
	}
	return float64(best)
}
