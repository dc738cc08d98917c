package pld

import (
	"math"

	"dither/internal/exact"
)

// gaussian is the pair N(0, 1) and N(μ, 1), described by its loss. The loss is N(μ²/2, μ²) under P and N(−μ²/2, μ²)
// under Q [Dong, Roth & Su 2022]. μ is known to lie in an interval, and the description holds for every μ in it.
type gaussian struct{ mu bound }

// reach is the number of standard deviations around the mean that contain all but 10⁻²⁹⁸ of a normal distribution.
const reach = 37

func (g gaussian) describe(s sink) { sweep(s, g.at) }

func (g gaussian) at(loss bound) tails {
	if math.IsInf(loss.lo, -1) {
		// Nothing lies below −∞. If the edge may be finite, the left tails are at most those at its upper bound.
		t := tails{loss: loss}
		if !math.IsInf(loss.hi, -1) {
			t.p.hi, t.q.hi, t.scaled.hi = 1, 1, exact.ExpUp(loss.hi)
		}
		return t
	}
	scaledLoss, half := loss.over(g.mu), g.mu.mul(point(0.5))
	fromP, fromQ := scaledLoss.sub(half), scaledLoss.add(half)
	t := tails{loss: loss, p: normalTail(fromP), q: normalTail(fromQ)}
	t.scaled.right = t.q.right
	if loss.hi < 300 {
		t.scaled.bound = t.q.mul(loss.exp())
		return t
	}
	// With the standard normal density φ, e^y·φ(y/μ + μ/2) = φ(y/μ − μ/2). So e^y times the tail is ½·e^(−(y/μ −
	// μ/2)²/2)·erfcx((y/μ + μ/2)/√2). This works even if erfc underflows.
	x := fromQ.mul(rootHalf)
	if x.lo < 12 {
		t.scaled.bound = t.q.mul(loss.exp())
		return t
	}
	square := bound{}
	switch {
	case fromP.lo >= 0:
		square = fromP.mul(fromP)
	case fromP.hi <= 0:
		square = fromP.neg().mul(fromP.neg())
	default:
		square.hi = max(fromP.lo*fromP.lo, fromP.hi*fromP.hi) * (1 + slack)
	}
	t.scaled.bound = square.mul(point(0.5)).neg().exp().mul(erfcx(x)).mul(point(0.5))
	return t
}

var rootHalf = bound{math.Nextafter(math.Sqrt2/2, 0), math.Nextafter(math.Sqrt2/2, 1)}

// normalTail returns the smaller of the two tails of N(0, 1) at x.
func normalTail(x bound) tail {
	right := x.mid() > 0
	if !right {
		x = x.neg()
	}
	return tail{erfc(x.mul(rootHalf)).mul(point(0.5)), right}
}

func (g gaussian) edges(n int) []float64 {
	mu := g.mu.mid()
	var e []float64
	for i := 0; i <= n; i++ {
		t := reach * (2*float64(i)/float64(n) - 1)
		e = append(e, mu*(mu/2+t), mu*(t-mu/2))
	}
	return increasing(e)
}

func (gaussian) spacing() (distance, one float64, ok bool) { return 0, 0, false }
