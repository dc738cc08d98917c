package plan

import (
	"math/big"
	"slices"

	"dither/internal/bounded"
	"dither/internal/query"
)

// Sums says how the sums of a question are measured.
type Sums int

// The ways. Each sum that is not plain (see plainSum) is measured by itself in all of them.
const (
	SumsBeside  Sums = iota // from the sum and the count of an average of the same argument, where there is one
	SumsApart               // by themselves, as before averages shared their measures with sums
	SumsCentred             // from a centred sum and a count, as an average would be, whether or not there is one
)

// besideAverages computes SUM(x) from the measures of AVG(x), if the question has both: SUM(x) is d + c·n, for the sum
// d of the differences from the middle c of the range of x, and the number n of rows with a value.
//
// Claim: the identity holds for the bounded quantities. Proof. Let X be the value of x in a row, rounded to
// the grid of d, which is a pure function of the row. A row that counts, and in which x is not NULL, adds X − Centre to
// d and 1 to n, and other rows add 0. All measures of a statement count the same rows of a unit, and with an average
// among them no sum of a unit is clamped (chooseCaps, plainSum). So Σ X = d + Centre·n, in the grid units of d. The
// rounding of a row is part of the interval, as it is in a sum of its own. ∎
//
// The price is divided as if the question had asked for d and n, and not for three numbers. SUM then has at most 1.12
// times the standard deviation that a measure of its own would have: see TestSumsBesideAverages. Let h be half
// the length of the range. Under add/remove, a row moves a sum of its own by at most |c| + h, so the standard deviation
// is proportional to |c| + h. That of d + c·n, at the same share for each of the two, is proportional to √(h² + c²),
// which is smaller. Under change-one, a sum of its own can move less than d does, if its range has one sign.
//
// A sum with a share of its own, or with a bound on a unit's part of a group, or whose bounds are searched for, stays
// apart. So does one beside an average with a share of its own.
func (b *measuring) besideAverages() error {
	if b.original.Sums == SumsApart || b.clash != nil {
		return nil
	}
	for i := range b.aggregates {
		sum := b.aggregates[i].sum
		if b.aggregates[i].of != SumFunc || !plainSum(sum) {
			continue
		}
		if err := b.beside(i, sum); err != nil {
			return err
		}
	}
	return nil
}

// beside computes the i-th aggregate, a sum, from the measures of an average of the same argument.
func (b *measuring) beside(i int, sum *unpricedMeasure) error {
	own := b.claimOf(sum)
	if own < 0 || b.claims[own].terms.given() {
		return nil
	}
	d, err := sumMeasure(sum.X, true, b.first())
	if err != nil {
		return err
	}
	_, exact := d.Units(big.NewInt(d.Centre)).Float64()
	if d.Centre == 0 || !exact { // with the middle 0, they are one measure
		return nil
	}
	declared := b.declared // average sets it
	average := b.average(sum.X, d, sum.X)
	var known bool
	if average.sum, known = b.known[d.String()]; known && average.count != nil {
		average.count, known = b.known[average.count.String()]
	}
	at := -1
	if known {
		at = b.claimOf(average.measures()...)
	}
	switch {
	case at >= 0 && b.claims[at].terms.given(), at < 0 && b.original.Sums != SumsCentred:
		b.declared = declared
		return nil
	case at < 0:
		average = b.average(sum.X, d, sum.X)
		average.sum, average.count = b.share(average.sum), b.share(average.count)
	}
	b.aggregates[i].sum, b.aggregates[i].count, b.aggregates[i].rows = average.sum, average.count, average.rows
	b.drop(sum)
	b.claims = slices.DeleteFunc(b.claims, func(c claim) bool {
		return slices.Equal(c.parts, []part{sum}) || at >= 0 && slices.Equal(c.parts, partsOfMeasures(average.measures()))
	})
	for _, m := range average.measures() {
		b.claim(claim{parts: []part{m}})
	}
	return nil
}

// plainSum reports whether a measure adds up the rows' values, each clamped to bounds that the plan has.
func plainSum(m *unpricedMeasure) bool {
	return m.Kind == bounded.Sum && m.search == nil && m.Cells == nil && m.Centre == 0 && !m.centred
}

// claimOf returns the index of the claim of an aggregate of the given measures, or −1.
func (b *measuring) claimOf(measures ...*unpricedMeasure) int {
	parts := partsOfMeasures(measures)
	return slices.IndexFunc(b.claims, func(c claim) bool { return slices.Equal(c.parts, parts) })
}

// partsOfMeasures returns measures as the parts of a claim, in their order there.
func partsOfMeasures(measures []*unpricedMeasure) []part {
	out := make([]part, len(measures))
	for i, m := range measures {
		out[i] = m
	}
	sortByText(out)
	return out
}

// drop removes a measure that no aggregate uses.
func (b *measuring) drop(m *unpricedMeasure) {
	delete(b.known, m.text)
	b.measures = slices.DeleteFunc(b.measures, func(o *unpricedMeasure) bool { return o == m })
}

// given reports whether a question states the aggregate's share of the price.
func (t terms) given() bool { return t.weight > 0 || !t.epsilon.IsZero() }

// CentredSums returns the canonical texts of the centred sums from which the plan's own sums could be computed.
func (p *Plan) CentredSums() (out []string) {
	for _, a := range p.Aggregates {
		if a.Func != SumFunc || a.Centred() || a.Sum.Kind != bounded.Sum || a.Sum.Search != nil || a.Sum.Cells != nil {
			continue
		}
		if m, err := sumMeasure(a.Sum.X, true, query.Pos{}); err == nil && m.Centre != 0 {
			out = append(out, m.String())
		}
	}
	return out
}

// ApartSums returns the canonical texts of the sums that SumsApart would measure in the place of the plan's centred
// sums.
func (p *Plan) ApartSums() (out []string) {
	for _, a := range p.Aggregates {
		if !a.Centred() {
			continue
		}
		if m, err := sumMeasure(a.Sum.X, false, query.Pos{}); err == nil {
			out = append(out, m.String())
		}
	}
	return out
}
