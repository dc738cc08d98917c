package quantile

import (
	"math/big"

	"dither/internal/entropy"
	"dither/internal/sample"
	"dither/mechanism"
	"dither/privacy"
)

// stage is a set of draws that are made together: one value in each section, with probability ∝ exp(−rate·d), where
// d is the value's rank error in rows (see [Single]).
type stage struct {
	domain   Domain
	sections []section
	rates    []*big.Rat
	whole    int64 // the share of a row strictly inside a section; shares are integers
}

// rateOf returns ε/(2Δ), where delta is Δ.
func rateOf(e privacy.Epsilon, delta *big.Rat) *big.Rat {
	twice := new(big.Rat).Add(delta, delta)
	return twice.Quo(e.Rat(), twice)
}

// cut draws one value in each section of the domain, by the exponential mechanism that [stage] describes. The first
// pass over the data counts the rows of each section. The second pass enters the values of each section in a race
// ([runs]), whose winner is the drawn value.
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
		// scores are in units of 1/((to − from)·whole) of a row
		unit := new(big.Rat).SetInt64((s.to - s.from) * st.whole)
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

// eachPart returns a function to be called with increasing values. It calls visit for each section to which the
// value belongs, with the section's share of the value's rows. Neither the lower nor the upper ends of the sections
// may decrease. This holds for the sections of a recursion, which touch at most at their ends, and for copies of
// one section.
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

// runs enters a section's candidates in a race, in increasing order. Values that have rows are entered one by one,
// and the gaps between them as ranges of equal score. The score is −d·(to − from), an integer, where from and to
// are fields of the section. Rows are counted by their shares.
type runs struct {
	section
	enter func(first int64, width uint64, score int64)
	total int64 // the section's rows, in shares
	below int64 // the section's rows with values below the field next, in shares
	next  int64 // the least candidate that has not been entered
}

func newRuns(s section, total int64, enter func(first int64, width uint64, score int64)) runs {
	return runs{section: s, enter: enter, total: total, next: s.low}
}

// score returns the score of a candidate, given the rows below it, and the rows at or below it, in shares. All
// numbers are below 2⁶²: rows are at most 2⁴⁰, shares 2⁸, and the difference of the section's fields to and from is
// at most 10,000.
func (r *runs) score(below, upTo int64) int64 {
	scale, sought := r.to-r.from, (r.at-r.from)*r.total
	return -max(0, scale*below-sought, sought-scale*upTo)
}

// value enters the gap before a value that has rows, and the value itself.
func (r *runs) value(value, mass int64) {
	r.gap(value)
	r.enter(value, 1, r.score(r.below, r.below+mass))
	r.below += mass
	r.next = value + 1
}

// end enters the gap after the last value.
func (r *runs) end() { r.gap(r.high + 1) }

// gap enters the candidates in [r.next, until), if there are any. Both ends may be 2⁶³ and wrap around, but their
// difference is correct.
func (r *runs) gap(until int64) {
	if width := uint64(until) - uint64(r.next); width > 0 {
		r.enter(r.next, width, r.score(r.below, r.below))
	}
}
