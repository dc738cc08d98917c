package render

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"dither/curator"
	"dither/privacy"
)

// ExplanationText writes an explanation as text for the user.
func ExplanationText(e *curator.Explanation) string {
	var b strings.Builder
	if e.Free && e.Replayed {
		return "price      free: it reads the released numbers of a stream, which keep their noise, and no row\n"
	}
	if e.Free {
		return "price      free: the question reads no row, so its answer is exact\n"
	}
	if len(e.Questions) > 0 {
		return severalText(e)
	}
	switch {
	case e.Reuse != nil && e.Reuse.Taken:
		fmt.Fprintf(
			&b,
			"price      free: answered from %s%s (--fresh pays %s)\n",
			strings.Join(e.Reuse.From, ", "),
			reuseErrors(e.Reuse),
			e.Price,
		)
	case e.Replayed:
		b.WriteString("price      free: this was released before (--fresh pays again)\n")
	default:
		if e.Reuse != nil {
			fmt.Fprintf(
				&b,
				"free       if you name no price: answered from %s%s\n",
				strings.Join(e.Reuse.From, ", "),
				reuseErrors(e.Reuse),
			)
		}
		fmt.Fprintf(&b, "price      %s of the remaining %s%s\n", e.Price, e.Remaining, tooMuch(e))
	}
	unit := "one row"
	if e.Unit.Column != "" {
		unit = fmt.Sprintf("one %s, with at most %s", Printable(e.Unit.Column), e.Unit.Bound)
	}
	fmt.Fprintf(&b, "protects   %s (%s)\n", unit, e.Unit.Neighbours)
	if e.RowsBound != nil {
		b.WriteString(rowsToFind(e.RowsBound))
	}
	if e.Unit.PersonRows > 0 {
		fmt.Fprintf(
			&b,
			"a person   with %d rows: the loss from this answer is %s\n",
			e.Unit.PersonRows,
			LossOrNone(e.Unit.Person),
		)
	}
	if e.Unit.GroupSize > 0 {
		fmt.Fprintf(
			&b,
			"a group    of %s together: the loss from this answer is %s\n",
			Plural(int(e.Unit.GroupSize), "unit"),
			LossOrNone(e.Unit.Group),
		)
		if e.Unit.Change != nil {
			fmt.Fprintf(&b, "a change   of one unit's rows into others: %s\n", e.Unit.Change)
		}
	}
	b.WriteString(workText(e))
	sensitivity := fmt.Sprintf(", sensitivity L1 %s, L2 %s", Compact(e.Sensitivity), Compact(e.L2))
	if e.Unit.Neighbours == changeOne {
		sensitivity += ", of one unit's removal and another's addition"
	}
	if e.Sensitivity == 0 { // quantiles and modes alone have no sums, and so no sensitivity
		sensitivity = ""
	}
	if g := e.Selection; g != nil {
		b.WriteString(selectionText(g))
		fmt.Fprintf(
			&b,
			"released   from %d units on with 50 %%, %d with 95 %%, %d with 99.9 %% probability\n",
			g.Half,
			g.Nearly,
			g.Surely,
		)
		if g.MinUnits > 1 {
			fmt.Fprintf(&b, "hardly     a group of %d units or fewer: with a probability of at most δ\n", g.MinUnits)
		}
		fmt.Fprintf(&b, "vector     of the groups that are released%s\n\n", sensitivity)
	} else {
		fmt.Fprintf(&b, "vector     %s%s\n\n", Plural(e.Cells, "cell"), sensitivity)
	}
	columns := e.Columns
	if e.Measured != nil {
		fmt.Fprintf(&b, "measured   %s\n\n", Printable(e.Measured.SQL))
		columns = slices.Concat(e.Measured.Columns, newColumns(e))
	}
	b.WriteString(columnsText(e, columns))
	b.WriteString(groupingsText(e))
	for _, n := range e.Notes {
		fmt.Fprintf(&b, "\n%s", n)
	}
	b.WriteString("\n")
	return b.String()
}

// changeOne is the name of the relation in which one unit's rows become others.
var changeOne = privacy.ChangeOne.String()

// selectionText states the δ of a selection of unknown keys, and in how many groups one unit counts.
func selectionText(g *curator.GroupSelection) string {
	shares, after := "", ""
	if g.Shares > 1 {
		shares = fmt.Sprintf(", divided by %d groups", g.Shares)
	}
	if g.Changed > g.Groups {
		after = fmt.Sprintf(", and after a change in at most %d others", g.Changed-g.Groups)
	}
	return fmt.Sprintf("groups     of unknown keys: selected by %s, at δ = %s%s; one unit counts in at most %d%s\n",
		g.Strategy, g.Delta, shares, g.Groups, after)
}

// severalText writes the explanation of a question that measures several questions.
func severalText(e *curator.Explanation) string {
	var b strings.Builder
	if e.Replayed {
		b.WriteString("price      free: all parts were released before (--fresh pays again)\n")
	} else {
		fmt.Fprintf(&b, "price      %s for %s of the remaining %s%s\n", e.Price, Plural(len(e.Questions), "measured question"),
			e.Remaining, tooMuch(e))
	}
	for i, q := range e.Questions {
		fmt.Fprintf(&b, "\nmeasured %d %s\n%s", i+1, Printable(q.SQL), ExplanationText(q))
	}
	b.WriteString("\nanswer     computed from the measured questions, at no cost\n\n" + columnsText(e, e.Columns))
	for _, n := range e.Notes {
		fmt.Fprintf(&b, "\n%s", n)
	}
	b.WriteString("\n")
	return b.String()
}

// columnsText writes the table of columns.
func columnsText(e *curator.Explanation, columns []curator.Column) string {
	g := Grid{}
	g.Add(" column", "mechanism", "share", "sensitivity", "noise scale", "expected error, "+Percent(e.Confidence))
	for _, c := range columns {
		if c.Kind == curator.Key {
			g.Add(" "+Printable(c.Name), "key")
			continue
		}
		g.Add(
			" "+Printable(c.Name),
			c.Mechanism,
			columnShare(c),
			optional(c.Sensitivity),
			optional(c.Scale),
			forecast(c),
		)
		for _, p := range c.Parts {
			g.Add("   "+p.Name, p.Mechanism, p.Share.Amount(), Compact(p.Sensitivity), Compact(p.Scale), "")
		}
		if b := c.Bounds; b != nil {
			g.Add("   bounds", "search", b.Share.Amount(), "", "", "within "+boundsText(b))
		}
	}
	return g.Text("  ")
}

// newColumns returns the columns that an answer computes from the columns of the measured question.
func newColumns(e *curator.Explanation) []curator.Column {
	return slices.DeleteFunc(slices.Clone(e.Columns), func(c curator.Column) bool {
		return slices.ContainsFunc(e.Measured.Columns, func(m curator.Column) bool { return m.Name == c.Name && m.Kind == c.Kind })
	})
}

// workText states the largest amount of work that one unit's rows can cause.
func workText(e *curator.Explanation) string {
	if e.Work.Unbounded {
		return "work       not bounded: all rows of one unit are read, whatever their number\n"
	}
	rows := ""
	if e.Work.Rows > 1 {
		rows = fmt.Sprintf(", which may have %s rows in one table", curator.Thousands(e.Work.Rows))
	}
	return fmt.Sprintf(
		"work       at most %s of %s steps for one unit%s\n",
		curator.Thousands(e.Work.Steps),
		curator.Thousands(e.Work.Limit),
		rows,
	)
}

func tooMuch(e *curator.Explanation) string {
	if e.Affordable {
		return ""
	}
	if s := e.Selection; s != nil {
		asked, err := privacy.ParseDelta(s.Delta)
		left, err2 := privacy.ParseDelta(cmp.Or(e.Remaining.Delta, "0"))
		if err == nil && err2 == nil && asked.Cmp(left) > 0 {
			if left.IsZero() {
				return ": more delta than remains"
			}
			return ": more delta than remains; at most --delta " + left.String()
		}
	}
	if e.Largest == "0" {
		return ": more than remains"
	}
	return ": more than remains; at most --epsilon " + e.Largest
}

func optional(x *float64) string {
	if x == nil {
		return "–"
	}
	return Compact(*x)
}

// roughly qualifies the predicted error of an average. The interval is wider if the average lies far from the
// middle of its bounds, or if the count is noisy.
const roughly = "near the middle of the bounds, to first order"

func forecast(c curator.Column) string {
	f := c.Expected
	switch {
	case c.NoInterval != "":
		return "no interval: " + c.NoInterval
	case f == nil && c.Mechanism == curator.Derived:
		return "computed from the measured columns"
	case f == nil:
		return ""
	case c.RankError != nil:
		if math.IsInf(*c.IntervalRows, 0) {
			return fmt.Sprintf("± %s rows in order", Compact(math.Ceil(*c.RankError)))
		}
		return fmt.Sprintf("interval about ± %s rows in order", Compact(math.Ceil(*c.IntervalRows)))
	case c.Shortfall != nil:
		return fmt.Sprintf("at most %s rows fewer than the most frequent", Compact(math.Ceil(*c.Shortfall)))
	case !math.IsNaN(f.HalfWidth) && f.N > 0:
		return fmt.Sprintf("± %s at n = %d (± %s / n), %s",
			Compact(f.HalfWidth), f.N, Compact(f.HalfWidthTimesN), roughly)
	case !math.IsNaN(f.HalfWidthTimesN):
		return fmt.Sprintf("± %s / n, %s", Compact(f.HalfWidthTimesN), roughly)
	case !math.IsNaN(f.HalfWidth):
		return "± " + Compact(f.HalfWidth)
	}
	return "depends on the parts"
}
