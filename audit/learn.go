package audit

import (
	"cmp"
	"math"
	"slices"
)

// event is a set of outputs: those whose score is at least, or at most, a threshold.
type event struct {
	score     score
	atLeast   bool
	threshold float64
	likely    Side
	feature   feature // what it is about; of none if that is everything
	id        int     // the candidate's
	promise   promise
}

func (e *event) has(o *output) bool {
	x := e.score.of(o)
	return e.atLeast && x >= e.threshold || !e.atLeast && x <= e.threshold
}

// clause says what the event is, and whether that is the whole of it.
func (e *event) clause() (text string, whole bool) { return e.score.event(e.atLeast, e.threshold) }

// promise is what an event should show in the runs to come.
type promise struct {
	ratio      float64 // of the bounds on both probabilities, after δ
	difference float64 // of the bounds, at the claim's ε
}

// candidate is a score with a penalty for complexity: of two about equally promising scores, the simpler is taken.
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
	finalists  = 8    // scores, for each aim and by each measure, that are tried in all
)

// propose learns all scores from a sample.
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

// together are the scores of all coordinates; none if there is one coordinate only.
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

// figureOf is a score as a feature, for pictures.
func figureOf(s score, name string) feature {
	return feature{name, ofFigure, func(o *output) field { return numberField(s.of(o)) }}
}

// choose finds the most promising event, for each side on which an event may be likelier and for each aim. Scores are
// learned from one sample, and thresholds and scores are compared on the other, so that overfitted scores do not win.
func (a *audit) choose(features []feature, learned, compared sample, tests int) []event {
	candidates := propose(features, learned)
	keep := map[int]bool{}
	for _, runs := range []int{tests, math.MaxInt32} { // by what so many tests will show, and by what any number would
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

// same reports the same event, even if it was chosen for another aim.
func (e event) same(f event) bool {
	return e.id == f.id && e.atLeast == f.atLeast && e.threshold == f.threshold && e.likely == f.likely
}
