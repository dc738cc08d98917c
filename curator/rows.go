package curator

import (
	"fmt"
	"strconv"
	"strings"

	"dither/internal/derive"
	"dither/internal/exact"
	"dither/internal/plan"
)

// boundsOf returns the bounds that a search found for an output. In an explanation it returns the widest bounds
// that the search can find. It returns nil if there is no search.
func (c *Session) boundsOf(p *plan.Plan, o plan.Output) *Bounds {
	lo, hi, s, ok := p.Within(o)
	if !ok {
		return nil
	}
	return &Bounds{Low: lo, High: hi, Share: c.loss(s.Loss)}
}

// follow replaces the question's plan by p, which includes the results of a search or a selection. From then on,
// the answer is derived by p.
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

// RowsBound describes the bound on one unit's rows, if a question asks to find it first.
type RowsBound struct {
	Unit string // the column that identifies a unit
	// the number of rows that count for one unit; 0 in an explanation, because it is not known before asking
	Rows     int64
	Most     int64  // the policy's bound, which Rows never exceeds
	Quantile string // Rows approximates this quantile of the units' numbers of rows, such as "0.99"
	// a bound, at the answer's confidence, on the number of units between Rows and the exact quantile, if units are
	// ordered by their number of rows
	RankError float64
	Share     Loss
}

// rowsBound returns what a plan's search for a bound on rows found, or nil if there is no search.
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

// rowsNotes describe the search for a bound on rows.
func rowsNotes(p *plan.Plan, alpha float64) []string {
	s := p.Rows
	if s == nil {
		return nil
	}
	q, _ := s.Rank.Float64()
	note := fmt.Sprintf(
		"A bound on the rows of one %s is found first, for a tenth of the price, so that of all units that have "+
			"rows, about %s have no more. The bound is not known before asking. The stated errors are those at the "+
			"policy's bound, %s. With a lower bound they are smaller, in proportion if rows bound a unit.",
		p.Unit.Name,
		strconv.FormatFloat(100*q, 'g', 6, 64)+" %",
		plural(s.Most, "row"),
	)
	if n := s.EnoughUnits(alpha); n < 1e15 {
		note += fmt.Sprintf(
			" If fewer than about %.3g units have rows, the found bound is unreliable: it may be any number from 1 "+
				"to the policy's bound.",
			n,
		)
	}
	return []string{note}
}

// parseRows reads the bound on rows that a question names: "auto", or a number. "" gives 0.
func parseRows(text string) (rows int64, auto bool, err error) {
	if auto = strings.EqualFold(text, "auto"); auto || text == "" {
		return 0, auto, nil
	}
	rows, err = strconv.ParseInt(text, 10, 64)
	if err != nil || rows < 1 {
		return 0, false, &Error{
			Code:    CodeUsage,
			Message: "a bound on rows must be a whole number of at least 1, or auto",
			Hint:    "write --max-rows 3, or --max-rows auto",
		}
	}
	return rows, false, nil
}
