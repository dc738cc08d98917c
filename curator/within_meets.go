package curator

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"dither/internal/bounded"
	"dither/internal/derive"
	"dither/internal/plan"
	"dither/privacy"
)

// maxForetold bounds the numbers whose intervals are computed at each price that is tried.
const maxForetold = 20_000

// meets asks whether every value should be exact enough at a price. The largest half of an interval is so many times what it may be: at most 1
// where each is exact enough, and else why says what is not; infinite where there is none.
func (s *pricing) meets(price privacy.Loss) (excess float64, why string, err error) {
	none := math.Inf(1)
	t, err := s.at(price)
	if err != nil {
		return none, "", err
	}
	p, d := t.plan, s.every(t)
	switch {
	case d == nil:
		return none, "no noise can be drawn", nil
	case s.basis == nil:
		return s.foretold(p, d)
	}
	if len(s.basis.numbers)*len(p.Outputs) > maxForetold {
		return none, "", &Error{
			Code:    CodePolicy,
			Message: "the answer has too many values to foretell each one's error",
			Hint:    "give a price",
		}
	}
	if excess, why, direct := s.direct(p, d); direct {
		return excess, why, nil
	}
	for _, row := range d.Rows(s.basis.numbers, s.alpha) {
		for i, o := range p.Outputs {
			if known(p, d, o) {
				continue
			}
			e := row[i].Estimate
			half := math.Max(e.High-e.Value, e.Value-e.Low)
			if e.Null {
				return none, o.Name + " has no value", nil
			}
			if of := s.target.times(half, e.Value); of > excess {
				excess = of
				why = fmt.Sprintf("%s of about %.6g would be within ± %.3g", o.Name, e.Value, half)
			}
		}
	}
	return excess, why, nil
}

// known reports an output that has no error: a key, or what is computed from nothing that is noisy.
func known(p *plan.Plan, d *derive.Answer, o plan.Output) bool {
	return o.Post == nil || mechanismOf(p, o, len(d.Parts(o))) == Constant && d.Single(o) == nil
}

// direct is meets where each value is a released number itself: its error is one for all cells, and is held to the value of the least size, which
// is no other at another price.
func (s *pricing) direct(p *plan.Plan, d *derive.Answer) (excess float64, why string, direct bool) {
	if p.Sets != nil {
		return 0, "", false
	}
	for _, o := range p.Outputs {
		if o.Post != nil && d.Single(o) == nil {
			return 0, "", false
		}
	}
	for _, o := range p.Outputs {
		m := d.Single(o)
		if m == nil {
			continue
		}
		j := slices.Index(p.Measures, m)
		least := s.basis.least(p, j)
		half := d.Forecast(o, s.alpha, 0).HalfWidth
		value, _ := m.Units(least).Float64()
		if of := s.target.times(half, value); of > excess {
			excess, why = of, fmt.Sprintf("%s of about %.6g would be within ± %.3g", o.Name, value, half)
		}
	}
	return excess, why, true
}

// least is the number of the least size that was released of a measure, which no price puts elsewhere in the canonical order.
func (b *basis) least(p *plan.Plan, j int) *big.Int {
	if b.sizes == nil {
		b.sizes = make([]*big.Int, len(p.Measures))
	}
	if b.sizes[j] == nil {
		for _, row := range b.numbers {
			if b.sizes[j] == nil || row[j].CmpAbs(b.sizes[j]) < 0 {
				b.sizes[j] = row[j]
			}
		}
	}
	return b.sizes[j]
}

// foretold is meets from public knowledge alone. Where what was least exact at another price is not exact enough at this one, the others are not
// looked at.
func (s *pricing) foretold(p *plan.Plan, d *derive.Answer) (excess float64, why string, err error) {
	a := &asked{plan: p, derived: d, alpha: s.alpha}
	rows := s.c.expectedRows(p)
	if s.worst != nil {
		if excess, why, err = s.foretoldOf(a, p.Outputs[*s.worst], rows); excess > 1 || err != nil {
			return excess, why, err
		}
	}
	d.Ahead(s.alpha)
	worst := 0
	for i, o := range p.Outputs {
		of, what, err := s.foretoldOf(a, o, rows)
		if err != nil {
			return 0, "", err
		}
		if of > excess {
			excess, why, worst = of, what, i
		}
	}
	s.worst = &worst
	return excess, why, nil
}

// foretoldOf is foretold of one output.
func (s *pricing) foretoldOf(a *asked, o plan.Output, rows int64) (excess float64, why string, err error) {
	p, d := a.plan, a.derived
	if known(p, d, o) {
		return 0, "", nil
	}
	m := d.Single(o)
	if s.target.relative && (m == nil || m.Kind != bounded.CountRows || len(p.Keys) > 0 || p.Where != nil || rows == 0) {
		return 0, "", s.missing(p, o, "the size of "+o.Name+" is not known beforehand")
	}
	half := 0.0
	if p.Sets == nil {
		half = expected(a, o, rows).HalfWidth
	}
	for i := range p.Sets { // of which each has an error of its own
		half = math.Max(half, d.ForecastIn(i, o, s.alpha).HalfWidth)
	}
	if math.IsNaN(half) {
		return 0, "", s.missing(p, o, "the error of "+o.Name+" depends on how many rows it is over")
	}
	if excess = s.target.times(half, float64(rows)); excess > 0 {
		why = fmt.Sprintf("%s would be within ± %.3g", o.Name, half)
	}
	return excess, why, nil
}

// missing refuses, and says what would help.
func (s *pricing) missing(p *plan.Plan, o plan.Output, what string) *Error {
	hint := "ask once at a price: the answer is then known, and this starts from it"
	if p.Open() { // which groups there would be is not known all the same
		hint = "give a price"
	}
	if o.Post.Op == plan.PostAggregate && !s.target.relative {
		hint += "; or the owner declares expected_rows, for questions without WHERE and GROUP BY"
	} else if s.target.relative {
		hint += "; or give the accuracy as a number in the answer's unit"
	}
	return &Error{Code: CodePolicy, Message: "no price can be found: " + what, Hint: hint}
}
