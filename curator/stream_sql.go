package curator

import (
	"context"
	"fmt"
	"slices"

	"dither/internal/plan"
	"dither/internal/post"
	"dither/internal/query"
	"dither/internal/release"
	"dither/internal/value"
)

// overStreams answers a refused question that reads streams of counts by their names: SELECT period, total FROM
// daily_visits WHERE region = 'north'. The columns are those of [StreamReport.Table], with the window of the declaration, or else of seven periods. It
// computes with released numbers alone, so it is free. A number that combines several estimates has no interval, because
// their noise is shared. found is false if the question reads no stream. A question about the policy's tables alone reads
// none, so it looks for none.
func (c *Session) overStreams(ctx context.Context, q Question, refused error) (out *Release, found bool, err error) {
	tree, err := query.ParseIn(q.SQL, c.policy.Clock.Zone)
	if err != nil || !slices.ContainsFunc(tree.Tables, func(name string) bool { return c.policy.Table(name) == nil }) {
		return nil, false, nil //nolint:nilerr // the refusal that led here says what is wrong
	}
	if name, mixed := c.streamBesidePersons(tree.Tables); mixed {
		if err := c.permitted(q); err != nil {
			return nil, true, err
		}
		return nil, true, &Error{
			Code: CodePolicy, Message: fmt.Sprintf("%s is a stream, and the question also reads a table of persons", SQLName(name)),
			Hint: "ask one question of each",
		}
	}
	var read []*StreamReport
	var bounds []*Measured
	var failed error
	filled, columns := c.filled(), 0
	answers := map[string]post.Answer{}
	bound, err := post.Several(tree, post.Parts{
		Has:     func(of *query.Select, name string) bool { return plan.HasColumn(filled, of, name) },
		Measure: func(*post.Program) (post.Answer, error) { return post.Answer{}, refused },
		Public: func(name string) (post.Answer, string, bool) {
			if c.policy.Table(name) != nil {
				return post.Answer{}, "", false
			}
			if known, ok := answers[name]; ok {
				return known, "", true
			}
			r, err := c.kernel.ContinualNamed(name)
			if err != nil || r == nil {
				failed = err
				return post.Answer{}, "", false
			}
			report, err := c.reported(r, StreamOptions{Confidence: q.Confidence})
			if err != nil {
				failed = err
				return post.Answer{}, "", false
			}
			a := post.Answer{
				Index: len(read), Same: len(read), From: columns, Columns: streamColumns(r, report), Rows: len(report.Cells),
			}
			read, columns = append(read, report), columns+len(a.Columns)
			bounds = append(bounds, &Measured{ID: name, Limits: c.streamLimits(r, report)})
			answers[name] = a
			return a, "", true
		},
	})
	switch {
	case failed != nil:
		return nil, true, c.public(failed)
	case len(read) == 0:
		return nil, false, nil
	}
	if err := c.permitted(q); err != nil {
		return nil, true, err
	}
	if err != nil {
		return nil, true, c.public(err)
	}
	alpha, err := parseConfidence(&q.Confidence)
	if err != nil {
		return nil, true, err
	}
	var rows [][][]post.Cell
	var shown []Column
	for _, r := range read {
		rows, shown = append(rows, r.postRows()), append(shown, r.Table().Columns...)
	}
	result, err := bound.Run(ctx, alpha, rows...)
	if err != nil {
		return nil, true, c.public(err)
	}
	state, err := c.ledger.State()
	if err != nil {
		return nil, true, c.public(err)
	}
	out = c.freeRelease(q, shown, state.Remaining)
	out.Replayed = true
	for _, r := range read {
		out.From = append(out.From, r.ID)
	}
	out.Limits = limitsTogether(bounds)
	out.show(result)
	return out, true, nil
}

// streamLimits returns what bounds the numbers of a stream.
func (c *Session) streamLimits(r *release.ContinualRecord, report *StreamReport) *Limits {
	out := &Limits{Text: report.bounded(), MaxRows: report.Rows}
	if t := c.policy.Table(r.Table); t != nil {
		out.Unit = t.Unit.Column
	}
	return out
}

// streamBesidePersons returns the name of a stream among these names, if a table of persons is among them too.
func (c *Session) streamBesidePersons(names []string) (stream string, mixed bool) {
	persons := slices.ContainsFunc(names, func(name string) bool {
		t := c.policy.Table(name)
		return t != nil && !t.Public
	})
	if !persons {
		return "", false
	}
	for _, name := range names {
		if c.policy.Table(name) != nil {
			continue
		}
		if r, err := c.kernel.ContinualNamed(name); err == nil && r != nil {
			return name, true
		}
	}
	return "", false
}

// explainOverStreams explains a question that overStreams answers. It computes the answer, which is free, for the number of
// rows and the names of the columns.
func (c *Session) explainOverStreams(ctx context.Context, q Question, refused error) (*Explanation, bool, error) {
	answer, found, err := c.overStreams(ctx, q, refused)
	if !found || err != nil {
		return nil, found, err
	}
	state, err := c.ledger.State()
	if err != nil {
		return nil, true, c.public(err)
	}
	q.Confidence = answer.Confidence
	out := c.freeExplanation(q, answer.Columns, len(answer.Rows), state.Remaining)
	out.Replayed = true
	return out, true, nil
}

// SQLColumns returns the names of the columns that SELECTs over the stream may use.
func (r *StreamReport) SQLColumns() []string {
	return slices.Concat([]string{"period", "begins"}, r.Columns, r.estimates())
}

// streamColumns describes the columns of a stream for SELECTs over it.
func streamColumns(r *release.ContinualRecord, report *StreamReport) []post.Column {
	out := []post.Column{{Name: "period", Type: value.Integer}, {Name: "begins", Type: value.Timestamp}}
	for _, k := range r.Terms.Keys {
		out = append(out, post.Column{Name: k.Name, Type: value.Text, Width: widest(k.Values)})
	}
	for _, name := range report.estimates() {
		out = append(out, post.Column{Name: name, Type: value.Real, Noisy: true})
	}
	return out
}

// widest returns the length of the longest text.
func widest(texts []*string) (n int) {
	for _, t := range texts {
		if t != nil {
			n = max(n, len(*t))
		}
	}
	return n
}

// postRows returns the rows of a stream for SELECTs over it.
func (r *StreamReport) postRows() [][]post.Cell {
	bounded := func(e Estimate) post.Cell {
		return post.Bounded(value.OfReal(e.Value.Real), post.Interval{Low: e.Low.Real, High: e.High.Real})
	}
	var out [][]post.Cell
	for _, cell := range r.Cells {
		row := []post.Cell{
			post.Exact(value.OfInt(int64(cell.Period))),
			post.Exact(value.Value{Type: value.Timestamp, Int: cell.Begins.UnixMicro()}),
		}
		for _, key := range cell.Keys {
			if key == nil {
				row = append(row, post.Exact(value.NullOf(value.Text)))
			} else {
				row = append(row, post.Exact(value.OfText(*key)))
			}
		}
		row = append(row, bounded(cell.Count), bounded(cell.Total), bounded(cell.Window))
		if cell.Decayed != nil {
			row = append(row, bounded(*cell.Decayed))
		}
		out = append(out, row)
	}
	return out
}
