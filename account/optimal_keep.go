package account

import (
	"math/big"

	"dither/internal/exact"
	"dither/privacy"
)

// keep is the probability ∏(1−δᵢ) that all mechanisms keep their pure promises. Each fails with probability at most
// δᵢ, independently in the worst case. If the job is (ε, δ*)-private given that none fails, the whole job is (ε,
// δ)-private with
//
//	δ = 1 − keep·(1 − δ*) = (1 − keep) + keep·δ*.
type keep struct {
	ends
	bits uint
}

// keepOf returns the product of (1−δᵢ)^kᵢ, with at least the given precision in bits. It adds bits for each δᵢ that
// is small.
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

// float returns 0 with k's precision and a rounding mode.
func (k keep) float(mode big.RoundingMode) *big.Float {
	return new(big.Float).SetPrec(k.bits).SetMode(mode)
}

// whole returns a lower and an upper bound of δ = 1 − keep·(1 − δ*) in [0, 1], for a δ* between lo and hi.
func (k keep) whole(lo, hi *big.Float) (lower, upper float64) {
	// δ increases in δ* and decreases in keep
	bound := func(part, keep *big.Float, mode big.RoundingMode) *big.Float {
		sum := k.float(mode).Sub(big.NewFloat(1), keep)
		return sum.Add(sum, k.float(mode).Mul(keep, part))
	}
	lower = floatBelow(bound(lo, k.hi, big.ToNegativeInf))
	upper = floatAbove(bound(hi, k.lo, big.ToPositiveInf))
	return max(lower, 0), min(upper, 1)
}

// rest returns bounds of the δ* that is left of d: (d − (1−keep))/keep. It is negative if 1−keep exceeds d.
func (k keep) rest(d privacy.Delta) (least, most *big.Float) {
	aim := exact.IntervalOf(d.Rat(), k.bits)
	least = k.float(big.ToNegativeInf).Sub(k.lo, big.NewFloat(1))
	least.Add(least, aim.Lo())
	most = k.float(big.ToPositiveInf).Sub(k.hi, big.NewFloat(1))
	most.Add(most, aim.Hi())
	for _, end := range []*big.Float{least, most} {
		by := k.hi // choose the divisor that rounds the quotient outward, whatever its sign
		if (end.Sign() < 0) == (end == least) {
			by = k.lo
		}
		if by.Sign() > 0 {
			end.Quo(end, by)
		}
	}
	return least, most
}
