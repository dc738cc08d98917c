package curator

import (
	"strconv"
	"strings"

	"dither/internal/ledger"
)

// Asked is the question and the price of a release, as the ledger records them. Neither depends on the rows.
type Asked struct {
	ID       string
	Question string   // the recorded text
	Tables   []string // the tables that the question reads
	Price    Loss
}

// Asked returns the recorded question and price of an earlier release, free, so that a caller can ask it again. Of the
// parameter `by`, only the analyst matters: its SQL and price are ignored.
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

// named returns the earlier release called id, such as "r7", and the reservation that paid for it.
func (c *Session) named(id string) (a ledger.Answer, r ledger.Reservation, err error) {
	none := &Error{
		Code:    CodeUsage,
		Message: "there is no release " + strconv.Quote(id),
		Hint:    "take the name, such as r12, from the end of an answer or from `dither ledger list`",
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
