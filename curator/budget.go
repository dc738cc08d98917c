package curator

// Budget is a population's account.
type Budget struct {
	Population string
	Neighbours string
	Budget     Loss
	Spent      Loss
	Remaining  Loss // also the largest price that one question can have now, if the policy's maximum is not below it
	Answers    int  // released so far, replays not counted
	Failures   int  // questions that failed, and were charged, since the owner last looked into them
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
		Population: s.Terms.Population, Neighbours: s.Terms.Neighbours.String(),
		Budget: loss(s.Budget), Spent: loss(s.Spent), Remaining: loss(s.Remaining), Answers: s.Answers, Failures: s.Failures,
	}
	if s.Terms.Digest != c.policy.Digest() {
		return out, nil // the file says nothing of what is in force
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
