package cli

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"dither/curator"
)

// questionFlags declares the flags of query and explain, and where the question is read from.
func (s *session) questionFlags() (q *curator.Question, file *string) {
	q, file = &curator.Question{}, new(string)
	s.formatFlag(anyFormat...)
	s.flag(&q.Epsilon, "epsilon", "E", "the price of the question (default: the policy's)")
	s.rhoFlag(&q.Rho)
	s.flag(&q.MaxGroups, "max-groups", "N", "in how many groups of an answer one unit counts (default: the policy's)")
	s.flag(&q.MaxRows, "max-rows", "N",
		"how many rows of one unit count; auto: found first, for a tenth of the price (default: the policy's)")
	s.flag(&q.Delta, "delta", "D",
		"what selecting groups that are not known beforehand may cost in δ (default: the policy's)")
	s.flag(&q.MinUnits, "min-units", "K",
		"release such a group of K units or fewer with a probability of at most δ (default: the policy's)")
	s.flag(&q.Other, "other", "", "add a row of all that is in no group that is released")
	s.flag(&q.Within, "within", "E",
		"in place of a price, how exact each value should be: 5% of it, or a number in its unit")
	s.flag(&q.At, "at", "P", "the confidence at which it should be, as 95%")
	s.confidenceFlag(&q.Confidence)
	s.analystFlag(&q.Analyst)
	s.freshFlag(&q.Fresh)
	s.flag(&q.Whole, "whole", "",
		"counts as non-negative whole numbers that add up; intervals stay about the estimates")
	s.flag(&q.Combine, "combine", "", "answer from all earlier releases that tell this, weighted together, at no cost")
	s.flag(file, "f", "FILE", "read the question from FILE")
	return q, file
}

// maxSQL bounds what is read from a file or standard input; the parser's own limit is far below it.
const maxSQL = 1 << 20

// readSQL takes the question from the argument, -f FILE, or "-".
func (s *session) readSQL(args []string, file string) (string, error) {
	switch {
	case file != "" && len(args) == 0:
		f, err := os.Open(file)
		if err != nil {
			return "", err
		}
		defer func() { _ = f.Close() }() // it was only read
		return readAll(f)
	case file == "" && len(args) == 1 && args[0] == "-":
		return readAll(s.stdin)
	case file == "" && len(args) == 1:
		return args[0], nil
	}
	return "", usage("one question is needed: as an argument, with -f FILE, or - for standard input")
}

func readAll(r io.Reader) (string, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxSQL))
	return string(text), err
}

// open opens the home.
func (s *session) open() (*curator.Curator, error) {
	var o curator.Options
	if os.Getenv("DITHER_OWNER_ERRORS") != "" {
		// Who runs the command line can read the files: this is the owner.
		o.OwnerErrors = func(err error) { s.note("for the owner only, may quote rows: %s\n", printableLines(err.Error())) }
	}
	return curator.OpenWith(s.home, o)
}

// with opens the home for do, and closes it.
func (s *session) with(do func(*curator.Curator) error) error {
	c, err := s.open()
	if err != nil {
		return err
	}
	return errors.Join(do(c), c.Close())
}

// noZeros refuses counts that are given as 0: where it is written, 0 is no default.
func (s *session) noZeros() (err error) {
	s.flags.Visit(func(f *flag.Flag) {
		if (f.Name == "max-groups" || f.Name == "group" || f.Name == "min-units") && f.Value.String() == "0" {
			err = usage("--%s is at least 1", f.Name)
		}
	})
	return err
}

// ask opens the home, reads the question, and hands both to do; a table that was never sealed is sealed first.
func (s *session) ask(args []string, do func(*curator.Curator, curator.Question) error) error {
	q, file := s.questionFlags()
	rest, helped, err := s.parse(args)
	if err != nil || helped {
		return err
	}
	if err := s.noZeros(); err != nil {
		return err
	}
	q.SQL, err = s.readSQL(rest, *file)
	if err != nil {
		return err
	}
	return s.sealing(func(c *curator.Curator) error { return do(c, *q) })
}

// sealing opens the home for do. A table that was never sealed is sealed by its first use: only an owner runs this, and no question has been charged. A
// join may need several.
func (s *session) sealing(do func(*curator.Curator) error) error {
	return s.with(func(c *curator.Curator) error {
		for sealed := ""; ; {
			err := do(c)
			var e *curator.Error
			if !errors.As(err, &e) || e.Code != curator.CodeNotSealed || e.Table == sealed {
				return err
			}
			if err := s.sealMissing(c, e.Table); err != nil {
				return err
			}
			sealed = e.Table
		}
	})
}

// queryVerb is `dither query`.
var queryVerb = verb{
	name:  "query",
	args:  "SQL | -f FILE | -",
	about: "answer a question",
	run:   runQuery,
}

func runQuery(s *session, args []string) error {
	p := s.pictureFlags()
	return s.ask(args, func(c *curator.Curator, q curator.Question) error {
		if err := p.check(s); err != nil {
			return err
		}
		r, err := s.answer(c, q)
		if err != nil {
			return err
		}
		return errors.Join(s.showRelease(r), p.show(s, r))
	})
}

func (s *session) showRelease(r *curator.Release) error {
	switch s.format {
	case "json":
		return s.json(r)
	case "csv":
		return s.csv(releaseRecords(r))
	case "markdown":
		s.print("%s", releaseMarkdown(r))
		return nil
	}
	s.print("%s", releaseTable(r))
	return nil
}

// explainVerb is `dither explain`.
var explainVerb = verb{
	name:  "explain",
	args:  "SQL | -f FILE | -",
	about: "what a question would cost, and how exact it would be, free",
	run:   runExplain,
}

func runExplain(s *session, args []string) error {
	group := s.groupFlag()
	return s.ask(args, func(c *curator.Curator, q curator.Question) error {
		q.Group = *group
		e, err := c.Explain(context.Background(), q)
		if err != nil {
			return err
		}
		if s.format == "json" {
			return s.json(e)
		}
		if s.format == "markdown" {
			s.print("%s", explanationMarkdown(e))
			return nil
		}
		s.print("%s", explanationText(e))
		return nil
	})
}

func (s *session) json(v json.Marshaler) error {
	text, err := v.MarshalJSON()
	if err != nil {
		return err
	}
	s.print("%s\n", printableJSON(text))
	return nil
}

// budgetVerb is `dither budget`.
var budgetVerb = verb{
	name:  "budget",
	about: "what was spent, and what remains",
	run:   runBudget,
}

func runBudget(s *session, args []string) error {
	s.formatFlag(anyFormat...)
	group := s.groupFlag()
	_, helped, err := s.parse(args)
	if err != nil || helped {
		return err
	}
	if err := s.noZeros(); err != nil {
		return err
	}
	return s.with(func(c *curator.Curator) error {
		b, err := c.BudgetFor(*group)
		if err != nil {
			return err
		}
		if s.format == "json" {
			return s.json(b)
		}
		if s.format == "markdown" {
			s.print("%s", budgetMarkdown(b))
			return nil
		}
		s.showBudget(b)
		return nil
	})
}

func (s *session) showBudget(b *curator.Budget) {
	s.print("population  %s (%s)\n", b.Population, b.Neighbours)
	s.print("budget      %s\nspent       %s in %s\nremaining   %s\n", b.Budget, b.Spent, plural(b.Answers, "answer"), b.Remaining)
	if b.Remaining.Rho != "" {
		if b.Largest == "0" {
			s.print("at most     nothing: no new question fits\n")
		} else {
			s.print("at most     --epsilon %s for one question (it costs ρ = ε²/2)\n", b.Largest)
		}
	}
	s.showLost(b.Lost)
	s.showShares(b)
	if b.Failures > 0 {
		s.print("failed      %s, charged; after 10 new ones are refused until the owner runs `dither ledger resume`\n", plural(b.Failures, "question"))
	}
	s.showGivenUp(b.GivenUp)
	for _, p := range b.Persons {
		s.print("a person with %d rows in %s: so far %s, when all is spent %s (group privacy)\n",
			p.Rows, p.Table, lossOrNone(p.Spent), lossOrNone(p.Limit))
	}
	if g := b.Group; g != nil {
		s.print("a group of %s: so far %s, when all is spent %s\n", plural(int(g.Size), "unit"), lossOrNone(g.Spent), lossOrNone(g.Limit))
		if g.Change != nil {
			s.print("a change of one unit's rows into others: so far %s\n", g.Change)
		}
	}
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// tablesVerb is `dither tables`.
var tablesVerb = verb{
	name:  "tables",
	about: "what may be asked about, free",
	run:   runTables,
}

func runTables(s *session, args []string) error {
	s.formatFlag(anyFormat...)
	if _, helped, err := s.parse(args); err != nil || helped {
		return err
	}
	return s.with(func(c *curator.Curator) error {
		tables, err := c.Tables()
		if err != nil {
			return err
		}
		if s.format == "json" {
			text, err := json.Marshal(tables)
			s.print("%s\n", printableJSON(text))
			return err
		}
		if s.format == "markdown" {
			s.print("%s", tablesMarkdown(tables))
			return nil
		}
		for i, t := range tables {
			if i > 0 {
				s.print("\n")
			}
			s.print("%s\n", describeTable(t))
		}
		return nil
	})
}

func describeTable(t curator.Table) string {
	var b strings.Builder
	unit := "each row is a unit"
	if t.Unit != "" {
		unit = "the unit is " + curator.SQLName(t.Unit)
	}
	if t.Through != "" {
		unit += ", through " + curator.SQLName(t.Through)
	}
	if t.Public {
		unit = "public"
	}
	fmt.Fprintf(&b, "%s: %s", printable(curator.SQLName(t.Name)), printable(unit))
	if t.ExpectedRows > 0 {
		fmt.Fprintf(&b, "; about %d rows, as declared", t.ExpectedRows)
	}
	if t.Part != "" {
		fmt.Fprintf(&b, "; questions about some values of %s are charged to these, and one unit counts in %d of them", printable(curator.SQLName(t.Part)), t.PartsPerUnit)
	}
	if t.Version == 0 {
		b.WriteString("; not sealed yet")
	}
	b.WriteString("\n")
	if t.Description != "" {
		fmt.Fprintf(&b, "  %s\n", printable(t.Description))
	}
	var g grid
	for _, c := range t.Columns {
		g.add("  "+curator.SQLName(c.Name), c.Type, domain(c), c.Description)
		if c.References != "" {
			g.add("", "", "→ "+c.References)
		}
		if c.RowsPerValue > 0 {
			g.add("", "", fmt.Sprintf("joins: %s of one value", plural(int(c.RowsPerValue), "row")))
		}
	}
	b.WriteString(strings.TrimRight(g.text("  "), "\n"))
	return b.String()
}

// domain says which values a column takes, as declared.
func domain(c curator.TableColumn) string {
	out := ""
	switch {
	case c.Lower != "":
		out = c.Lower + " … " + c.Upper
	case len(c.Values) > 8:
		out = strings.Join(c.Values[:8], ", ") + fmt.Sprintf(", … (%d values)", len(c.Values))
	case c.Values != nil:
		out = strings.Join(c.Values, ", ")
	case c.Type == "boolean":
		out = "false, true"
	case c.ValuesFrom != "":
		out = "those of " + c.ValuesFrom + ", which is not sealed"
	default:
		out = "no bounds: compare only"
	}
	if c.Nullable {
		out += ", or NULL"
	}
	return out
}
