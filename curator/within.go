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
		return accuracy{}, &Error{
			Code:    CodeUsage,
			Message: "invalid accuracy: " + err.Error(),
			Hint:    "an accuracy is 5% of each value, or a number in the answer's unit such as 12",
			cause:   err,
		}
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
				Message: "the accuracy is given twice, and differently",
				Hint:    "leave one out",
			}
		}
		target = asked
	}
	switch {
	case target.most == 0:
		return &priced{plan: p}, "", nil
	case q.Epsilon != "" || q.Rho != "" || p.Priced: // beside its text, or in it
		return nil, "", &Error{
			Code:    CodeUsage,
			Message: "a question has a price or an accuracy, not both",
			Hint:    "leave one out",
		}
	case p.OwnEpsilons:
		return nil, "", &Error{
			Code:    CodePolicy,
			Message: "a question whose aggregates have an epsilon of their own has no other price to be found",
			Hint:    "leave out epsilon =>, or the accuracy",
		}
	case len(p.Searches) > 0:
		return nil, "", &Error{
			Code:    CodePolicy,
			Message: "how exact an answer within found bounds is depends on what is found",
			Hint:    "give the bounds, or a price",
		}
	case p.Rows != nil:
		return nil, "", &Error{
			Code:    CodePolicy,
			Message: "how exact an answer with a found bound on rows is depends on what is found",
			Hint:    "give the bound, as in --max-rows 3, or a price",
		}
	case len(p.Quantiles)+len(p.Modes) > 0:
		return nil, "", &Error{
			Code:    CodePolicy,
			Message: "how exact a quantile or a mode is in its value depends on the rows around it, and no price follows from it",
			Hint:    "ask for the others by themselves; or give a price, whose error in rows explain tells",
		}
	}
	asked := *p
	asked.Priced = true // as at any price that is found
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
