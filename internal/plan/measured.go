package plan

import (
	"math/big"
	"slices"

	"dither/internal/bind"
	"dither/internal/bounded"
)

// measured is the result of the third phase, measure. It holds what is released of each cell (group), and what is
// computed from the releases. None of its elements has a share of the price or noise.
type measured struct {
	*keyed
	scope      bind.Scope // the names, with all columns that the question reads
	aggregates []unpricedAggregate
	measures   []*unpricedMeasure  // in canonical order
	searches   []*unpricedSearch   // in canonical order
	quantiles  []*unpricedQuantile // in canonical order
	modes      []*unpricedMode     // in canonical order
	claims     []claim             // in order of first use
	clash      error               // the refusal of two different shares for one aggregate; nil if there is none
	outputs    []Output
	having     *Post
	order      []OrderBy
	other      bool             // whether the answer has a group of all rows whose groups are not selected
	vectors    *bounded.Vectors // for sums of vectors: the measures are the coordinates; nil otherwise
	// for rows as vectors: the condition that no coordinate is NULL, and WHERE; nil otherwise
	present  *bounded.Expr
	declared int64 // the declared number of units, if the answer uses it; else 0
	// whether some count is the declared number that CountsMeasured measures
	declaredCounts bool
	notes          notes
}

// measuring is the working state of the third phase.
type measuring struct {
	*measured
	*bind.Scope                             // measured.scope
	given       given                       // the named arguments of the current aggregate
	known       map[string]*unpricedMeasure // the measures by canonical text
	taken       map[string]bool             // the names of outputs that are in use
	counted     map[string]int              // for a repeated name, the last number that was appended to it
	units       int64                       // the declared number of units of a whole table, or 0 (see wholeUnits)
	fromSums    map[string]bool             // the expressions whose variances are computed from sums (see Variances)
	spreads     map[string]*bounded.Expr    // the expressions whose variances are computed from spreads
}

// measure decides which sums, quantiles and modes are released of each cell (group), what is computed from the released
// numbers, and which aggregates claim a share of the price.
//
// A variance that would share a sum with another aggregate is computed from sums (see Variances). Which ones would is known
// only at the end, so measure then starts again.
func measure(k *keyed) (*measured, error) {
	fromSums := map[string]bool{}
	for {
		b, err := measureOnce(k, fromSums)
		if err != nil {
			return nil, err
		}
		if !b.sharesSums() {
			return b.measured, nil
		}
	}
}

// measureOnce is measure, with the variances of the expressions in fromSums computed from sums.
func measureOnce(k *keyed, fromSums map[string]bool) (*measuring, error) {
	b := newMeasuring(k)
	b.units, b.fromSums = k.wholeUnits(), fromSums
	if k.open() {
		b.claim(claim{parts: []part{selectionPart{}}})
	}
	if err := run(b.selectList, b.lowerHaving, b.lowerOrder, b.besideAverages, b.otherColumn, b.together); err != nil {
		return nil, err
	}
	b.sort()
	return b, nil
}

func newMeasuring(k *keyed) *measuring {
	m := &measured{keyed: k, scope: k.scope.Clone()}
	return &measuring{measured: m, Scope: &m.scope}
}

// sort puts the measures, searches, quantiles and modes into canonical order, and sets their indices.
func (b *measuring) sort() {
	sortByText(b.measures)
	for i, m := range b.measures {
		m.index = i
	}
	sortByText(b.searches)
	for i, s := range b.searches {
		s.index = i
	}
	sortByText(b.quantiles)
	for i, q := range b.quantiles {
		q.index = i
	}
	sortByText(b.modes)
	for i, m := range b.modes {
		m.index = i
	}
}

// numbers returns how many numbers are released of each cell (group).
func (m *measured) numbers() int { return len(m.measures) + 3*len(m.quantiles) + len(m.modes) }

// cellsClamped reports whether some measure has bounds on what one unit adds to one cell (group).
func (m *measured) cellsClamped() bool {
	return slices.ContainsFunc(m.measures, func(m *unpricedMeasure) bool { return m.Cells != nil })
}

// The types below describe releases that have no share of the price yet. The phase chooseNoise converts each to the
// type whose name lacks "unpriced", which has a share, a sensitivity and noise.

// unpricedMeasure is a [Measure] before dividePrice gives it a share of the price.
type unpricedMeasure struct {
	bounded.Measure
	rounding *big.Int        // the largest error of a cell of a table that rounding to the grid causes, in grid units
	search   *unpricedSearch // the search that finds the bounds of the summed expression; nil if they are known
	centred  bool
	text     string // the result of String, if it was written when the measure was made
	index    int    // the measure's place in measured.measures
}

// String returns the measure's canonical text.
func (m *unpricedMeasure) String() string {
	if m.text != "" {
		return m.text
	}
	return measureText(&m.Measure, m.search != nil, m.centred)
}

// unpricedSearch is a [Search] before dividePrice gives it a share of the price.
type unpricedSearch struct {
	x     *bounded.Expr
	outer *bounded.Measure // x, within x's own bounds
	index int              // the search's place in measured.searches
}

// String returns the search's canonical text.
func (s *unpricedSearch) String() string { return searchText(s.outer) }

// unpricedQuantile is a [Quantile] before dividePrice gives it a share of the price.
type unpricedQuantile struct {
	value *bounded.Measure
	rank  *big.Rat
	of    string // the canonical text of value
	index int    // the quantile's place in measured.quantiles
}

// String returns the quantile's canonical text.
func (q *unpricedQuantile) String() string { return quantileText(q.rank, q.of) }

// unpricedMode is a [Mode] before dividePrice gives it a share of the price.
type unpricedMode struct {
	of    bounded.Key
	text  string
	index int // the mode's place in measured.modes
}

// String returns the mode's canonical text.
func (m *unpricedMode) String() string { return m.text }

// unpricedAggregate is an [Aggregate] before dividePrice gives its measures, quantile or mode their shares of the
// price.
type unpricedAggregate struct {
	of Func
	// an average over a declared number of rows has no count. A sum has one if it is computed from a centred sum: see
	// besideAverages
	sum, count *unpricedMeasure
	rows       int64 // the declared number of rows, or 0
	lo, hi     float64
	quantile   *unpricedQuantile
	mode       *unpricedMode
}

// measure returns the one measure of a count, of a sum of its own, or of an average over a declared number of rows.
func (a unpricedAggregate) measure() *unpricedMeasure {
	if a.of == CountFunc {
		return a.count
	}
	return a.sum
}

// centred reports whether the aggregate is a sum of centred values: see besideAverages.
func (a unpricedAggregate) centred() bool { return a.of == SumFunc && (a.count != nil || a.rows > 0) }

// measures returns the aggregate's measures, the sum first; none for a quantile or a mode.
func (a unpricedAggregate) measures() []*unpricedMeasure {
	if a.sum != nil && a.count != nil {
		return []*unpricedMeasure{a.sum, a.count}
	}
	if a.quantile != nil || a.mode != nil {
		return nil
	}
	return []*unpricedMeasure{a.measure()}
}

// bare returns the measures as statements have them.
func bare(all []*unpricedMeasure) []*bounded.Measure {
	out := make([]*bounded.Measure, len(all))
	for i, m := range all {
		out[i] = &m.Measure
	}
	return out
}
