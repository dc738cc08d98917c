package audit

import (
	"math"
	"slices"
	"time"
)

// Clock compares the running times of two neighbouring datasets, one without a unit and one with it. It holds an upper
// bound on the shift of the times, and a lower bound on what one threshold on them reveals. Neither proves that the
// clock reveals nothing.
//
// The bounds hold for pairs of runs, one of each side in random order, on the machine and under the load of the
// measurement. Differences within a pair have independent signs if the sides are alike, however the load drifts, so the
// bounds treat pairs as independent.
type Clock struct {
	Pairs  int
	Median [2]time.Duration // of one run without the unit, and with it
	// Shift is the mean difference of a pair, the run with the unit minus the one without it, after clamping the 5 %
	// largest and smallest differences to their quantiles. Sigma is the standard deviation of one run's time. It is the
	// lesser of two estimates: from the differences within pairs, divided by √2; or from all times together, after
	// clamping 2.5 % on either side.
	Shift, Sigma time.Duration
	// D is |Shift|/Sigma, or √2·Φ⁻¹(A) if that is larger. A is the probability that a run with the unit takes
	// longer than one without it, or shorter; for normal times both numbers are equal. AtMost is the largest of three
	// 99.9 % upper bounds: on these two, and on |shift|/σ of the unclamped times, because rare long runs may reveal the
	// unit. AtLeast is the larger of the lower bounds on the first two, 0 without one. D and AtMost are +Inf if every
	// run of one side is longer than every run of the other.
	D, AtLeast, AtMost float64
	// Gap is the largest difference between the two sides' shares of runs above a threshold.
	Gap float64
	// Epsilon is a lower bound, with 95 % confidence, on the ε that one run's time has: the log of the ratio of the two
	// sides' probabilities of a time beyond Threshold (below it where Longer is false). The first half of the pairs
	// chose the threshold; Counts are of the Tested pairs of the second half.
	Epsilon   float64
	Threshold time.Duration
	Longer    bool
	Likely    int // the side on which the event is likelier: 0 without the unit, 1 with it
	Counts    [2]int
	Tested    int
}

// Constants of the bounds.
const (
	// clockZ is the 99.95 % quantile of the normal law: 99.9 % two-sided. Only the upper side is used, so the bounds
	// hold with a little more than 99.9 %.
	clockZ     = 3.2905
	clockAlpha = 0.025 // of each end of the two Clopper–Pearson bounds, 95 % together
	edge       = 0.025 // of the times on either side are moved to a quantile, and twice as much of differences
)

// MostTold is the largest allowed d·√k: the total shift, in standard deviations, after k questions that an analyst
// may repeat.
const MostTold = 0.5

// Repeats is how many repetitions the bound allows: the largest k with AtMost·√k ≤ MostTold.
func (c *Clock) Repeats() float64 { return (MostTold / c.AtMost) * (MostTold / c.AtMost) }

// ReachableRepeats is the most repetitions that this many pairs can show, even if times reveal nothing: the mean of n
// differences is uncertain by σ·√(2/n), so AtMost is at least about 3.29·√(2/n).
func ReachableRepeats(pairs int) float64 {
	return MostTold * MostTold * float64(pairs) / (2 * clockZ * clockZ)
}

// ClockOf compares the times of pairs of runs; without[i] and with[i] are of one pair. There are at least 4 pairs.
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

// bounds are an estimate of d with its bounds.
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

// shifted is |shift|/σ with its bounds, where such a share of the times on either side, and twice as much of the
// differences, is held to the quantile: then a few long runs move neither the mean nor σ. Numbers that are held are
// bounded, so the mean of differences is normal enough for some hundred pairs; its error is that of a winsorised mean
// [Tukey & McLaughlin 1963]. Beside it the bound has d²/n for the error of σ, four times what it is of normal times.
//
// With a share of 0 only the upper bound is used. It is for long runs that only one side has, in a share p of its runs.
// They hardly move ranks and quantiles, and yet 1/p repetitions show one. Once they are long enough, d is √(2p) or
// close to it, so that d·√k sees them. If none was among n pairs, p is below 7/n with 99.9 %, and the bound allows
// for that: it is at least clockZ·√(2/n) > √(14/n).
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
		if shift == 0 { // a clock that is too coarse to show anything
			return shift, sigma, bounds{high: math.Inf(1)}
		}
		return shift, sigma, bounds{0, math.Inf(1), math.Inf(1)}
	}
	d := math.Abs(shift) / sigma
	off := clockZ * math.Sqrt(spread*spread/(sigma*sigma)+d*d) / math.Sqrt(float64(len(differences)))
	return shift, sigma, bounds{d - off, d, d + off}
}

// held are numbers, of which so large a share on either side is moved to the quantile.
func held(x []float64, share float64) []float64 {
	sorted := slices.Sorted(slices.Values(x))
	low, high := sorted[int(share*float64(len(x)))], sorted[len(x)-1-int(share*float64(len(x)))]
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = min(max(v, low), high)
	}
	return out
}

// moments are the mean and the standard deviation.
func moments(x []float64) (mean, deviation float64) {
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		deviation += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(deviation / float64(max(len(x)-1, 1)))
}

// ranked is √2·Φ⁻¹(A) and its bounds. A is estimated by Mann and Whitney's statistic, and its error by its
// projection on pairs [DeLong, DeLong & Clarke-Pearson 1988], in which the two runs of a pair may depend on each other:
// A − ½ is half the mean over pairs of F₀(with) − F₁(without), F being the sides' distribution functions, and
// has the variance of that mean, not a quarter of it, since F₀ and F₁ are estimated of the same runs.
func ranked(sides [2][]float64) bounds {
	n := float64(len(sides[0]))
	sorted := [2][]float64{slices.Sorted(slices.Values(sides[0])), slices.Sorted(slices.Values(sides[1]))}
	placed := make([]float64, len(sides[0]))
	for i := range placed {
		placed[i] = below(sorted[0], sides[1][i]) - below(sorted[1], sides[0][i])
	}
	mean, deviation := moments(placed)
	from, off := math.Abs(mean)/2, clockZ*deviation/math.Sqrt(n)+1/n // of ½
	return bounds{apart(max(from-off, 0)), apart(from), apart(from + off)}
}

// apart is √2·Φ⁻¹(½ + a).
func apart(a float64) float64 {
	if a >= 0.5 {
		return math.Inf(1)
	}
	return 2 * math.Erfinv(2*a)
}

// below is the share of sorted numbers that are below x, those that are equal counting half.
func below(sorted []float64, x float64) float64 {
	from, _ := slices.BinarySearch(sorted, x)
	to := from
	for to < len(sorted) && sorted[to] == x {
		to++
	}
	return float64(from+to) / 2 / float64(len(sorted))
}

// gap is the Kolmogorov–Smirnov statistic.
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

// threshold chooses an event on the first pairs, and bounds what it reveals on the others.
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

// mostThresholds bounds how many are tried.
const mostThresholds = 400

func over(times []time.Duration, threshold time.Duration, longer bool) (n int) {
	for _, t := range times {
		if t > threshold == longer {
			n++
		}
	}
	return n
}

// promising approximates lossAtLeast quickly, by Wilson's bounds.
func promising(counts [2]int, n, likely int) float64 {
	bound := func(k int, sign float64) float64 {
		const z = 1.96
		x, m := float64(k), float64(n)
		return (x + z*z/2 + sign*z*math.Sqrt(x*(m-x)/m+z*z/4)) / (m + z*z)
	}
	return math.Log(max(bound(counts[likely], -1), 0) / bound(counts[1-likely], 1))
}

// lossAtLeast bounds ln(p/q) from below, p being the event's probability on the likely side and q on the other.
func lossAtLeast(counts [2]int, n, likely int) float64 {
	low, _ := between(counts[likely], n, clockAlpha)
	_, high := between(counts[1-likely], n, clockAlpha)
	return math.Log(low / high)
}
