package quantile

import (
	"math/big"

	"dither/internal/entropy"
	"dither/internal/sample"
	"dither/mechanism"
	"dither/privacy"
)

// stage is a set of draws made together: one value in each section, with probability ∝ exp(−rate·d), d in rows.
type stage struct {
	domain   Domain
	sections []section
	rates    []*big.Rat
	whole    int64 // the share of a row that lies inside a section
}

// rateOf is ε/(2Δ).
func rateOf(e privacy.Epsilon, delta *big.Rat) *big.Rat {
	twice := new(big.Rat).Add(delta, delta)
	return twice.Quo(e.Rat(), twice)
}

// cut draws the values: the first pass counts the sections' rows, the second is a race in each.
func (st stage) cut(src *entropy.Source, data mechanism.Ordered) ([]int64, error) {
	totals := make([]int64, len(st.sections))
	rows, err := each(data, st.domain,
		eachPart(st.sections, st.whole, func(i int, _, mass int64) { totals[i] += mass }))
	if err != nil {
		return nil, err
	}
	runs := make([]runs, len(st.sections))
	races := make([]sample.Contest, len(st.sections))
	for i, s := range st.sections {
		unit := new(big.Rat).SetInt64((s.to - s.from) * st.whole) // scores are in parts of a row
		races[i] = sample.NewContest(src, unit.Quo(st.rates[i], unit))
		runs[i] = newRuns(s, totals[i], races[i].Enter)
	}
	if err := eachAgain(data, st.domain, rows,
		eachPart(st.sections, st.whole, func(i int, value, mass int64) { runs[i].value(value, mass) })); err != nil {
		return nil, err
	}
	cuts := make([]int64, len(st.sections))
	for i := range st.sections {
		runs[i].end()
		cuts[i] = races[i].First + int64(src.Below64(races[i].Width))
	}
	return cuts, nil
}

// eachPart is a visitor of rising values that visits the sections to which each belongs, with as much of its rows as
// does. Of the sections neither lower nor upper ends fall: those of a recursion touch at most at their ends, or all are
// the same.
func eachPart(level []section, whole int64, visit func(i int, value, mass int64)) func(value, count int64) {
	at := 0
	return func(value, count int64) {
		for at < len(level) && level[at].high < value {
			at++
		}
		for i := at; i < len(level) && level[i].low <= value; i++ {
			if level[i].high >= value {
				visit(i, value, count*level[i].share(value, whole))
			}
		}
	}
}

// runs tells the candidates of a section apart by their scores, in rising order: the values of rows one by one, and the
// gaps between them as runs of equal score. The score is −d·(to − from), with rows counted in their shares, an
// integer.
type runs struct {
	section
	enter func(first int64, width uint64, score int64)
	total int64 // rows of the section
	below int64 // those below next
	next  int64 // the least candidate that has not entered
}

func newRuns(s section, total int64, enter func(first int64, width uint64, score int64)) runs {
	return runs{section: s, enter: enter, total: total, next: s.low}
}

// score is that of a candidate with so much below it, and so much at or below it. All are below 2⁶²: rows are at
// most 2⁴⁰, shares 2⁸, and to − from at most 10,000.
func (r *runs) score(below, upTo int64) int64 {
	scale, sought := r.to-r.from, (r.at-r.from)*r.total
	return -max(0, scale*below-sought, sought-scale*upTo)
}

// value enters the gap before a value of rows, and the value.
func (r *runs) value(value, mass int64) {
	r.gap(value)
	r.enter(value, 1, r.score(r.below, r.below+mass))
	r.below += mass
	r.next = value + 1
}

// end enters the gap after the last value.
func (r *runs) end() { r.gap(r.high + 1) }

// gap enters what is below until, if anything is. Both may be 2⁶³, beyond the last integer: the difference is right
// all the same.
func (r *runs) gap(until int64) {
	if width := uint64(until) - uint64(r.next); width > 0 {
		r.enter(r.next, width, r.score(r.below, r.below))
	}
}
