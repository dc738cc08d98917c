package curator

import (
	"context"
	"fmt"
	"math"
	"slices"

	"dither/internal/bounded"
	"dither/internal/plan"
	"dither/privacy"
)

// Explanation states the price of a question and the expected error of its answer. It spends nothing. It is
// computed from the question, the policy and the ledger, never from rows.
type Explanation struct {
	SQL        string
	Confidence string
	Columns    []Column
	// the number of cells (groups) of the answer, before HAVING and LIMIT; 0 if private key selection decides
	Cells       int
	Selection   *GroupSelection // nil if all keys are known
	Sensitivity float64         // the L1 sensitivity of the vector of all released numbers, each in its own unit
	L2          float64         // the L2 sensitivity of the same vector
	Price       Loss
	Remaining   Loss
	Affordable  bool   // the price is within what remains
	Largest     string // the largest ε that one question can be asked at now. Under zCDP a price of ε costs ρ = ε²/2
	Replayed    bool   // the answer has been released before, and would be replayed at no cost
	Free        bool   // the question reads no row, and so has no price
	// the declared number of units, if the answer uses this constant as the number of rows; else 0
	DeclaredUnits int64
	// how the question can be answered from earlier releases, at no cost; nil if it cannot, or if it has a release
	// of its own
	Reuse *Reuse
	Unit  Unit
	// the estimate of what the bounds cut, for which a share of the price pays; nil if there is none
	Truncation *Truncation
	RowsBound  *RowsBound // the bound on rows, if the question asks to find it first; else nil
	// for a GROUP BY with several grouping sets: each set's share of the price, and the error of its rows
	Groupings []Grouping
	// the parts that the question is charged to; nil if it is charged to everybody. Charges to other parts do not
	// add to these
	Charged []string
	Work    Work
	// the question that is measured, with the errors of its numbers, if SQL computes with its answer; else nil
	Measured *Measured
	// the questions that are measured, if SQL computes with the answers of several; Price is that of all of them
	Questions []*Explanation
	Notes     []string // facts that an analyst should know before reading the intervals
}

// Unit describes the protected unit of an answer, and the bounds on its contribution.
type Unit struct {
	Column     string // the column that identifies a unit; "" where each row is one
	Neighbours string
	MaxRows    int64 // the number of rows that count for one unit; 0 if the bound is on groups
	// the number of groups in which one unit counts; 0 if the bound is on rows, except for counts of units
	MaxGroups int64
	// MaxRowsPerGroup bounds what one unit adds to one group: at most as much as this many rows can. 0 if the bound
	// is on rows.
	MaxRowsPerGroup int64
	Bound           string // the same bounds in words
	// the declared rows of a person, for a table whose unit is a row although a person has many; else 0
	PersonRows int64
	// Person is what this answer alone promises to a person with PersonRows rows; nil if PersonRows is 0.
	Person *Loss
	// Group is what this answer promises to GroupSize units together, if Question.Group asked for it. Change is
	// what it promises to one unit whose rows are exchanged for others. Change is nil if the policy's neighbours
	// are change-one, since then the price already says it.
	GroupSize     int64
	Group, Change *Loss
}

// Explain states the price of a question and the expected error of its answer, at no cost.
func (c *Session) Explain(ctx context.Context, q Question) (*Explanation, error) {
	if err := c.asks(&q.Analyst); err != nil {
		return nil, err
	}
	places := c.timed(&q.SQL)
	out, err := c.explain(ctx, q)
	if err != nil {
		return nil, atItsPlace(err, places)
	}
	out.Notes = slices.Concat(out.Notes, c.momentNotes(places))
	return out, nil
}

func (c *Session) explain(ctx context.Context, q Question) (*Explanation, error) {
	a, err := c.ask(q)
	if err == nil {
		err = c.sensible(a)
	}
	if err != nil {
		if out, found, failed := c.explainOverStreams(ctx, q, err); found {
			return out, failed
		}
		if over := c.over(q, err); len(over) > 0 {
			return c.explainComputed(q, over, err)
		}
		out, err := c.explainFreely(q, err)
		if err != nil {
			return c.explainCombined(q, err)
		}
		return out, nil
	}
	return c.explained(a)
}

// explained explains a planned question.
func (c *Session) explained(a *asked) (*Explanation, error) {
	replayed, err := c.kernel.ReleasedBefore(a.look)
	if err != nil {
		return nil, c.public(err)
	}
	room, err := c.kernel.Room(a.look)
	if err != nil {
		return nil, c.public(err)
	}
	reuse, err := c.reusable(a, replayed)
	if err != nil {
		return nil, c.public(err)
	}
	if !replayed && (reuse == nil || !reuse.Taken) {
		if err := c.kernel.Answerable(a.look); err != nil {
			return nil, c.public(err)
		}
	}
	rows := c.expectedRows(a.plan)
	cut, err := c.truncation(a, nil)
	if err != nil {
		return nil, c.public(err)
	}
	notes, columns := slices.Concat(
		c.notes(a),
		rowsNotes(a.plan, a.alpha),
		truncationNotes(cut),
		orderNotes(a.plan, a.alpha),
		a.plan.Notes,
	), c.columns(
		a,
		func(o plan.Output) *Expected { return expected(a, o, rows) },
	)
	// there is no error here: Answerable has refused a question that would be answered too late
	if after, _ := c.kernel.DelayOf(a.look); after > 0 && !replayed {
		notes = append(notes, fmt.Sprintf("%s%s after the question arrives.", leavesNote, after))
	}
	if a.priced != "" {
		notes = append(notes, a.priced)
	}
	if err := c.deliberate(a); err != nil {
		notes = append(notes, "Asking needs --allow-selection or a price, so that no tool pays for a list by accident.")
	}
	if unforetold(columns) {
		notes = append(notes, unforetoldYet)
	}
	chosen, err := c.groupSelection(a.plan)
	if err != nil {
		return nil, c.public(err)
	}
	l1, _ := a.plan.Sensitivity().Float64()
	l2squared, _ := a.plan.L2Squared().Float64()
	return &Explanation{
		SQL:           a.SQL,
		Confidence:    a.Confidence,
		Cells:         knownCells(a),
		Selection:     chosen,
		Groupings:     c.groupings(a, true),
		Sensitivity:   l1,
		L2:            math.Sqrt(l2squared),
		Columns:       columns,
		Price:         c.loss(a.plan.Price),
		Remaining:     left(room),
		Largest:       c.largest(room),
		Affordable:    replayed || reuse != nil && reuse.Taken || a.plan.Price.Within(room),
		Replayed:      replayed,
		DeclaredUnits: a.plan.Declared,
		Reuse:         reuse,
		Unit:          c.unit(a),
		RowsBound:     c.rowsBound(a),
		Truncation:    cut,
		Charged:       charged(a.look),
		Work:          c.work(a.look),
		Notes:         notes,
	}, nil
}

// unforetold reports whether some column's error cannot be predicted.
func unforetold(columns []Column) bool {
	return slices.ContainsFunc(columns, func(c Column) bool {
		return c.Expected != nil && c.Mechanism != Constant && !foretoldInRows(c) && math.IsNaN(c.Expected.StdDev) &&
			math.IsNaN(c.Expected.HalfWidthTimesN)
	})
}

// expected returns the predicted error of an output in its public form.
func expected(a *asked, o plan.Output, rows int64) *Expected {
	if len(a.plan.Keys) > 0 || a.plan.Where != nil {
		rows = 0 // the declared number of rows is that of the whole table
	}
	f := a.derived.Forecast(o, a.alpha, rows)
	return &Expected{
		StdDev: f.StdDev, HalfWidth: f.HalfWidth,
		StdDevTimesN: f.StdDevTimesN, HalfWidthTimesN: f.HalfWidthTimesN, N: f.N,
	}
}

func (c *Session) unit(a *asked) Unit {
	p := a.plan
	u := c.policy.Table(p.Table).Unit
	out := Unit{
		Column: u.Column, Neighbours: p.Neighbours.String(), MaxRows: p.Caps.Rows, MaxGroups: p.Caps.Groups,
		MaxRowsPerGroup: p.Caps.RowsPerGroup, Bound: p.Caps.String(),
		PersonRows: u.PersonRows,
	}
	if p.Unit != nil {
		out.Column = p.Unit.Name
	}
	if u.PersonRows > 0 {
		out.Person = c.group(p.Price, u.PersonRows)
	}
	if a.Group > 0 {
		out.GroupSize, out.Group = a.Group, c.group(p.Price, a.Group)
		if p.Neighbours == privacy.AddRemove {
			out.Change = c.group(p.Price, 2)
		}
	}
	return out
}

// manyCells is the number of groups above which an explanation warns that all groups are released. It is more than
// anybody reads. The years 1 to 9999 of a date without bounds are an example.
const manyCells = 1000

// CoverNote is the note of an explanation on what the intervals of the answer cover.
const CoverNote = "Intervals cover noise and rounding around the bounded answer. They do not cover sampling, or what the bounds " +
	"leave out."

// notes returns what an analyst should know about the intervals: above all, what they do not cover.
func (c *Session) notes(a *asked) []string {
	p := a.plan
	notes := []string{CoverNote}
	if p.Unit != nil && len(p.Measures) > 0 {
		notes = append(notes, truncation(p))
	}
	n := knownCells(a)
	if p.Sets != nil {
		n = p.Cells()
	}
	if n > manyCells && len(p.Keys) > 0 {
		notes = append(
			notes,
			fmt.Sprintf(
				"All %d possible groups are released, even empty ones. Bounds or values that the policy declares, "+
					"a condition on the keys in WHERE, or CASE can reduce their number.",
				n,
			),
		)
	}
	notes = append(append(notes, possibleNotes(a)...), openNotes(p)...)
	notes = append(notes, setsNotes(p)...)
	if p.Source != nil {
		notes = append(notes, relationNotes(p)...)
	}
	if b := p.Part; b != nil {
		notes = append(notes, confinedTo(p))
	} else if t := c.policy.Table(p.Table); t != nil && t.Part != nil && t.Source.Live() && p.Source == nil &&
		p.Where != nil &&
		slices.ContainsFunc(p.Columns, func(c bounded.Column) bool { return c.Name == t.Part.Column }) {
		notes = append(
			notes,
			fmt.Sprintf(
				"Charged to everybody. A question is charged to some parts of %s alone only if it reads a copy of "+
					"the table and its WHERE excludes all other parts.",
				SQLName(t.Part.Column),
			),
		)
	}
	for _, a := range p.Aggregates {
		if a.Func == plan.Average && a.Rows == 0 {
			notes = append(notes, averageNote)
			break
		}
	}
	return notes
}

// truncation describes what contribution bounding leaves out, and how the bounds affect the noise.
func truncation(p *plan.Plan) string {
	noise := "Noise grows in proportion to rows_per_unit"
	if slices.ContainsFunc(p.Measures, func(m *plan.Measure) bool { return m.Values > 0 && m.Values < p.Caps.Rows }) {
		noise += ", but for a count of distinct values only up to the number of values"
	}
	if p.Caps.Rows > 0 {
		return fmt.Sprintf(
			"For one %s, at most %s, among those that pass WHERE; further rows are left out, so counts and sums "+
				"may be too low. %s; max_groups has no effect%s.",
			p.Unit.Name,
			countingRows(p.Caps.Rows),
			noise,
			unlessUnits(p),
		)
	}
	noise = "Noise grows in proportion to max_groups and to max_rows_per_group"
	if p.Price.Accountant() == privacy.ZCDP {
		noise = "Noise grows in proportion to max_rows_per_group, and to the square root of max_groups"
	}
	return fmt.Sprintf(
		"One %s counts in at most %s, and adds to each at most as much as %s can. The rest is cut off, which "+
			"biases counts and sums. %s.",
		p.Unit.Name,
		plural(p.Caps.Groups, "group"),
		plural(p.Caps.RowsPerGroup, "row"),
		noise,
	)
}

// countingRows returns text such as "3 rows count", for n rows.
func countingRows(n int64) string {
	if n == 1 {
		return "1 row counts"
	}
	return plural(n, "row") + " count"
}

// unlessUnits names the bound on groups that applies beside a bound on rows, or returns "".
func unlessUnits(p *plan.Plan) string {
	if p.Caps.Groups == 0 || len(p.Keys) == 0 {
		return ""
	}
	return ", except that one " + p.Unit.Name + " counts in at most " + plural(p.Caps.Groups, "group")
}

// confinedTo describes which parts (subsets of the units) a question is charged to, and which rows it leaves out.
func confinedTo(p *plan.Plan) string {
	name, n := SQLName(p.Columns[p.Part.Column].Name), int64(len(p.Part.Values))
	text := fmt.Sprintf(
		"Charged to %s of %s only: the budget counts only the part with the largest total charge",
		plural(n, "part"),
		name,
	)
	if p.Part.PerUnit > 1 {
		text = fmt.Sprintf(
			"Charged to %s of %s only: the budget counts only the %d parts with the largest total charges",
			plural(n, "part"),
			name,
			p.Part.PerUnit,
		)
	}
	if p.Neighbours == privacy.ChangeOne {
		text = fmt.Sprintf(
			"Charged to %s of %s only: the budget counts only the %d parts with the largest total charges",
			plural(n, "part"),
			name,
			2*p.Part.PerUnit,
		)
	}
	if p.Unit == nil {
		return text + "."
	}
	return fmt.Sprintf(
		"%s. One %s counts in at most %s, the first in the order of its rows; its rows in other parts are left out.",
		text,
		p.Unit.Name,
		plural(p.Part.PerUnit, "part"),
	)
}
