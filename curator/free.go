package curator

import (
	"errors"

	"dither/internal/free"
	"dither/internal/plan"
	"dither/privacy"
)

// freeOf returns the answer to a question that the planner refused with err, if the question reads no row, as SELECT 1
// and lists of declared values do. Such an answer has no price, and no entry in the ledger. Otherwise freeOf returns the error for the question.
// Only refused questions come here, so no question with a price becomes free, or is slower.
func (c *Session) freeOf(q Question, err error) (*free.Answer, error) {
	if refusal := (*plan.Error)(nil); !errors.As(err, &refusal) || refusal.Price {
		return nil, err
	}
	out, own := free.Of(c.filled(), q.SQL)
	if own != nil {
		err = own
	}
	return out, err
}

// freely answers a refused question if it reads no row.
func (c *Session) freely(q Question, refused error) (*Release, error) {
	a, err := c.freeOf(q, refused)
	if a == nil {
		return nil, c.public(err)
	}
	remaining, err := c.freeTerms(&q)
	if err != nil {
		return nil, c.public(err)
	}
	out := &Release{
		SQL: q.SQL, Confidence: q.Confidence, Columns: freeColumns(a), Price: zeroLike(remaining), Remaining: left(remaining),
		Free: true,
	}
	for _, values := range a.Rows {
		row := make(Row, len(values))
		for i, v := range values {
			row[i].Key = keyValue(v)
		}
		out.Rows = append(out.Rows, row)
	}
	return out, nil
}

// explainFreely explains a refused question if it reads no row.
func (c *Session) explainFreely(q Question, refused error) (*Explanation, error) {
	a, err := c.freeOf(q, refused)
	if a == nil {
		return nil, c.public(err)
	}
	remaining, err := c.freeTerms(&q)
	if err != nil {
		return nil, c.public(err)
	}
	return &Explanation{
		SQL: q.SQL, Confidence: q.Confidence, Columns: freeColumns(a), Price: zeroLike(remaining), Remaining: left(remaining),
		Cells: len(a.Rows), Affordable: true, Largest: c.largest(remaining), Free: true,
		Unit: Unit{Neighbours: c.policy.Population.Neighbours.String()}, Work: Work{Limit: c.policy.MostUnitCost()},
		Notes: []string{},
	}, nil
}

// freeTerms sets the question's default confidence, and returns what remains of the budget.
func (c *Session) freeTerms(q *Question) (privacy.Loss, error) {
	if _, err := parseConfidence(&q.Confidence); err != nil {
		return privacy.Loss{}, err
	}
	state, err := c.ledger.State()
	return state.Remaining, err
}

// zeroLike returns no loss, in the terms of another one.
func zeroLike(l privacy.Loss) Loss {
	if _, pure := l.Pure(); pure {
		return Loss{Epsilon: "0", Delta: "0"}
	}
	return Loss{Epsilon: "0", Delta: "0", Rho: "0"}
}

// freeColumns describes the columns of a free answer. They are keys, because their values are not noisy.
func freeColumns(a *free.Answer) []Column {
	out := make([]Column, len(a.Columns))
	for i, name := range a.Columns {
		out[i] = Column{Name: name, Kind: Key}
	}
	return out
}
