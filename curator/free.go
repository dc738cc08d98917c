package curator

import (
	"errors"

	"dither/internal/free"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/privacy"
)

// freeOf returns the answer to a question that the planner refused, if the question reads no row, as SELECT 1 and lists
// of declared values do. Such an answer has no price, and no entry in the ledger. freeOf also sets the question's default
// confidence, and returns what remains of the budget. For any other question, it returns the error. Only refused
// questions come here, so no question with a price becomes free, or is slower.
func (c *Session) freeOf(q *Question, refused error) (*free.Answer, privacy.Loss, error) {
	none := privacy.Loss{}
	if refusal := (*plan.Error)(nil); !errors.As(refused, &refusal) || refusal.Price {
		return nil, none, c.public(refused)
	}
	out, err := freeAnswer(c.filled(), q)
	switch {
	case err != nil:
		return nil, none, c.public(err)
	case out == nil:
		return nil, none, c.public(refused)
	}
	if _, err := parseConfidence(&q.Confidence); err != nil {
		return nil, none, c.public(err)
	}
	state, err := c.ledger.State()
	if err != nil {
		return nil, none, c.public(err)
	}
	return out, state.Remaining, nil
}

func freeAnswer(p *policy.Policy, q *Question) (*free.Answer, error) {
	if q.measured != nil {
		return free.OfTree(p, q.measured)
	}
	return free.Of(p, q.SQL)
}

// freely answers a refused question if it reads no row.
func (c *Session) freely(q Question, refused error) (*Release, error) {
	a, remaining, err := c.freeOf(&q, refused)
	if err != nil {
		return nil, err
	}
	out := c.freeRelease(q, freeColumns(a), remaining)
	out.Notes = a.Notes
	for _, values := range a.Rows {
		row := make(Row, len(values))
		for i, v := range values {
			row[i].Key = keyValue(v)
		}
		out.Rows = append(out.Rows, row)
	}
	return out, nil
}

// freeRelease returns an answer without a price, which has no rows yet.
func (c *Session) freeRelease(q Question, columns []Column, remaining privacy.Loss) *Release {
	return &Release{
		SQL: q.SQL, Confidence: q.Confidence, Columns: columns, Price: zeroLike(remaining), Remaining: left(remaining), Free: true,
	}
}

// explainFreely explains a refused question if it reads no row.
func (c *Session) explainFreely(q Question, refused error) (*Explanation, error) {
	a, remaining, err := c.freeOf(&q, refused)
	if err != nil {
		return nil, err
	}
	out := c.freeExplanation(q, freeColumns(a), len(a.Rows), remaining)
	out.Notes, out.DeclaredUnits = append(out.Notes, a.Notes...), a.Units
	return out, nil
}

// freeExplanation explains an answer without a price.
func (c *Session) freeExplanation(q Question, columns []Column, rows int, remaining privacy.Loss) *Explanation {
	return &Explanation{
		SQL: q.SQL, Confidence: q.Confidence, Columns: columns, Price: zeroLike(remaining), Remaining: left(remaining),
		Cells: rows, Affordable: true, Largest: c.largest(remaining), Free: true,
		Unit: Unit{Neighbours: c.policy.Population.Neighbours.String()}, Work: Work{Limit: c.policy.MostUnitCost()},
		Notes: []string{},
	}
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
