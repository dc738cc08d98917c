package audit

import (
	"cmp"
	"math"
	"slices"
)

// event is a set of outputs: those whose score is at least a threshold, or those whose score is at most a
// threshold.
type event struct {
	score     score
	atLeast   bool
	threshold float64
	likely    Side
	feature   feature // the feature that a report's histogram shows for this event
	id        int     // the id of the event's candidate
	promise   promise
	rare      bool // the event is tested by [rareBound] too
}

func (e *event) has(o *output) bool {
	x := e.score.of(o)
	return e.atLeast && x >= e.threshold || !e.atLeast && x <= e.threshold
}

// clause describes the event in words, and reports whether the description is complete.
func (e *event) clause() (text string, whole bool) { return e.score.event(e.atLeast, e.threshold) }

// promise predicts what the tests will show for an event.
type promise struct {
	ratio      float64 // (low − δ)/high, with low and high the predicted bounds on the event's probabilities
	difference float64 // low − e^ε·high, at the claim's ε
	rare       float64 // e^ε by [rareBound], at a δ of 0
	hope       float64 // the same without caution: a rare event's few runs in the sample may be fewer than expected
}

// candidate is a score that may define events, with a penalty for its complexity. Of two about equally promising
// scores, the simpler wins.
type candidate struct {
	score   score
	feature feature
	id      int
	penalty float64 // subtracted from the logarithm of an event's ratio or difference
}

// Limits of learning.
const (
	firstLook   = 2000 // runs of each side on which every score is tried
	manyTokens  = 64   // sets of more tokens than this are hard to read, and get a larger penalty
	noCandidate = -1   // the id of events that are no candidate's
	finalists   = 8    // scores that are tried on the whole sample: this many for each aim and each number of tests
)

// propose returns candidate scores, learned from a sample.
func propose(features []feature, s sample) []candidate {
	var out []candidate
	gridded := 0
	for _, f := range features {
		p := learnParts(f, s)
		if p.bins != nil {
			out = append(out, candidate{height{f}, f, 0, 0}, candidate{p, f, 0, 0.02})
			if f.digits() && gridded <= mostCoordinates {
				gridded++
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
	out = append(out, together(s)...)
	for i := range out {
		out[i].id = i
	}
	return out
}

// together returns candidate scores that combine all coordinates. If no output has more than one coordinate, it
// returns none.
func together(s sample) []candidate {
	d := 0
	for _, side := range s {
		for i := range side {
			d = max(d, len(side[i].fields))
		}
	}
	if d < 2 {
		return nil
	}
	var sum total
	for i := range d {
		sum.parts = append(sum.parts, learnParts(coordinateFeature(i), s))
	}
	out := []candidate{{sum, figureOf(sum, sum.name()), 0, 0.05}}
	if d <= mostPaired {
		out = append(out, pairsOf(d, s)...)
	}
	return out
}

// figureOf turns a score into a feature, so that a histogram can show it.
func figureOf(s score, name string) feature {
	return feature{name, ofFigure, func(o *output) field { return numberField(s.of(o)) }}
}

// choose returns the most promising event for each aim: a large ratio of the probabilities, a large difference, or a
// large bound on the loss by [rareBound], with a given side as the likelier one. It learns scores from the sample
// `learned`. It compares thresholds and scores on the other sample, so that an overfitted score does not win. For
// rareBound it chooses a single output too. tests is the number of runs that will test each event.
func (a *audit) choose(features []feature, learned, compared sample, tests int) []event {
	candidates := propose(features, learned)
	keep := map[int]bool{}
	// scores are compared at the actual number of tests, and at an unlimited number
	for _, runs := range []int{tests, math.MaxInt32} {
		for _, look := range a.compare(candidates, compared.part(firstLook), runs) {
			order := make([]int, len(candidates))
			for i := range order {
				order[i] = i
			}
			slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(look[j].value, look[i].value) })
			for _, i := range order[:min(finalists, len(order))] {
				keep[i] = true
			}
		}
	}
	var last []candidate
	for i, c := range candidates {
		if keep[i] {
			last = append(last, c)
		}
	}
	var events, hopeless []event
	add := func(m aim, e event) {
		e.rare = m.kind == largeLoss
		switch promising := m.promising(e.promise, events); {
		case e.score == nil:
		case slices.ContainsFunc(events, e.same):
			if promising && e.rare {
				events[slices.IndexFunc(events, e.same)].rare = true
			}
		case promising:
			events = append(events, e)
		default:
			hopeless = append(hopeless, e)
		}
	}
	for i, best := range a.compare(last, compared, tests) {
		m := a.aims()[i]
		if m.kind == largeLoss {
			add(m, a.single(features[0], learned, compared, tests, m.likely))
		}
		if len(best) > 0 {
			add(m, slices.MaxFunc(best, func(x, y trial) int { return cmp.Compare(x.value, y.value) }).event)
		}
	}
	if len(events) == 0 && len(hopeless) > 0 {
		return hopeless[:1] // report at least one event, even an unpromising one
	}
	return events
}

// same reports whether two events are equal, apart from the aim for which they were chosen.
func (e event) same(f event) bool {
	return e.id == f.id && e.atLeast == f.atLeast && e.threshold == f.threshold && e.likely == f.likely
}
