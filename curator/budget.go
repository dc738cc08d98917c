package curator

import (
	"maps"
	"slices"

	"dither/internal/ledger"
	"dither/privacy"
)

// Budget is the state of a population's budget.
type Budget struct {
	Population string
	Neighbours string
	Budget     Loss
	Spent      Loss
	Remaining  Loss
	// the largest ε that one question can be asked at now. Under zCDP a price of ε costs ρ = ε²/2
	Largest string
	Answers int // the number of releases so far, without replays
	// charged questions that failed since the owner last reset this number with `dither ledger resume`
	Failures int
	GivenUp  []GivenUp // by analyst: charged questions that were cancelled since then, which count towards a suspension
	Lost     *LostLoss // charges that bought no answer; nil if there are none
	// Persons has an entry for each table whose unit is a row although a person has many rows. It states what the
	// spending means for a person.
	Persons []PersonLoss
	Group   *GroupLoss // for BudgetFor with a group, else nil

	Period   *PeriodBudget   // set if the budget is granted per period. Field Budget is then the lifetime budget
	Analysts []AnalystBudget // set if the policy lists its analysts
	// tables whose questions may be charged to parts: subsets of the units, by the values of a column. For these,
	// Remaining is what is left for questions about everybody
	Divided []string
}

// GroupLoss is the loss of several units together, by group privacy (kε, or k²ρ). It also holds the loss of one
// unit whose rows are exchanged for others. A loss is nil if there is no such bound.
type GroupLoss struct {
	Size  int64 `json:"size"`
	Spent *Loss `json:"spent"` // the group's loss so far
	Limit *Loss `json:"limit"` // the group's loss once the whole budget is spent
	// the loss so far of one unit whose rows are exchanged. nil if the policy's neighbours are change-one, since
	// then Budget.Spent already is that loss
	Change *Loss `json:"change"`
}

// LostLoss counts reservations that bought no answer, and their loss. The loss is part of the amount spent.
type LostLoss struct {
	Failed  int `json:"failed"`
	GivenUp int `json:"given_up"` // questions that the analyst cancelled
	// questions without a recorded outcome: they are running, or their process was killed
	Open int `json:"open"`
	// ledger writes that a power cut or a kill left incomplete. Each is charged the largest price
	Torn  int  `json:"torn"`
	Price Loss `json:"price"` // the loss of all of these
}

// GivenUp counts the questions and steps of trainings that one analyst has cancelled since the owner last ran
// `dither ledger resume`. After ten, dither refuses the analyst. After a hundred of all analysts together, it
// refuses everybody.
type GivenUp struct {
	Analyst   string `json:"analyst"` // "" for requests without an analyst's name
	Questions int    `json:"questions"`
	// the analyst's questions are refused until the owner runs `dither ledger resume`
	Suspended bool `json:"suspended"`
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

// PersonLoss is what all answers so far can mean for one person of a table whose unit is a row, by group privacy.
// With m declared rows a person, it is m times the ε spent, or m² times the ρ spent, as if every answer had been
// about this table.
type PersonLoss struct {
	Table string `json:"table"`
	Rows  int64  `json:"rows"`
	Spent *Loss  `json:"spent"`
	Limit *Loss  `json:"limit"` // the person's loss once the whole budget is spent
}

// Budget reports what is spent and what remains.
func (c *Session) Budget() (*Budget, error) { return c.BudgetFor(0) }

// BudgetFor is Budget, but it also reports the loss of a group of that many units, unless group is 0.
func (c *Session) BudgetFor(group int64) (*Budget, error) {
	if group < 0 {
		return nil, &Error{Code: CodeUsage, Message: "a group must have at least one unit"}
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
		return out, nil // The policy file is not the one in force. So it cannot say at which δ to state an ε.
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
