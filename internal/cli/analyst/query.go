// Package analyst implements the analyst's commands: tables, explain and query.
package analyst

import (
	"context"
	"errors"
	"io"
	"os"

	"dither/curator"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
)

// questionFlags declares the flags of query and explain. file receives the value of -f.
func questionFlags(s *console.Console) (q *curator.Question, file *string) {
	q, file = &curator.Question{}, new(string)
	s.FormatFlag(console.AnyFormat...)
	s.PriceFlags(&q.Epsilon, &q.Rho, "the question")
	s.Flag(&q.MaxGroups, "max-groups", "N",
		"the largest number of groups in which one unit counts (default: the policy's)")
	s.Flag(&q.MaxRows, "max-rows", "N",
		"the largest number of rows of one unit that count; auto first finds a suitable number, for a tenth of "+
			"the price (default: the policy's)")
	s.Flag(&q.Truncation, "truncation", "P",
		"spend this share of the price, such as 5%, on an estimate of what the bounds cut: how many units have more "+
			"rows or groups than count; 0 for none (default: the policy's)")
	s.Flag(&q.TruncationRows, "truncation-rows", "M",
		"with --truncation: estimate also how many rows are left out, counting at most M rows of one unit")
	s.Flag(&q.Delta, "delta", "D", "the δ for the selection of groups with unknown keys (default: the policy's)")
	s.Flag(&q.MinUnits, "min-units", "K",
		"release a group with unknown keys and at most K units only with probability at most δ (default: the "+
			"policy's)")
	s.Flag(&q.Other, "other", "", "add one row for all groups that are not released together")
	s.Flag(&q.AllowSelection, "allow-selection", "",
		"permit a private selection of groups: among known keys that are too many to be shown, and for a list of "+
			"unknown values without a price")
	s.Flag(&q.Within, "within", "E",
		"instead of a price, the accuracy of each value: 5% of the value, or a number in its unit")
	s.Flag(&q.At, "at", "P", "with --within: the confidence of that accuracy, such as 95%")
	s.ConfidenceFlag(&q.Confidence)
	s.AnalystFlag(&q.Analyst)
	s.FreshFlag(&q.Fresh)
	s.Flag(&q.Whole, "whole", "",
		"round counts to non-negative integers that add up; intervals stay those of the estimates")
	s.Flag(&q.Combine, "combine", "", "answer by combining all earlier releases that imply the answer, at no cost")
	s.Flag(file, "f", "FILE", "read the question from FILE")
	return q, file
}

// maxSQL is the largest number of bytes read from a file or standard input. The parser's own limit is far below it.
const maxSQL = 1 << 20

// readSQL reads the question from the argument, from -f FILE, or from standard input for the argument "-".
func readSQL(s *console.Console, args []string, file string) (string, error) {
	switch {
	case file != "" && len(args) == 0:
		f, err := os.Open(file)
		if err != nil {
			return "", err
		}
		defer func() { _ = f.Close() }() // the file was only read
		return readAll(f)
	case file == "" && len(args) == 1 && args[0] == "-":
		return readAll(s.Stdin)
	case file == "" && len(args) == 1:
		return args[0], nil
	}
	return "", console.Usage("one question is needed: as an argument, with -f FILE, or - for standard input")
}

func readAll(r io.Reader) (string, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxSQL))
	return string(text), err
}

// ask opens the home, reads the question, and passes both to do.
func ask(s *console.Console, args []string, do func(*curator.Session, curator.Question) error) error {
	q, file := questionFlags(s)
	rest, helped, err := s.Parse(args)
	if err != nil || helped {
		return err
	}
	if err := s.NoZeros(); err != nil {
		return err
	}
	q.SQL, err = readSQL(s, rest, *file)
	if err != nil {
		return err
	}
	return s.Asking(func(c *curator.Session) error { return do(c, *q) })
}

// Query is the command `dither query`.
var Query = console.Verb{
	Name:  "query",
	Args:  "SQL | -f FILE | -",
	About: "answer a question",
	Run:   runQuery,
}

func runQuery(s *console.Console, args []string) error {
	p, explain := pictureFlags(s), false
	s.Flag(&explain, "explain", "", "show the price and the expected error, as `dither explain` does, free")
	joint, from := false, ""
	s.Flag(&from, "from", "FILE", "with --together: answer from the measurement of the questions in FILE, made before at this price, free")
	s.Flag(&joint, "together", "",
		"answer several counting questions, separated by semicolons, with one measurement that needs less noise")
	return ask(s, args, func(c *curator.Session, q curator.Question) error {
		if err := p.Check(s); err != nil {
			return err
		}
		switch {
		case joint:
			return jointly(s, c, q, asking{explain, from, p})
		case from != "":
			return console.Usage("--from answers questions asked together: give it with --together")
		case explain && (p.Chart || p.File != ""):
			return console.Usage("--explain has no answer to draw: leave --chart and --plot out")
		case explain:
			return explained(s, c, q)
		}
		r, err := answer(s, c, q)
		if err != nil {
			return err
		}
		return errors.Join(showRelease(s, r), showPicture(p, s, r))
	})
}

func showRelease(s *console.Console, r *curator.Release) error {
	switch s.Format {
	case "json":
		return s.JSON(r)
	case "csv":
		return s.CSV(render.ReleaseRecords(r))
	case "markdown":
		s.Print("%s", render.ReleaseMarkdown(r))
		return nil
	}
	s.Print("%s", render.ReleaseTable(r))
	return nil
}

// Explain is the command `dither explain`.
var Explain = console.Verb{
	Name:  "explain",
	Args:  "SQL | -f FILE | -",
	About: "show what a question would cost and how accurate it would be, free",
	Run:   runExplain,
}

func runExplain(s *console.Console, args []string) error {
	group := s.GroupFlag()
	return ask(s, args, func(c *curator.Session, q curator.Question) error {
		q.Group = *group
		return explained(s, c, q)
	})
}

// explained shows the price of a question and the expected error of its answer.
func explained(s *console.Console, c *curator.Session, q curator.Question) error {
	e, err := c.Explain(context.Background(), q)
	if err != nil {
		return err
	}
	if s.Format == "json" {
		return s.JSON(e)
	}
	if s.Format == "markdown" {
		s.Print("%s", render.ExplanationMarkdown(e))
		return nil
	}
	s.Print("%s", render.ExplanationText(e))
	return nil
}

// answer asks the question, and shows progress on stderr if that is a terminal.
func answer(s *console.Console, c *curator.Session, q curator.Question) (*curator.Release, error) {
	if console.Obeys(s.Stderr) {
		defer console.Spin(s.Stderr, "answering")()
	}
	return c.Answer(s.Context(), q)
}
