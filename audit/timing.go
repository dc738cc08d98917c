package audit

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// Timing is how long runs took. No promise covers it, and it is not part of the verdict.
type Timing struct {
	Runs   [2]int           // that were timed on each side: of batched runs, the batches
	Median [2]time.Duration // of one run, on each side
	// Slower is the share of pairs of runs, one of each side, in which the run on Data took longer, with ties counted
	// half: about ½ if time reveals nothing about the side. By chance it is off by Chance, one standard deviation.
	Slower, Chance float64
	// Sizes is Spearman's rank correlation of a run's time with the size of its output: of the number's magnitude, or
	// else of the text's length. NaN if one of them never changes, or where no run has a time of its own. By chance
	// it is off by 1/√runs.
	Sizes float64
}

// timing is what was timed in a recording; nil if a side has nothing.
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

// sizes are the outputs' sizes, one side after the other.
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

// ranks are the ranks of numbers, from 1; equal ones share the mean of theirs.
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

// correlation is Pearson's; NaN if one of them is constant.
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
