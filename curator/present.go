package curator

import (
	"math"
	"math/big"

	"dither/internal/derive"
	"dither/internal/plan"
	"dither/internal/release"
	"dither/internal/value"
)

// release builds the public form of an answer from released numbers.
func (c *Session) release(a *asked, s *release.Released) (*Release, error) {
	remaining, err := c.remains(s)
	if err != nil {
		return nil, err
	}
	if a.former, err = c.drawnFormerly(a, s); err != nil {
		return nil, c.after(s, err)
	}
	var cut *Truncation
	if s.Truncation != nil {
		if cut, err = c.truncation(a, s.Truncation); err != nil {
			return nil, c.after(s, err)
		}
	}
	out := &Release{
		ID:         s.Name(),
		SQL:        a.SQL,
		Confidence: a.Confidence,
		Columns:    c.columns(a, nil),
		Price: c.loss(
			a.plan.Price,
		),
		Remaining: remaining,
		Replayed:  s.Replayed,
		Groupings: c.groupings(a, false),
		From:      s.From,
		Whole:     a.Whole,
		Limits:    c.limits(a.plan),
		Notes:     a.plan.AnswerNotes(),
		RowsBound: c.rowsBound(a),

		Truncation: cut,
	}
	if s.From != nil {
		out.Columns, out.Groupings = computedColumns(a.plan, EarlierReleases), nil
	}
	parts, ranges := make([][]derive.Part, len(a.plan.Outputs)), make([]derive.Interval, len(a.plan.Outputs))
	for i, o := range a.plan.Outputs {
		parts[i], ranges[i] = a.derived.Parts(o), a.derived.Range(o)
	}
	for _, cells := range a.derived.Rows(s.Numbers, a.alpha) {
		row := make(Row, len(cells))
		for i, cell := range cells {
			if a.plan.Outputs[i].Post == nil {
				row[i].Key, row[i].Summed = keyValue(cell.Key), cell.Summed
				continue
			}
			e := shown(a.plan.Outputs[i], cell.Estimate)
			for j, p := range cell.Parts {
				e.Parts = append(e.Parts, NamedEstimate{Name: parts[i][j].Name, Estimate: *estimate(p)})
			}
			within := ranges[i]
			e.Vacuous = !e.Chosen && (e.Low == nil || e.Low.Real <= within.Low) && (e.High == nil || e.High.Real >= within.High)
			row[i].Estimate = e
		}
		out.Rows = append(out.Rows, row)
	}
	out.markUnbounded()
	return out, nil
}

func keyValues(vs []value.Value) []any {
	out := make([]any, len(vs))
	for i, v := range vs {
		out[i] = keyValue(v)
	}
	return out
}

func keyValue(v value.Value) any {
	switch {
	case v.Null:
		return nil
	case v.Type == value.Integer:
		return v.Int
	case v.Type == value.Real:
		return v.Real
	case v.Type == value.Boolean:
		return v.Bool
	case v.Type == value.Interval:
		return value.IntervalText(v.Int)
	}
	return v.String()
}

func estimate(e derive.Estimate) *Estimate {
	out := &Estimate{Low: realNumber(e.Low), High: realNumber(e.High)}
	if e.WholeLow != nil {
		out.Low, out.High = wholeNumber(e.WholeLow), wholeNumber(e.WholeHigh)
	}
	switch {
	case e.Null:
	case e.Whole != nil:
		out.Value = wholeNumber(e.Whole)
	default:
		out.Value = realNumber(e.Value)
	}
	if !math.IsNaN(e.StdDev) {
		out.StdDev = &e.StdDev
	}
	return out
}

// columns describes the answer's columns. If expected is not nil, it also states the error that each column will
// have.
func (c *Session) columns(a *asked, expected func(plan.Output) *Expected) []Column {
	out := c.describe(a, expected)
	for i, o := range a.plan.Outputs {
		if a.derived.Unbounded(o) {
			out[i].NoInterval = whyModes
		}
	}
	return out
}

func (c *Session) describe(a *asked, expected func(plan.Output) *Expected) []Column {
	if a.plan.Sets != nil {
		return c.setColumns(a)
	}
	out, known := make([]Column, len(a.plan.Outputs)), scaled{}
	if expected != nil {
		a.derived.Ahead(a.alpha)
	}
	for i, o := range a.plan.Outputs {
		out[i] = Column{Name: o.Name, Kind: Measure}
		if o.Post == nil {
			out[i].Kind = Key
			continue
		}
		if expected != nil {
			out[i].Expected = expected(o)
		}
		out[i].Bounds = c.boundsOf(a.plan, o)
		if m := a.derived.Single(o); m != nil {
			scale, sensitivity := known.of(m)
			out[i].Mechanism, out[i].Scale, out[i].Sensitivity, out[i].Share = string(
				m.Noise,
			), &scale, &sensitivity, c.loss(
				m.Loss,
			)
			continue
		}
		if c.orderColumn(&out[i], a, o) {
			continue
		}
		parts := a.derived.Parts(o)
		out[i].Mechanism = mechanismOf(a.plan, o, len(parts))
		for _, p := range parts {
			centre, _ := p.Measure.RowUnits(p.Measure.Centre).Float64()
			scale, sensitivity := known.of(p.Measure)
			out[i].Parts = append(out[i].Parts, Part{
				Name: p.Name, Mechanism: string(p.Measure.Noise), Scale: scale, Sensitivity: sensitivity,
				Share: c.loss(p.Measure.Loss), Centre: centre,
			})
		}
	}
	return out
}

func mechanismOf(p *plan.Plan, o plan.Output, parts int) string {
	ratio := func(a plan.Aggregate) bool { return a.Func == plan.Average && a.Rows == 0 } // a declared number has no noise
	switch {
	case parts == 0 && !ordersIn(p, o):
		return Constant
	case o.Post.Op == plan.PostDiv, o.Post.Op == plan.PostAggregate && ratio(p.Aggregates[o.Post.Index]):
		return Ratio
	}
	return Derived
}

// scaled caches the results of scales. Many measures share the same parameters.
type scaled map[scaledBy][2]float64

type scaledBy struct {
	grid          int
	noise         plan.Noise
	l1, l2Squared *big.Int
	parameter     *big.Rat
}

func (s scaled) of(m *plan.Measure) (scale, sensitivity float64) {
	key := scaledBy{m.Scale(), m.Noise, m.L1, m.L2Squared, m.Parameter}
	found, ok := s[key]
	if !ok {
		found[0], found[1] = scales(m)
		s[key] = found
	}
	return found[0], found[1]
}

// scales returns the noise scale and the sensitivity of a measure, in the measure's own unit. They are the scale
// and the L1 sensitivity for Laplace noise, and σ and the L2 sensitivity for Gaussian noise.
func scales(m *plan.Measure) (scale, sensitivity float64) {
	unit, _ := m.Unit().Float64()
	parameter, _ := m.Parameter.Float64()
	if m.Noise == plan.Gaussian {
		squared, _ := new(big.Float).SetInt(m.L2Squared).Float64()
		return math.Sqrt(parameter) * unit, math.Sqrt(squared) * unit
	}
	l1, _ := new(big.Float).SetInt(m.L1).Float64()
	return parameter * unit, l1 * unit
}
