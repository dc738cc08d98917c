package curator

import (
	"slices"
	"strconv"

	"dither/internal/ledger"
	"dither/internal/plan"
	"dither/internal/release"
)

// Measured are the noisy vectors of an earlier release of sums and counts, by its name, such as "r7": at no cost, whatever it was asked for. Its
// question is planned again at the price that was recorded, and only a plan of the very key that was recorded tells what its numbers
// are: of a release under another policy, of another version of a table, or with groups or bounds that were found, it does not.
//
// Nothing is spent and no row is read. An analyst, where it is given, must be permitted to ask the question now.
func (c *Session) Measured(id, analyst string) (*Measurements, error) {
	if err := c.asks(&analyst); err != nil {
		return nil, err
	}
	unknown := func(message string) (*Measurements, error) {
		return nil, &Error{
			Code:    CodeUsage,
			Message: "release " + strconv.Quote(id) + " " + message,
			Hint:    "`dither ledger list` shows the releases; a question can be asked again",
		}
	}
	answer, paid, err := c.named(id)
	if err != nil {
		return nil, c.public(err)
	}
	if paid.Policy != c.policy.Digest() || !sums(paid.Mechanisms) {
		return unknown("is not of the policy in force, or not of sums and counts")
	}
	q := Question{SQL: paid.Question, Analyst: analyst}
	if err := c.permitted(q); err != nil {
		return nil, c.public(err)
	}
	p, err := plan.Build(c.filled(), again(paid))
	if err != nil || len(p.Quantiles)+len(p.Modes)+len(p.Searches) > 0 || p.Rows != nil || p.Selection != nil {
		return unknown("is not of sums and counts alone, of groups and bounds that were known")
	}
	_, versions, err := c.kernel.Sealed(&p.Statement)
	if err != nil {
		return nil, c.public(err)
	}
	if p.Key(versions...) != paid.Key {
		return unknown("was asked of another version of the table, or with options of its own")
	}
	numbers, err := release.NumbersOf(answer, p)
	if err != nil {
		return nil, c.public(err)
	}
	return c.measurements(
		&asked{Question: q, plan: p},
		&release.Released{ID: answer.Reserved, Values: release.Values{Numbers: numbers}, Replayed: true},
	)
}

// sums reports that each mechanism adds noise to sums.
func sums(mechanisms []ledger.Mechanism) bool {
	return !slices.ContainsFunc(mechanisms, func(m ledger.Mechanism) bool {
		return m.Name != string(plan.Laplace) && m.Name != string(plan.Gaussian)
	})
}
