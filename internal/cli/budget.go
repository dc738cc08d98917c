package cli

import (
	"fmt"
	"strings"

	"dither/curator"
)

// showLost says what was charged and got no answer.
func (s *session) showLost(l *curator.LostLoss) {
	if l == nil {
		return
	}
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{{l.Failed, "failed"}, {l.GivenUp, "given up"}, {l.Open, "ended without a word, or are being answered"}, {l.Torn, "in writing"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	s.print("unanswered  %s of what is spent: %s\n", l.Price, strings.Join(parts, ", "))
}

// showGivenUp says which questions were given up, and who is suspended for it.
func (s *session) showGivenUp(all []curator.GivenUp) {
	for _, g := range all {
		who, then := "of "+printable(g.Analyst), "after 10 new ones are refused"
		if g.Analyst == "" {
			who = "without an analyst's name"
		}
		if g.Suspended {
			then = "new ones are refused"
		}
		s.print("given up    %s %s; %s until the owner runs `dither ledger resume`\n", plural(g.Questions, "question"), who, then)
	}
}

// showShares says how the budget is shared: by periods, among analysts, by parts.
func (s *session) showShares(b *curator.Budget) {
	if p := b.Period; p != nil {
		s.print("this %-7s%s of %s spent, %s left; the next grant is on %s\n", p.Per, p.Spent, p.Grant, p.Remaining, p.Next)
		s.print("            the budget is that of all periods together; what one leaves is not carried over\n")
	}
	for _, a := range b.Analysts {
		s.print("%-12s%s of %s spent, %s left\n", printable(a.Name), a.Spent, a.Limit, a.Remaining)
	}
	for _, table := range b.Divided {
		s.print("%s is divided: questions about some of its parts may have more left (`dither explain`)\n", printable(table))
	}
}
