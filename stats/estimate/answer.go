package estimate

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"dither/curator"
)

// answerPlan plans an estimate that is one answer of the kernel. items are the SQL expressions of the answer, and
// names are the names of their estimates. The intervals are the kernel's.
func answerPlan(ctx context.Context, k asker, s Sample, p *Plan, items, names []string) (*Plan, error) {
	q := s.asking(s.sql(true, items...))
	e, err := k.Explain(ctx, q)
	if err != nil {
		return nil, err
	}
	if err := s.grouped(e.Cells); err != nil {
		return nil, err
	}
	look := Access{SQL: q.SQL, What: p.Kind, Price: e.Price}
	i := 0
	for _, c := range e.Columns {
		if c.Kind == curator.Key {
			continue
		}
		if text := foretold(c); text != "" && i < len(names) {
			if look.Expected != "" {
				look.Expected += "; "
			}
			look.Expected += names[i] + " " + text
		}
		i++
	}
	p.Accesses, p.Price, p.Remaining, p.Affordable = []Access{look}, e.Price, e.Remaining, e.Affordable
	p.Replayed, p.Confidence, p.Notes = e.Replayed || e.Reuse != nil && e.Reuse.Taken, e.Confidence,
		append(p.Notes, e.Notes...)
	for _, n := range e.Notes {
		if !slices.Contains(e.AnswerNotes(), n) {
			p.foretelling = append(p.foretelling, n)
		}
	}
	p.run = func(ctx context.Context) (*Result, error) {
		r, err := k.Answer(ctx, q)
		if err != nil {
			return nil, err
		}
		return ofRelease(s, r, names), nil
	}
	return p, nil
}

// ofRelease converts the numbers of an answer to estimates.
func ofRelease(s Sample, r *curator.Release, names []string) *Result {
	out := &Result{
		Keys: s.By, Confidence: r.Confidence, Releases: []string{r.ID}, Price: []curator.Loss{r.Price},
		Limits: r.Limits, Truncation: r.Truncation, Remaining: r.Remaining, Replayed: r.Replayed,
	}
	if len(r.From) > 0 {
		out.Releases = r.From
	}
	for _, row := range r.Rows {
		var keys []any
		i := 0
		for j, c := range row {
			if r.Columns[j].Kind == curator.Key {
				keys = append(keys, c.Key)
				continue
			}
			if i < len(names) {
				out.Values = append(out.Values, Value{
					Keys: keys, Name: names[i], Value: c.Estimate.Value, StdError: c.Estimate.StdDev,
					Low: c.Estimate.Low, High: c.Estimate.High,
				})
			}
			i++
		}
	}
	return out
}

// foretold describes the expected error of a column in words, or returns "" if none is known.
func foretold(c curator.Column) string {
	e := c.Expected
	switch {
	case c.RankError != nil:
		return fmt.Sprintf("within %s rows of it", shortNumber(*c.RankError))
	case e == nil:
		return ""
	case !math.IsNaN(e.HalfWidth):
		return "± " + shortNumber(e.HalfWidth)
	case !math.IsNaN(e.HalfWidthTimesN):
		return "± " + shortNumber(e.HalfWidthTimesN) + " / n"
	}
	return ""
}

func shortNumber(x float64) string { return strconv.FormatFloat(x, 'g', 3, 64) }
