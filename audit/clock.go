package audit

import (
	"math"
	"slices"
	"time"
)

// Clock compares the running times of two neighbouring datasets, one without a unit and one with it. It holds an
// upper bound on the shift between their times, and a lower bound on the privacy loss that one threshold on the
// times shows. Neither bound proves that the times reveal nothing.
//
// The bounds are for pairs of runs. A pair is one run of each side, in random order, on the machine and under the
// load of the measurement. If the sides have the same distribution of times, the differences within pairs have
// independent signs, even if the load drifts. So the bounds treat pairs as independent.
type Clock struct {
	Pairs  int
	Median [2]time.Duration // median time of one run: without the unit, with the unit
	// Shift is the mean difference within a pair: the time with the unit minus the time without it. Before the mean
	// is taken, the largest 5 % and the smallest 5 % of the differences are clamped to their quantiles. Sigma is
	// the standard deviation of one run's time. It is the smaller of two estimates. The first is the standard
	// deviation of the clamped differences, corrected for the clamping, divided by √2. The second is the standard
	// deviation of all times, with 2.5 % at each end clamped.
	Shift, Sigma time.Duration
	// D is the larger of |Shift|/Sigma and √2·Φ⁻¹(A). A is the probability that a run with the unit takes longer
	// than a run without it, or the probability that it takes less time if that is larger. For normal times
	// |Shift|/Sigma and √2·Φ⁻¹(A) are equal.
	//
	// AtLeast is the larger of the 99.9 % lower bounds on these two numbers, and at least 0. AtMost is the largest
	// of three 99.9 % upper bounds: on these two numbers, and on |shift|/σ of the unclamped times, because rare
	// long runs may reveal the unit. D and AtMost are +Inf if every run of one side is longer than every run of the
	// other.
	D, AtLeast, AtMost float64
	// Gap is the largest difference, over all thresholds, between the shares of the two sides' runs that take
	// longer than the threshold.
	Gap float64
	// Epsilon is a lower bound, with 95 % confidence, on the ε of releasing one run's time. It bounds the logarithm
	// of the ratio of the two sides' probabilities of one event. The event is a time above Threshold if Longer is
	// true, and a time of at most Threshold otherwise. The first half of the pairs chose the event. Counts are the
	// runs of each side with the event, among the Tested pairs of the second half.
	Epsilon   float64
	Threshold time.Duration
	Longer    bool
	Likely    int // the side with the higher probability of the event: 0 without the unit, 1 with it
	Counts    [2]int
	Tested    int
}

// The confidence of the bounds of [Clock], and the share of clamped times.
const (
	// clockZ is the 99.95 % quantile of the normal distribution: 99.9 % two-sided. Only the upper side is used, so
	// the confidence of each bound is a little more than 99.9 %.
	clockZ     = 3.2905
	clockAlpha = 0.025 // error probability of each of two Clopper–Pearson bounds: 95 % confidence together
	edge       = 0.025 // share of times clamped at each end; twice as much of differences
)

// MostTold is the largest d·√k that dither accepts: the total shift, in standard deviations, after k repetitions of
// a question.
const MostTold = 0.5

// Repeats returns the largest number of repetitions k with AtMost·√k ≤ MostTold. The result is not rounded to an
// integer.
func (c *Clock) Repeats() float64 { return (MostTold / c.AtMost) * (MostTold / c.AtMost) }

// ReachableRepeats returns the largest [Clock.Repeats] that a measurement with that many pairs can show, even if
// times reveal nothing. The mean of n differences has a standard error of σ·√(2/n), so AtMost is at least about
// 3.29·√(2/n).
func ReachableRepeats(pairs int) float64 {
	return MostTold * MostTold * float64(pairs) / (2 * clockZ * clockZ)
}

// ClockOf compares the times of pairs of runs: without[i] and with[i] are the times of pair i. It needs at least 4
// pairs.
func ClockOf(without, with []time.Duration) *Clock {
	n := len(with)
	c := &Clock{Pairs: n, Median: [2]time.Duration{median(without), median(with)}}
	sides := [2][]float64{inSeconds(without), inSeconds(with)}
	shift, sigma, a := shifted(sides, edge)
	_, _, whole := shifted(sides, 0)
	b := ranked(sides)
	c.Shift, c.Sigma = time.Duration(shift*float64(time.Second)), time.Duration(sigma*float64(time.Second))
	c.D, c.AtLeast, c.AtMost = max(a.d, b.d), max(a.low, b.low, 0), max(a.high, b.high, whole.high)
	c.Gap = gap(sides)
	half := n / 2
	c.threshold([2][]time.Duration{without[:half], with[:half]}, [2][]time.Duration{without[half:], with[half:]})
	return c
}

// bounds is an estimate d of a shift in standard deviations, with a lower and an upper bound.
type bounds struct{ low, d, high float64 }

func median(all []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[len(sorted)/2]
}

func inSeconds(all []time.Duration) []float64 {
	out := make([]float64, len(all))
	for i, d := range all {
		out[i] = d.Seconds()
	}
	return out
}

// shifted returns the mean shift, σ, and |shift|/σ with its bounds. It clamps a share of the times at each end to
// the quantile, and twice that share of the differences. So a few long runs move neither the mean nor σ.
//
// Clamped numbers are bounded, so the mean of some hundred differences is nearly normal. Its standard error is that
// of a winsorised mean [Tukey & McLaughlin 1963]. The bound adds d²/n to the squared error, for the error of σ.
// That is four times the value for normal times.
//
// With a share of 0, [ClockOf] uses only the upper bound. This case detects long runs that only one side has, in a
// share p of its runs. Such runs hardly move ranks and quantiles, but among 1/p repetitions one is expected. If
// they are long enough, d is close to √(2p), so d·√k accounts for them. If no such run is among n pairs, p is below
// 7/n with 99.9 % confidence. The upper bound allows for such a p: it is at least clockZ·√(2/n) > √(14/n).
func shifted(sides [2][]float64, share float64) (shift, sigma float64, _ bounds) {
	differences := make([]float64, len(sides[0]))
	for i := range differences {
		differences[i] = sides[1][i] - sides[0][i]
	}
	shift, spread := moments(held(differences, 2*share))
	spread /= 1 - 4*share
	all := slices.Concat(sides[0], sides[1])
	_, deviation := moments(held(all, share))
	sigma = min(deviation, spread/math.Sqrt2)
	if sigma == 0 {
		if shift == 0 { // the clock is too coarse to show any difference
			return shift, sigma, bounds{high: math.Inf(1)}
		}
		return shift, sigma, bounds{0, math.Inf(1), math.Inf(1)}
	}
	d := math.Abs(shift) / sigma
	off := clockZ * math.Sqrt(spread*spread/(sigma*sigma)+d*d) / math.Sqrt(float64(len(differences)))
	return shift, sigma, bounds{d - off, d, d + off}
}

// held returns a copy of x in which the given share of the numbers at each end is clamped to the quantile.
func held(x []float64, share float64) []float64 {
	sorted := slices.Sorted(slices.Values(x))
	low, high := sorted[int(share*float64(len(x)))], sorted[len(x)-1-int(share*float64(len(x)))]
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = min(max(v, low), high)
	}
	return out
}

// moments returns the mean and the sample standard deviation of x.
func moments(x []float64) (mean, deviation float64) {
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		deviation += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(deviation / float64(max(len(x)-1, 1)))
}

// ranked returns √2·Φ⁻¹(A) with its bounds, where A is the probability that a run with the unit takes longer than a
// run without it. The estimate of A is Mann and Whitney's statistic. Its error is computed from its projection on
// pairs [DeLong, DeLong & Clarke-Pearson 1988], which allows the two runs of a pair to depend on each other.
//
// Let F₀ and F₁ be the distribution functions of the sides without and with the unit. A − ½ is half the mean, over
// pairs, of F₀(with) − F₁(without). The variance of this estimate is the full variance of that mean, not a quarter
// of it, because F₀ and F₁ are estimated from the same runs.
func ranked(sides [2][]float64) bounds {
	n := float64(len(sides[0]))
	sorted := [2][]float64{slices.Sorted(slices.Values(sides[0])), slices.Sorted(slices.Values(sides[1]))}
	placed := make([]float64, len(sides[0]))
	for i := range placed {
		placed[i] = below(sorted[0], sides[1][i]) - below(sorted[1], sides[0][i])
	}
	mean, deviation := moments(placed)
	from, off := math.Abs(mean)/2, clockZ*deviation/math.Sqrt(n)+1/n // from is the estimate of |A − ½|
	return bounds{apart(max(from-off, 0)), apart(from), apart(from + off)}
}

// apart returns √2·Φ⁻¹(½ + a), or +Inf for a ≥ ½. For two normal variables of which one exceeds the other with
// probability ½ + a, this is their shift in standard deviations.
func apart(a float64) float64 {
	if a >= 0.5 {
		return math.Inf(1)
	}
	return 2 * math.Erfinv(2*a)
}

// below returns the share of sorted numbers that are less than x. Numbers equal to x count half.
func below(sorted []float64, x float64) float64 {
	from, _ := slices.BinarySearch(sorted, x)
	to := from
	for to < len(sorted) && sorted[to] == x {
		to++
	}
	return float64(from+to) / 2 / float64(len(sorted))
}

// gap returns the Kolmogorov–Smirnov statistic of the two sides: the largest difference of their empirical
// distribution functions.
func gap(sides [2][]float64) (most float64) {
	a, b := slices.Sorted(slices.Values(sides[0])), slices.Sorted(slices.Values(sides[1]))
	for i, j := 0, 0; i < len(a) && j < len(b); {
		at := min(a[i], b[j])
		for i < len(a) && a[i] == at {
			i++
		}
		for j < len(b) && b[j] == at {
			j++
		}
		most = max(most, math.Abs(float64(i)/float64(len(a))-float64(j)/float64(len(b))))
	}
	return most
}

// threshold chooses the event that looks most revealing on the first pairs, and bounds its ε on the second pairs.
// It sets the fields of c that describe the event.
func (c *Clock) threshold(first, second [2][]time.Duration) {
	candidates := slices.Sorted(slices.Values(slices.Concat(first[0], first[1])))
	best := math.Inf(-1)
	for i := 0; i < len(candidates); i += max(1, len(candidates)/mostThresholds) {
		for _, longer := range []bool{true, false} {
			counts := [2]int{over(first[0], candidates[i], longer), over(first[1], candidates[i], longer)}
			for likely := range 2 {
				if e := promising(counts, len(first[0]), likely); e > best {
					best, c.Threshold, c.Longer, c.Likely = e, candidates[i], longer, likely
				}
			}
		}
	}
	c.Tested = len(second[0])
	c.Counts = [2]int{over(second[0], c.Threshold, c.Longer), over(second[1], c.Threshold, c.Longer)}
	c.Epsilon = max(0, lossAtLeast(c.Counts, c.Tested, c.Likely))
}

// mostThresholds is about the largest number of thresholds that [Clock.threshold] tries.
const mostThresholds = 400

func over(times []time.Duration, threshold time.Duration, longer bool) (n int) {
	for _, t := range times {
		if t > threshold == longer {
			n++
		}
	}
	return n
}

// promising returns a quick approximation of [lossAtLeast], from Wilson's confidence bounds.
func promising(counts [2]int, n, likely int) float64 {
	bound := func(k int, sign float64) float64 {
		const z = 1.96
		x, m := float64(k), float64(n)
		return (x + z*z/2 + sign*z*math.Sqrt(x*(m-x)/m+z*z/4)) / (m + z*z)
	}
	return math.Log(max(bound(counts[likely], -1), 0) / bound(counts[1-likely], 1))
}

// lossAtLeast returns a lower bound on ln(p/q), where p is the event's probability on the side likely, and q its
// probability on the other side.
func lossAtLeast(counts [2]int, n, likely int) float64 {
	low, _ := between(counts[likely], n, clockAlpha)
	_, high := between(counts[1-likely], n, clockAlpha)
	return math.Log(low / high)
}
