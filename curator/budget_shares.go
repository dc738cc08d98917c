package curator

import (
	"fmt"
	"maps"
	"slices"
	"time"
	"unicode/utf8"

	"dither/internal/ledger"
	"dither/internal/policy"
	"dither/internal/release"
)

// The functions below convert between the policy's and the ledger's types for how a budget is shared: among parts
// (subsets of a table's units), periods and analysts.

func sharesOf(t policy.Terms, out ledger.Terms) ledger.Terms {
	for name, p := range t.Parts {
		if out.Parts == nil {
			out.Parts = map[string]ledger.Parting{}
		}
		out.Parts[name] = ledger.Parting(p)
	}
	if t.Per != "" {
		out.Grant = &ledger.Grant{Per: t.Per, Loss: t.Grant}
	}
	out.Analysts = t.Analysts
	return out
}

func recordedShares(t ledger.Terms, out policy.Terms) policy.Terms {
	for name, p := range t.Parts {
		if out.Parts == nil {
			out.Parts = map[string]policy.Parting{}
		}
		out.Parts[name] = policy.Parting(p)
	}
	if t.Grant != nil {
		out.Per, out.Grant = t.Grant.Per, t.Grant.Loss
	}
	out.Analysts = t.Analysts
	return out
}

// permitted refuses an analyst whom the policy does not list, if it lists any. This applies to replays too.
func (c *Session) permitted(q Question) error {
	_, listed := c.policy.Analysts[q.Analyst]
	switch {
	// the ledger cannot count charges under such a name
	case len(q.Analyst) > maxAnalystName || !utf8.ValidString(q.Analyst):
		return &Error{Code: CodeUsage, Message: "an analyst's name must be at most 63 bytes of UTF-8"}
	case listed || len(c.policy.Analysts) == 0:
		return nil
	case q.Analyst == "":
		return &Error{
			Code:    CodeAnalyst,
			Message: "the policy lists the analysts who may ask, and the question names no analyst",
			Hint:    "give --analyst NAME, or set Question.Analyst",
		}
	}
	return &Error{
		Code:    CodeAnalyst,
		Message: "the policy lists the analysts who may ask, and " + q.Analyst + " is not one of them",
		Hint:    "ask the owner to add this analyst to the policy",
	}
}

const maxAnalystName = 63

// PeriodBudget is the state of a budget that is granted per period.
type PeriodBudget struct {
	Per       string `json:"per"`   // "day", "week", "month", "quarter" or "year"
	Grant     Loss   `json:"grant"` // the amount granted for one period
	Spent     Loss   `json:"spent"`
	Remaining Loss   `json:"remaining"`
	Next      string `json:"next"` // the first day of the next period, in UTC
}

// AnalystBudget is the state of one analyst's limit.
type AnalystBudget struct {
	Name      string `json:"name"`
	Limit     Loss   `json:"limit"`
	Spent     Loss   `json:"spent"`
	Remaining Loss   `json:"remaining"`
}

func (c *Session) period(p *ledger.Period, told bool) *PeriodBudget {
	if p == nil {
		return nil
	}
	out := &PeriodBudget{
		Per:       p.Per,
		Grant:     left(p.Loss),
		Spent:     left(p.Spent),
		Remaining: left(p.Remaining),
		Next:      p.Next.Format(time.DateOnly),
	}
	if told {
		out.Grant, out.Spent = c.loss(p.Loss), c.account(p.Spent)
	}
	return out
}

func (c *Session) analysts(asked map[string]ledger.Asked, told bool) (out []AnalystBudget) {
	for _, name := range slices.Sorted(maps.Keys(asked)) {
		a := asked[name]
		b := AnalystBudget{Name: name, Limit: left(a.Limit), Spent: left(a.Spent), Remaining: left(a.Remaining)}
		if told {
			b.Limit, b.Spent = c.loss(a.Limit), c.account(a.Spent)
		}
		out = append(out, b)
	}
	return out
}

// charged returns the parts (subsets of the units) that an access is charged to, or nil if it is charged to everybody.
func charged(l *release.Look) []string {
	_, parts := l.Confinement()
	return parts
}

// sharing describes in words how a policy shares its budget.
func sharing(p *policy.Policy) (lines []string) {
	if g := p.Budget.Grant; g.Per != "" {
		lines = append(
			lines,
			fmt.Sprintf(
				"%s is granted per %s, %s in all; the unspent part of a %s is not carried over",
				g.Loss,
				g.Per,
				p.Budget.Loss,
				g.Per,
			),
		)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Analysts)) {
		lines = append(lines, fmt.Sprintf("analyst %s may spend %s of the budget", name, p.Analysts[name]))
	}
	for _, t := range p.Tables {
		if t.Part != nil {
			lines = append(
				lines,
				fmt.Sprintf(
					"table %s: one unit counts in at most %s of %s; a question confined to some of them is charged to those alone",
					t.Name,
					plural(t.Part.PerUnit, "part"),
					t.Part.Column,
				),
			)
		}
	}
	return lines
}
