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
