package curator

import (
	"slices"
	"strconv"

	"dither/internal/ledger"
	"dither/internal/plan"
	"dither/internal/release"
)

// Measured returns the noisy vectors of an earlier release of sums and counts, by its name, such as "r7". It costs
// nothing and reads no row. The analyst must be permitted to ask the question now.
//
// Measured plans the recorded question again, at its recorded price. Only a plan with the recorded replay key
// determines what the numbers measure. It returns an error for a release under another policy, about another
// version of a table, with selected groups, or with bounds that were found.
func (c *Session) Measured(id, analyst string) (*Measurements, error) {
	if err := c.asks(&analyst); err != nil {
		return nil, err
	}
	unknown := func(message string) (*Measurements, error) {
		return nil, &Error{
			Code:    CodeUsage,
			Message: "release " + strconv.Quote(id) + " " + message,
			Hint:    "choose another release from `dither ledger list`, or ask the question again",
		}
	}
	answer, paid, err := c.named(id)
	if err != nil {
		return nil, c.public(err)
	}
	if paid.Policy != c.policy.Digest() || !sums(paid.Mechanisms) {
		return unknown("was made under another policy, or does not consist of sums and counts")
	}
	q := Question{SQL: paid.Question, Analyst: analyst}
	if err := c.permitted(q); err != nil {
		return nil, c.public(err)
	}
	plain, sealed := false, error(nil)
	p := again(c.filled(), paid, func(p *plan.Plan) bool {
		if plain = len(p.Quantiles)+len(p.Modes)+len(p.Searches) == 0 && p.Rows == nil && p.Selection == nil; !plain {
			return false
		}
		var versions []int
		_, versions, sealed = c.kernel.Sealed(&p.Statement)
		return sealed == nil && p.Key(versions...) == paid.Key
	})
	switch {
	case sealed != nil:
		return nil, c.public(sealed)
	case p == nil && !plain:
		return unknown("does not consist only of sums and counts with known keys and given bounds")
	case p == nil:
		return unknown("read another version of the table, or had options besides its SQL text")
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

// sums reports whether every mechanism adds noise to sums or counts.
func sums(mechanisms []ledger.Mechanism) bool {
	return !slices.ContainsFunc(mechanisms, func(m ledger.Mechanism) bool {
		return m.Name != string(plan.Laplace) && m.Name != string(plan.Gaussian)
	})
}
