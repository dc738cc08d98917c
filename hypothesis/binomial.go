package hypothesis

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"math/big"

	"dither/noise"
)

// Binomial is one noisy count of successes among N people: X + noise, where X is binomial with N trials and
// probability θ. Its tests and intervals are exact. With Tulap noise, they are the most powerful ones for the
// privacy promise [Awan & Slavković 2020, "Differentially Private Inference for Binomial Data", Journal of Privacy
// and Confidentiality 10(1)].
//
// Discrete Laplace noise plus a uniform number in [−½, ½] is Tulap noise. Adding that number needs no data, so
// [Dither] does it for a released count. A count without this number is tested with its own discrete noise. That
// test is valid, but loses power through ties.
type Binomial struct {
	Value float64            // the noisy count
	N     int                // the number of people; public, at least 1
	Tulap *noise.Tulap       // the noise, if it is Tulap noise
	Noise noise.Distribution // the noise if Tulap is nil: a distribution on integers; Value must then be an integer
}

// MaxTrials is the largest N of a [Binomial].
const MaxTrials = 100_000_000

// The alternatives in a test of one number.
const (
	TwoSided = "two-sided"
	Greater  = "greater"
	Less     = "less"
)

// Dither turns a count with discrete Laplace noise into a count with Tulap noise. It adds the number that [Uniform]
// derives from the seed. The seed must not depend on the count. It should name the release, so that a repeated test
// gives the same result.
func Dither(value *big.Int, d noise.DiscreteLaplace, n int, seed string) (Binomial, error) {
	law, err := noise.NewTulap(new(big.Rat).Inv(d.Scale()), new(big.Rat))
	if err != nil {
		return Binomial{}, wrong("%v", err)
	}
	x, _ := new(big.Float).SetInt(value).Float64()
	return Binomial{Value: x + Uniform(seed), N: n, Tulap: &law}, nil
}

// Uniform returns a number in (−½, ½) derived from a seed: 53 bits of the seed's SHA-256 hash.
func Uniform(seed string) float64 {
	h := sha256.Sum256([]byte("dither uniform\x00" + seed))
	return (float64(binary.BigEndian.Uint64(h[:8])>>11)+0.5)/(1<<53) - 0.5
}

func (b Binomial) check() error {
	if b.N < 1 || b.N > MaxTrials {
		return wrong("n must be from 1 to %d", MaxTrials)
	}
	if err := checkNumbers("a count", b.Value); err != nil {
		return err
	}
	if (b.Tulap == nil) == (b.Noise == nil) {
		return wrong("a binomial test needs exactly one noise distribution: Tulap, or a distribution on integers")
	}
	if b.Noise != nil && b.Value != math.Trunc(b.Value) {
		return wrong("noise on integers gives integer counts, but %s is not an integer", short(b.Value))
	}
	return nil
}

// atMost returns P(noise ≤ x).
func (b Binomial) atMost(x float64) float64 {
	if b.Tulap != nil {
		return b.Tulap.CDF(x)
	}
	if r, ok := b.Noise.(*remembered); ok {
		return r.atMost(math.Floor(x))
	}
	i, _ := big.NewFloat(math.Floor(x)).Int(nil)
	return b.Noise.CDF(i)
}

// remembered is a noise distribution that caches its probabilities, because a test needs the same ones many times.
// The probabilities beyond ±reach are below 1e-20, and are taken as 0.
type remembered struct {
	noise.Distribution
	reach float64
	known map[float64]float64
}

// remembering returns b with a cache for the probabilities of its noise.
func (b Binomial) remembering() Binomial {
	if b.Noise != nil {
		reach, _ := new(big.Float).SetInt(b.Noise.Quantile(1e-20)).Float64()
		b.Noise = &remembered{b.Noise, reach, map[float64]float64{}}
	}
	return b
}

func (r *remembered) atMost(x float64) float64 {
	switch {
	case x >= r.reach:
		return 1
	case x < -r.reach:
		return 0
	}
	p, ok := r.known[x]
	if !ok {
		i, _ := big.NewFloat(x).Int(nil)
		p = r.CDF(i)
		r.known[x] = p
	}
	return p
}

// right returns P(X + noise ≥ z) under θ. X is the number of successes, as in [Binomial]. The result is Σₓ P(X =
// x)·P(noise ≤ x − z), because the noise is symmetric.
func (b Binomial) right(theta, z float64) float64 {
	return b.average(theta, func(x float64) float64 { return b.atMost(x - z) })
}

// left returns P(X + noise ≤ z) under θ, with the X of [Binomial].
func (b Binomial) left(theta, z float64) float64 {
	return b.average(theta, func(x float64) float64 { return b.atMost(z - x) })
}

// average returns the mean of f(X) under θ, up to about 1e-12. The values of f must be in [0, 1]. It omits values
// of X whose probability is below 1e-17 of the largest one.
func (b Binomial) average(theta float64, f func(x float64) float64) float64 {
	n := float64(b.N)
	if theta <= 0 {
		return f(0)
	}
	if theta >= 1 {
		return f(n)
	}
	mode, odds := math.Min(n, math.Floor((n+1)*theta)), theta/(1-theta)
	sum, weight := f(mode), 1.0
	for x, w := mode+1, 1.0; x <= n; x++ {
		if w *= odds * (n - x + 1) / x; w < 1e-17 {
			break
		}
		sum, weight = sum+w*f(x), weight+w
	}
	for x, w := mode-1, 1.0; x >= 0; x-- {
		if w *= (x + 1) / (n - x) / odds; w < 1e-17 {
			break
		}
		sum, weight = sum+w*f(x), weight+w
	}
	return min(1, sum/weight)
}

// p returns the p-value of the hypothesis θ against an alternative.
func (b Binomial) p(theta float64, alternative string) float64 {
	switch alternative {
	case Greater:
		return b.right(theta, b.Value)
	case Less:
		return b.left(theta, b.Value)
	}
	middle := float64(b.N) * theta
	t := math.Abs(b.Value - middle)
	if t == 0 {
		return 1
	}
	return min(1, b.right(theta, middle+t)+b.left(theta, middle-t))
}

// Test tests the hypothesis that the probability θ of [Binomial] equals null, against "two-sided". Against
// "greater" the hypothesis is that θ is at most null, and against "less" that it is at least null.
//
// The p-value against "greater" is P(X + noise ≥ Value). Under the hypothesis it is uniform if the noise is Tulap.
// The p-value against "two-sided" is P(|X + noise − N·θ| ≥ |Value − N·θ|). This test is asymptotically unbiased
// [Awan & Slavković 2020, section 5.2].
func (b Binomial) Test(null float64, alternative string) (*Test, error) {
	if err := b.check(); err != nil {
		return nil, err
	}
	if !(null > 0 && null < 1) {
		return nil, wrong("the probability under the null hypothesis must be between 0 and 1")
	}
	if alternative != TwoSided && alternative != Greater && alternative != Less {
		return nil, wrong("the alternative must be %s, %s or %s, not %q", TwoSided, Greater, Less, alternative)
	}
	b = b.remembering()
	out := &Test{
		Name: "binomial", Method: b.method(), Null: "exact", Alternative: alternative, Statistic: b.Value,
		N: float64(b.N), Known: true,
		P: b.p(null, alternative), Estimate: b.Estimate(),
	}
	if b.Value < 0 || b.Value > float64(b.N) {
		out.warn("the noisy count is outside 0 … %d", b.N)
	}
	out.finish()
	return out, nil
}

func (b Binomial) method() Method {
	if b.Tulap != nil {
		return "Tulap"
	}
	return "discrete"
}

// Estimate returns the noisy share of successes, clamped to [0, 1].
func (b Binomial) Estimate() float64 { return min(1, max(0, b.Value/float64(b.N))) }

// Interval returns the smallest interval that contains all θ that a test at level 1 − confidence does not reject.
// For "greater" it reaches from a lower bound to 1, and for "less" from 0 to an upper bound. It covers the true θ
// with probability at least confidence, because of the level of the test. It is never empty: if the test rejects
// every θ, it is the end with the largest p-value.
func (b Binomial) Interval(confidence float64, alternative string) (Interval, error) {
	if err := b.check(); err != nil {
		return Interval{}, err
	}
	if !(confidence > 0 && confidence < 1) {
		return Interval{}, wrong("the confidence must be between 0 and 1")
	}
	b = b.remembering()
	out, alpha := Interval{0, 1, confidence}, 1-confidence
	switch alternative {
	case Greater: // the p-value rises with θ
		out.Low = rising(0, 1, func(theta float64) bool { return b.p(theta, Greater) >= alpha })
	case Less:
		out.High = 1 - rising(0, 1, func(x float64) bool { return b.p(1-x, Less) >= alpha })
	case TwoSided:
		out.Low, out.High = b.ends(alpha)
	default:
		return Interval{}, wrong("the alternative must be %s, %s or %s, not %q", TwoSided, Greater, Less, alternative)
	}
	return out, nil
}

// rising returns the smallest x in [low, high] from which on the function holds returns true, rounded down. If
// holds never returns true, the result is about high.
func rising(low, high float64, holds func(x float64) bool) float64 {
	if holds(low) {
		return low
	}
	for range 60 {
		middle := low + (high-low)/2
		if holds(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return low
}

// ends returns the ends of the two-sided interval.
//
// If the estimate is inside (0, 1), its p-value is 1. From there the p-value falls on both sides, apart from
// ripples. So ends searches a grid on each side, from the outside to the inside, until it finds a θ that is not
// rejected. The steps of the grid are an eighth of the standard deviation. They are smaller if few people make the
// ripples large. They are at most 1/64, because the noise may be wider than the range of θ.
func (b Binomial) ends(alpha float64) (low, high float64) {
	e, n := b.Estimate(), float64(b.N)
	accepted := func(theta float64) bool { return b.p(theta, TwoSided) >= alpha }
	spread := math.Sqrt(b.variance() + n/4)
	step := spread / n / 8
	if n <= rippled {
		step = min(step, max(step/8, 1/(8*n)))
	}
	step = min(step, 1./64)
	far := math.Min(1, spread/n*(2+math.Sqrt(2/alpha))) // by Chebyshev's inequality, every θ further away is rejected
	side := func(end, sign float64) float64 {
		if accepted(end) {
			return end
		}
		from := math.Abs(end - e)
		for x := math.Min(from, far); x > 0; x -= step {
			if accepted(e + sign*x) {
				outer := math.Min(from, x+step)
				return e + sign*(outer-rising(0, outer-x, func(y float64) bool { return accepted(e + sign*(outer-y)) }))
			}
		}
		return e
	}
	return max(0, side(0, -1)), min(1, side(1, 1))
}

// rippled is the largest number of people for which the search uses a finer grid. The two-sided p-value has ripples
// of period 1/n in θ.
const rippled = 10_000

func (b Binomial) variance() float64 {
	if b.Tulap != nil {
		return b.Tulap.Variance()
	}
	return b.Noise.Variance()
}

// Power returns the probability that the test of null at level alpha rejects, if θ is truth. It is exact for the
// test that rejects beyond the number at which the p-value is alpha.
func (b Binomial) Power(null, truth, alpha float64, alternative string) (float64, error) {
	b.Value = 0
	if err := b.check(); err != nil {
		return 0, err
	}
	if !(null > 0 && null < 1 && truth >= 0 && truth <= 1 && alpha > 0 && alpha < 1) {
		return 0, wrong("probabilities and levels must be between 0 and 1")
	}
	b = b.remembering()
	n := float64(b.N)
	reach := 1.0
	for b.atMost(-reach) > alpha/1e6 && reach < MaxCount {
		reach *= 2
	}
	switch alternative {
	case Greater:
		c := b.edge(-reach, n+reach, func(z float64) bool { return b.right(null, z) <= alpha })
		return b.right(truth, c), nil
	case Less:
		c := -b.edge(-n-reach, reach, func(z float64) bool { return b.left(null, -z) <= alpha })
		return b.left(truth, c), nil
	case TwoSided:
		m := n * null
		t := b.edge(0, n+reach, func(z float64) bool { return b.right(null, m+z)+b.left(null, m-z) <= alpha })
		return min(1, b.right(truth, m+t)+b.left(truth, m-t)), nil
	}
	return 0, wrong("the alternative must be %s, %s or %s, not %q", TwoSided, Greater, Less, alternative)
}

// edge returns the smallest x in [low, high] from which on the function holds returns true, rounded up.
func (b Binomial) edge(low, high float64, holds func(x float64) bool) float64 {
	for range 100 {
		middle := low + (high-low)/2
		if holds(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}
