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
func (c *Curator) within(q Question, filled *policy.Policy, request plan.Request, p *plan.Plan, alpha float64) (*plan.Plan, string, error) {
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
		return p, "", nil
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
	s := &pricing{c: c, policy: filled, request: request, target: target, alpha: alpha, asked: p}
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
	// last is the plan that was looked at last, and enough the last of those that do.
	last, enough *plan.Plan
	basis        *earlier // the dearest of the earlier answers to the question; nil where there are none
}

// earlier is an answer to the same question.
type earlier struct {
	price   privacy.Loss
	name    string
	numbers [][]*big.Int
	sizes   []*big.Int // what least found
}

// planned plans the question at a price.
func (s *pricing) planned(price privacy.Loss) (*plan.Plan, error) {
	r := s.request
	r.Price = price
	return plan.Build(s.policy, r)
}

// plannedAt is planned, of the price that was found to do.
func (s *pricing) plannedAt(e privacy.Epsilon) (*plan.Plan, error) {
	price := s.policy.Budget.Price(e)
	if p := s.enough; p != nil && p.Price.Within(price) && price.Within(p.Price) {
		return p, nil
	}
	return s.planned(price)
}

// at plans the question at a price.
func (s *pricing) at(price privacy.Loss) (p *plan.Plan, err error) {
	if p = s.asked; p.Price != price {
		p, err = s.planned(price)
	}
	s.last = p
	return p, err
}

// derived is what derives every cell of a plan from numbers; nil where there is no such noise.
func (s *pricing) derived(p *plan.Plan) *derive.Answer {
	every := *p // each cell counts, whichever HAVING and LIMIT show
	every.Having, every.Limit, every.Offset = nil, nil, 0
	d, err := s.shapes.New(&every)
	if err != nil { // noise beyond what can be drawn
		return nil
	}
	return d
}

// gather finds the answers to the very same question at other prices: those whose replay key is the question's, at a price that the
// ledger has.
func (s *pricing) gather(b *plan.Bounded) error {
	_, versions, err := s.c.sealed(b)
	if err != nil {
		return err
	}
	prices, err := s.c.ledger.Prices()
	if err != nil {
		return err
	}
	const most = 20 // prices that were paid first, and as many of the last; there are few
	if len(prices) > 2*most {
		prices = append(prices[:most:most], prices[len(prices)-most:]...)
	}
	slices.SortStableFunc(prices, func(a, b privacy.Loss) int { // the dearest answer is the one that is wanted
		x, _ := a.ZCDP()
		y, _ := b.ZCDP()
		return y.Cmp(x)
	})
	for _, price := range prices {
		p, err := s.planned(price)
		if err != nil || p.Open() { // of a past policy; or with an answer of groups that another price might not release
			continue
		}
		answer, ok, err := s.c.ledger.Find(p.Key(versions...))
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		numbers, err := decode(answer.Values, [2]int{p.Released(), p.Numbers()})
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
func (s *pricing) cheapest(fresh bool) (*plan.Plan, string, error) {
	basis, begin := s.basis, s.asked.Price
	if basis != nil && !fresh {
		begin = basis.price
	}
	excess, _, err := s.meets(begin, basis)
	if err != nil {
		return nil, "", err
	}
	if basis != nil && !fresh && excess <= 1 {
		return s.last, fmt.Sprintf("An earlier answer, %s, is within %s.", basis.name, s.target.text), nil
	}
	tidy := s.tidy()
	i, err := leastPrice(tidy, s.guess(tidy, begin, excess), func(e privacy.Epsilon) (float64, error) {
		excess, _, err := s.meets(s.policy.Budget.Price(e), basis)
		if excess <= 1 && err == nil { // of the last of which it is the price
			s.enough = s.last
		}
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
	p, err := s.plannedAt(tidy[i])
	return p, fmt.Sprintf("The price is the least, to two digits, at which every value should be within %s, %s.", s.target.text, from), err
}

// meets asks whether every value should be exact enough at a price. The largest half of an interval is so many times what it may be: at most 1
// where each is exact enough, and else why says what is not; infinite where there is none.
func (s *pricing) meets(price privacy.Loss, basis *earlier) (excess float64, why string, err error) {
	none := math.Inf(1)
	p, err := s.at(price)
	if err != nil {
		return none, "", err
	}
	d := s.derived(p)
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

// foretold is meets from public knowledge alone.
func (s *pricing) foretold(p *plan.Plan, d *derive.Answer) (excess float64, why string, err error) {
	a := &asked{plan: p, derived: d, alpha: s.alpha}
	rows := s.c.expectedRows(p)
	for _, o := range p.Outputs {
		if o.Post == nil || mechanismOf(p, o, len(d.Parts(o))) == Constant && d.Single(o) == nil {
			continue
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
		if of := s.target.times(half, float64(rows)); of > excess {
			excess, why = of, fmt.Sprintf("%s would be within ± %.3g", o.Name, half)
		}
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
