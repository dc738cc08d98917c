package curator

import (
	"fmt"
	"math/big"
	"slices"

	"dither/internal/bounded"
	"dither/internal/derive"
	"dither/internal/ledger"
	"dither/internal/parallel"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/release"
	"dither/internal/reuse"
	"dither/privacy"
)

// pricing is the search for the least price that gives a question its accuracy.
type pricing struct {
	c       *Session
	policy  *policy.Policy
	request plan.Request
	target  accuracy
	alpha   float64
	shapes  derive.Shapes
	asked   *plan.Plan // the question's plan at its price before the search
	tried   []*priced
	worst   *int   // the index of the least accurate output, when all outputs were last examined; nil before that
	basis   *basis // an earlier answer to the question, at the highest price; nil if there is none
}

// basis is an earlier answer to the same question. The search takes its numbers for the exact ones.
type basis struct {
	price   privacy.Loss
	name    string
	numbers [][]*big.Int
	sizes   []*big.Int // cache of the method least
}

// priced is the question planned at one price.
type priced struct {
	plan *plan.Plan
	// derives the values of every cell (group), without HAVING and LIMIT. nil before it is needed, or if noise of this
	// size cannot be drawn
	every *derive.Answer
}

// derived returns the derivation of the answer; nil if every is nil.
func (t *priced) derived() *derive.Answer {
	if t.every == nil {
		return nil
	}
	return t.every.Showing(t.plan)
}

// at returns the question's plan at a price. It plans each price once.
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

// ahead plans the question at several prices in parallel.
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

// every returns the derivation of the values of every cell (group) at a price, or nil if noise of this size cannot be
// drawn.
func (s *pricing) every(t *priced) *derive.Answer {
	if t.every == nil {
		every := *t.plan
		every.Having, every.Limit, every.Offset = nil, nil, 0
		t.every, _ = s.shapes.New(&every) // the error means that the noise is too large to be drawn
	}
	return t.every
}

// maxPlannedAgain is the largest number of earlier answers that gather plans again.
const maxPlannedAgain = 8

// gather finds the earlier answer to the same question at the highest price. Only an answer whose recorded replay
// key is the question's key at the recorded price qualifies.
func (s *pricing) gather(b *bounded.Statement) error {
	if s.asked.Open() { // another price might release other keys
		return nil
	}
	_, versions, err := s.c.kernel.Sealed(b)
	if err != nil {
		return err
	}
	mark := reuse.MarkAtAnyPrice(s.asked, versions...)
	answers, err := s.c.ledger.Answers(
		func(of *ledger.About) bool { return of.Subject != nil && of.Subject.Question == mark },
	)
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
		if err != nil || t.plan.Key(versions...) != r.Key { // asked with other weights
			continue
		}
		numbers, err := release.NumbersOf(answer, t.plan)
		if err != nil {
			return err
		}
		s.basis = &basis{price: t.plan.Price, name: fmt.Sprintf("r%d", answer.Reserved), numbers: numbers}
		break
	}
	return nil
}

// cheapest returns the plan at the least price that should suffice. That is the price of an earlier answer, if that
// answer is accurate enough and Fresh is not set. Otherwise it is the least ε of two digits.
func (s *pricing) cheapest(fresh bool) (*priced, string, error) {
	basis, begin := s.basis, s.asked.Price
	if basis != nil && !fresh {
		begin = basis.price
	}
	excess, _, err := s.meets(begin)
	if err != nil {
		return nil, "", err
	}
	if basis != nil && !fresh && excess <= 1 {
		p, err := s.at(begin)
		return p, fmt.Sprintf("An earlier answer, %s, is within %s.", basis.name, s.target.text), err
	}
	tidy := s.tidy()
	guess := s.guess(tidy, begin, excess)
	// the guess should suffice, and the price below it should not
	s.ahead(tidy[max(0, guess-1):min(guess+1, len(tidy))]...)
	i, err := leastPrice(tidy, guess, func(e privacy.Epsilon) (float64, error) {
		excess, _, err := s.meets(s.policy.Budget.Price(e))
		return excess, err
	})
	if err != nil {
		return nil, "", err
	}
	if i == len(tidy) {
		_, why, err := s.meets(s.policy.Price.Maximum)
		if err != nil {
			return nil, "", err
		}
		return nil, "", &Error{
			Code: CodePolicy,
			Message: fmt.Sprintf(
				"no price up to the policy's maximum, %s, should give every value within %s: %s",
				s.policy.Price.Maximum,
				s.target.text,
				why,
			),
			Hint: "ask for less accuracy, fewer values or coarser groups",
		}
	}
	from := "according to the plan alone"
	switch {
	case basis != nil:
		from = "according to an earlier answer, " + basis.name
	case s.target.relative:
		from = "according to the number of rows that the owner expects"
	}
	p, err := s.at(s.policy.Budget.Price(tidy[i]))
	return p, fmt.Sprintf(
		"The price is the lowest, to two digits, at which every value should be within %s, %s.%s",
		s.target.text,
		from,
		s.fewer(),
	), err
}

// fewer returns a note that contribution bounding may leave fewer rows than the owner expects, if the price was
// found from that number. How many rows are left is not public.
func (s *pricing) fewer() string {
	p, expects := s.asked, s.c.expectedRows(s.asked)
	if s.basis != nil || p.Unit == nil || expects == 0 || len(p.Keys) > 0 || p.Where != nil {
		return ""
	}
	count := p.Caps.Rows
	if count == 0 {
		count = p.Caps.RowsPerGroup // a question without keys has one group
	}
	switch {
	case count == 0 || count >= expects:
		return ""
	case s.target.relative:
		return fmt.Sprintf(
			" For one %s, at most %s: if some have more, the number is below the one that the owner expects, and "+
				"its error may exceed %s of it.",
			p.Unit.Name,
			countingRows(count),
			s.target.text,
		)
	case slices.ContainsFunc(p.Aggregates, func(a plan.Aggregate) bool { return a.Func == plan.Average }):
		return fmt.Sprintf(
			" For one %s, at most %s: if some have more, an average is over fewer rows than the owner expects, and "+
				"its error may exceed %s.",
			p.Unit.Name,
			countingRows(count),
			s.target.text,
		)
	}
	return ""
}
