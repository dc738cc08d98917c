package curator

import (
	"dither/internal/release"
	"dither/internal/reuse"
)

// Reuse says how a question can be answered from earlier releases, at no cost.
type Reuse struct {
	From []string // the releases
	// Taken says that asking gives this answer. Else the question names a price, and what it buys is more exact; a question that
	// names none takes it.
	Taken bool
	// of the columns that are no keys, in the rows of the first grouping: in that of them where it is largest
	Expected []NamedExpected
	Differ   bool // these rows' errors differ, as those of months of 28 to 31 days
}

// reused answers a question from earlier releases, where it follows from them: nil where it does not, or where it has a release of its own.
// It consults the ledger alone. An answer that is named a price is not answered by anything less exact than it would buy.
func (c *Session) reused(a *asked) (*release.Released, error) {
	if err := a.combinable(); err != nil || a.Fresh {
		return nil, err
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

// combinable refuses to combine what is not told by several releases, whatever was released.
func (a *asked) combinable() error {
	switch {
	case !a.Combine:
		return nil
	case a.Fresh:
		return &Error{
			Code:    CodeUsage,
			Message: "what is measured afresh is not combined",
			Hint:    "ask afresh first, and then combine",
		}
	case !reuse.Followable(a.plan):
		return &Error{
			Code:    CodeUsage,
			Message: "earlier releases are combined of counts, sums and averages over one table, in groups that are known, within given bounds; this question asks for something else",
			Hint:    "ask without combining: what was released for the same question is given again, free",
		}
	}
	return nil
}

// uncombined refuses where no release tells what is to be combined; nil where nothing is.
func (a *asked) uncombined() error {
	if !a.Combine {
		return nil
	}
	return &Error{
		Code:    CodeUsage,
		Message: "there are no earlier releases to combine that tell this: of the same table as it is sealed now, the same rows and bounds, and the same groups or finer ones",
		Hint:    "ask without combining",
	}
}

// namesPrice reports that the question has a price of its own: beside it, in its options, of an aggregate, or for an accuracy.
func (a *asked) namesPrice() bool {
	return !a.Combine && (a.plan.Priced || a.plan.OwnEpsilons)
}

// reusable is what reused would do, foretold.
func (c *Session) reusable(a *asked, replayed bool) (*Reuse, error) {
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
