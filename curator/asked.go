package curator

import (
	"strconv"
	"strings"

	"dither/internal/ledger"
)

// Asked is the question and the price of a release, as the ledger records them. Both are independent of the rows.
type Asked struct {
	ID       string
	Question string   // as it was recorded
	Tables   []string // that it was asked of
	Price    Loss
}

// Asked reads what an earlier release was asked for, free, so that it can be asked for again. The price and the SQL of by count for nothing: it says who asks.
func (c *Session) Asked(id string, by Question) (*Asked, error) {
	if err := c.asks(&by.Analyst); err != nil {
		return nil, err
	}
	if err := c.permitted(by); err != nil {
		return nil, c.public(err)
	}
	_, r, err := c.named(id)
	if err != nil {
		return nil, c.public(err)
	}
	out := &Asked{ID: id, Question: r.Question, Price: c.loss(r.Loss)}
	for _, s := range r.Sources {
		out.Tables = append(out.Tables, s.Table)
	}
	return out, nil
}

// named is an earlier release by its name, with what paid for it.
func (c *Session) named(id string) (a ledger.Answer, r ledger.Reservation, err error) {
	none := &Error{
		Code:    CodeUsage,
		Message: "there is no release " + strconv.Quote(id),
		Hint:    "answers end with their release's name, as r12; `dither ledger list` shows them",
	}
	number, err := strconv.ParseUint(strings.TrimPrefix(id, "r"), 10, 64)
	if err != nil || !strings.HasPrefix(id, "r") {
		return a, r, none
	}
	a, ok, err := c.ledger.AnswerOf(number)
	if err != nil {
		return a, r, err
	}
	if !ok {
		return a, r, none
	}
	r, err = a.Reservation()
	return a, r, err
}
