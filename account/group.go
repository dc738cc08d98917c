package account

import (
	"slices"

	"dither/privacy"
)

// Group returns what a mechanism promises to k people together, if it promises a = (ε, δ) to each one of them. This is
// (kε, δ·(e^(kε) − 1)/(e^ε − 1)), with δ rounded up [Vadhan 2017, Lemma 2.2; the proof is at privacy.Delta.Group]. For
// zCDP use privacy.Rho.Group. A negative k counts as 0.
func (a Approximate) Group(k int64) Approximate {
	return Approximate{a.Epsilon.Group(k), a.Delta.Group(k, a.Epsilon)}
}

// Parallel returns the joint loss of mechanisms that run on disjoint parts of the data, one on each part [McSherry
// 2009, Theorem 4]. A unit's rows must lie in one part, which these rows alone determine. parts has the loss of
// each part's mechanism. Each loss must hold whether the unit's rows enter the part, leave it, or are replaced
// within it.
//
// Under add/remove, neighbours differ in one part only, so the joint loss is that of the worst part. Under
// change-one, a unit may leave one part and enter another, so the joint loss is the sum of the two worst. If parts
// has both pure and zCDP losses, all count as zCDP, and Parallel takes the worst ρ and the worst δ separately.
//
// The parts and their final losses must be fixed in advance. For an unknown relation the result is the sum of all
// losses, which always holds.
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

// largest returns the sum of the largest elements of values: the given number of them, or all if there are fewer.
func largest[T any](number int, values []T, compare func(a, b T) int, plus func(a, b T) T) T {
	slices.SortFunc(values, func(a, b T) int { return compare(b, a) })
	var sum T
	for _, x := range values[:min(number, len(values))] {
		sum = plus(sum, x)
	}
	return sum
}
