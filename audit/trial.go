package audit

import (
	"cmp"
	"math"
	"runtime"
	"slices"
	"sync"
)

// trial is a score's best event for one aim, with its value for that aim. [audit.choose] describes the aims.
type trial struct {
	event event
	value float64
}

// aim is what makes an event promising, with one side as the likelier one.
type aim struct {
	kind   aimKind
	likely Side
}

type aimKind int

const (
	largeRatio      aimKind = iota // of the probabilities
	largeDifference                // of the probabilities, at the claim's ε
	largeLoss                      // by rareBound
)

// aims returns the aims of the audit. A difference needs a claim, and [rareBound] a δ of 0.
func (a *audit) aims() (out []aim) {
	kinds := []aimKind{largeRatio}
	if a.Claim != nil {
		kinds = append(kinds, largeDifference)
	}
	if a.delta == 0 {
		kinds = append(kinds, largeLoss)
	}
	for _, k := range kinds {
		out = append(out, aim{k, Data}, aim{k, Neighbor})
	}
	return out
}

// value returns what an event promises for the aim. Of two about equal events, that with the smaller penalty wins.
func (m aim) value(p promise, penalty float64) float64 {
	switch m.kind {
	case largeRatio:
		return math.Log(p.ratio) - penalty
	case largeLoss:
		return math.Log(p.rare) - penalty
	}
	return p.difference * math.Exp(-penalty)
}

// promising reports whether the tests are expected to show anything. An event is tested by rareBound only if this may show
// more than the ratios of all other events do, so that other audits lose nothing, and more than another such event.
func (m aim) promising(p promise, others []event) bool {
	switch m.kind {
	case largeRatio:
		return p.ratio > 1
	case largeLoss:
		return p.hope > max(1, p.ratio) && !slices.ContainsFunc(others, func(e event) bool {
			return e.promise.ratio >= p.hope || e.rare && e.likely == m.likely && e.promise.rare >= p.rare
		})
	}
	return p.difference > 0
}

// compare returns the best event of each candidate for each aim. Entry [k][i] is that of candidates[i] for the k-th of
// the audit's aims.
func (a *audit) compare(candidates []candidate, s sample, tests int) [][]trial {
	out := make([][]trial, len(a.aims()))
	for i := range out {
		out[i] = make([]trial, len(candidates))
	}
	var group sync.WaitGroup
	next := make(chan int)
	for range min(runtime.GOMAXPROCS(0), len(candidates)) {
		group.Go(func() {
			for i := range next {
				for k, t := range a.trials(candidates[i], s, tests) {
					out[k][i] = t
				}
			}
		})
	}
	for i := range candidates {
		next <- i
	}
	close(next)
	group.Wait()
	return out
}

// trials tries every threshold of a candidate's score. It returns the best event for each of the audit's aims.
func (a *audit) trials(c candidate, s sample, tests int) (best []trial) {
	aims := a.aims()
	best = make([]trial, len(aims))
	for i := range best {
		best[i].value = math.Inf(-1)
	}
	scored := scores(c.score, s)
	var all, below [2]int
	all[0], all[1] = len(s[0]), len(s[1])
	var present [2]int
	for _, x := range scored {
		present[x.side]++
	}
	guess := a.guesser(all, tests)
	try := func(atLeast bool, threshold func() float64, counts [2]int) {
		for likely := Data; likely <= Neighbor; likely++ {
			p := guess(counts[likely], counts[likely.Other()], likely)
			for k, m := range aims {
				if m.likely != likely {
					continue
				}
				if v := m.value(p, c.penalty); v > best[k].value {
					best[k] = trial{event{c.score, atLeast, threshold(), likely, c.feature, c.id, p, false}, v}
				}
			}
		}
	}
	for i := 0; i < len(scored); {
		value, from := scored[i].score, i
		under := below
		for i < len(scored) && scored[i].score == value {
			below[scored[i].side]++
			i++
		}
		before, after := value, value
		if from > 0 {
			before = scored[from-1].score
		}
		if i < len(scored) {
			after = scored[i].score
		}
		try(true, func() float64 { return shortAbove(before, value) },
			[2]int{present[0] - under[0], present[1] - under[1]})
		try(false, func() float64 { return 0 - shortAbove(-after, -value) }, below)
	}
	return best
}

// shortAbove returns a number with few digits that is above low and at most high, or high if the two are equal. A
// threshold with few digits is easier to read.
func shortAbove(low, high float64) float64 {
	if low == high {
		return high
	}
	return shortest(low, high)
}

type scoredRun struct {
	score float64
	side  Side
}

// scores returns the scores of the outputs in a sample, in ascending order. It leaves out outputs without a score.
func scores(s score, of sample) []scoredRun {
	out := make([]scoredRun, 0, len(of[0])+len(of[1]))
	for side := range of {
		for i := range of[side] {
			if x := s.of(&of[side][i]); !math.IsNaN(x) {
				out = append(out, scoredRun{x, Side(side)})
			}
		}
	}
	slices.SortFunc(out, func(a, b scoredRun) int { return cmp.Compare(a.score, b.score) })
	return out
}

// guesser returns a function that predicts the bounds of an event in the tests from its counts in a sample. The
// prediction is cautious by one standard deviation and one run, because the best of many candidates looks better
// than it is. A wrong prediction can make an audit weaker, but not unsound.
func (a *audit) guesser(runs [2]int, tests int) func(likely, other int, side Side) promise {
	z := math.Log(8 / (1 - a.Confidence))
	n := float64(tests)
	return func(likely, other int, side Side) promise {
		m, w := float64(max(1, runs[side])), float64(max(1, runs[side.Other()]))
		k, j := float64(likely), float64(other)
		p := math.Max(0, k-math.Sqrt(k*(1-k/m))-0.5) / m
		q := math.Min(1, (j+1+math.Sqrt(j*(1-j/w)))/w)
		low := lowGuess(p, z, n)
		high := math.Min(1, q+math.Sqrt(2*z*q*(1-q)/n)+0.9*z/n*(1-q))
		guessed := promise{ratio: math.Max(0, low-a.delta) / high}
		if a.Claim != nil {
			guessed.difference = math.Max(0, low-a.factor*high)
		}
		if a.delta == 0 {
			guessed.rare = rareGuess(p*n, (j+math.Sqrt(j))/w*n, n, z)
			guessed.hope = rareGuess(k/m*n, j/w*n, n, z)
		}
		return guessed
	}
}

// lowGuess returns about the lower confidence bound, with error probability e^−z, for an event with the share p of
// n runs. The bound solves n·KL(p ‖ low) = z.
func lowGuess(p, z, n float64) float64 {
	if p == 0 {
		return 0
	}
	if r := z / (n * p); r > 0.5 { // for few expected events, use the Poisson distribution
		x := 0.0
		for range 4 {
			x = math.Exp(x - 1 - r)
		}
		return p * x
	}
	return math.Max(0, p-math.Sqrt(2*z*p*(1-p)/n)+2*z/(3*n)*(1-2*p))
}
