package release

import (
	"context"
	"encoding/json"
	"math/big"

	"dither/internal/bounded"
	"dither/internal/exact"
	"dither/internal/ledger"
	"dither/internal/plan"
)

// Asker holds the analyst of a question, and the text that the ledger records for it.
type Asker struct {
	Question string
	Analyst  string
	Fresh    bool // pay again and draw new noise, even if it was released before
}

// lookAt returns the [Look] of an access to the tables of a statement. The caller adds the price, the mechanisms
// and the key.
func (k *Kernel) lookAt(b *bounded.Statement, by Asker) (l *Look, versions []int, err error) {
	l = &Look{question: by.Question, statements: []*bounded.Statement{b}, analyst: by.Analyst, fresh: by.Fresh}
	l.tables, versions, err = k.Sealed(b)
	return l, versions, err
}

// releases sets the shape of the numbers that the access releases.
func (l *Look) releases(rows, columns int) {
	l.shape, l.bytes = [2]int{rows, columns}, bytesOf(rows, columns)
}

// Query is a vector of bounded linear queries with noise on each number, and quantiles and modes of the same
// groups.
//
// By composition, its loss is the price. The shares of its searches, its selection of groups, its measures,
// quantiles and modes add up to it. The cells of one measure form one vector under one mechanism (mechanism.Laplace
// or mechanism.Gaussian), and the plan proves its sensitivity.
type Query struct {
	look   *Look
	plan   *plan.Plan
	usable func(*plan.Plan) error
}

// Plan returns the plan that the query runs.
func (q *Query) Plan() *plan.Plan { return q.plan }

// Query returns the primitive for a plan. usable returns an error if nothing can be computed from a plan's release.
// If that is so for the bounds that a search finds, the query uses the value's own bounds. usable sees only
// released numbers.
func (k *Kernel) Query(p *plan.Plan, by Asker, as Recalled, usable func(*plan.Plan) error) (*Query, error) {
	l, versions, err := k.lookAt(&p.Statement, by)
	if err != nil {
		return nil, err
	}
	if err := addsUp(p); err != nil {
		return nil, err
	}
	chosen, err := selectionMechanism(p)
	if err != nil {
		return nil, &ParameterError{Err: err, Price: true}
	}
	l.statements, l.price, l.key, l.recalled = p.Looks(), p.Price, p.Key(versions...), as
	l.mechanisms = append(chosen, mechanisms(p)...)
	l.releases(p.Released(), p.Numbers())
	l.searching(p)
	if p.Selection != nil {
		l.bytes = maxChosenBytes + bytesOf(boundRows(p)+p.MaxChosen()+1, p.Numbers())
	}
	l.searchingRows(p)
	l.estimating(p)
	return &Query{l, p, usable}, nil
}

// Look implements [Primitive].
func (q *Query) Look() *Look { return q.look.copied() }

func (q *Query) decided() *Look { return q.look }

// access implements [Primitive]. It first runs the searches for bounds, and then measures within these bounds.
func (q *Query) access(ctx context.Context, rows reader) (v Values, err error) {
	planned := q.plan
	if planned.Rows != nil {
		if planned, v.Rows, err = q.withRows(ctx, rows); err != nil {
			return v, err
		}
	}
	if v.Truncation, err = estimated(ctx, planned, rows); err != nil {
		return v, err
	}
	if q.plan.Selection != nil {
		v.Groups, v.Numbers, err = q.selected(ctx, planned, rows)
		return v, err
	}
	v.Numbers, err = q.measured(ctx, planned, rows)
	return v, err
}

// measured releases the measures of known groups, and then their quantiles and modes.
func (q *Query) measured(ctx context.Context, planned *plan.Plan, rows reader) ([][]*big.Int, error) {
	if len(planned.Measures) == 0 { // the query has only quantiles and modes
		out := make([][]*big.Int, planned.Released())
		return out, takeOrders(ctx, planned, rows, out)
	}
	p, bounds, err := q.search(ctx, planned, rows)
	if err != nil {
		return nil, err
	}
	cells, err := rows.engine.Aggregate(ctx, &p.Statement, rows.sealed)
	if err != nil {
		return nil, err
	}
	var out [][]*big.Int
	for _, g := range p.Groupings() {
		over, err := cellsOver(ctx, p, g, cells, rows)
		if err != nil {
			return nil, err
		}
		noisy, err := noisyRows(g.Measures, over)
		if err != nil {
			return nil, err
		}
		out = append(out, noisy...)
	}
	if err := takeOrders(ctx, planned, rows, out); err != nil {
		return nil, err
	}
	return append(bounds, out...), nil
}

// encode implements [Primitive].
func (q *Query) encode(v Values) (json.RawMessage, error) {
	text, err := encode(v.Numbers), error(nil)
	if q.plan.Selection != nil {
		text, err = encodeGroups(v.Groups, text)
	}
	if err == nil && q.plan.Rows != nil {
		text, err = json.Marshal(recordedRows{Rows: v.Rows, Release: text})
	}
	if err == nil && (q.plan.Truncation != nil || v.Truncation != nil) {
		text, err = encodeTruncation(v.Truncation, q.plan.Truncation, text)
	}
	return text, err
}

// decode implements [Primitive].
func (q *Query) decode(text json.RawMessage) (v Values, err error) {
	if t := q.plan.Truncation; t != nil {
		if v.Truncation, text, err = decodeTruncation(text, t); err != nil {
			return v, err
		}
	}
	if s := q.plan.Rows; s != nil {
		if v.Rows, text, err = decodeRows(text, s.Most); err != nil {
			return v, err
		}
	}
	shape := q.look.shape
	if q.plan.Selection != nil {
		if v.Groups, text, err = decodeGroups(text, &q.plan.Statement); err != nil {
			return v, err
		}
		shape[0] = boundRows(q.plan) + len(v.Groups)
		if q.plan.Other {
			shape[0]++
		}
	}
	v.Numbers, err = Decode(text, shape)
	return v, err
}

// mechanisms describes a plan's mechanisms for the ledger.
func mechanisms(p *plan.Plan) (out []ledger.Mechanism) {
	for _, m := range histograms(p) {
		out = append(out, measureMechanism(m, maxBins))
	}
	known := map[mechanismOfMeasure]ledger.Mechanism{} // many measures share the same parameters
	for _, g := range p.Groupings() {
		cells := p.MaxChosen()
		if !p.Open() {
			cells = g.Cells(&p.Statement)
		}
		for _, m := range g.Measures {
			key := mechanismOfMeasure{m.Noise, m.L1, m.L2Squared, m.Parameter}
			found, ok := known[key]
			if !ok {
				found = measureMechanism(m, cells)
				known[key] = found
			}
			found.Cells = cells
			out = append(out, found)
		}
	}
	return append(out, orderMechanisms(p)...)
}

// mechanismOfMeasure holds the parameters of a measure that measureMechanism writes.
type mechanismOfMeasure struct {
	noise         plan.Noise
	l1, l2Squared *big.Int
	parameter     *big.Rat
}

// measureMechanism describes a measure's noise on the given number of cells (groups), for the ledger.
func measureMechanism(m *plan.Measure, cells int) ledger.Mechanism {
	sensitivity := m.Noise.Calibrated(m.L1, m.L2Squared)
	return ledger.Mechanism{
		Name:        string(m.Noise),
		Sensitivity: sensitivity.String(),
		Scale:       exact.FormatRat(m.Parameter),
		Cells:       cells,
	}
}
