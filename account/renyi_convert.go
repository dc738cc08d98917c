package account

import (
	"math"
	"math/big"
	"math/bits"

	"dither/internal/exact"
	"dither/privacy"
)

// A mechanism with D_α at an order α is (ε, δ)-differentially private for every ε ≥ 0 and [Canonne, Kamath &
// Steinke 2020, Proposition 12; the proof stands at the conversions of package privacy, of which αρ is the case of
// zCDP]
//
//	ln δ = (α−1)(D_α − ε) + (α−1)·ln(1−1/α) − ln α,
//
// hence, at a δ given, for ε = D_α + ln(1−1/α) + (ln 1/δ − ln α)/(α−1). At the order +Inf the privacy loss
// is at most D_∞, and the least δ, E[max(0, 1−e^(ε−Z))], is at most 1 − e^(ε−D_∞).
//
// Every order gives a true bound, so the choice of orders needs no certificate. The search takes the best of 1 + 2^k,
// and then narrows between its neighbours.

// Epsilon bounds the ε at which a mechanism of loss r is (ε, d)-differentially private, at the best order found. It
// is +Inf if no order gives one.
func (r Renyi) Epsilon(d privacy.Delta) float64 {
	return r.epsilonBy(bestOrder, nil, d)
}

// search finds the order at which f is least, or one where it is nearly.
type search func(f func(order float64) float64) (order float64)

// epsilonBy is Epsilon at the order that a search finds, or the best of some others.
func (r Renyi) epsilonBy(best search, others []float64, d privacy.Delta) float64 {
	f := r.epsilonAt(d)
	among, _ := r.EpsilonAmong(others, d)
	return min(f(math.Inf(1)), f(best(f)), among)
}

// EpsilonAmong is Epsilon at the best of the orders given, and which it is.
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

// Delta bounds the δ, at most 1, at which a mechanism of loss r is (e, δ)-differentially private, at the best order
// found.
func (r Renyi) Delta(e privacy.Epsilon) float64 {
	return r.deltaBy(bestOrder, nil, e)
}

// deltaBy is Delta at the order that a search finds, or the best of some others.
func (r Renyi) deltaBy(best search, others []float64, e privacy.Epsilon) float64 {
	epsilon := exact.FloatDown(e.Rat())
	at := func(order float64) float64 { return lnDelta(r(order), order, epsilon) }
	least := at(best(at))
	for _, order := range others {
		least = min(least, at(order))
	}
	return min(1, exact.ExpUp(min(least, 0)), deltaAtMost(r(math.Inf(1)), epsilon))
}

// epsilonAt is the bound on ε as a function of the order.
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

// lnShare is at least ln(1−1/α).
func lnShare(order float64) float64 {
	return min(0, exact.LogUp(exact.DivUp(exact.SubUp(order, 1), order)))
}

// lnDelta is at least ln δ at a finite order.
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

// deltaAtMost is at least 1 − e^(ε−D), or 0.
func deltaAtMost(largest, epsilon float64) float64 {
	if largest <= epsilon {
		return 0
	}
	return min(1, -exact.Expm1Down(exact.SubDown(epsilon, largest)))
}

// bestOrder looks for the finite order at which f, a function that first falls and then rises, is least.
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
	// Golden sections down to a narrow bracket, on a grid so that what is remembered is of use again, and then the
	// vertex of the parabola through three points, twice.
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

// bestInteger looks for the integer order from 2 to largest at which f is least. With s the step, the least is less
// than 2s from the best so far, if f first falls and then rises.
func bestInteger(f func(order float64) float64, largest int) float64 {
	best := 2
	least := f(2)
	for s := 1 << (bits.Len(uint(largest)) - 1); s > 0; s /= 2 {
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
