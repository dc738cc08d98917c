package curator

import (
	"fmt"
	"strconv"
	"strings"

	"dither/internal/derive"
	"dither/internal/exact"
	"dither/internal/plan"
)

// boundsOf are the bounds that a search found for an output, or in an explanation the widest that it can find; nil
// where there is no search.
func (c *Session) boundsOf(p *plan.Plan, o plan.Output) *Bounds {
	lo, hi, s, ok := p.Within(o)
	if !ok {
		return nil
	}
	return &Bounds{Low: lo, High: hi, Share: c.loss(s.Loss)}
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
	Unit     string // the column that identifies a unit
	Rows     int64  // so many rows of one unit count; in an explanation 0: it is not known before asking
	Most     int64  // the policy's bound: it is never more
	Quantile string // which one of the units' numbers of rows it is, "0.99"
	// at the answer's confidence: between its place among these numbers and the quantile's lie no more units
	RankError float64
	Share     Loss
}

// rowsBound is what a plan's search is, and found.
func (c *Session) rowsBound(a *asked) *RowsBound {
	s := a.plan.Rows
	if s == nil {
		return nil
	}
	return &RowsBound{
		Unit:      a.plan.Unit.Name,
		Rows:      s.Found,
		Most:      s.Most,
		Quantile:  exact.FormatRat(s.Rank),
		RankError: s.RankError(a.alpha),
		Share:     c.loss(s.Loss),
	}
}

// rowsNotes say what finding a bound comes to.
func rowsNotes(p *plan.Plan, alpha float64) []string {
	s := p.Rows
	if s == nil {
		return nil
	}
	q, _ := s.Rank.Float64()
	note := fmt.Sprintf(
		"How many rows of one %s count is found first, for a tenth of the price: so many, or about, that of all that have any, %s have no more. It is not known before asking. "+
			"The errors that are told are those at the policy's bound, %s; with a lower one they are smaller, in proportion where rows bound a unit.",
		p.Unit.Name,
		strconv.FormatFloat(100*q, 'g', 6, 64)+" %",
		plural(s.Most, "row"),
	)
	if n := s.EnoughUnits(alpha); n < 1e15 {
		note += fmt.Sprintf(
			" Where fewer than about %.3g have any, it says little of them: it may be any number up to the policy's bound, from 1 on.",
			n,
		)
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
		return 0, false, &Error{
			Code:    CodeUsage,
			Message: "a bound on rows is a whole number from 1 on, or auto",
			Hint:    "say --max-rows 3, or --max-rows auto",
		}
	}
	return rows, false, nil
}
