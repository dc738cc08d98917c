package account

import (
	"math/big"

	"dither/internal/exact"
	"dither/privacy"
)

// keep is the probability ∏(1−δᵢ) with which no mechanism fails its pure promise, each failing with its δᵢ at
// most, and independently in the worst case. If the rest of a job is (ε, δ*)-private given that none fails, the whole
// job is (ε, δ)-private with
//
//	δ = 1 − keep·(1 − δ*) = (1 − keep) + keep·δ*.
type keep struct {
	ends
	bits uint
}

// keepOf is the product of (1−δᵢ)^kᵢ, with so many bits besides those that (1−δᵢ) loses of δᵢ.
func keepOf(parts []Repeated, bits uint) keep {
	for _, p := range parts {
		if !p.Delta.IsZero() {
			bits = max(bits, certainty+zeros(p.Delta.Rat()))
		}
	}
	k := keep{endsOf(exact.IntervalOf(one, bits)), bits}
	for _, p := range parts {
		if !p.Delta.IsZero() {
			k.mul(endsOf(exact.IntervalOf(new(big.Rat).Sub(one, p.Delta.Rat()), bits)).power(p.Count))
		}
	}
	return k
}

// float is an empty number rounded in a direction.
func (k keep) float(mode big.RoundingMode) *big.Float {
	return new(big.Float).SetPrec(k.bits).SetMode(mode)
}

// whole is δ rounded outward, in [0, 1], of a δ* between lo and hi.
func (k keep) whole(lo, hi *big.Float) (lower, upper float64) {
	// It rises in δ* and falls in keep.
	bound := func(part, keep *big.Float, mode big.RoundingMode) *big.Float {
		sum := k.float(mode).Sub(big.NewFloat(1), keep)
		return sum.Add(sum, k.float(mode).Mul(keep, part))
	}
	lower = floatBelow(bound(lo, k.hi, big.ToNegativeInf))
	upper = floatAbove(bound(hi, k.lo, big.ToPositiveInf))
	return max(lower, 0), min(upper, 1)
}

// rest brackets what d leaves for δ*: (d − (1−keep))/keep, which is below 0 if it leaves nothing.
func (k keep) rest(d privacy.Delta) (least, most *big.Float) {
	aim := exact.IntervalOf(d.Rat(), k.bits)
	least = k.float(big.ToNegativeInf).Sub(k.lo, big.NewFloat(1))
	least.Add(least, aim.Lo())
	most = k.float(big.ToPositiveInf).Sub(k.hi, big.NewFloat(1))
	most.Add(most, aim.Hi())
	for _, end := range []*big.Float{least, most} {
		by := k.hi // the division is outward whatever the sign
		if (end.Sign() < 0) == (end == least) {
			by = k.lo
		}
		if by.Sign() > 0 {
			end.Quo(end, by)
		}
	}
	return least, most
}
