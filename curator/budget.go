package curator

import (
	"fmt"
	"math/big"
	"strings"

	"dither/internal/ledger"
	"dither/internal/policy"
)

// Budget is a population's account.
type Budget struct {
	Population string
	Neighbours string
	Budget     Loss
	Spent      Loss
	Remaining  Loss // also the largest price that one question can have now, if the policy's maximum is not below it
	Answers    int  // released so far, replays not counted
	// Persons says what each table's spending promises a person, where a unit is a row of something that a person has many
	// of.
	Persons []PersonLoss
}

// PersonLoss is the loss that all answers so far can mean for one person of a table whose unit is a row, by group privacy:
// spent times the declared rows a person, as if every answer had been about this table.
type PersonLoss struct {
	Table string
	Rows  int64
	Spent Loss
	Limit Loss // when the whole budget is spent
}

// Budget reports what was spent and what remains.
func (c *Curator) Budget() (*Budget, error) {
	s, err := c.ledger.State()
	if err != nil {
		return nil, public(err)
	}
	out := &Budget{
		Population: c.policy.Population.Name, Neighbours: c.policy.Population.Neighbours.String(),
		Budget: loss(s.Budget), Spent: loss(s.Spent), Remaining: loss(s.Remaining), Answers: s.Answers,
	}
	for _, t := range c.policy.Tables {
		if m := t.Unit.PersonRows; m > 0 {
			out.Persons = append(out.Persons, PersonLoss{
				Table: t.Name, Rows: m, Spent: loss(s.Spent.Times(m)), Limit: loss(s.Budget.Times(m)),
			})
		}
	}
	return out, nil
}

// inForce refuses where the ledger holds other terms than the policy file.
func (c *Curator) inForce(s ledger.State) error {
	if s.Terms.Digest == c.policy.Digest() {
		return nil
	}
	changes, _, err := c.change(s)
	if err != nil {
		return err
	}
	return &Error{
		Code: CodePolicyChanged, Message: fmt.Sprintf("the policy file is not the one in force: %s", strings.Join(changes, "; ")),
		Hint: "the owner runs `dither policy accept`",
	}
}

// terms are what the ledger records of a policy that takes over from the terms in force: tables that it no longer has are
// remembered with their units, so that none comes back as something else.
func terms(p *policy.Policy, old ledger.Terms) ledger.Terms {
	t := p.Terms().After(recorded(old))
	return ledger.Terms{
		Digest: p.Digest(), Population: t.Population, Neighbours: t.Neighbours,
		Budget: ledger.Loss{Epsilon: t.Budget}, MaxPrice: ledger.Loss{Epsilon: t.Maximum}, Units: t.Units, Sources: t.Sources,
		Removed: t.Removed,
	}
}

// recorded are the terms in force, as the policy package compares them.
func recorded(t ledger.Terms) policy.Terms {
	return policy.Terms{
		Population: t.Population, Neighbours: t.Neighbours, Budget: t.Budget.Epsilon, Maximum: t.MaxPrice.Epsilon, Units: t.Units,
		Sources: t.Sources, Removed: t.Removed,
	}
}

// change compares the policy file with the terms in force: what changes, and the factor that past losses take.
func (c *Curator) change(s ledger.State) ([]string, *big.Rat, error) {
	factor, changes, err := policy.Reread(recorded(s.Terms), c.policy.Terms())
	if err != nil {
		return nil, nil, &Error{
			Code: CodePolicy, Message: err.Error(), cause: err,
			Hint: "go back to the policy in force, or begin a new home for a new population",
		}
	}
	return changes, factor, nil
}
