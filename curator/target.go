package curator

import (
	"fmt"

	"dither/internal/ledger"
	"dither/internal/plan"
	"dither/privacy"
)

// lookAt decides a look at a target with one mechanism.
func (c *Curator) lookAt(t *plan.Target, q Question, m ledger.Mechanism, shape [2]int) (*look, error) {
	if q.Within != "" || q.At != "" {
		return nil, &Error{Code: CodeUsage, Message: "an accuracy is for tables of noisy numbers", Hint: "give a price, and the confidence by its name"}
	}
	tables, versions, err := c.sealed(&t.Statement)
	if err != nil {
		return nil, err
	}
	parameters := fmt.Sprintf("%s scale %s shape %v", m.Name, m.Scale, shape)
	return &look{
		question: q.SQL, bounded: &t.Statement, price: t.Price, tables: tables, key: t.Key(versions, parameters),
		mechanisms: []ledger.Mechanism{m}, fresh: q.Fresh, analyst: q.Analyst, shape: shape,
	}, nil
}

// pureWithin is the largest ε of a mechanism whose loss is ε: under zCDP it costs ε²/2.
func pureWithin(price privacy.Loss) privacy.Epsilon {
	if e, pure := price.Pure(); pure {
		return e
	}
	rho, _ := price.ZCDP()
	return rho.Pure()
}

// unusable is a mechanism's refusal of its parameters, which come from the policy and the question.
func unusable(err error) *Error {
	return &Error{Code: CodePolicy, Message: err.Error(), Hint: "ask for a larger --epsilon, or narrower bounds", cause: err}
}
