package curator

import (
	"strconv"
	"strings"

	"dither/internal/ledger"
	"dither/internal/plan"
)

// Measured are the noisy vectors of an earlier release of sums and counts, by its name, such as "r7": at no cost, whatever it was asked for. Its
// question is planned again at the price that was recorded, and only a plan of the very key that was recorded tells what its numbers
// are: of a release under another policy, of another version of a table, with groups or bounds that were found, or with bounds on groups or rows of its own, it does not.
//
// Nothing is spent and no row is read. An analyst, where it is given, must be permitted to ask the question now.
func (c *Curator) Measured(id, analyst string) (*Measurements, error) {
	unknown := func(message string) (*Measurements, error) {
		return nil, &Error{Code: CodeUsage, Message: "release " + strconv.Quote(id) + " " + message, Hint: "`dither ledger list` shows the releases; a question can be asked again"}
	}
	reserved, err := strconv.ParseUint(strings.TrimPrefix(id, "r"), 10, 64)
	if err != nil || !strings.HasPrefix(id, "r") {
		return unknown("is no release's name, which is such as r7")
	}
	digest, found := c.policy.Digest(), ledger.Answer{}
	var failed error
	if err := c.ledger.Answers(func(of *ledger.About) bool {
		return of.Policy == digest && sums(of.Mechanisms)
	}, func(id uint64, read func() (ledger.Answer, error)) bool {
		if id == reserved {
			found, failed = read()
		}
		return id != reserved
	}); err != nil {
		return nil, public(err)
	}
	if failed != nil {
		return nil, public(failed)
	}
	if found.Reservation.Key == "" {
		return unknown("is not there under the policy in force, or not of sums and counts")
	}
	q := Question{SQL: found.Reservation.Question, Analyst: analyst}
	if err := c.permitted(q); err != nil {
		return nil, public(err)
	}
	p, err := plan.Build(c.filled(), plan.Request{SQL: found.Reservation.Question, Price: found.Reservation.Loss})
	if err != nil || len(p.Quantiles)+len(p.Modes)+len(p.Searches) > 0 || p.Rows != nil || p.Selection != nil {
		return unknown("is not of sums and counts alone, of groups and bounds that were known")
	}
	_, versions, err := c.sealed(&p.Bounded)
	if err != nil {
		return nil, public(err)
	}
	if p.Key(versions...) != found.Reservation.Key {
		return unknown("was asked of another version of the table, or with options of its own")
	}
	numbers, err := decode(found.Values, [2]int{p.Released(), p.Numbers()})
	if err != nil {
		return nil, public(err)
	}
	return c.measurements(&asked{Question: q, plan: p}, &seen{id: reserved, numbers: numbers, replayed: true})
}
