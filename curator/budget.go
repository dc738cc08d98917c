package curator

import (
	"maps"
	"slices"

	"dither/internal/ledger"
	"dither/privacy"
)

// Budget is a population's account.
type Budget struct {
	Population string
	Neighbours string
	Budget     Loss
	Spent      Loss
	Remaining  Loss
	// the largest ε that one question can be asked at now: under zCDP a price of ε costs ρ = ε²/2
	Largest  string
	Answers  int       // released so far, replays not counted
	Failures int       // questions that failed, and were charged, since the owner last looked into them
	GivenUp  []GivenUp // likewise, those that were given up and count towards a suspension, by analyst
	Lost     *LostLoss // what was charged and got no answer; nil where nothing was
	// Persons says what each table's spending promises a person, where a unit is a row of something that a person has
	// many of.
	Persons []PersonLoss
	Group   *GroupLoss // if one was asked about

	Period   *PeriodBudget   // where the budget is granted per period; Budget is then the lifetime's
	Analysts []AnalystBudget // where the policy lists who may ask
	// the tables whose questions may be charged to their parts: Remaining is of questions about everybody
	Divided []string
}

// GroupLoss is the loss of several units together, by group privacy (kε, or k²ρ), and of one unit whose rows are
// exchanged for others. A loss is nil where there is no such bound.
type GroupLoss struct {
	Size  int64 `json:"size"`
	Spent *Loss `json:"spent"` // so far
	Limit *Loss `json:"limit"` // when the whole budget is spent
	// what is spent, for one unit whose rows change; nil where the policy's neighbours say so already
	Change *Loss `json:"change"`
}

// LostLoss is the loss of reservations that got no answer. It is part of the amount spent.
type LostLoss struct {
	Failed  int  `json:"failed"`   // questions that failed
	GivenUp int  `json:"given_up"` // questions that their analyst gave up
	Open    int  `json:"open"`     // questions of which nothing is recorded: they were killed, or are running
	Torn    int  `json:"torn"`     // writes that a power cut or a kill tore, each charged as the largest price
	Price   Loss `json:"price"`    // of all of these
}

// GivenUp counts the questions and steps of trainings that one analyst has cancelled since the owner last resumed. After
// ten, dither refuses the analyst; after a hundred of all analysts, it refuses everybody.
type GivenUp struct {
	Analyst   string `json:"analyst"` // "" for those who name nobody
	Questions int    `json:"questions"`
	Suspended bool   `json:"suspended"` // the analyst's questions are refused until the owner has looked into it
}

func givenUpBy(s ledger.State) (out []GivenUp) {
	for _, name := range slices.Sorted(maps.Keys(s.GivenUp)) {
		out = append(out, GivenUp{Analyst: name, Questions: s.GivenUp[name], Suspended: s.Suspended(name) != nil})
	}
	return out
}

func lost(l *ledger.Lost) *LostLoss {
	if l == nil {
		return nil
	}
	return &LostLoss{Failed: l.Failed, GivenUp: l.GivenUp, Open: l.Open, Torn: l.Torn, Price: left(l.Loss)}
}

// PersonLoss is the loss that all answers so far can mean for one person of a table whose unit is a row, by group
// privacy: spent times the declared rows a person, or its square times ρ, as if every answer had been about this
// table.
type PersonLoss struct {
	Table string `json:"table"`
	Rows  int64  `json:"rows"`
	Spent *Loss  `json:"spent"`
	Limit *Loss  `json:"limit"` // when the whole budget is spent
}

// Budget reports what was spent and what remains.
func (c *Session) Budget() (*Budget, error) { return c.BudgetFor(0) }

// BudgetFor is Budget, with what it means for a group of so many units; none for 0.
func (c *Session) BudgetFor(group int64) (*Budget, error) {
	if group < 0 {
		return nil, &Error{Code: CodeUsage, Message: "a group has at least one unit"}
	}
	s, err := c.ledger.State()
	if err != nil {
		return nil, c.public(err)
	}
	out := &Budget{
		Population: s.Terms.Population,
		Neighbours: s.Terms.Neighbours.String(),
		Budget: left(
			s.Budget,
		),
		Spent:     left(s.Spent),
		Remaining: left(s.Remaining),
		Largest:   c.largest(s.Remaining),
		Answers:   s.Answers,
		Failures:  s.Failures,
		GivenUp:   givenUpBy(s),
		Lost:      lost(s.Lost),
	}
	told := s.Terms.Digest == c.policy.Digest()
	out.Period, out.Analysts, out.Divided = c.period(
		s.Period,
		told,
	), c.analysts(
		s.Analysts,
		told,
	), slices.Sorted(
		maps.Keys(s.Terms.Parts),
	)
	if !told {
		return out, nil // the file says nothing of what is in force: not at which δ an ε is told either
	}
	out.Budget, out.Spent = c.declared(), c.account(s.Spent)
	for _, t := range c.policy.Tables {
		if m := t.Unit.PersonRows; m > 0 {
			out.Persons = append(
				out.Persons,
				PersonLoss{Table: t.Name, Rows: m, Spent: marked(c.group(s.Spent, m)), Limit: c.group(s.Budget, m)},
			)
		}
	}
	if group > 0 {
		out.Group = &GroupLoss{Size: group, Spent: marked(c.group(s.Spent, group)), Limit: c.group(s.Budget, group)}
		if s.Terms.Neighbours == privacy.AddRemove {
			out.Group.Change = marked(c.group(s.Spent, 2))
		}
	}
	return out, nil
}
