package prune

// MaxSteps bounds the steps of a search, but for those of the last operation.
const MaxSteps = maxSteps

// Steps returns how many steps the search has taken.
func (r *Rows) Steps() int { return r.search.steps }
