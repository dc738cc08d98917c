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

// maxForetold is the largest number of intervals that are computed for each price tried.
const maxForetold = 20_000

// meets computes whether every value should be accurate enough at a price. excess is the largest half-width relative to
// what is permitted: at most 1 if every value is accurate enough. Otherwise the string `why` names a value that is not
// accurate enough. excess is infinite if a value has no finite interval.
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
			Message: "the answer has too many values to predict the error of each",
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

// known reports whether an output has no error: it is a key, or a constant.
func known(p *plan.Plan, d *derive.Answer, o plan.Output) bool {
	return o.Post == nil || mechanismOf(p, o, len(d.Parts(o))) == Constant && d.Single(o) == nil
}

// direct computes the result of meets if each value is itself a released number. Then all cells of a column have
// the same error. The value closest to 0 decides whether it is permitted, and that value is the same at every
// price.
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

// least returns the released number of least size of measure j. A plan's measures have the same order at every
// price.
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

// foretold computes the result of meets from public facts alone. It begins with the output that was least accurate
// at the price tried before. If that one is not accurate enough, it skips the others.
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

// foretoldOf computes the result of foretold for one output.
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
	for i := range p.Sets { // each grouping has its own error
		half = math.Max(half, d.ForecastIn(i, o, s.alpha).HalfWidth)
	}
	if math.IsNaN(half) {
		return 0, "", s.missing(p, o, "the error of "+o.Name+" depends on its number of rows")
	}
	if excess = s.target.times(half, float64(rows)); excess > 0 {
		why = fmt.Sprintf("%s would be within ± %.3g", o.Name, half)
	}
	return excess, why, nil
}

// missing returns the error for a price that cannot be found, with a hint.
func (s *pricing) missing(p *plan.Plan, o plan.Output, what string) *Error {
	hint := "ask once at a price; a price for the accuracy can then be found from that answer"
	if p.Open() { // the keys that another price would release are not known
		hint = "give a price"
	}
	if o.Post.Op == plan.PostAggregate && !s.target.relative {
		hint += "; or ask the owner to declare expected_rows, which helps questions without WHERE and GROUP BY"
	} else if s.target.relative {
		hint += "; or give the accuracy as a number in the answer's unit"
	}
	return &Error{Code: CodePolicy, Message: "no price can be found: " + what, Hint: hint}
}
