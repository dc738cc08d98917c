package audit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
)

// ErrUnlike reports that the runs of one side are not independent and identically distributed, so that no
// conclusion is possible. Typical causes are noise that was drawn once for many runs, noise from a shared seed, and
// a mechanism that changes as it runs.
var ErrUnlike = errors.New("the runs are not identically distributed")

// tally counts the runs of one side in which one event happened. It counts them for each turn, which is one call of
// the mechanism, and for each block of consecutive runs.
type tally struct {
	turns, blocks []part
}

// part is a group of runs: seen counts those in which an event happened, and runs counts all of them.
type part struct{ seen, runs int }

// A side's tested runs are divided into at most mostBlocks blocks of at least blockRuns runs.
const (
	mostBlocks = 128
	blockRuns  = 40
)

func (t tally) seen() (n int) {
	for _, p := range t.turns {
		n += p.seen
	}
	return n
}

// test runs each side that many times, in turns. It counts how often each event happens on each side: entry
// [i][side] of the result belongs to events[i].
func (a *audit) test(ctx context.Context, events []event, runs int) ([][2]tally, error) {
	turns, blocks := min(turnsOf, runs), max(1, min(mostBlocks, runs/blockRuns))
	if !a.paced() {
		turns = min(turnsOfBatched, runs)
	}
	tallies := make([][2]tally, len(events))
	for i := range tallies {
		for side := range tallies[i] {
			tallies[i][side] = tally{make([]part, turns), make([]part, blocks)}
		}
	}
	var seen [2]int
	err := a.turns(ctx, turns, runs, func(side Side, turn int, text []byte) {
		o := parse(text)
		block := int(int64(seen[side]) * int64(blocks) / int64(runs))
		seen[side]++
		for i := range events {
			has := events[i].has(&o)
			t := &tallies[i][side]
			t.turns[turn].add(has)
			t.blocks[block].add(has)
		}
	})
	return tallies, err
}

func (p *part) add(has bool) {
	p.runs++
	if has {
		p.seen++
	}
}

// mostMiddles is the largest number of features of which [middles] returns an event.
const mostMiddles = 8

// middles returns events that the audit tests for likeness alone: the numbers of at least a feature's median in a
// sample, for the first numeric features. An event that is chosen to tell the two sides apart may contain every run, or
// none; then it shows nothing about noise that is drawn once for many runs.
func middles(features []feature, s sample) (events []event) {
	for _, f := range features {
		h := height{f}
		var heights []float64
		for _, side := range s {
			for i := range side {
				if x := h.of(&side[i]); !math.IsNaN(x) {
					heights = append(heights, x)
				}
			}
		}
		if len(heights) == 0 {
			continue
		}
		slices.Sort(heights)
		events = append(events, event{score: h, atLeast: true, threshold: heights[len(heights)/2]})
		if len(events) == mostMiddles {
			break
		}
	}
	return events
}

// alike returns [ErrUnlike] if an event's counts on one side differ more, between turns or between blocks of runs,
// than counts of independent, identically distributed runs do. If all runs are independent and identically
// distributed, it returns an error with probability at most allowed, over all events together.
func (a *audit) alike(events []event, tallies [][2]tally, allowed float64) error {
	allowed /= float64(max(1, 4*len(events))) // each event is tested by turns and by blocks, on two sides
	for i, sides := range tallies {
		for side, t := range sides {
			for _, parts := range [2][]part{t.turns, t.blocks} {
				if unlikely(parts) >= allowed {
					continue
				}
				least, most := extremes(parts)
				clause, _ := events[i].clause()
				return fmt.Errorf(
					"%w, so no conclusion is possible. On %v, %s in %d of %d runs, but at another time in %d of %d",
					ErrUnlike, Side(side), clause, least.seen, least.runs, most.seen, most.runs)
			}
		}
	}
	return nil
}

// extremes returns the parts in which the event has the smallest and the largest relative frequency.
func extremes(parts []part) (least, most part) {
	least, most = parts[0], parts[0]
	for _, p := range parts {
		if p.seen*least.runs < least.seen*p.runs {
			least = p
		}
		if p.seen*most.runs > most.seen*p.runs {
			most = p
		}
	}
	return least, most
}

// unlikely returns an upper bound on the probability that an event's counts in these parts of one side's runs
// differ at least as much as they do, if all runs are independent and identically distributed.
//
// Proof. Let p be the event's probability, and k the event's count in a part of n runs. Let d be 0 if |k − np| ≤ 1.
// Otherwise let d = 2n·KL(c/n ‖ p), where c is k moved by one towards np. Zubkov & Serov 2013 prove P(X ≥ k) ≤
// Φ(−√(2n·KL((k−1)/n ‖ p))) and its mirror image, so P(d ≥ z²) ≤ 2·Φ(−z). So d is stochastically at most χ² with
// one degree of freedom. The m parts are independent, so the sum of their d is stochastically at most χ² with m
// degrees of freedom. The code minimises this sum over p, so its value is at most the sum at the true p. ∎
//
// The sum is convex in p, so a golden-section search finds its minimum, up to a relative error of 1e-9. The code
// subtracts a relative 1e-6 to cover that error.
func unlikely(parts []part) float64 {
	low, high := 1.0, 0.0
	for _, p := range parts {
		low, high = min(low, float64(p.seen-1)/float64(p.runs)), max(high, float64(p.seen+1)/float64(p.runs))
	}
	const tiny = 1e-12
	low, high = max(low, tiny), min(high, 1-tiny)
	sum := func(p float64) (d float64) {
		for _, s := range parts {
			d += distance(s, p)
		}
		return d
	}
	golden := (math.Sqrt(5) - 1) / 2
	x, y := high-golden*(high-low), low+golden*(high-low)
	atX, atY := sum(x), sum(y)
	for range 60 {
		if atX <= atY {
			high, y, atY = y, x, atX
			x = high - golden*(high-low)
			atX = sum(x)
		} else {
			low, x, atX = x, y, atY
			y = low + golden*(high-low)
			atY = sum(y)
		}
	}
	return chiSquared(min(atX, atY)*(1-1e-6), len(parts))
}

// distance returns the d of one part, as defined in the proof of [unlikely].
func distance(s part, p float64) float64 {
	n, k := float64(s.runs), float64(s.seen)
	c := max(k-1, min(n*p, k+1))
	if c == n*p {
		return 0
	}
	return 2 * (divergence(c, n*p) + divergence(n-c, n*(1-p)))
}

func divergence(x, m float64) float64 {
	if x <= 0 {
		return m
	}
	return deviance(x, m)
}

// chiSquared returns an upper bound on P(χ² ≥ x) with the given degrees of freedom. For an even number of them, the
// bound is the probability itself, computed as a Poisson sum and rounded up. An odd number is replaced by the next
// even one.
func chiSquared(x float64, degrees int) float64 {
	h := x / 2
	sum, term := 0.0, 1.0
	logScale := -h
	for j := range (degrees + 1) / 2 {
		if j > 0 {
			term *= h / float64(j)
		}
		sum += term
		if sum > 1e200 {
			sum, term, logScale = sum*1e-200, term*1e-200, logScale+200*math.Ln10
		}
	}
	return min(1, math.Exp(math.Log(sum)+logScale)*(1+1e-9))
}
