package curator

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"dither/internal/derive"
	"dither/internal/exact"
	"dither/internal/ledger"
	"dither/internal/parallel"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/privacy"
)

// Accuracy first: a question may name the error that it should have in place of a price, and is asked at the least price that should
// give it. That price is found from what is public: the plan, and the policy's expected_rows; or from an earlier answer to the very same question at
// another price, whose released numbers stand for the true ones. Rows are never looked at for it, so that the price says nothing; and it
// is a promise of what should be, not of what will be: an answer always has its own intervals.

// accuracy is how wide half an interval may be: absolutely, or as a part of the value's size.
type accuracy struct {
	most     float64
	relative bool
	text     string
}

// of is the most that half an interval may be about a value.
func (t accuracy) of(value float64) float64 {
	if t.relative {
		return t.most * math.Abs(value)
	}
	return t.most
}

// times is half an interval about a value as a multiple of the most that it may be: at most 1 where it may be so wide, and infinite where none may.
func (t accuracy) times(half, value float64) float64 {
	switch most := t.of(value); {
	case half <= most:
		return math.Min(half/most, 1) // NaN of 0 in 0, which compares as no excess
	case most > 0 && half <= math.MaxFloat64:
		return math.Max(half/most, math.Nextafter(1, 2))
	}
	return math.Inf(1)
}

// parseAccuracy reads "5%" or "12".
func parseAccuracy(text string) (accuracy, error) {
	number, relative := strings.CutSuffix(strings.TrimSpace(text), "%")
	r, err := exact.ParseDecimal(strings.TrimSpace(number))
	if err == nil && r.Sign() <= 0 {
		err = errors.New("it must be above 0")
	}
	if err == nil && relative {
		if r.Quo(r, big.NewRat(100, 1)); r.Cmp(big.NewRat(1, 1)) > 0 {
			err = errors.New("it must be at most 100%")
		}
	}
	if err != nil {
		return accuracy{}, &Error{Code: CodeUsage, Message: "invalid accuracy: " + err.Error(), Hint: "an accuracy is 5% of each value, or a number in the answer's unit such as 12", cause: err}
	}
	most := exact.FloatDown(r)
	return accuracy{most: most, relative: relative, text: text}, nil
}

// level takes At, "95%" or "0.95", as the confidence.
func (q *Question) level() error {
	if q.At == "" {
		return nil
	}
	number, percent := strings.CutSuffix(strings.TrimSpace(q.At), "%")
	r, err := exact.ParseDecimal(strings.TrimSpace(number))
	if err != nil {
		return &Error{Code: CodeUsage, Message: "invalid confidence: " + err.Error(), Hint: "write 95% or 0.95", cause: err}
	}
	if percent {
		r.Quo(r, big.NewRat(100, 1))
	}
	text := exact.FormatRat(r)
	if given, err := exact.ParseDecimal(q.Confidence); q.Confidence != "" && (err != nil || given.Cmp(r) != 0) {
		return &Error{Code: CodeUsage, Message: "the confidence is given twice", Hint: "leave one out"}
	}
	q.Confidence = text
	return nil
}

// within is the plan of a question at the price that it should have; p itself where the question names no accuracy. It says how the
// price was found.
func (c *Curator) within(q Question, filled *policy.Policy, request plan.Request, p *plan.Plan, alpha float64) (*priced, string, error) {
	target := accuracy{}
	if p.TargetError != nil {
		percent := new(big.Rat).Mul(p.TargetError, big.NewRat(100, 1))
		target = accuracy{most: exact.FloatDown(p.TargetError), relative: true, text: exact.FormatRat(percent) + "%"}
	}
	if q.Within != "" {
		asked, err := parseAccuracy(q.Within)
		if err != nil {
			return nil, "", err
		}
		if p.TargetError != nil && (asked.most != target.most || !asked.relative) {
			return nil, "", &Error{Code: CodeUsage, Message: "the accuracy is given twice, and differently", Hint: "leave one out"}
		}
		target = asked
	}
	switch {
	case target.most == 0:
		return &priced{plan: p}, "", nil
	case q.Epsilon != "" || q.Rho != "" || p.Priced: // beside its text, or in it
		return nil, "", &Error{Code: CodeUsage, Message: "a question has a price or an accuracy, not both", Hint: "leave one out"}
	case p.OwnEpsilons:
		return nil, "", &Error{Code: CodePolicy, Message: "a question whose aggregates have an epsilon of their own has no other price to be found", Hint: "leave out epsilon =>, or the accuracy"}
	case len(p.Searches) > 0:
		return nil, "", &Error{Code: CodePolicy, Message: "how exact an answer within found bounds is depends on what is found", Hint: "give the bounds, or a price"}
	case p.Rows != nil:
		return nil, "", &Error{Code: CodePolicy, Message: "how exact an answer with a found bound on rows is depends on what is found", Hint: "give the bound, as in --max-rows 3, or a price"}
	case len(p.Quantiles)+len(p.Modes) > 0:
		return nil, "", &Error{Code: CodePolicy, Message: "how exact a quantile or a mode is in its value depends on the rows around it, and no price follows from it", Hint: "ask for the others by themselves; or give a price, whose error in rows explain tells"}
	}
	asked := *p
	asked.Priced = true // as at any price that is found
	s := &pricing{c: c, policy: filled, request: request, target: target, alpha: alpha, asked: &asked, tried: []*priced{{plan: &asked}}}
	if err := s.gather(&p.Bounded); err != nil {
		return nil, "", err
	}
	return s.cheapest(q.Fresh)
}

// pricing is the search for a price.
type pricing struct {
	c       *Curator
	policy  *policy.Policy // that questions are planned under
	request plan.Request
	target  accuracy
	alpha   float64
	shapes  derive.Shapes
	asked   *plan.Plan // at the price that it would have without
	tried   []*priced
	worst   *int     // the output that was least exact when all were looked at last; nil before
	basis   *earlier // the dearest of the earlier answers to the question; nil where there are none
}

// earlier is an answer to the same question.
type earlier struct {
	price   privacy.Loss
	name    string
	numbers [][]*big.Int
	sizes   []*big.Int // what least found
}

// priced is the question at a price.
type priced struct {
	plan  *plan.Plan
	every *derive.Answer // what derives every cell, whichever HAVING and LIMIT show; nil where it was not asked for, or there is no such noise
}

// derived is what derives the answer; nil where it is not known yet.
func (t *priced) derived() *derive.Answer {
	if t.every == nil {
		return nil
	}
	return t.every.Showing(t.plan)
}

// at plans the question at a price, once.
func (s *pricing) at(price privacy.Loss) (*priced, error) {
	for _, t := range s.tried {
		if t.plan.Price.Within(price) && price.Within(t.plan.Price) {
			return t, nil
		}
	}
	t, err := s.plan(price)
	if err == nil {
		s.tried = append(s.tried, t)
	}
	return t, err
}

func (s *pricing) plan(price privacy.Loss) (*priced, error) {
	r := s.request
	r.Price = price
	p, err := plan.Build(s.policy, r)
	return &priced{plan: p}, err
}

// ahead plans the question at prices that will be looked at, at once.
func (s *pricing) ahead(prices ...privacy.Epsilon) {
	tried := make([]*priced, len(prices))
	parallel.Each(len(prices), func(i int) {
		if t, err := s.plan(s.policy.Budget.Price(prices[i])); err == nil {
			tried[i] = t
		}
	})
	for _, t := range tried {
		if t != nil {
			s.tried = append(s.tried, t)
		}
	}
}

// every is what derives every cell at a price; nil where there is no such noise.
func (s *pricing) every(t *priced) *derive.Answer {
	if t.every == nil {
		every := *t.plan
		every.Having, every.Limit, every.Offset = nil, nil, 0
		t.every, _ = s.shapes.New(&every) // the error is of noise beyond what can be drawn
	}
	return t.every
}

// maxPlannedAgain bounds the answers to a question that are planned again before one has its key.
const maxPlannedAgain = 8

// gather finds the dearest answer to the very same question at another price, the newest of these: one whose replay key is the question's
// at the price that was recorded.
func (s *pricing) gather(b *plan.Bounded) error {
	if s.asked.Open() { // of groups that another price might not release
		return nil
	}
	_, versions, err := s.c.sealed(b)
	if err != nil {
		return err
	}
	mark := s.asked.MarkAtAnyPrice(versions...)
	answers, err := s.c.ledger.Answers(func(of *ledger.About) bool { return of.Subject != nil && of.Subject.Question == mark })
	if err != nil {
		return err
	}
	found := dearest(answers)
	for _, answer := range found[:min(len(found), maxPlannedAgain)] {
		r, err := answer.Reservation()
		if err != nil {
			return err
		}
		t, err := s.at(r.Loss)
		if err != nil || t.plan.Key(versions...) != r.Key { // of other weights
			continue
		}
		p := t.plan
		values, err := answer.Values()
		if err != nil {
			return err
		}
		numbers, err := decode(values, [2]int{p.Released(), p.Numbers()})
		if err != nil {
			return err
		}
		s.basis = &earlier{price: p.Price, name: fmt.Sprintf("r%d", answer.Reserved), numbers: numbers}
		break
	}
	return nil
}

// maxForetold bounds the numbers whose intervals are computed at each price that is tried.
const maxForetold = 20_000

// cheapest finds the least price that should do: that of an earlier answer, if one does and no new noise is wanted; else the least
// of two digits.
func (s *pricing) cheapest(fresh bool) (*priced, string, error) {
	basis, begin := s.basis, s.asked.Price
	if basis != nil && !fresh {
		begin = basis.price
	}
	excess, _, err := s.meets(begin, basis)
	if err != nil {
		return nil, "", err
	}
	if basis != nil && !fresh && excess <= 1 {
		p, err := s.at(begin)
		return p, fmt.Sprintf("An earlier answer, %s, is within %s.", basis.name, s.target.text), err
	}
	tidy := s.tidy()
	guess := s.guess(tidy, begin, excess)
	s.ahead(tidy[max(0, guess-1):min(guess+1, len(tidy))]...) // at the one it should do, and at the other not
	i, err := leastPrice(tidy, guess, func(e privacy.Epsilon) (float64, error) {
		excess, _, err := s.meets(s.policy.Budget.Price(e), basis)
		return excess, err
	})
	if err != nil {
		return nil, "", err
	}
	if i == len(tidy) {
		_, why, err := s.meets(s.policy.Price.Maximum, basis)
		if err != nil {
			return nil, "", err
		}
		return nil, "", &Error{
			Code: CodePolicy, Message: fmt.Sprintf("no price up to the policy's maximum, %s, should give every value within %s: %s", s.policy.Price.Maximum, s.target.text, why),
			Hint: "ask for less accuracy, fewer values or coarser groups",
		}
	}
	from := "from the plan alone"
	switch {
	case basis != nil:
		from = "from an earlier answer to it, " + basis.name
	case s.target.relative:
		from = "from the number of rows that the owner expects"
	}
	p, err := s.at(s.policy.Budget.Price(tidy[i]))
	return p, fmt.Sprintf("The price is the least, to two digits, at which every value should be within %s, %s.%s", s.target.text, from, s.fewer()), err
}

// fewer says that caps may leave fewer rows than the owner expects, where the price was found from these: how many they leave is not public.
func (s *pricing) fewer() string {
	p, expects := s.asked, s.c.expectedRows(s.asked)
	if s.basis != nil || p.Unit == nil || expects == 0 || len(p.Keys) > 0 || p.Where != nil {
		return ""
	}
	count := p.Caps.Rows
	if count == 0 {
		count = p.Caps.RowsPerGroup // there is one group
	}
	switch {
	case count == 0 || count >= expects:
		return ""
	case s.target.relative:
		return fmt.Sprintf(" Of one %s at most %s: where some have more, the number is below the one that the owner expects, and its error may be more than %s of it.", p.Unit.Name, countingRows(count), s.target.text)
	case slices.ContainsFunc(p.Aggregates, func(a plan.Aggregate) bool { return a.Func == plan.Average }):
		return fmt.Sprintf(" Of one %s at most %s: where some have more, an average is over fewer rows than the owner expects, and its error may be more than %s.", p.Unit.Name, countingRows(count), s.target.text)
	}
	return ""
}

// meets asks whether every value should be exact enough at a price. The largest half of an interval is so many times what it may be: at most 1
// where each is exact enough, and else why says what is not; infinite where there is none.
func (s *pricing) meets(price privacy.Loss, basis *earlier) (excess float64, why string, err error) {
	none := math.Inf(1)
	t, err := s.at(price)
	if err != nil {
		return none, "", err
	}
	p, d := t.plan, s.every(t)
	switch {
	case d == nil:
		return none, "no noise can be drawn", nil
	case basis == nil:
		return s.foretold(p, d)
	}
	if len(basis.numbers)*len(p.Outputs) > maxForetold {
		return none, "", &Error{Code: CodePolicy, Message: "the answer has too many values to foretell each one's error", Hint: "give a price"}
	}
	if excess, why, direct := s.direct(p, d, basis); direct {
		return excess, why, nil
	}
	for _, row := range d.Rows(basis.numbers, s.alpha) {
		for i, o := range p.Outputs {
			if o.Post == nil || mechanismOf(p, o, len(d.Parts(o))) == Constant && d.Single(o) == nil {
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

// direct is meets where each value is a released number itself: its error is one for all cells, and is held to the value of the least size, which
// is no other at another price.
func (s *pricing) direct(p *plan.Plan, d *derive.Answer, basis *earlier) (excess float64, why string, direct bool) {
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
		least := basis.least(p, j)
		half := d.Forecast(o, s.alpha, 0).HalfWidth
		value, _ := m.Units(least).Float64()
		if of := s.target.times(half, value); of > excess {
			excess, why = of, fmt.Sprintf("%s of about %.6g would be within ± %.3g", o.Name, value, half)
		}
	}
	return excess, why, true
}

// least is the number of the least size that was released of a measure, which no price puts elsewhere in the canonical order.
func (e *earlier) least(p *plan.Plan, j int) *big.Int {
	if e.sizes == nil {
		e.sizes = make([]*big.Int, len(p.Measures))
	}
	if e.sizes[j] == nil {
		for _, row := range e.numbers {
			if e.sizes[j] == nil || row[j].CmpAbs(e.sizes[j]) < 0 {
				e.sizes[j] = row[j]
			}
		}
	}
	return e.sizes[j]
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
	if o.Post == nil || mechanismOf(p, o, len(d.Parts(o))) == Constant && d.Single(o) == nil {
		return 0, "", nil
	}
	m := d.Single(o)
	if s.target.relative && (m == nil || m.Kind != plan.CountRows || len(p.Keys) > 0 || p.Where != nil || rows == 0) {
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
