package curator

import (
	"strconv"
	"strings"

	"dither/internal/ledger"
)

// Asked is what a release was paid for, as the ledger has it: its question, and its price. Neither says anything of rows.
type Asked struct {
	ID       string
	Question string   // as it was recorded
	Tables   []string // that it was asked of
	Price    Loss
}

// Asked reads what an earlier release was asked for, free, so that it can be asked for again. The price and the SQL of by count for nothing: it says who asks.
func (c *Curator) Asked(id string, by Question) (*Asked, error) {
	if err := c.permitted(by); err != nil {
		return nil, public(err)
	}
	number, err := strconv.ParseUint(strings.TrimPrefix(id, "r"), 10, 64)
	if err != nil || !strings.HasPrefix(id, "r") {
		return nil, &Error{Code: CodeUsage, Message: "there is no release " + strconv.Quote(id), Hint: "answers end with their release's name, as r12"}
	}
	var out *Asked
	var failed error
	if err := c.ledger.Answers(func(*ledger.About) bool { return true }, func(reserved uint64, read func() (ledger.Answer, error)) bool {
		if reserved != number {
			return true
		}
		var a ledger.Answer
		if a, failed = read(); failed != nil {
			return false
		}
		out = &Asked{ID: id, Question: a.Reservation.Question, Price: c.loss(a.Reservation.Loss)}
		for _, s := range a.Reservation.Sources {
			out.Tables = append(out.Tables, s.Table)
		}
		return false
	}); err != nil {
		return nil, public(err)
	}
	if failed != nil {
		return nil, public(failed)
	}
	if out == nil {
		return nil, &Error{Code: CodeUsage, Message: "there is no release " + id, Hint: "answers end with their release's name, as r12"}
	}
	return out, nil
}
