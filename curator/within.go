package curator

import (
	"errors"
	"math"
	"math/big"
	"strings"

	"dither/internal/exact"
	"dither/internal/plan"
	"dither/internal/policy"
)

// A question may name an accuracy instead of a price. It is then asked at the least price that should give this
// accuracy. The price is found from public facts: the plan and the policy's expected_rows, or an earlier answer to
// the same question at another price. The released numbers of that answer then stand for the exact ones. No row is
// read to find the price, so the price reveals nothing. The accuracy is a prediction: the answer has its own
// intervals.

// accuracy is the largest permitted half-width of an interval: a number, or a fraction of the value's size.
type accuracy struct {
	most     float64
	relative bool
	text     string
}

// of returns the largest permitted half-width around a value.
func (t accuracy) of(value float64) float64 {
	if t.relative {
		return t.most * math.Abs(value)
	}
	return t.most
}

// times returns the quotient of the half-width `half` and the largest permitted half-width around a value. The result
// is at most 1 exactly if `half` is permitted. It is infinite if the permitted half-width is 0, or if `half` is not
// finite.
func (t accuracy) times(half, value float64) float64 {
	switch most := t.of(value); {
	case half <= most:
		return math.Min(half/most, 1) // 0/0 is NaN, which compares as no excess
	case most > 0 && half <= math.MaxFloat64:
		return math.Max(half/most, math.Nextafter(1, 2))
	}
	return math.Inf(1)
}

// parseAccuracy reads an accuracy such as "5%" or "12".
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
		return accuracy{}, &Error{
			Code:    CodeUsage,
			Message: "invalid accuracy: " + err.Error(),
			Hint:    "write 5% (of each value), or a number in the answer's unit, such as 12",
			cause:   err,
		}
	}
	most := exact.FloatDown(r)
	return accuracy{most: most, relative: relative, text: text}, nil
}

// level copies At, such as "95%" or "0.95", into Confidence. It refuses two different values.
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

// within returns the plan of a question at the price that its accuracy needs, and says in words how the price was
// found. It returns p itself if the question names no accuracy.
func (c *Session) within(
	q Question,
	filled *policy.Policy,
	request plan.Request,
	p *plan.Plan,
	alpha float64,
) (*priced, string, error) {
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
			return nil, "", &Error{
				Code:    CodeUsage,
				Message: "two different accuracies are given",
				Hint:    "leave one out",
			}
		}
		target = asked
	}
	switch {
	case target.most == 0:
		return &priced{plan: p}, "", nil
	case q.Epsilon != "" || q.Rho != "" || p.Priced: // a price in a field of q, or in the SQL text
		return nil, "", &Error{
			Code:    CodeUsage,
			Message: "a question takes a price or an accuracy, not both",
			Hint:    "leave one out",
		}
	case p.OwnEpsilons:
		return nil, "", &Error{
			Code:    CodePolicy,
			Message: "no price can be found for a question whose aggregates set their own epsilon",
			Hint:    "leave out epsilon =>, or the accuracy",
		}
	case len(p.Searches) > 0:
		return nil, "", &Error{
			Code:    CodePolicy,
			Message: "no price can be found if the question finds its bounds: the accuracy depends on the bounds",
			Hint:    "give the bounds, or a price",
		}
	case p.Rows != nil:
		return nil, "", &Error{
			Code:    CodePolicy,
			Message: "no price can be found if the question finds its bound on rows: the accuracy depends on that bound",
			Hint:    "give the bound, such as --max-rows 3, or a price",
		}
	case len(p.Quantiles)+len(p.Modes) > 0:
		return nil, "", &Error{
			Code:    CodePolicy,
			Message: "no price can be found for a quantile or a mode: how accurate its value is depends on the rows around it",
			Hint:    "ask for the other aggregates separately, or give a price, for which explain states the error in rows",
		}
	}
	asked := *p
	asked.Priced = true // so that the plan is the same as at an explicit price
	s := &pricing{
		c:       c,
		policy:  filled,
		request: request,
		target:  target,
		alpha:   alpha,
		asked:   &asked,
		tried:   []*priced{{plan: &asked}},
	}
	if err := s.gather(&p.Statement); err != nil {
		return nil, "", err
	}
	return s.cheapest(q.Fresh)
}
