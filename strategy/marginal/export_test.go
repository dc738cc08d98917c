package marginal

// Small returns the plan with releases of at most the given number of numbers.
func (p *Plan) Small(numbers int64) *Plan {
	out := *p
	out.limits.numbers = numbers
	return &out
}
