package curator

import (
	"fmt"
	"slices"
	"sync"

	"dither/internal/derive"
	"dither/internal/ledger"
	"dither/internal/plan"
	"dither/internal/policy"
)

// What is looked at for one question, the newest first: so many earlier releases, and numbers of them that tell something of it.
const (
	mostEarlier        = 100
	mostEarlierNumbers = 20_000
)

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
	if err := a.combinable(); err != nil || a.Fresh {
		return nil, err
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
		return nil, a.uncombined()
	}
	out := &seen{replayed: true}
	for _, i := range used {
		out.from = append(out.from, names[i].name())
	}
	out.id = names[used[0]].id
	return out, nil
}

// combinable refuses to combine what is not told by several releases, whatever was released.
func (a *asked) combinable() error {
	switch {
	case !a.Combine:
		return nil
	case a.Fresh:
		return &Error{Code: CodeUsage, Message: "what is measured afresh is not combined", Hint: "ask afresh first, and then combine"}
	case !a.plan.Followable():
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
		Code: CodeUsage, Message: "there are no earlier releases to combine that tell this: of the same table as it is sealed now, the same rows and bounds, and the same groups or finer ones",
		Hint: "ask without combining",
	}
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
	sources, digest := a.look.sources(), c.policy.Digest()
	var out []*derive.Earlier
	var names []seen
	looked, numbers := 0, 0
	err := c.ledger.Answers(func(of *ledger.About) bool {
		return of.Policy == digest && slices.Equal(of.Sources, sources) && sums(of.Mechanisms)
	}, func(id uint64, read func() (ledger.Answer, error)) bool {
		looked++
		read = sync.OnceValues(read)
		p, err := c.planOf(id, read, a)
		if err == nil && p != nil && a.plan.Tells(p) {
			if r, err := read(); err == nil {
				if released, err := decode(r.Values, [2]int{p.Released(), len(p.Measures)}); err == nil { // else it tells nothing, whatever it is
					out, names = append(out, &derive.Earlier{Plan: p, Numbers: released}), append(names, seen{id: id})
					numbers += p.Released() * len(p.Measures)
				}
			}
		}
		return err == nil && looked < mostEarlier && numbers < mostEarlierNumbers
	})
	return out, names, err
}

// sums reports that each mechanism adds noise to sums.
func sums(mechanisms []string) bool {
	return !slices.ContainsFunc(mechanisms, func(name string) bool {
		return name != string(plan.Laplace) && name != string(plan.Gaussian)
	})
}

// planOf plans a recorded question again, at its recorded price; nil where that does not give the recorded key: then something of it is not
// known here.
func (c *Curator) planOf(id uint64, read func() (ledger.Answer, error), a *asked) (*plan.Plan, error) {
	c.plans.mu.Lock()
	defer c.plans.mu.Unlock()
	if p := c.plans.found[id]; p != nil { // whose plan it is does not hang on who looks for it
		return p, nil
	}
	from := origins(a.policy)
	untried := slices.DeleteFunc(spellings(a.plan), func(bounds plan.Caps) bool { return c.plans.missed[missedPlan{id, bounds, from}] })
	if len(untried) == 0 {
		return nil, nil
	}
	r, err := read()
	if err != nil {
		return nil, err
	}
	for _, bounds := range untried {
		if p := plannedAgain(r.Reservation, a, bounds); p != nil {
			c.plans.keep(id, p)
			return p, nil
		}
		c.plans.miss(missedPlan{id, bounds, from})
	}
	return nil, nil
}

// spellings are the bounds on rows and groups that an earlier question may have been asked with beside its text, which a record of it does not
// have: those that p was asked with, wherever it says so; none, which are the policy's; and those that bound p. An earlier question that tells p is
// bounded as p is (plan.Follow), so that its plan is among those with these bounds, but where a cap on groups of its own bounds what p does not ask for.
func spellings(p *plan.Plan) (out []plan.Caps) {
	for _, groups := range []int64{p.Asked.Groups, 0, p.Caps.Groups} {
		for _, rows := range []int64{p.Asked.Rows, 0, p.Caps.Rows} {
			if c := (plan.Caps{Groups: groups, Rows: rows}); !slices.Contains(out, c) {
				out = append(out, c)
			}
		}
	}
	return out
}

// plannedAgain is the plan of a reservation with these bounds, or nil.
func plannedAgain(r ledger.Reservation, a *asked, bounds plan.Caps) *plan.Plan {
	p, err := plan.Build(a.policy, plan.Request{SQL: r.Question, Price: r.Loss, MaxGroups: bounds.Groups, MaxRows: bounds.Rows})
	if err == nil && len(p.Searches) == 0 && p.Rows == nil && slices.Equal(p.Tables(), a.plan.Tables()) && p.Key(a.look.versions()...) == r.Key {
		return p.Settled()
	}
	return nil
}

// plans are those of recorded questions that were planned again last, and those that were not found with some bounds.
type plans struct {
	mu     sync.Mutex
	found  map[uint64]*plan.Plan // by reservation
	missed map[missedPlan]bool
}

func (s *plans) keep(id uint64, p *plan.Plan) {
	if len(s.found) >= 2*mostEarlier || s.found == nil {
		s.found = map[uint64]*plan.Plan{}
	}
	s.found[id] = p
}

func (s *plans) miss(m missedPlan) {
	if len(s.missed) >= 40*mostEarlier || s.missed == nil {
		s.missed = map[missedPlan]bool{}
	}
	s.missed[m] = true
}

// origins are the versions of the public tables that columns have their values of.
func origins(p *policy.Policy) string {
	var out []int
	for _, t := range p.Tables {
		for _, c := range t.Columns {
			if c.ValuesFrom != nil {
				out = append(out, c.ValuesFrom.Version)
			}
		}
	}
	return fmt.Sprint(out)
}

// missedPlan is of a reservation, with the bounds that were tried and the origins of values.
type missedPlan struct {
	reservation uint64
	bounds      plan.Caps
	origins     string
}

// reusable is what reused would do, foretold.
func (c *Curator) reusable(a *asked, replayed bool) (*Reuse, error) {
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
