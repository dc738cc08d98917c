package curator

import (
	"slices"

	"dither/internal/derive"
	"dither/internal/ledger"
	"dither/internal/plan"
)

// mostEarlier bounds how many earlier releases are looked at for one question, the newest first.
const mostEarlier = 100

// Reuse says how a question can be answered from earlier releases, at no cost.
type Reuse struct {
	From []string // the releases
	// Taken says that asking gives this answer. Else the question names a price, and what it buys is more exact; a question that
	// names none takes it.
	Taken    bool
	Expected []NamedExpected // of the columns that are no keys, in the rows of the first grouping
}

// reused answers a question from earlier releases, where it follows from them: nil where it does not, or where it has a release of its own.
// It consults the ledger alone. An answer that is named a price is not answered by anything less exact than it would buy.
func (c *Curator) reused(a *asked) (*seen, error) {
	switch {
	case a.Fresh && a.Combine:
		return nil, &Error{Code: CodeUsage, Message: "what is measured afresh is not combined", Hint: "ask afresh first, and then combine"}
	case a.Fresh:
		return nil, nil
	}
	if !a.Combine {
		if _, own, err := c.ledger.Find(a.look.key); own || err != nil {
			return nil, err
		}
	}
	earlier, names, err := c.earlier(a)
	if err != nil {
		return nil, err
	}
	used, ok := a.derived.From(earlier, a.Combine, a.namesPrice())
	if !ok {
		if a.Combine {
			return nil, &Error{Code: CodeUsage, Message: "there are no earlier releases to combine that tell this", Hint: "ask without combining"}
		}
		return nil, nil
	}
	out := &seen{replayed: true}
	for _, i := range used {
		out.from = append(out.from, names[i].name())
	}
	out.id = names[used[0]].id
	return out, nil
}

// namesPrice reports that the question has a price of its own: beside it, in its options, of an aggregate, or for an accuracy.
func (a *asked) namesPrice() bool {
	return !a.Combine && (a.plan.Priced || a.plan.OwnEpsilons)
}

// earlier are the releases that may tell something of a question: of the same policy and the same sealed versions, with plans that have the very
// replay keys that were recorded, so that what was measured is known from the plan.
func (c *Curator) earlier(a *asked) ([]*derive.Earlier, []seen, error) {
	if !a.plan.Followable() { // nothing does, whatever was released
		return nil, nil, nil
	}
	reservations := map[uint64]ledger.Reservation{}
	values := map[uint64]ledger.Release{}
	sources := a.look.sources()
	digest := c.policy.Digest()
	var order []uint64
	err := c.ledger.Entries(func(e ledger.Entry) error {
		switch b := e.Body.(type) {
		case ledger.Reservation:
			if b.Policy == digest && slices.Equal(b.Sources, sources) && sums(b.Mechanisms) {
				reservations[e.Index] = b
			}
		case ledger.Release:
			if _, ok := reservations[b.Reservation]; ok {
				values[b.Reservation] = b
				order = append(order, b.Reservation)
			}
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	var out []*derive.Earlier
	var names []seen
	for _, id := range slices.Backward(order[max(0, len(order)-mostEarlier):]) {
		r := reservations[id]
		p := c.planOf(r, a)
		if p == nil {
			continue
		}
		numbers, err := decode(values[id].Values, [2]int{p.Released(), len(p.Measures)})
		if err != nil {
			continue // it tells nothing, whatever it is
		}
		out, names = append(out, &derive.Earlier{Plan: p, Numbers: numbers}), append(names, seen{id: id})
	}
	return out, names, nil
}

// sums reports that each mechanism adds noise to sums.
func sums(ms []ledger.Mechanism) bool {
	return !slices.ContainsFunc(ms, func(m ledger.Mechanism) bool {
		return m.Name != string(plan.Laplace) && m.Name != string(plan.Gaussian)
	})
}

// planOf plans a recorded question again, at its recorded price; nil where that does not give the recorded key: then something of it is not
// known here.
func (c *Curator) planOf(r ledger.Reservation, a *asked) *plan.Plan {
	asked, _, _ := parseRows(a.MaxRows) // which was read before
	for _, groups := range slices.Compact([]int64{a.MaxGroups, 0}) {
		for _, rows := range slices.Compact([]int64{asked, 0}) {
			p, err := plan.Build(c.policy, plan.Request{SQL: r.Question, Price: r.Loss, MaxGroups: groups, MaxRows: rows})
			if err == nil && len(p.Searches) == 0 && p.Rows == nil && slices.Equal(p.Tables(), a.plan.Tables()) && p.Key(a.look.versions()...) == r.Key {
				return p
			}
		}
	}
	return nil
}

// reusable is what reused would do, foretold.
func (c *Curator) reusable(a *asked, replayed bool) (*Reuse, error) {
	if replayed && !a.Combine || a.Fresh {
		return nil, nil
	}
	earlier, names, err := c.earlier(a)
	if err != nil {
		return nil, err
	}
	used, ok := a.derived.From(earlier, a.Combine, false)
	if !ok {
		return nil, nil
	}
	out := &Reuse{Taken: true}
	if a.namesPrice() {
		_, out.Taken = a.derived.From(earlier, a.Combine, true)
	}
	for _, i := range used {
		out.From = append(out.From, names[i].name())
	}
	for _, o := range a.plan.Outputs {
		if noisy(o) {
			out.Expected = append(out.Expected, NamedExpected{o.Name, foretold(a.derived.ForecastGiven(o, a.alpha))})
		}
	}
	a.derived.Forget()
	return out, nil
}
