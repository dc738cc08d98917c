package audit

import (
	"cmp"
	"math"
	"runtime"
	"slices"
	"sync"
)

// event is a set of outputs: those whose score is at least, or at most, a threshold.
type event struct {
	score     score
	atLeast   bool
	threshold float64
	likely    Side
	feature   feature // what it is about; without a name where that is everything
	id        int     // the candidate's
	promise   promise
}

func (e *event) has(o *output) bool {
	x := e.score.of(o)
	return e.atLeast && x >= e.threshold || !e.atLeast && x <= e.threshold
}

// promise is what an event lets expect of the runs to come.
type promise struct {
	ratio      float64 // of the bounds on both probabilities, after δ
	difference float64 // of the bounds, at the claim's ε
}

// candidate is a score with how plain it is: of two that promise about as much, the plainer is taken.
type candidate struct {
	score   score
	feature feature
	id      int
	penalty float64 // by which the logarithm of its ratio must be larger
}

// Sizes of learning.
const (
	firstLook  = 2000 // runs on a side in which every score is tried
	manyTokens = 64   // so many that a set of them says little to a reader
	finalists  = 10   // scores, for each aim, that are tried in all
)

// propose learns all scores from a sample.
func propose(s sample) []candidate {
	var out []candidate
	features := featuresOf(s)
	for i, f := range features {
		p := learnParts(f, s)
		if p.bins != nil {
			out = append(out, candidate{height{f}, f, 0, 0}, candidate{p, f, 0, 0.02})
			if i < 1+mostCoordinates {
				out = append(out, grids(f, s)...)
			}
		}
		if t := learnTokens(f, s); t.repeats() {
			penalty := 0.01
			if len(t.tokens) > manyTokens {
				penalty = 0.1
			}
			out = append(out, candidate{t, f, 0, penalty})
		}
	}
	if sum := learnTotal(s); len(sum.parts) > 0 {
		out = append(out, candidate{score: sum, penalty: 0.05})
	}
	for i := range out {
		out[i].id = i
	}
	return out
}

// learnTotal is the score of all coordinates; it has no parts where there is one only.
func learnTotal(s sample) (sum total) {
	d := 0
	for _, side := range s {
		for i := range side {
			d = max(d, len(side[i].fields))
		}
	}
	if d < 2 {
		return sum
	}
	for i := range d {
		sum.parts = append(sum.parts, learnParts(feature{coordinateName(i), coordinate(i)}, s))
	}
	return sum
}

// choose finds, for each side on which an event may be likelier and for each aim, the event that promises most. Scores are learned from
// one sample, and thresholds and scores are compared on the other, so that what was learned too well does not win.
func (a *audit) choose(learned, compared sample, tests int) []event {
	candidates := propose(learned)
	looks := a.compare(candidates, compared.part(firstLook), tests)
	keep := map[int]bool{}
	for aim := range looks {
		order := make([]int, len(candidates))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(looks[aim][j].value, looks[aim][i].value) })
		for _, i := range order[:min(finalists, len(order))] {
			keep[i] = true
		}
	}
	var last []candidate
	for i, c := range candidates {
		if keep[i] {
			last = append(last, c)
		}
	}
	var events, hopeless []event
	for aim, best := range a.compare(last, compared, tests) {
		if len(best) == 0 {
			continue
		}
		e := slices.MaxFunc(best, func(x, y trial) int { return cmp.Compare(x.value, y.value) }).event
		switch promising := aim < 2 && e.promise.ratio > 1 || aim >= 2 && e.promise.difference > 0; {
		case e.score == nil || slices.ContainsFunc(events, e.same):
		case promising:
			events = append(events, e)
		default:
			hopeless = append(hopeless, e)
		}
	}
	if len(events) == 0 && len(hopeless) > 0 {
		return hopeless[:1] // a report tells of something
	}
	return events
}

// same reports the same event, though it was chosen for another aim.
func (e event) same(f event) bool {
	return e.id == f.id && e.atLeast == f.atLeast && e.threshold == f.threshold && e.likely == f.likely
}

// trial is a score's best event for an aim, and what it is worth.
type trial struct {
	event event
	value float64
}

// compare finds the best event of each score, for each aim: a large ratio with each side the likelier, and with a claim a large
// difference too.
func (a *audit) compare(candidates []candidate, s sample, tests int) [][]trial {
	aims := 2
	if a.Claim != nil {
		aims = 4
	}
	out := make([][]trial, aims)
	for i := range out {
		out[i] = make([]trial, len(candidates))
	}
	var group sync.WaitGroup
	next := make(chan int)
	for range min(runtime.GOMAXPROCS(0), len(candidates)) {
		group.Go(func() {
			for i := range next {
				for aim, t := range a.trials(candidates[i], s, tests) {
					if aim < aims {
						out[aim][i] = t
					}
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

// trials tries every threshold of a score.
func (a *audit) trials(c candidate, s sample, tests int) (best [4]trial) {
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
			values := [2]float64{math.Log(p.ratio) - c.penalty, p.difference * math.Exp(-c.penalty)}
			for aim, v := range values {
				if b := &best[2*aim+int(likely)]; v > b.value {
					*b = trial{event{c.score, atLeast, threshold(), likely, c.feature, c.id, p}, v}
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
		try(true, func() float64 { return shortAbove(before, value) }, [2]int{present[0] - under[0], present[1] - under[1]})
		try(false, func() float64 { return -shortAbove(-after, -value) }, below)
	}
	return best
}

// shortAbove is a number with few digits above low and up to high, so that a threshold reads well.
func shortAbove(low, high float64) float64 {
	if low == high {
		return high
	}
	return shortest(low, high)
}

// scoredRun is one run's score.
type scoredRun struct {
	score float64
	side  Side
}

// scores are those of a sample that there are, in order.
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

// guesser foretells what an event's bounds will be in so many tests, by what was counted in a sample: a little gloomily, by one standard
// deviation and one run, since the best of many looks better than it is. (A guess can cost an audit power, never its soundness.)
func (a *audit) guesser(runs [2]int, tests int) func(likely, other int, side Side) promise {
	z := math.Log(8 / (1 - a.Confidence))
	n := float64(tests)
	return func(likely, other int, side Side) promise {
		m, w := float64(max(1, runs[side])), float64(max(1, runs[side.Other()]))
		k, j := float64(likely), float64(other)
		p := math.Max(0, k-math.Sqrt(k*(1-k/m))-0.5) / m
		q := math.Min(1, (j+1+math.Sqrt(j*(1-j/w)))/w)
		low := math.Max(0, p-math.Sqrt(2*z*p*(1-p)/n)-0.7*z/n*(1-p))
		high := math.Min(1, q+math.Sqrt(2*z*q*(1-q)/n)+0.7*z/n*(1-q))
		guessed := promise{ratio: math.Max(0, low-a.delta) / high}
		if a.Claim != nil {
			guessed.difference = math.Max(0, low-a.factor*high)
		}
		return guessed
	}
}
