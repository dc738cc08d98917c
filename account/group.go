package account

import (
	"slices"

	"dither/privacy"
)

// Group is group privacy: an (ε, δ) promise to one person is (kε, δ·(e^(kε) − 1)/(e^ε − 1)) to k people
// together, with δ rounded up [Vadhan 2017, Lemma 2.2; the proof at privacy.Delta.Group]. For zCDP use
// privacy.Rho.Group. A negative k counts as 0.
func (a Approximate) Group(k int64) Approximate {
	return Approximate{a.Epsilon.Group(k), a.Delta.Group(k, a.Epsilon)}
}

// Parallel is parallel composition [McSherry 2009, Theorem 4]: the loss of mechanisms that run on disjoint parts of the
// data, one on each. A unit's rows lie in one part, and which one is a function of these rows alone. parts are the
// losses; each must hold for its own part whether the unit's rows enter it, leave it, or are replaced within it.
//
// Under add/remove, neighbours differ in one part alone, and the loss is that of the worst part. Under change-one a
// unit may leave one part and enter another, and the loss is the sum of the two worst. A mixture of pure and zCDP
// losses counts as zCDP, and the worst is taken for ρ and δ separately.
//
// The parts and their mechanisms are fixed in advance, or at least the losses are: a part's loss is its final one. For
// an unknown relation the result is the sum of all, which always holds.
func Parallel(n privacy.Neighbours, parts []privacy.Loss) privacy.Loss {
	worst := 1
	switch n {
	case privacy.AddRemove:
	case privacy.ChangeOne:
		worst = 2
	default:
		worst = len(parts)
	}
	if !slices.ContainsFunc(parts, func(l privacy.Loss) bool { return l.Accountant() == privacy.ZCDP }) {
		losses := make([]privacy.Epsilon, len(parts))
		for i, l := range parts {
			losses[i], _ = l.Pure()
		}
		return privacy.PureLoss(largest(worst, losses, privacy.Epsilon.Cmp, privacy.Epsilon.Plus))
	}
	rhos, deltas := make([]privacy.Rho, len(parts)), make([]privacy.Delta, len(parts))
	for i, l := range parts {
		rhos[i], deltas[i] = l.ZCDP()
	}
	return privacy.ZCDPLoss(largest(worst, rhos, privacy.Rho.Cmp, privacy.Rho.Plus),
		largest(worst, deltas, privacy.Delta.Cmp, privacy.Delta.Plus))
}

// largest is the sum of the n largest.
func largest[T any](many int, of []T, compare func(a, b T) int, plus func(a, b T) T) T {
	slices.SortFunc(of, func(a, b T) int { return compare(b, a) })
	var sum T
	for _, x := range of[:min(many, len(of))] {
		sum = plus(sum, x)
	}
	return sum
}
