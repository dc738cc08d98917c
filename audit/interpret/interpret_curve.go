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

// negligible is a δ that does not affect a test's power.
var negligible = big.NewRat(1, 100_000)

// slow reports that accountants take long for a δ: for samples, and for a choice, which no loss distribution describes
// exactly.
func slow(steps []account.Step) bool {
	return slices.ContainsFunc(steps, func(s account.Step) bool {
		return strings.Contains(s.String(), "sampling=") || strings.HasPrefix(s.String(), "exponential ")
	})
}

// curve computes δ(ε) of a job, each value once.
type curve struct {
	job    *account.Job
	seen   map[float64]float64
	far    float64 // the ε up to which powers are sought
	slow   bool
	failed error
}

// delta is δ(e), rounded up, and 1 if no accountant has a value.
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

// farthest bounds the ε at which power is computed: e^−farthest does not affect a test.
const farthest = 40

// power is the least that is found of the two bounds, over t = e^e: t·α + δ(e) where e ≥ 0, and, where e is below
// 0, 1 − t(1 − α − δ(−e)). The second is t·α + D(t) too, where D(t) is the largest P(S) − t·Q(S): with
// S's complement, and P and Q exchanged, D(t) = 1 − t + t·δ(−e). D is convex, a maximum of what is linear in t.
// So there is one valley, which golden sections find. That the accountants' figures are not quite δ costs tightness,
// never truth.
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
		high = max(0, min(high, -math.Log(level))) // beyond, e^ε·α is more than 1
	}
	least := min(1, bound(low), bound(0), bound(high))
	if least <= level+little { // no test has less power than its level
		return least
	}
	if c.slow {
		return max(0, min(least, bound(min(max(c.guess(level), low), high))))
	}
	return max(0, min(least, valley(bound, low, high)))
}

// guess is the e that is best if the job is Gaussian noise, as many mechanisms together nearly are [Dong, Roth & Su
// 2022, Theorem 3.4]: with the total variation of N(0, 1) and N(μ, 1), the logarithm of their densities' ratio at the
// threshold of the test of this level. Any guess gives a bound.
func (c *curve) guess(level float64) float64 {
	mu := 2 * math.Sqrt2 * math.Erfinv(c.delta(0))
	e := mu*math.Sqrt2*math.Erfinv(1-2*level) - mu*mu/2
	if math.IsNaN(e) {
		return 0
	}
	return e
}

// A valley's range is shortened, to 0.618 of it each time, so often at most, or until f is the same all over it but for
// so little.
const (
	tries  = 30
	little = 1e-8
)

// valley returns roughly the least value of a function with one valley between low and high, among the points that it
// tried.
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
