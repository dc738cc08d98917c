package owner

import (
	"fmt"
	"strings"

	"dither/curator"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
)

// showLost prints the charges for questions without an answer.
func showLost(s *console.Console, l *curator.LostLoss) {
	if l == nil {
		return
	}
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{
		{l.Failed, "failed"},
		{l.GivenUp, "cancelled"},
		{l.Open, "without a recorded end, perhaps still running"},
		{l.Torn, "with a damaged entry"},
	} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	s.Print("unanswered  %s of the spent amount: %s\n", l.Price, strings.Join(parts, ", "))
}

// showGivenUp prints how many questions were given up by whom, and which analysts are suspended for it.
func showGivenUp(s *console.Console, all []curator.GivenUp) {
	for _, g := range all {
		who, then := "of "+render.Printable(g.Analyst), "after 10, new questions are refused"
		if g.Analyst == "" {
			who = "without an analyst's name"
		}
		if g.Suspended {
			then = "new questions are refused"
		}
		s.Print("cancelled   %s %s; %s until the owner runs `dither ledger resume`\n",
			render.Plural(g.Questions, "question"), who, then)
	}
}

// showShares prints how the budget is divided: by periods, among analysts, and by parts of a table.
func showShares(s *console.Console, b *curator.Budget) {
	if p := b.Period; p != nil {
		s.Print("this %-7s%s of %s spent, %s left; the next grant is on %s\n", p.Per, p.Spent, p.Grant,
			p.Remaining, p.Next)
		s.Print("            the budget covers all periods together; the unspent part of a period is not carried over\n")
	}
	for _, a := range b.Analysts {
		s.Print("%-12s%s of %s spent, %s left\n", render.Printable(a.Name), a.Spent, a.Limit, a.Remaining)
	}
	for _, table := range b.Divided {
		s.Print("%s is divided: questions about some of its parts may have more left (`dither explain`)\n",
			render.Printable(table))
	}
}

// Budget is the command `dither budget`.
var Budget = console.Verb{
	Name:  "budget",
	About: "show what is spent and what remains",
	Run:   runBudget,
}

func runBudget(s *console.Console, args []string) error {
	s.FormatFlag(console.AnyFormat...)
	group := s.GroupFlag()
	_, helped, err := s.Parse(args)
	if err != nil || helped {
		return err
	}
	if err := s.NoZeros(); err != nil {
		return err
	}
	return s.With(func(c *curator.Owner) error {
		b, err := c.BudgetFor(*group)
		if err != nil {
			return err
		}
		if s.Format == "json" {
			return s.JSON(b)
		}
		if s.Format == "markdown" {
			s.Print("%s", budgetMarkdown(b))
			return nil
		}
		showBudget(s, b)
		return nil
	})
}

func showBudget(s *console.Console, b *curator.Budget) {
	s.Print("population  %s (%s)\n", b.Population, b.Neighbours)
	s.Print("budget      %s\nspent       %s in %s\nremaining   %s\n", b.Budget, b.Spent,
		render.Plural(b.Answers, "answer"), b.Remaining)
	if b.Remaining.Rho != "" {
		if b.Largest == "0" {
			s.Print("at most     nothing: no new question fits\n")
		} else {
			s.Print("at most     --epsilon %s for one question (it costs ρ = ε²/2)\n", b.Largest)
		}
	}
	showLost(s, b.Lost)
	showShares(s, b)
	if b.Failures > 0 {
		s.Print("failed      %s, charged; after 10, new questions are refused until the owner runs `dither ledger resume`\n",
			render.Plural(b.Failures, "question"))
	}
	showGivenUp(s, b.GivenUp)
	for _, p := range b.Persons {
		s.Print("a person with %d rows in %s: so far %s, when all is spent %s (group privacy)\n",
			p.Rows, p.Table, render.LossOrNone(p.Spent), render.LossOrNone(p.Limit))
	}
	if g := b.Group; g != nil {
		s.Print("a group of %s: so far %s, when all is spent %s\n", render.Plural(int(g.Size), "unit"),
			render.LossOrNone(g.Spent), render.LossOrNone(g.Limit))
		if g.Change != nil {
			s.Print("a change of one unit's rows into others: so far %s\n", g.Change)
		}
	}
}

// budgetMarkdown returns the output of [showBudget] as a Markdown list.
func budgetMarkdown(b *curator.Budget) string {
	var text strings.Builder
	words := console.Console{Stdout: &text}
	showBudget(&words, b)
	return render.MarkdownList(text.String())
}
