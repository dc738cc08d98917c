package privacy

import (
	"fmt"
	"math/big"

	"dither/internal/exact"
)

// The three conversions between ρ-zCDP and (ε, δ) rest on one theorem [Canonne, Kamath & Steinke 2020, Proposition
// 12 and Corollary 13]. Claim: a ρ-zCDP mechanism is (ε, δ)-differentially private for every ε ≥ 0 and every α > 1,
// with
//
//	δ = exp((α−1)(αρ−ε)) · (1−1/α)^α / (α−1).
//
// Proof. Let Z = ln P(y)/Q(y), with y drawn from P, be the privacy loss between neighbours. The least possible δ is
// E[max(0, 1−e^(ε−Z))]. The function (1−e^(ε−z))·e^(−(α−1)z) of z is greatest at e^(ε−z) = 1−1/α. Hence max(0,
// 1−e^(ε−z)) ≤ e^((α−1)(z−ε))·(1−1/α)^(α−1)/α for all z. By zCDP, E[e^((α−1)Z)] ≤ e^((α−1)αρ). Taking expectations
// gives the claim. ∎
//
// Let β = α−1 and L = ln 1/δ. Taking logarithms, and solving for each of the three parameters, gives
//
//	ε(β)    = (1+β)ρ − ln(1+1/β) + (L − ln(1+β))/β
//	ρ(β)    = (ε + ln(1+1/β) − (L − ln(1+β))/β) / (1+β)
//	ln δ(β) = β((1+β)ρ − ε − ln(1+1/β)) − ln(1+β)
//
// Every β > 0 gives a valid bound, so the numerical search for the best β (order.go) needs no certificate. The
// bound at its result is evaluated in interval arithmetic, and rounded to the safe side.

// EpsilonAt returns the least ε, rounded up, for which a mechanism of zCDP loss r is (ε, d)-differentially private
// by the theorem above. It is 0 if r is 0, or if d alone covers the loss, as d = 1 always does. If d is 0 and r is
// not, there is no such ε, and the error is ErrDelta.
func (r Rho) EpsilonAt(d Delta) (Epsilon, error) {
	switch {
	case r.IsZero() || d.certain():
		return Epsilon{}, nil
	case d.IsZero():
		return Epsilon{}, fmt.Errorf("%w: a zCDP loss has no finite ε at δ = 0", ErrDelta)
	}
	x := refined(func(bits uint) exact.Interval {
		p := problem{bits: bits, rho: exact.IntervalOf(r.rat(), bits), surprise: surprise(d, bits)}
		b := p.orderForEpsilon()
		slope := p.number(1).Add(b).Mul(p.rho)
		return slope.Sub(p.lnInverse(b)).Add(p.surprise.Sub(b.Log1p()).Quo(b))
	}, settled)
	// roundUp turns an ε below 0 into 0. That is sound, because the theorem's δ decreases in ε.
	return Epsilon{roundUp(x.Hi())}, nil
}

// DeltaAt returns the least δ, rounded up, for which a mechanism of zCDP loss r is (e, δ)-differentially private by
// the theorem above. It is 0 if r is 0, and otherwise at least 10⁻¹⁰⁰⁰. It is 1, which promises nothing, if the
// bound is at least 1 or within 10⁻¹⁶ of 1.
func (r Rho) DeltaAt(e Epsilon) Delta {
	if r.IsZero() {
		return Delta{}
	}
	const floor = -2400 // below ln 10⁻¹⁰⁰⁰ = −2302.6
	far := func(x exact.Interval) bool { return x.Hi().Cmp(big.NewFloat(floor)) < 0 }
	ln := refined(func(bits uint) exact.Interval {
		p := problem{bits: bits, rho: exact.IntervalOf(r.rat(), bits), epsilon: exact.IntervalOf(e.rat(), bits)}
		b := p.orderForDelta()
		slope := p.number(1).Add(b).Mul(p.rho)
		return b.Mul(slope.Sub(p.epsilon).Sub(p.lnInverse(b))).Sub(b.Log1p())
	}, func(x exact.Interval) bool { return far(x) || x.Width().MantExp(nil) < -accuracy })
	switch hi := ln.Hi(); {
	case far(ln):
		return Delta{amount{exact.DecimalStep(smallest)}}
	case hi.Sign() >= 0:
		return Delta{amount{one}}
	default:
		return capped(roundUp(exact.PointOf(hi, hi.Prec()).Exp().Hi()))
	}
}

// RhoFor returns a zCDP loss whose mechanisms are (e, d)-differentially private. It is nearly the largest loss that
// EpsilonAt converts at d to at most e: it is less by a relative 10⁻¹⁵ at most. Its ε by EpsilonAt is also less
// than e by a relative 10⁻¹⁵ at most. Losses below 10⁻¹⁰⁰⁰ become 0. The error is ErrDelta if d is 0, which no
// positive loss achieves, or if d is 1, at which there is no largest loss.
func RhoFor(e Epsilon, d Delta) (Rho, error) {
	if d.IsZero() || d.certain() {
		return Rho{}, fmt.Errorf("%w: the conversion to zCDP needs a δ above 0 and below 1", ErrDelta)
	}
	// aim is e rounded down to the grid that EpsilonAt rounds up to. So an ε just below aim is not rounded above
	// it.
	aim := new(big.Rat)
	if !e.IsZero() && size(e.rat()) > -smallest {
		aim = exact.FloorDecimal(e.rat(), digits-size(e.rat()))
	}
	var b exact.Interval
	x := refined(func(bits uint) exact.Interval {
		p := problem{bits: bits, epsilon: exact.IntervalOf(aim, bits), surprise: surprise(d, bits)}
		b = p.orderForRho()
		rest := p.epsilon.Add(p.lnInverse(b)).Sub(p.surprise.Sub(b.Log1p()).Quo(b))
		return rest.Quo(p.number(1).Add(b))
	}, func(x exact.Interval) bool {
		// dε/dρ is 1+β, with the order β = α−1, so ε is known precisely enough if the width of (1+β)ρ is small
		// relative to ε.
		spread := x.Width()
		spread.Mul(spread, new(big.Float).Add(b.Hi(), big.NewFloat(1)))
		target := new(big.Float).SetRat(aim)
		return settled(x) && (aim.Sign() == 0 || spread.Cmp(target.SetMantExp(target, -accuracy)) <= 0)
	})
	if x.Lo().Sign() <= 0 || negligible(x.Lo()) {
		return Rho{}, nil
	}
	// Subtract one step. A step is far below ρ, and changes ε by far less than ε.
	rho, _ := x.Lo().Rat(nil)
	scale := size(rho)
	if aim.Sign() > 0 {
		order, _ := b.Hi().Rat(nil)
		scale = min(scale, size(order.Quo(aim, order.Add(order, one))))
	}
	places := digits - scale
	rho, step := exact.FloorDecimal(rho, places), exact.DecimalStep(places)
	// By the argument above, the first attempt succeeds. The loop keeps the promise even if the numerical search
	// failed.
	for range 64 {
		if rho.Sub(rho, step).Sign() <= 0 {
			break
		}
		found := Rho{amount{new(big.Rat).Set(rho)}}
		if back, err := found.EpsilonAt(d); err == nil && back.Cmp(e) <= 0 {
			return found, nil
		}
		step.Mul(step, big.NewRat(4, 1))
	}
	return Rho{}, nil
}
