package curator

import (
	"slices"

	"dither/internal/derive"
	"dither/internal/plan"
	"dither/internal/release"
)

// groupings describes each grouping's share of the price and its noise. It returns nil if there is only one
// grouping. With expected set, it includes the predicted errors.
func (c *Session) groupings(a *asked, expected bool) (out []Grouping) {
	p, known := a.plan, scaled{}
	for i, g := range p.Sets {
		shown := Grouping{Cells: a.derived.GroupsIn(i)}
		for _, k := range g.Keys {
			shown.Keys = append(shown.Keys, p.KeyText(k))
		}
		for _, m := range g.Measures {
			scale, sensitivity := known.of(m)
			shown.Vectors = append(shown.Vectors, Part{
				Name: vectorName(m), Mechanism: string(m.Noise), Scale: scale, Sensitivity: sensitivity, Share: c.loss(m.Loss),
			})
		}
		shown.Orders = c.orderings(a, g)
		for _, o := range p.Outputs {
			if q, m := a.derived.Ordered(o); expected && noisy(o) && q == nil && m == nil {
				shown.Expected = append(shown.Expected, NamedExpected{o.Name, foretold(a.derived.ForecastIn(i, o, a.alpha))})
			}
		}
		out = append(out, shown)
	}
	return out
}

// vectorName returns a name that is unique among one grouping's vectors.
func vectorName(m *plan.Measure) string {
	if !m.Additive() {
		return "distinct"
	}
	return m.Name()
}

// computedColumns describes the columns of an answer whose numbers are computed from several noisy vectors. The
// noise of those is described with the groupings, or with the earlier releases.
func computedColumns(p *plan.Plan, mechanism string) []Column {
	out := make([]Column, len(p.Outputs))
	for i, o := range p.Outputs {
		out[i] = Column{Name: o.Name, Kind: Measure, Mechanism: Constant}
		if o.Post == nil {
			out[i] = Column{Name: o.Name, Kind: Key}
			continue
		}
		if noisy(o) {
			out[i].Mechanism = mechanism
		}
	}
	return out
}

// setColumns describes the columns of an answer with grouping sets. Most are fitted by least squares. Distinct
// counts, quantiles and modes are not sums of their parts: they keep the mechanism of their grouping.
func (c *Session) setColumns(a *asked) []Column {
	out := computedColumns(a.plan, LeastSquares)
	for i, o := range a.plan.Outputs {
		out[i].Bounds = c.boundsOf(a.plan, o)
		if m := a.derived.Single(o); m != nil && !m.Additive() {
			out[i].Mechanism = string(m.Noise)
		}
		switch q, m := a.derived.Ordered(o); {
		case q != nil:
			out[i].Mechanism = Exponential
		case m != nil:
			out[i].Mechanism = release.ModeMechanism(m)
		case o.Post != nil && ordersIn(a.plan, o):
			out[i].Mechanism = Derived
		}
	}
	return out
}

// noisy reports whether an output is computed from aggregates.
func noisy(o plan.Output) bool {
	found := false
	if o.Post != nil {
		o.Post.Walk(func(q *plan.Post) { found = found || q.Op == plan.PostAggregate })
	}
	return found
}

// Grouping is one grouping set of an answer: the expressions that are its rows' keys, and its noisy vectors. The
// answer's numbers are fitted to the vectors of all groupings.
type Grouping struct {
	Keys    []string
	Cells   int
	Vectors []Part
	Orders  []Ordering // one for each column that is a quantile or a mode
	// Expected has the predicted error in this grouping's rows for each column that is not a key. It is set in an
	// Explanation only.
	Expected []NamedExpected
}

// NamedExpected is the expected error of one column.
type NamedExpected struct {
	Column string
	Expected
}

func foretold(f derive.Forecast) Expected {
	return Expected{
		StdDev:          f.StdDev,
		HalfWidth:       f.HalfWidth,
		StdDevTimesN:    f.StdDevTimesN,
		HalfWidthTimesN: f.HalfWidthTimesN,
	}
}

const (
	sharesNote = "Each grouping is measured with its share of the price."
	fittedNote = "Each grouping is measured with its share of the price, and all are fitted together: totals are " +
		"the sums of their parts, and a number that is measured twice becomes more accurate."
	setsNote = " Rows whose value of a GROUP BY expression is not a known key are in no group and in no total."
)

const distinctSetsNote = "Distinct counts of two groups do not add up. Each grouping measures its own distinct " +
	"counts, and nothing is fitted to them. One unit counts in a grouping's groups as often as in an answer with " +
	"that grouping alone."

// setsNotes describe how the numbers of several groupings are related.
func setsNotes(p *plan.Plan) []string {
	if p.Sets == nil {
		return nil
	}
	notes := []string{sharesNote + setsNote}
	if len(p.Quantiles)+len(p.Modes) > 0 {
		notes = append(notes, orderSetsNote)
	}
	if slices.ContainsFunc(p.Measures, (*plan.Measure).Additive) {
		notes[0] = fittedNote + setsNote
	}
	if slices.ContainsFunc(p.Measures, func(m *plan.Measure) bool { return !m.Additive() }) {
		notes = append(notes, distinctSetsNote)
	}
	return notes
}
