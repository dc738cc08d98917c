package privacy

import (
	"fmt"
	"math/big"

	"dither/internal/exact"
)

// The three conversions between ρ-zCDP and (ε, δ) rest on one theorem [Canonne, Kamath & Steinke 2020, Proposition
// 12 and Corollary 13]: a ρ-zCDP mechanism is (ε, δ)-differentially private for every ε ≥ 0 and, with any α > 1,
//
//	δ = exp((α−1)(αρ−ε)) · (1−1/α)^α / (α−1).
//
// Proof. Let Z = ln P(y)/Q(y), y from P, be the privacy loss of neighbours. The least δ is E[max(0, 1−e^(ε−Z))],
// and since (1−e^(ε−z))·e^(−(α−1)z) is greatest where e^(ε−z) = 1−1/α, max(0, 1−e^(ε−z)) ≤
// e^((α−1)(z−ε))·(1−1/α)^(α−1)/α for all z. By zCDP, E[e^((α−1)Z)] ≤ e^((α−1)αρ). ∎
//
// With β = α−1 and L = ln 1/δ, taking logarithms and solving for each of the three in turn:
//
//	ε(β)    = (1+β)ρ − ln(1+1/β) + (L − ln(1+β))/β
//	ρ(β)    = (ε + ln(1+1/β) − (L − ln(1+β))/β) / (1+β)
//	ln δ(β) = β((1+β)ρ − ε − ln(1+1/β)) − ln(1+β)
//
// Every β > 0 gives a true bound, so the search for it (order.go) needs no certificate. Its result is evaluated in
// interval arithmetic, and rounded to the safe side.

// EpsilonAt is the least ε, rounded up, for which a mechanism of zCDP loss r is (ε, d)-differentially private by the
// theorem above. It is 0 for no loss, and if d alone covers the loss. At d = 0 there is no such ε, which is ErrDelta,
// unless the loss is 0.
func (r Rho) EpsilonAt(d Delta) (Epsilon, error) {
	switch {
	case r.IsZero() || d.certain():
		return Epsilon{}, nil
	case d.IsZero():
		return Epsilon{}, fmt.Errorf("%w: zCDP bounds no ε at a δ of 0", ErrDelta)
	}
	x := refined(func(bits uint) exact.Interval {
		p := problem{bits: bits, rho: exact.IntervalOf(r.rat(), bits), surprise: surprise(d, bits)}
		b := p.orderForEpsilon()
		slope := p.number(1).Add(b).Mul(p.rho)
		return slope.Sub(p.lnInverse(b)).Add(p.surprise.Sub(b.Log1p()).Quo(b))
	}, settled)
	// An ε below 0 promises no less than 0 does: the theorem's δ decreases in ε.
	return Epsilon{roundUp(x.Hi())}, nil
}

// DeltaAt is the least δ, rounded up, for which a mechanism of zCDP loss r is (e, δ)-differentially private by the
// theorem above: 0 at no loss, else at least 10⁻¹⁰⁰⁰, and 1, which promises nothing, where it comes within
// 10⁻¹⁶ of it.
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

// RhoFor is the largest zCDP loss, rounded down, that EpsilonAt converts at d to at most e: a mechanism of this loss is
// (e, d)-differentially private. It falls short of the largest by less than 10⁻¹⁵ of it, and EpsilonAt of it of e
// by less than 10⁻¹⁵ of e; below 10⁻¹⁰⁰⁰ either is 0. At d = 0 there is none above 0, and at d = 1 there
// is no largest: both are ErrDelta.
func RhoFor(e Epsilon, d Delta) (Rho, error) {
	if d.IsZero() || d.certain() {
		return Rho{}, fmt.Errorf("%w: a zCDP loss needs one above 0 and below 1", ErrDelta)
	}
	// The aim is on the grid that EpsilonAt rounds up to, so that what is just below it stays so.
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
		// Since dε/dρ = 1+β, ε is as narrow as need be if (1+β)ρ is, beside ε.
		spread := x.Width()
		spread.Mul(spread, new(big.Float).Add(b.Hi(), big.NewFloat(1)))
		target := new(big.Float).SetRat(aim)
		return settled(x) && (aim.Sign() == 0 || spread.Cmp(target.SetMantExp(target, -accuracy)) <= 0)
	})
	if x.Lo().Sign() <= 0 || negligible(x.Lo()) {
		return Rho{}, nil
	}
	// One step below what was found, where a step is far below ρ and changes ε by far less than ε.
	rho, _ := x.Lo().Rat(nil)
	scale := size(rho)
	if aim.Sign() > 0 {
		order, _ := b.Hi().Rat(nil)
		scale = min(scale, size(order.Quo(aim, order.Add(order, one))))
	}
	places := digits - scale
	rho, step := exact.FloorDecimal(rho, places), exact.DecimalStep(places)
	// The first attempt is enough by the argument above. The loop makes the promise hold whatever becomes of the
	// search.
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
