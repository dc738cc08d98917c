package curator

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"

	"dither/internal/derive"
	"dither/internal/plan"
	"dither/internal/post"
	"dither/internal/query"
	"dither/internal/release"
	"dither/internal/value"
)

// A question may compute with an answer: an outer SELECT, window functions, expressions. Package post divides it into
// the question that is measured and the SELECTs over its answer. Only refused questions come here, so every question
// that the planner answers keeps its meaning and its release. The measured question goes the usual way: it alone has a
// price, a release and a replay key. The rest is a function of released numbers and of the policy's public values.

// Measured describes the question that is measured for an answer that computes with it.
type Measured struct {
	SQL     string
	Columns []Column
	// The fields below are set if several questions are measured.
	ID       string // the release; "" if the question reads no row
	Price    Loss
	Replayed bool
	Limits   *Limits
	// Truncation is the estimate of what the bounds of this question cut; nil if there is none.
	Truncation *Truncation
}

// over returns the ways to read a refused question as SELECTs over an answer. It returns none if the question is refused
// for a reason that would remain.
func (c *Session) over(q Question, refused error) []*post.Program {
	refusal := (*plan.Error)(nil)
	if !errors.As(refused, &refusal) || !refusal.Outer || q.Whole || q.Combine {
		return nil
	}
	tree, err := query.ParseIn(q.SQL, c.policy.Clock.Zone)
	if err != nil {
		return nil
	}
	filled := c.filled()
	return post.Split(tree, func(of *query.Select, name string) bool { return plan.HasColumn(filled, of, name) })
}

// reading is a question read as SELECTs over an answer.
type reading struct {
	inner   Question // the question that is measured
	program *post.Program
	asked   *asked // nil if the answer is free
	free    *freeTable
	bound   *post.Bound
}

// freeTable is the answer of a question that reads no row.
type freeTable struct {
	columns []post.Column
	rows    [][]post.Cell
	release *Release
}

// read returns the first reading whose measured question is answered. If there is none, it returns the refusal of the
// innermost one, unless that is about the reading itself, or about a subquery that aggregates each unit, or nothing.
func (c *Session) read(q Question, over []*post.Program, refused error) (*reading, error) {
	last, reads := refused, true // whether the refusal is about the numbers, and not about the reading
	for i, p := range over {
		inner := q
		inner.measured, inner.SQL = p.Measured, p.Measured.String()
		out := &reading{inner: inner, program: p}
		a, err := c.answerable(inner)
		if err == nil {
			out.asked = a
			if out.bound, err = p.Bind(columnsOf(a, false), mostRows(a), ""); err == nil {
				err = out.bound.Fits(knownCells(a))
			}
			return out, err
		}
		if out.free, err = c.freeTable(inner, p, err); err == nil {
			out.bound, err = p.Bind(out.free.columns, len(out.free.rows), "")
			return out, err
		}
		refusal := (*plan.Error)(nil)
		isRefusal := errors.As(err, &refusal)
		if isRefusal && i > 0 && (refusal.OfUnits() || refusal.Bare) {
			break // each unit is aggregated first, or nothing is: the refusal of the SELECT around it says what is wrong
		}
		last, reads = err, !isRefusal || !refusal.Outer && (a == nil || a.plan.OneUnit == nil)
	}
	if !reads {
		return nil, refused
	}
	return nil, last
}

// uniqueName returns a name that is not taken, and takes it.
func uniqueName(name string, taken map[string]bool) string {
	out := name
	for i := 2; taken[out]; i++ {
		out = fmt.Sprintf("%s_%d", name, i)
	}
	taken[out] = true
	return out
}

// freeTable returns the answer of a measured question that reads no row, or the refusal.
func (c *Session) freeTable(inner Question, p *post.Program, refused error) (*freeTable, error) {
	a, _, err := c.freeOf(&inner, refused)
	if err != nil {
		return nil, refused
	}
	out := &freeTable{}
	if out.release, err = c.freely(inner, refused); err != nil {
		return nil, refused
	}
	for i, name := range p.Names() {
		typ := value.Text
		for _, row := range a.Rows {
			if i < len(row) && !row[i].Null {
				typ = row[i].Type
				break
			}
		}
		out.columns = append(out.columns, post.Column{Name: name, Type: typ})
	}
	for _, values := range a.Rows {
		var row []post.Cell
		for _, v := range values {
			row = append(row, post.Exact(v))
		}
		out.rows = append(out.rows, row)
	}
	return out, nil
}

// compute answers a question that computes with an answer.
func (c *Session) compute(ctx context.Context, q Question, over []*post.Program, refused error) (*Release, error) {
	r, err := c.read(q, over, refused)
	if err != nil {
		return c.combine(ctx, q, err)
	}
	if r.free != nil {
		out := *r.free.release
		if err := out.present(ctx, q, r, r.free.rows, 0.05); err != nil {
			return nil, c.public(err)
		}
		return &out, nil
	}
	a := r.asked
	s, err := c.reused(a)
	if err != nil {
		return nil, c.public(err)
	}
	if s != nil {
		r.bound, err = r.program.Bind(columnsOf(a, true), mostRows(a), "")
	} else {
		s, err = c.measured(ctx, a)
	}
	if err != nil {
		return nil, c.public(err)
	}
	out, err := c.release(a, s)
	if err != nil {
		return nil, err
	}
	out.Measured = &Measured{SQL: r.inner.SQL, Columns: out.Columns}
	out.Notes = slices.Concat(out.Notes, groupNotes(r.bound, a))
	if err := out.present(ctx, q, r, rowsOf(a, s, 0), a.alpha); err != nil {
		return nil, unshown(c.public(err), !s.Replayed)
	}
	return out, nil
}

// unshown returns the *Error for an answer that could not be computed from its releases. They are recorded, so the same
// question, or a smaller one about the same numbers, is free.
func unshown(e *Error, charged bool) *Error {
	out := *e
	if out.Charged = charged; out.Code == CodeCancelled {
		out.Message, out.Hint = "the question was cancelled after its release", ""
	}
	if out.Hint != "" {
		out.Hint += "; "
	}
	out.Hint += "what was measured is recorded, and is returned free"
	return &out
}

// columnsOf returns the columns of a measured question's answer. Numbers of several releases, or of several grouping sets,
// are not whole even if they count.
func columnsOf(a *asked, reused bool) []post.Column {
	out := make([]post.Column, len(a.plan.Outputs))
	for i, o := range a.plan.Outputs {
		out[i] = post.Column{Name: o.Name, Type: value.Real, Noisy: true}
		q, m := a.derived.Ordered(o)
		switch {
		case o.Post == nil:
			out[i].Type, out[i].Noisy = o.Grid.Type(a.plan.Keys[o.Key].Expr.Type), false
			for _, v := range a.plan.Keys[o.Key].Values {
				out[i].Width = max(out[i].Width, len(v.Text))
			}
		case o.Post.Op == plan.PostGrouping:
			out[i].Type, out[i].Noisy = value.Integer, false
		case m != nil:
			out[i].Type, out[i].Why = o.Post.Type, post.WhyChosen
		case q != nil && clocked(o.Post.Type):
			out[i].Type = o.Post.Type
		case !reused && wholeNumbers(a, o):
			out[i].Type = value.Integer
		}
		out[i].Sure = o.Post != nil && a.derived.Terms(o) != nil
	}
	return out
}

// clocked reports whether the values of a type are days or times, whose quantiles are of the same type.
func clocked(t value.Type) bool { return t == value.Date || t == value.Timestamp || t == value.Time }

// wholeNumbers reports whether the released numbers of an output are whole.
func wholeNumbers(a *asked, o plan.Output) bool {
	return a.derived.Integers(o) && a.plan.Sets == nil && len(a.plan.Searches) == 0
}

// rowsOf returns the rows of a measured question's answer, with the errors of its numbers.
// number is that of the measured question among those of one answer.
func rowsOf(a *asked, s *release.Released, number int) [][]post.Cell {
	terms := make([][]derive.Term, len(a.plan.Outputs))
	noises := make([][]*post.Noise, len(a.plan.Outputs)) // of the terms
	ids := map[*plan.Measure]int{}
	for i, o := range a.plan.Outputs {
		terms[i] = a.derived.Terms(o)
		for _, t := range terms[i] {
			m := t.Measure
			unit, _ := m.Unit().Float64()
			away, _ := new(big.Float).SetInt(m.Rounding).Float64()
			noises[i] = append(noises[i], &post.Noise{Law: a.derived.Noise(m), Unit: unit, Rounding: away + t.Away/unit})
			if _, ok := ids[m]; !ok {
				ids[m] = len(ids)
			}
		}
	}
	types := columnsOf(a, s.From != nil)
	var out [][]post.Cell
	for _, cells := range a.derived.Rows(s.Numbers, a.alpha) {
		row := make([]post.Cell, len(cells))
		for i, cell := range cells {
			o := a.plan.Outputs[i]
			if o.Post == nil {
				row[i] = post.Exact(cell.Key)
				continue
			}
			v := valueOf(types[i].Type, cell.Estimate)
			switch {
			case v.Null || !types[i].Noisy || types[i].Why != "":
				row[i] = post.Exact(v)
			case terms[i] != nil && cell.Group >= 0:
				parts := make([]post.Part, len(terms[i]))
				for j, t := range terms[i] {
					parts[j] = post.Part{
						ID: number<<40 + cell.Group*len(ids) + ids[t.Measure], Times: t.Times, Noise: noises[i][j],
					}
				}
				row[i] = post.Sum(v, parts)
			default:
				row[i] = post.Bounded(v, post.Interval{Low: cell.Estimate.Low, High: cell.Estimate.High})
			}
		}
		out = append(out, row)
	}
	return out
}

// valueOf returns the value of an estimate as a value of a type.
func valueOf(t value.Type, e derive.Estimate) value.Value {
	switch {
	case e.Choice != nil:
		return *e.Choice
	case e.Null:
		return value.NullOf(t)
	case t == value.Real:
		return value.OfReal(e.Value)
	case e.Whole != nil && e.Whole.IsInt64():
		return value.Value{Type: t, Int: e.Whole.Int64()}
	case e.Whole == nil && t == value.Integer && e.Value == math.Trunc(e.Value) && math.Abs(e.Value) < 1<<53:
		return value.OfInt(int64(e.Value))
	}
	return value.NullOf(t)
}

// present replaces the rows and columns of a release by those that its question computes from them.
//
// Errors depend on the question and on released numbers. They come after the release, which is recorded by then, so a
// repeated question is free.
func (r *Release) present(ctx context.Context, q Question, from *reading, rows [][]post.Cell, alpha float64) error {
	found, err := from.bound.Run(ctx, alpha, rows)
	if err != nil {
		return err
	}
	r.SQL, r.Groupings = q.SQL, nil
	r.show(found)
	return nil
}

// show replaces the rows and columns of a release by computed ones.
func (r *Release) show(found *post.Result) {
	r.Columns, r.Rows = computedFrom(found.Columns, r.Columns), nil
	for _, shown := range found.Rows {
		row := make(Row, len(shown))
		for i, s := range shown {
			if r.Columns[i].Kind == Key {
				row[i].Key = keyValue(s.Value)
			} else {
				row[i].Estimate = estimateOf(s)
			}
		}
		r.Rows = append(r.Rows, row)
	}
	r.markUnbounded()
}

// computedFrom describes the columns of an answer that is computed from another one's columns. A column that depends on no
// released number is a key.
func computedFrom(columns []post.Column, inner []Column) []Column {
	out := make([]Column, len(columns))
	taken := map[string]bool{}
	for i, c := range columns {
		switch {
		case !c.Noisy:
			out[i] = Column{Kind: Key}
		case c.From > 0 && c.Why == "":
			out[i] = inner[c.From-1]
		default:
			out[i] = Column{Kind: Measure, Mechanism: Derived, NoInterval: c.Why}
		}
		out[i].Name = uniqueName(c.Name, taken)
	}
	return out
}

// estimateOf returns a computed number with its interval.
func estimateOf(s post.Shown) *Estimate {
	out := &Estimate{Bare: s.Interval == nil}
	switch {
	case s.Value.Null:
	case s.Value.Type == value.Integer:
		out.Value = wholeNumber(big.NewInt(s.Value.Int))
	case s.Value.Type == value.Real:
		out.Value = realNumber(s.Value.Real)
	default:
		out.Value = textNumber(s.Value.String(), s.Value.Int)
	}
	if s.Interval == nil {
		return out
	}
	end := func(x float64) *Number {
		switch {
		case math.IsInf(x, 0):
			return nil
		case s.Value.Type == value.Integer && math.Abs(x) < 1<<53:
			return wholeNumber(big.NewInt(int64(x)))
		case clocked(s.Value.Type):
			return textNumber(value.Value{Type: s.Value.Type, Int: int64(x)}.String(), int64(x))
		}
		return realNumber(x)
	}
	out.Low, out.High = end(s.Interval.Low), end(s.Interval.High)
	if s.StdDev > 0 && !math.IsInf(s.StdDev, 0) {
		out.StdDev = &s.StdDev
	}
	out.Vacuous = out.Low == nil && out.High == nil
	return out
}

// explainComputed explains a question that computes with an answer: the price and the errors are those of the question
// that is measured.
func (c *Session) explainComputed(q Question, over []*post.Program, refused error) (*Explanation, error) {
	r, err := c.read(q, over, refused)
	if err != nil {
		return c.explainCombined(q, err)
	}
	var out *Explanation
	if r.free != nil {
		out, err = c.explainFreely(r.inner, refused)
	} else {
		out, err = c.explained(r.asked)
	}
	if err != nil {
		return nil, err
	}
	if r.free == nil {
		out.Measured = &Measured{SQL: r.inner.SQL, Columns: out.Columns}
		out.Notes = append(out.Notes, computedNote)
		out.Notes = slices.Concat(out.Notes, groupNotes(r.bound, r.asked))
	}
	out.SQL, out.Groupings, out.Columns = q.SQL, nil, computedFrom(r.bound.Columns(), out.Columns)
	return out, nil
}

// groupNotes returns a note if an aggregate counts the groups of an answer that has all known groups.
func groupNotes(bound *post.Bound, parts ...*asked) []string {
	known := slices.ContainsFunc(parts, func(a *asked) bool { return a != nil && !a.plan.Open() })
	if !bound.CountsGroups() || !known {
		return nil
	}
	return []string{"An answer has all possible groups, also those in which nobody has a row, and aggregates over its " +
		"groups, such as COUNT, AVG and MIN, count all of them. WHERE on the keys of the groups leaves out those that " +
		"are not meant."}
}

const computedNote = "The columns are computed from the answer of the measured question, at no cost. An interval of a " +
	"linear expression, or of a quotient of two of them, takes into account that its parts share released numbers."
