package analyst

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"dither/curator"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/strategy/together"
)

// asking has the flags of questions asked together that are not those of a question.
type asking struct {
	explain bool
	from    string
	picture *console.Picture
}

// jointly answers the questions in q.SQL with one measurement, or explains what the answer would cost. With a file of
// earlier questions, it answers from their measurement.
func jointly(s *console.Console, c *curator.Session, q curator.Question, how asking) error {
	explain, from := how.explain, how.from
	questions, err := curator.Statements(q.SQL)
	if err != nil {
		return err
	}
	b := together.Batch{
		Questions: questions, Request: curator.Request{Epsilon: q.Epsilon, Rho: q.Rho, Analyst: q.Analyst, Fresh: q.Fresh},
		Confidence: q.Confidence,
	}
	plain := b.Question()
	plain.SQL, plain.Confidence = q.SQL, q.Confidence
	if q != plain {
		return console.Usage("--together takes a price, --confidence, --analyst and --fresh, and no other option of a question")
	}
	do := together.Ask
	if explain {
		do = together.Explain
	}
	if from != "" {
		if explain || b.Fresh {
			return console.Usage("--from answers at no cost from an earlier measurement: leave --explain and --fresh out")
		}
		earlier, err := os.ReadFile(from)
		if err != nil {
			return console.Usage("--from: %v", err)
		}
		measured := b
		if measured.Questions, err = curator.Statements(string(earlier)); err != nil {
			return err
		}
		do = func(ctx context.Context, c *curator.Session, b together.Batch) (*together.Answer, error) {
			return together.Later(ctx, c, measured, b.Questions)
		}
	}
	a, err := do(s.Context(), c, b)
	if err != nil {
		return err
	}
	return errors.Join(showJoint(s, a, b.Questions, explain), drawJoint(s, how, a))
}

// showJoint prints the counts in the format of the command.
func showJoint(s *console.Console, a *together.Answer, questions []string, explain bool) error {
	switch s.Format {
	case "json":
		return s.JSON(jointObject(a, questions, explain))
	case "csv":
		rows := render.BoundedRecords(a.Limits, jointRows(a, explain))
		if notes := jointNotes(a); len(notes) > 0 {
			for i := range rows {
				rows[i] = append(rows[i], strings.Join(notes, " "))
			}
			rows[0][len(rows[0])-1] = "note"
		}
		return s.CSV(rows)
	case "markdown":
		rows := jointRows(a, explain)
		s.Print("%s\n%s\n", render.MarkdownTable(rows[0], jointRight(a), rows[1:]),
			render.MarkdownParagraphs(strings.ReplaceAll(jointFooter(a, explain), "\n", "\n\n"))) // a paragraph for each line
		return nil
	}
	g := render.Grid{Right: jointRight(a)}
	rows := jointRows(a, explain)
	for _, row := range slices.Insert(rows, 1, make([]string, len(rows[0]))) {
		g.Add(row...)
	}
	s.Print("%s\n%s\n", g.Ruled(), jointFooter(a, explain))
	return nil
}

// grouped reports whether a question has groups.
func grouped(a *together.Answer) bool {
	return slices.ContainsFunc(a.Counts, func(n together.Count) bool { return n.Group != nil })
}

// jointRight returns which columns of jointRows are numbers.
func jointRight(a *together.Answer) []bool {
	if grouped(a) {
		return []bool{true, false, false, true, true, true, true}
	}
	return []bool{true, false, true, true, true, true}
}

// jointRows returns the counts as a table with a header.
func jointRows(a *together.Answer, explain bool) [][]string {
	header := []string{"question", "count", "value", "low", "high", "stddev"}
	if explain {
		header = []string{"question", "count", "half-width", "stddev"}
	}
	if grouped(a) {
		header = slices.Insert(header, 2, "group")
	}
	out := [][]string{header}
	for _, n := range a.Counts {
		places := render.Decimals(n.HalfWidth)
		row := []string{strconv.Itoa(n.Question + 1), n.Name}
		if grouped(a) {
			var texts []string
			for _, v := range n.Group {
				texts = append(texts, render.KeyText(v))
			}
			row = append(row, strings.Join(texts, ", "))
		}
		if explain {
			row = append(row, render.Fixed(n.HalfWidth, places))
		} else {
			row = append(row, render.Fixed(n.Value, places), render.Fixed(n.Low, places), render.Fixed(n.High, places))
		}
		out = append(out, append(row, render.Compact(n.StdDev)))
	}
	return out
}

// jointNotes states where a count may be lower than that of its question alone, and how totals of the policy are used.
func jointNotes(a *together.Answer) []string {
	out := []string{}
	if a.Limits != nil && a.Limits.Unit != "" && a.Limits.MaxRows != 0 && strings.Contains(a.SQL, "GROUP BY") {
		out = append(out, "The bound on rows holds before the conditions: all rows of the relation compete for it, so a count may be lower "+
			"than that of the same question alone.")
	}
	if a.Declared {
		out = append(out, "The policy declares totals: these numbers have no error, and others have less. The strategies and the bound leave them out.")
	}
	if a.TotalsNote != "" {
		out = append(out, a.TotalsNote)
	}
	return out
}

// jointFooter describes the strategy and the price.
func jointFooter(a *together.Answer, explain bool) string {
	var considered []string
	for _, c := range a.Candidates {
		considered = append(considered, fmt.Sprintf("%s %s", c.Name, render.Compact(c.StdDev)))
	}
	if a.Bound > 0 {
		considered = append(considered, "lower bound "+render.Compact(a.Bound))
	}
	text := render.BoundsLine(a.Limits)
	for _, note := range jointNotes(a) {
		text += note + "\n"
	}
	text += fmt.Sprintf("%s confidence. Measured: %s. Expected standard deviations: %s.\nPrice: %s. Remaining: %s.",
		render.Percent(a.Confidence), a.Candidates[0].Name, strings.Join(considered, ", "), a.Price, a.Remaining)
	switch {
	case explain && a.Replayed:
		return text + " The answer was released before: asking costs nothing."
	case a.Replayed:
		return text + " Replayed from " + a.ID + ", at no cost."
	case !explain:
		return text + " Release " + a.ID + "."
	}
	return text
}

// jointCounts is the answer as JSON has it.
type jointCounts struct {
	Counts     []jointCount     `json:"counts"`
	Chosen     string           `json:"chosen"`
	Candidates []jointCandidate `json:"candidates"`
	Bound      float64          `json:"bound,omitempty"`
	Confidence json.Number      `json:"confidence"`
	Histogram  string           `json:"histogram"`
	Bounds     *curator.Limits  `json:"bounds"`
	Notes      []string         `json:"notes"`
	Release    *string          `json:"release"`
	Price      curator.Loss     `json:"price"`
	Remaining  curator.Loss     `json:"remaining"`
	Replayed   bool             `json:"replayed"`
}

type jointCount struct {
	Question  int      `json:"question"`
	SQL       string   `json:"sql"`
	Name      string   `json:"name"`
	Group     []any    `json:"group,omitempty"` // the values of the question's GROUP BY expressions
	Value     *float64 `json:"value,omitempty"`
	Low       *float64 `json:"low,omitempty"`
	High      *float64 `json:"high,omitempty"`
	HalfWidth *float64 `json:"half_width"` // null if no bound is known
	StdDev    float64  `json:"stddev"`
}

type jointCandidate struct {
	Name   string  `json:"name"`
	StdDev float64 `json:"stddev"`
}

// jointObject returns the answer as JSON has it.
func jointObject(a *together.Answer, questions []string, explain bool) jointCounts {
	out := jointCounts{
		Chosen: a.Candidates[0].Name, Confidence: json.Number(a.Confidence), Histogram: a.SQL, Bounds: a.Limits,
		Notes: jointNotes(a), Release: render.TextOrNull(a.ID), Price: a.Price, Bound: a.Bound, Remaining: a.Remaining, Replayed: a.Replayed,
	}
	for _, n := range a.Counts {
		one := jointCount{
			Question: n.Question, SQL: questions[n.Question], Name: n.Name, StdDev: n.StdDev, Group: n.Group,
			HalfWidth: render.NumberOrNull(n.HalfWidth),
		}
		if !explain {
			one.Value, one.Low, one.High = &n.Value, render.NumberOrNull(n.Low), render.NumberOrNull(n.High)
		}
		out.Counts = append(out.Counts, one)
	}
	for _, c := range a.Candidates {
		out.Candidates = append(out.Candidates, jointCandidate{c.Name, c.StdDev})
	}
	return out
}

// MarshalJSON writes <, > and & as they are, as in other answers.
func (j jointCounts) MarshalJSON() ([]byte, error) {
	type plain jointCounts // without this method
	return curator.PlainJSON(plain(j))
}
