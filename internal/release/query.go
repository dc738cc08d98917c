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

// Asker says who asks a question, and in which words.
type Asker struct {
	Question string // as the ledger records it
	Analyst  string
	Fresh    bool // pay again and draw new noise, though it was released before
}

// lookAt is a look at a statement. Its caller adds what else its primitive reads and releases.
func (k *Kernel) lookAt(b *bounded.Statement, by Asker) (l *Look, versions []int, err error) {
	l = &Look{question: by.Question, statements: []*bounded.Statement{b}, analyst: by.Analyst, fresh: by.Fresh}
	l.tables, versions, err = k.Sealed(b)
	return l, versions, err
}

// releases fixes the shape of the numbers that a look releases.
func (l *Look) releases(rows, columns int) {
	l.shape, l.bytes = [2]int{rows, columns}, bytesOf(rows, columns)
}

// Query is a vector of bounded linear queries, with noise on each number; and quantiles and modes of the same
// groups.
//
// Its loss is the price by composition: the shares of its searches, its selection of groups, its measures, quantiles
// and modes add up to it. Each measure's cells are one vector under one mechanism (mechanism.Laplace or
// mechanism.Gaussian), whose sensitivity the plan proves.
type Query struct {
	look   *Look
	plan   *plan.Plan
	usable func(*plan.Plan) error
}

// Plan is the plan that is carried out.
func (q *Query) Plan() *plan.Plan { return q.plan }

// Query is the primitive of a plan. Usable says whether anything can be computed from a plan's release: of bounds that
// are found, those are taken within which something can. It sees what was released, and no more.
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
	return &Query{l, p, usable}, nil
}

// Look implements primitive.
func (q *Query) Look() *Look { return q.look.copied() }

func (q *Query) decided() *Look { return q.look }

// access implements primitive: what is found first, and then what is measured within it.
func (q *Query) access(ctx context.Context, rows reader) (v Values, err error) {
	planned := q.plan
	if planned.Rows != nil {
		if planned, v.Rows, err = q.withRows(ctx, rows); err != nil {
			return v, err
		}
	}
	if q.plan.Selection != nil {
		v.Groups, v.Numbers, err = q.selected(ctx, planned, rows)
		return v, err
	}
	v.Numbers, err = q.measured(ctx, planned, rows)
	return v, err
}

// measured takes the measures of groups that are known; quantiles and modes follow.
func (q *Query) measured(ctx context.Context, planned *plan.Plan, rows reader) ([][]*big.Int, error) {
	if len(planned.Measures) == 0 { // quantiles and modes alone
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

// encode implements primitive.
func (q *Query) encode(v Values) (json.RawMessage, error) {
	text, err := encode(v.Numbers), error(nil)
	if q.plan.Selection != nil {
		text, err = encodeGroups(v.Groups, text)
	}
	if err == nil && q.plan.Rows != nil {
		text, err = json.Marshal(recordedRows{Rows: v.Rows, Release: text})
	}
	return text, err
}

// decode implements primitive.
func (q *Query) decode(text json.RawMessage) (v Values, err error) {
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
	known := map[mechanismOfMeasure]ledger.Mechanism{} // of measures that have the very same numbers
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

// mechanismOfMeasure is what measureMechanism writes of a measure.
type mechanismOfMeasure struct {
	noise         plan.Noise
	l1, l2Squared *big.Int
	parameter     *big.Rat
}

// measureMechanism is a measure's noise on so many cells.
func measureMechanism(m *plan.Measure, cells int) ledger.Mechanism {
	sensitivity := m.Noise.Calibrated(m.L1, m.L2Squared)
	return ledger.Mechanism{
		Name:        string(m.Noise),
		Sensitivity: sensitivity.String(),
		Scale:       exact.FormatRat(m.Parameter),
		Cells:       cells,
	}
}
