package interpret

import (
	"errors"
	"math"
	"math/big"
	"slices"
	"strings"

	"dither/account"
	"dither/internal/exact"
	"dither/privacy"
)

// negligible is a δ that is too small to affect a test's power.
var negligible = big.NewRat(1, 100_000)

// slow reports whether an accountant takes long to compute a δ. This is so for samples, and for exponential
// mechanisms, which no loss distribution describes exactly.
func slow(steps []account.Step) bool {
	return slices.ContainsFunc(steps, func(s account.Step) bool {
		return strings.Contains(s.String(), "sampling=") || strings.HasPrefix(s.String(), "exponential ")
	})
}

// curve computes δ(ε) of a job, and computes each value only once.
type curve struct {
	job    *account.Job
	seen   map[float64]float64
	far    float64 // the method power uses the curve δ(ε) for |ε| ≤ far
	slow   bool
	failed error
}

// delta returns δ(e), rounded up. It returns 1 if no accountant has a value.
func (c *curve) delta(e float64) float64 {
	if d, ok := c.seen[e]; ok {
		return d
	}
	c.seen[e] = 1
	at, err := privacy.EpsilonOf(new(big.Rat).SetFloat64(e))
	if err == nil {
		var f account.Figure
		if f, _, err = c.job.LeastDelta(at); err == nil && f.Told() {
			c.seen[e] = min(f.Value, 1)
		}
	}
	c.failed = errors.Join(c.failed, err)
	return c.seen[e]
}

// farthest limits the ε at which power is computed. e^−farthest is too small to affect a test.
const farthest = 40

// power returns an upper bound on the true positive rate of a test at level alpha.
//
// It minimises a bound over t = e^ε, for real numbers ε. For ε ≥ 0 the bound is t·α + δ(ε), and for ε < 0 it is 1 −
// t(1 − α − δ(−ε)). Let P and Q be the output laws under the two hypotheses. Let D(t) be the largest value of P(S)
// − t·Q(S) over events S. Both bounds are t·α + D(t): for ε < 0, taking the complement of S and exchanging P and Q
// gives D(t) = 1 − t + t·δ(−ε). D is convex, because it is a maximum of linear functions of t. So the bound has one
// valley, and a golden-section search finds it. The accountants' figures may exceed δ. This makes the bound less
// tight, but it still holds.
func (c *curve) power(alpha *big.Rat) float64 {
	level := exact.FloatUp(alpha)
	bound := func(e float64) float64 {
		if e >= 0 {
			return exact.AddUp(exact.MulUp(exact.ExpUp(e), level), c.delta(e))
		}
		rest := exact.SubDown(exact.SubDown(1, level), c.delta(-e))
		return exact.SubUp(1, max(0, exact.MulDown(exact.ExpDown(e), rest)))
	}
	low, high := -c.far, c.far
	if level > 0 {
		high = max(0, min(high, -math.Log(level))) // for larger e the bound e^e·α is above 1
	}
	least := min(1, bound(low), bound(0), bound(high))
	if least <= level+little { // the power of the best test is at least its level
		return least
	}
	if c.slow {
		return max(0, min(least, bound(min(max(c.guess(level), low), high))))
	}
	return max(0, min(least, valley(bound, low, high)))
}

// guess returns the ε at which the bound of power would be smallest if the job were Gaussian noise. Many mechanisms
// together are close to Gaussian noise [Dong, Roth & Su 2022, Theorem 3.4]. guess finds the μ for which N(0, 1) and
// N(μ, 1) have the job's total variation distance. It returns the logarithm of the ratio of their densities at the
// threshold of the test with this level. Every ε gives a valid bound, so a bad guess costs only tightness.
func (c *curve) guess(level float64) float64 {
	mu := 2 * math.Sqrt2 * math.Erfinv(c.delta(0))
	e := mu*math.Sqrt2*math.Erfinv(1-2*level) - mu*mu/2
	if math.IsNaN(e) {
		return 0
	}
	return e
}

// The limits of [valley]: the largest number of steps, each of which shortens the interval to 0.618 of its length,
// and the variation of f at which it stops.
const (
	tries  = 30
	little = 1e-8
)

// valley returns about the smallest value of f between low and high, if f has a single valley. The result is the
// smallest value among the points that it tried.
func valley(f func(float64) float64, low, high float64) float64 {
	golden := (math.Sqrt(5) - 1) / 2
	left, right := high-golden*(high-low), low+golden*(high-low)
	at := [4]float64{f(low), f(left), f(right), f(high)}
	least := slices.Min(at[:])
	for n := 0; n < tries && slices.Max(at[:])-slices.Min(at[:]) > little; n++ {
		if at[1] <= at[2] {
			high, right = right, left
			left = high - golden*(high-low)
			at[1], at[2], at[3] = f(left), at[1], at[2]
		} else {
			low, left = left, right
			right = low + golden*(high-low)
			at[0], at[1], at[2] = at[1], at[2], f(right)
		}
		least = min(least, at[1], at[2])
	}
	return least
}
