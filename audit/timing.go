package audit

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// Timing describes how long runs took. No promise covers it, and it does not affect the verdict.
type Timing struct {
	Runs   [2]int           // timed runs of each side; for a [Batcher], timed turns
	Median [2]time.Duration // median time of one run, by side
	// Slower is the share of pairs, of one run of each side, in which the run on Data took longer. Ties count half.
	// It is about ½ if the time reveals nothing about the side. Chance is its standard error in that case.
	Slower, Chance float64
	// Sizes is Spearman's rank correlation between a run's time and the size of its output. The size is the
	// absolute value of a number, or the length of a text. Sizes is NaN if all times or all sizes are equal, and
	// for a [Batcher]. Its standard error is about 1/√runs.
	Sizes float64
}

// timing summarises the times of a recording. It returns nil if a side has no times.
func timing(r recording, paced bool) *Timing {
	n, m := len(r.times[0]), len(r.times[1])
	if n == 0 || m == 0 {
		return nil
	}
	t := &Timing{Runs: [2]int{n, m}, Sizes: math.NaN()}
	var times []float64
	for side := range r.times {
		sorted := slices.Sorted(slices.Values(r.times[side]))
		t.Median[side] = sorted[len(sorted)/2]
		for _, d := range r.times[side] {
			times = append(times, float64(d))
		}
	}
	ranked := ranks(times)
	sum := 0.0
	for _, rank := range ranked[:n] {
		sum += rank
	}
	x, y := float64(n), float64(m)
	t.Slower = (sum - x*(x+1)/2) / (x * y) // Mann and Whitney's statistic
	t.Chance = math.Sqrt((x + y + 1) / (12 * x * y))
	if paced {
		t.Sizes = correlation(ranked, ranks(sizes(r.sample)))
	}
	return t
}

// sizes returns the sizes of the outputs: first those of Data, then those of Neighbor.
func sizes(s sample) []float64 {
	var out []float64
	for _, side := range s {
		for i := range side {
			if f := whole(&side[i]); f.is == numeric {
				out = append(out, math.Abs(f.number))
			} else {
				out = append(out, float64(len(f.text)))
			}
		}
	}
	return out
}

// ranks returns the rank of each number, from 1. Equal numbers share the mean of their ranks.
func ranks(x []float64) []float64 {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(x[i], x[j]) })
	out := make([]float64, len(x))
	for from := 0; from < len(order); {
		to := from
		for to < len(order) && x[order[to]] == x[order[from]] {
			to++
		}
		for _, i := range order[from:to] {
			out[i] = float64(from+to+1) / 2
		}
		from = to
	}
	return out
}

// correlation returns Pearson's correlation, or NaN if x or y is constant.
func correlation(x, y []float64) float64 {
	mean := func(x []float64) float64 {
		sum := 0.0
		for _, v := range x {
			sum += v
		}
		return sum / float64(len(x))
	}
	a, b := mean(x), mean(y)
	var xx, yy, xy float64
	for i := range x {
		xx += (x[i] - a) * (x[i] - a)
		yy += (y[i] - b) * (y[i] - b)
		xy += (x[i] - a) * (y[i] - b)
	}
	return xy / math.Sqrt(xx*yy)
}
