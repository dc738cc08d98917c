package curator

import (
	"dither/internal/release"
	"dither/internal/reuse"
)

// Reuse describes how a question can be answered from earlier releases, at no cost.
type Reuse struct {
	From []string // the names of the releases
	// Taken means that asking returns this free answer. It is false if the question names a price that buys a more
	// exact answer.
	Taken bool
	// for each column except keys: the predicted error in the rows of the first grouping. If the rows differ, it is
	// the largest
	Expected []NamedExpected
	Differ   bool // the errors of these rows differ, as for months with 28 to 31 days
}

// reused answers a question from earlier releases, without reading any row. It returns nil if they do not determine
// the answer, or if the question has a release of its own. If the question names a price, it also returns nil if
// paying that price would give a more exact answer.
func (c *Session) reused(a *asked) (*release.Released, error) {
	if a.apart { // two answers from the same release would share their noise
		return nil, nil
	}
	if err := a.combinable(); err != nil || a.Fresh {
		return nil, err
	}
	if a.plan.Estimated() && !a.Combine { // an answer that is computed from earlier releases has no estimate of its own
		return nil, nil
	}
	if !a.Combine {
		if _, own, err := c.ledger.Find(a.look.Key()); own || err != nil {
			return nil, err
		}
	}
	earlier, names, err := c.earlier(a)
	if err != nil {
		return nil, err
	}
	used, ok := a.derived.From(earlier, a.Combine, a.namesPrice())
	if !ok {
		return nil, a.uncombined()
	}
	out := &release.Released{Replayed: true}
	for _, i := range used {
		out.From = append(out.From, names[i].Name())
	}
	out.ID = names[used[0]].ID
	return out, nil
}

// combinable refuses the option Combine for questions that earlier releases can never answer together.
func (a *asked) combinable() error {
	switch {
	case !a.Combine:
		return nil
	case a.Fresh:
		return &Error{
			Code:    CodeUsage,
			Message: "one question cannot both pay for new noise and combine earlier releases",
			Hint:    "ask with Fresh (--fresh) first, and then combine in a second question",
		}
	case !reuse.Followable(a.plan):
		return &Error{
			Code: CodeUsage,
			Message: "earlier releases can only be combined for counts, sums and averages over one table, or over a join of " +
				"which every row counts, with known keys and given bounds; this question asks for something else",
			Hint: "ask without combining; if the same question was answered before, its answer is free",
		}
	}
	return nil
}

// uncombined refuses the option Combine if no earlier release answers the question. Without Combine it returns nil.
func (a *asked) uncombined() error {
	if !a.Combine {
		return nil
	}
	return &Error{
		Code: CodeUsage,
		Message: "no earlier releases imply this answer: they must read the newest version of the same table, with " +
			"the same rows and bounds, and the same groups or finer ones",
		Hint: "ask without combining",
	}
}

// namesPrice reports whether the question names a price: in a field of Question, in its SQL options, for one
// aggregate, or as an accuracy.
func (a *asked) namesPrice() bool {
	return !a.Combine && (a.plan.Priced || a.plan.OwnEpsilons)
}

// reusable describes what reused would return, with the predicted errors.
func (c *Session) reusable(a *asked, replayed bool) (*Reuse, error) {
	if a.apart {
		return nil, nil
	}
	if err := a.combinable(); err != nil || replayed && !a.Combine || a.Fresh {
		return nil, err
	}
	earlier, names, err := c.earlier(a)
	if err != nil {
		return nil, err
	}
	used, ok := a.derived.From(earlier, a.Combine, false)
	if !ok {
		return nil, a.uncombined()
	}
	out := &Reuse{Taken: true, Differ: a.derived.GivenDiffer()}
	if a.namesPrice() {
		_, out.Taken = a.derived.From(earlier, a.Combine, true)
	}
	for _, i := range used {
		out.From = append(out.From, names[i].Name())
	}
	for _, o := range a.plan.Outputs {
		if noisy(o) {
			out.Expected = append(out.Expected, NamedExpected{o.Name, foretold(a.derived.ForecastGiven(o, a.alpha))})
		}
	}
	a.derived.Forget()
	return out, nil
}
