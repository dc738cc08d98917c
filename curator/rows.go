package curator

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"dither/internal/derive"
	"dither/internal/engine"
	"dither/internal/exact"
	"dither/internal/ledger"
	"dither/internal/plan"
	"dither/mechanism"
	"dither/mechanism/quantile"
	"dither/privacy"
)

// A bound on rows that is found (plan.RowSearch has the proof) makes one release with what is measured with it: it stands beside the
// numbers, so that a replay has it too, and the plan with it follows from the release. The ledger has the mechanisms as at the policy's bound: with a
// lower one sensitivity and noise shrink alike, and their quotient, the loss, stays.

// foundRows is a bound on rows that a look finds; 0 until it has.
type foundRows struct {
	rows int64
	most int64
}

// recordedRows is how it is written, beside what the look releases.
type recordedRows struct {
	Rows    int64           `json:"rows"`
	Release json.RawMessage `json:"release"`
}

// wrap writes the bound beside a release.
func (f *foundRows) wrap(release json.RawMessage, err error) (json.RawMessage, error) {
	if f == nil || err != nil {
		return release, err
	}
	return json.Marshal(recordedRows{Rows: f.rows, Release: release})
}

// unwrap reads what wrap wrote.
func (f *foundRows) unwrap(values json.RawMessage) (json.RawMessage, error) {
	if f == nil {
		return values, nil
	}
	var in recordedRows
	if err := json.Unmarshal(values, &in); err != nil {
		return nil, fmt.Errorf("%w: %w", errUnreadable, err)
	}
	if in.Rows < 1 || in.Rows > f.most {
		return nil, fmt.Errorf("%w: it has a bound on rows that its question could not find", errUnreadable)
	}
	f.rows = in.Rows
	return in.Release, nil
}

// searchingRows adds to a look the bound on rows that its plan looks for first.
func searchingRows(p *plan.Plan, l *look) *look {
	if s := p.Rows; s != nil {
		l.rows = &foundRows{most: s.Most}
		l.more = append(l.more, &s.Look)
		l.mechanisms = append([]ledger.Mechanism{rowsMechanism(s)}, l.mechanisms...)
	}
	return l
}

// rowsMechanism is the draw, for the ledger: its scale is what scores are divided by in an exponent.
func rowsMechanism(s *plan.RowSearch) ledger.Mechanism {
	scale := new(big.Rat).Quo(s.Sensitivity, s.Draw().Rat())
	return ledger.Mechanism{
		Name: fmt.Sprintf("%s at %s of rows per unit", Exponential, s.Rank.RatString()), Sensitivity: exact.FormatRat(s.Sensitivity),
		Scale: exact.FormatRat(scale.Add(scale, scale)), Cells: 1,
	}
}

// drawRows draws the bound.
func (c *Curator) drawRows(ctx context.Context, p *plan.Plan, from engine.Sealed) (int64, error) {
	ctx, done := context.WithCancel(ctx)
	defer done() // an engine may hold what it reads until then
	s := p.Rows
	counts, err := c.engine.Order(ctx, &s.Look, from)
	if err != nil {
		return 0, err
	}
	m := quantile.Single{
		Domain: quantile.Domain{Lower: 1, Upper: s.Most}, Unit: mechanism.Unit{Neighbours: p.Neighbours, MaxRows: 1}, Rank: s.Rank, Epsilon: s.Draw(),
	}
	found, err := m.Release(counts)
	if err != nil {
		return 0, err
	}
	if err := costsAsPlanned(found.Loss, privacy.PureLoss(s.Draw())); err != nil {
		return 0, err
	}
	if err := paidFor(s.Loss, found.Loss, m.BoundedRange()); err != nil {
		return 0, err
	}
	if len(found.Values) != 1 {
		return 0, fmt.Errorf("%w: %d bounds on rows", errUnplanned, len(found.Values))
	}
	return found.Values[0], nil
}

// withRows finds the bound on rows that a question waits for, notes it in its look, and gives the plan with it: a itself where it waits for none. Should
// there be no plan with it, the policy's bound is taken, with which there is one.
func (c *Curator) withRows(ctx context.Context, a *asked, from engine.Sealed) (*plan.Plan, error) {
	if a.plan.Rows == nil {
		return a.plan, nil
	}
	rows, err := c.drawRows(ctx, a.plan, from)
	if err != nil {
		return nil, err
	}
	p, err := boundedRows(a.plan, rows)
	if err != nil { // a function of what was found, and of public parameters
		rows = a.plan.Rows.Most
		if p, err = boundedRows(a.plan, rows); err != nil {
			return nil, err
		}
	}
	a.look.rows.rows = rows
	return p, nil
}

// boundedRows is a plan with a bound on rows, whose parts cost what they did.
func boundedRows(p *plan.Plan, rows int64) (*plan.Plan, error) {
	q, err := p.WithRows(rows)
	if err != nil {
		return nil, err
	}
	if err := costsAsPlanned(q.Price, p.Price); err != nil {
		return nil, err
	}
	if err := addsUp(q); err != nil {
		return nil, err
	}
	_, err = derive.New(q)
	return q, err
}

// settleRows makes the plan that of the bound on rows that was released.
func (c *Curator) settleRows(a *asked, s *seen) error {
	if a.look.rows == nil {
		return nil
	}
	p, err := a.plan.WithRows(a.look.rows.rows)
	if err == nil {
		err = a.follow(p)
	}
	if err != nil {
		return c.after(s, err)
	}
	return nil
}

// follow makes p, of which more is known by now, the plan that the answer is derived by.
func (a *asked) follow(p *plan.Plan) error {
	d, err := derive.New(p)
	if err != nil {
		return err
	}
	if a.Whole {
		d.Whole()
	}
	a.plan, a.derived = p, d
	return nil
}

// RowsBound tells of the bound on one unit's rows that was found first, where a question asks for that.
type RowsBound struct {
	Unit      string  // the column that identifies a unit
	Rows      int64   // so many rows of one unit count; in an explanation 0: it is not known before asking
	Most      int64   // the policy's bound: it is never more
	Quantile  string  // which one of the units' numbers of rows it is, "0.99"
	RankError float64 // at the answer's confidence: between its place among these numbers and the quantile's lie no more units
	Share     Loss
}

// rowsBound is what a plan's search is, and found.
func (c *Curator) rowsBound(a *asked) *RowsBound {
	s := a.plan.Rows
	if s == nil {
		return nil
	}
	return &RowsBound{
		Unit: a.plan.Unit.Name, Rows: s.Found, Most: s.Most, Quantile: exact.FormatRat(s.Rank), RankError: s.RankError(a.alpha), Share: c.loss(s.Loss),
	}
}

// rowsNotes say what finding a bound comes to.
func rowsNotes(p *plan.Plan, alpha float64) []string {
	s := p.Rows
	if s == nil {
		return nil
	}
	q, _ := s.Rank.Float64()
	note := fmt.Sprintf("How many rows of one %s count is found first, for a tenth of the price: so many, or about, that of all that have any, %s have no more. It is not known before asking. "+
		"The errors that are told are those at the policy's bound, %s; with a lower one they are smaller, in proportion where rows bound a unit.", p.Unit.Name, strconv.FormatFloat(100*q, 'g', 6, 64)+" %", plural(s.Most, "row"))
	if n := s.EnoughUnits(alpha); n < 1e15 {
		note += fmt.Sprintf(" Where fewer than about %.3g have any, it says little of them: it may be any number up to the policy's bound, from 1 on.", n)
	}
	return []string{note}
}

// parseRows reads the bound on rows that a question names: auto, or a number.
func parseRows(text string) (rows int64, auto bool, err error) {
	if auto = strings.EqualFold(text, "auto"); auto || text == "" {
		return 0, auto, nil
	}
	rows, err = strconv.ParseInt(text, 10, 64)
	if err != nil || rows < 1 {
		return 0, false, &Error{Code: CodeUsage, Message: "a bound on rows is a whole number from 1 on, or auto", Hint: "say --max-rows 3, or --max-rows auto"}
	}
	return rows, false, nil
}

// MarshalJSON writes the bound.
func (b *RowsBound) MarshalJSON() ([]byte, error) {
	var o object
	o.add("unit", b.Unit)
	o.add("rows", orNone(b.Rows))
	o.add("most", b.Most)
	o.add("quantile", decimal(b.Quantile))
	o.add("rank_error", orNull(b.RankError))
	o.share(b.Share)
	return o.bytes()
}
