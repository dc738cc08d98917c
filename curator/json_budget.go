package curator

// MarshalJSON writes how a grant stands.
func (p PeriodBudget) MarshalJSON() ([]byte, error) {
	var o object
	o.add("per", p.Per)
	o.add("grant", p.Grant)
	o.add("spent", p.Spent)
	o.add("remaining", p.Remaining)
	o.add("next", p.Next)
	return o.bytes()
}

// MarshalJSON writes how a limit stands.
func (a AnalystBudget) MarshalJSON() ([]byte, error) {
	var o object
	o.add("name", a.Name)
	o.add("limit", a.Limit)
	o.add("spent", a.Spent)
	o.add("remaining", a.Remaining)
	return o.bytes()
}

// MarshalJSON writes the account.
func (b *Budget) MarshalJSON() ([]byte, error) {
	var o object
	o.add("population", b.Population)
	o.add("neighbours", b.Neighbours)
	o.add("budget", b.Budget)
	o.add("spent", b.Spent)
	o.add("remaining", b.Remaining)
	o.add("answers", b.Answers)
	o.add("failures", b.Failures)
	if len(b.GivenUp) > 0 {
		o.add("given_up", b.GivenUp)
	}
	if b.Lost != nil {
		o.add("lost", b.Lost)
	}
	o.add("largest_epsilon", decimal(b.Largest))
	if b.Period != nil {
		o.add("period", b.Period)
	}
	if len(b.Analysts) > 0 {
		o.add("analysts", b.Analysts)
	}
	if len(b.Divided) > 0 {
		o.add("divided", b.Divided)
	}
	if b.Group != nil {
		o.add("group", b.Group)
	}
	if len(b.Persons) > 0 {
		o.add("persons", b.Persons)
	}
	return o.bytes()
}

// MarshalJSON writes what an analyst gave up.
func (g GivenUp) MarshalJSON() ([]byte, error) {
	var o object
	o.add("analyst", g.Analyst)
	o.add("questions", g.Questions)
	o.add("suspended", g.Suspended)
	return o.bytes()
}

// MarshalJSON writes what got no answer.
func (l *LostLoss) MarshalJSON() ([]byte, error) {
	var o object
	o.add("failed", l.Failed)
	o.add("given_up", l.GivenUp)
	o.add("open", l.Open)
	o.add("torn", l.Torn)
	o.add("price", l.Price)
	return o.bytes()
}

// MarshalJSON writes what the account means for a group.
func (g GroupLoss) MarshalJSON() ([]byte, error) {
	var o object
	o.add("size", g.Size)
	o.add("spent", g.Spent)
	o.add("limit", g.Limit)
	o.add("change", g.Change)
	return o.bytes()
}

// MarshalJSON writes what the account means for a person.
func (p PersonLoss) MarshalJSON() ([]byte, error) {
	var o object
	o.add("table", p.Table)
	o.add("rows", p.Rows)
	o.add("spent", p.Spent)
	o.add("limit", p.Limit)
	return o.bytes()
}
