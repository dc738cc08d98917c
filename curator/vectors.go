package curator

import (
	"fmt"
	"math"
	"math/big"

	"dither/internal/exact"
	"dither/internal/plan"
	"dither/internal/release"
	"dither/privacy"
)

// The functions below are for primitives that read rows as vectors: SELECT x1, x2, …, y FROM t WHERE …. The last
// item is the response, and all other items are predictors. A constant 1 makes an intercept.

// regress plans a regression. bound limits the L2 norm of the predictors, as a decimal; with "" the ranges of the
// predictors limit it.
func (c *Session) regress(q Request, bound string) (*release.Regression, error) {
	return c.regressAt(q, bound, privacy.Loss{})
}

// regressAt is regress at the given price instead of the question's own. The zero loss means the question's own
// price.
func (c *Session) regressAt(q Request, bound string, price privacy.Loss) (*release.Regression, error) {
	request, err := c.request(q.Question())
	if err != nil {
		return nil, err
	}
	if !price.IsZero() {
		request.Price = price
	}
	t, err := plan.BuildRows(c.filled(), request)
	if err != nil {
		return nil, err
	}
	if len(t.Measures) < 2 {
		return nil, &Error{
			Code:    CodeUsage,
			Message: "the SELECT list needs at least one predictor, and then the response",
			Hint:    "write, for example, SELECT age, 1, ill FROM people",
		}
	}
	if bound != "" {
		norm, err := positive("the bound on the predictors' norm", bound)
		if err != nil {
			return nil, err
		}
		return c.kernel.Regression(t, norm)
	}
	squares := new(big.Rat)
	for _, m := range t.Measures[:len(t.Measures)-1] {
		squares.Add(squares, new(big.Rat).Mul(m.Reach(), m.Reach()))
	}
	if squares.Sign() == 0 {
		return nil, &Error{
			Code:    CodePolicy,
			Message: "by their bounds, all predictors are 0",
			Hint:    "select one that varies, or a constant 1",
		}
	}
	root := math.Nextafter(math.Sqrt(exact.FloatUp(squares)), math.Inf(1))
	if math.IsInf(root, 0) {
		return nil, &Error{
			Code:    CodePolicy,
			Message: "the predictors' bounds are too wide for a norm",
			Hint:    "give a bound on the norm",
		}
	}
	return c.kernel.Regression(t, new(big.Rat).SetFloat64(root))
}

// limitsOfRegression returns what bounds a regression's rows, and the bound on the norm of the predictors if longer
// vectors are possible.
func (c *Session) limitsOfRegression(r *release.Regression) *Limits {
	squares := new(big.Rat)
	for _, m := range r.Measures[:r.Predictors()] {
		squares.Add(squares, new(big.Rat).Mul(m.Reach(), m.Reach()))
	}
	if bound := r.Bound(); squares.Cmp(new(big.Rat).Mul(bound, bound)) > 0 {
		return c.limitsOf(&r.Statement, longer("l2", rationalText(bound)))
	}
	return c.limitsOf(&r.Statement)
}

// positive parses a decimal above 0.
func positive(what, text string) (*big.Rat, error) {
	r, err := exact.ParseDecimal(text)
	if err != nil || r.Sign() <= 0 {
		return nil, &Error{Code: CodeUsage, Message: fmt.Sprintf("%s must be a decimal above 0, not %q", what, text)}
	}
	return r, nil
}

// portionOf parses a share of a price: a decimal above 0 and below 1.
func portionOf(what, text string) (release.Portion, error) {
	r, err := exact.ParseDecimal(text)
	if err != nil || r.Sign() <= 0 || r.Cmp(big.NewRat(1, 1)) >= 0 || !r.Denom().IsInt64() || r.Denom().Int64() > 1<<30 {
		return release.Portion{}, &Error{
			Code:    CodeUsage,
			Message: fmt.Sprintf("%s must be a decimal above 0 and below 1, not %q", what, text),
		}
	}
	return release.Portion{Of: r.Num().Int64(), Parts: r.Denom().Int64()}, nil
}

// aboutRows returns the parameter `said`, the approximate number of rows in a request. If that is 0, it returns the
// number that the policy declares.
func (c *Session) aboutRows(r *release.Regression, said int64) (int64, error) {
	if said == 0 && r.Source == nil {
		said = c.policy.Table(r.Table).ExpectedRows
	}
	if said == 0 {
		return 0, &Error{
			Code:    CodeUsage,
			Message: "the approximate number of rows is missing",
			Hint:    "give a public or released number as Rows, or declare expected_rows",
		}
	}
	return said, nil
}
