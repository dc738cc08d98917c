package statistics

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"dither/curator"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/internal/plot"
	"dither/stats/formula"
	"dither/stats/regression"
)

func runFitLinear(s *console.Console, o *fitOptions, args []string) error {
	var q regression.Linear
	rowsFlag(s, &q.Rows)
	s.Flag(&q.WithoutIntervals, "no-intervals", "", "theil-sen: spend the whole price on the estimates")
	s.Flag(&q.FindBounds, "find-bounds", "SHARE",
		"linear: the share of the price, such as 0.2, that finds narrower bounds than the declared bounds of the "+
			"numeric columns")
	termFlags(s, &q.Normalise, &q.Choose)
	s.Flag(&o.from, "from", "ID",
		"linear: compute from the release of an earlier regression, such as r5, free; --formula may select some of "+
			"its terms")
	clusterFlag(s, &q.Cluster)
	helped, err := o.parsed(s, args)
	if err != nil || helped {
		return err
	}
	q.Request, q.Confidence, q.Table, q.Formula, q.Where, q.Method, q.From = o.Request, o.Confidence, o.table, o.formula, o.where,
		o.method, o.from
	return fitting(s, o,
		func(c *curator.Session) (*regression.LinearExplanation, error) {
			return regression.ExplainLinear(context.Background(), c, q)
		},
		func(e *regression.LinearExplanation) error { return showLinearExplanation(s, e) },
		func(c *curator.Session) (*regression.LinearFit, error) {
			return regression.FitLinear(s.Context(), c, q)
		},
		func(f *regression.LinearFit) error {
			return errors.Join(showLinear(s, f), o.picture.Draw(linearChart(f)))
		})
}

// lay prints a table with a rule below its header, as text or as Markdown. Columns with an index of at least
// numbers are aligned to the right.
func lay(s *console.Console, header []string, rows [][]string, numbers int) {
	var g render.Grid
	for i := range header {
		g.Right = append(g.Right, i >= numbers)
	}
	if s.Format == "markdown" {
		s.Print("%s", render.MarkdownTable(header, g.Right, rows))
		return
	}
	g.Add(indented(header)...)
	g.Add()
	for _, row := range rows {
		g.Add(indented(row)...)
	}
	s.Print("%s", g.Ruled())
}

func indented(cells []string) []string {
	out := make([]string, len(cells))
	for i, c := range cells {
		out[i] = " " + c
	}
	return out
}

// heading and paragraphs print text, escaped if the format is Markdown.
func heading(s *console.Console, text string) {
	if s.Format == "markdown" {
		text = render.MarkdownText(text)
	}
	s.Print("%s\n\n", render.Printable(text))
}

func paragraphs(s *console.Console, text string) {
	if s.Format == "markdown" {
		s.Print("\n%s", render.MarkdownList(text))
		return
	}
	s.Print("\n%s", render.PrintableLines(text))
}

func showLinear(s *console.Console, f *regression.LinearFit) error {
	switch s.Format {
	case "json":
		return s.JSON(f)
	case "csv":
		return linearCSV(s, f)
	}
	heading(s, fmt.Sprintf("%s (%s, %s)", f.Formula, f.Table, f.Method))
	if f.Line != nil {
		showTheilSen(s, f)
		return nil
	}
	lay(s, []string{
		"", "estimate", "std. error", render.Percent(string(f.Confidence)) + " interval",
		"noise share of the variance",
	}, linearRows(f), 1)
	paragraphs(s, linearWords(f))
	return nil
}

// linearWords returns the lines below a regression's table.
func linearWords(f *regression.LinearFit) string {
	var b strings.Builder
	if f.ResidualError != nil {
		fmt.Fprintf(&b, "residual standard error %s", render.Compact(*f.ResidualError))
		if f.RSquared != nil {
			fmt.Fprintf(&b, ", R² %s", render.Fixed(*f.RSquared, 3))
		}
		b.WriteString("\n")
	}
	if f.Rows != nil {
		// adding 0 turns −0 into 0
		fmt.Fprintf(&b, "rows %s, by a count with noise of standard deviation %s\n",
			render.Compact(math.Round(*f.Rows)+0), render.Compact(*f.RowsError))
	}
	b.WriteString(foundWords(f.Bounds))
	b.WriteString(clusterWords(f.Clustered))
	if f.About == regression.AboutPopulation {
		b.WriteString(
			"intervals are for the population that the rows are sampled from: they cover sampling and noise\n")
	} else {
		b.WriteString("intervals are for the coefficients of these rows: they cover noise, not sampling\n")
	}
	closing(&b, f.Warnings, f.Paid, f.Releases...)
	return b.String()
}

// clusterFlag declares --cluster for models whose errors can allow for dependent rows.
func clusterFlag(s *console.Console, into *string) {
	s.Flag(into, "cluster", "COL",
		"linear, logistic and poisson: allow for dependent rows within each value of this column, which is the unit's, or "+
			"has declared values; a quarter of the price measures their scores")
}

// clusterWords states the clusters whose rows may depend on each other.
func clusterWords(f regression.Clustered) string {
	switch {
	case f.Clusters == nil:
		return ""
	case f.ClustersError == nil:
		return fmt.Sprintf("errors are robust to dependence within %s clusters of %s\n", render.Compact(*f.Clusters), f.Cluster)
	}
	return fmt.Sprintf("errors are robust to dependence within clusters of %s: %s clusters, by a count with noise of "+
		"standard deviation %s\n", f.Cluster, render.Compact(math.Round(*f.Clusters)+0), render.Compact(*f.ClustersError))
}

// dependentCaption states the clusters in the caption of a picture.
func dependentCaption(f regression.Clustered) string {
	if f.Clusters == nil {
		return ""
	}
	return ", for rows in clusters of " + f.Cluster
}

// foundWords states the bounds within which numbers were clamped and scaled.
func foundWords(found []formula.Bounds) string {
	var b strings.Builder
	for _, k := range found {
		by := "the bounds found"
		if k.Spread > 0 {
			by = fmt.Sprintf("three spreads about the mean (%s ± %s)",
				render.Compact(k.Mean), render.Compact(k.Spread))
		}
		fmt.Fprintf(&b, "%s: values clamped to %s, %s to %s\n", k.Column, by, render.Compact(k.Low),
			render.Compact(k.High))
	}
	return b.String()
}

func pricePaid(price curator.Loss, replayed bool) string {
	if replayed {
		return "released before: free"
	}
	return "price " + price.String()
}

func linearRows(f *regression.LinearFit) (rows [][]string) {
	for _, c := range f.Coefficients {
		row := []string{c.Name, "", "?", "", "?"}
		places := 4
		if c.StdError != nil {
			places = render.Decimals(*c.StdError)
			row[2] = render.Fixed(*c.StdError, places)
			row[4] = render.Fixed(100**c.Privacy, 0) + " %"
		}
		row[1] = fixed(c.Estimate, places, "?")
		row[3] = fixedInterval(c.Low, c.High, places)
		rows = append(rows, row)
	}
	return rows
}

func showLinearExplanation(s *console.Console, e *regression.LinearExplanation) error {
	if s.Format == "json" {
		return s.JSON(e)
	}
	heading(s, fmt.Sprintf("%s (%s, %s)", e.Formula, e.Table, e.Method))
	if e.Line != nil {
		explainTheilSen(s, e)
		return nil
	}
	layMeasured(s, e.Sums)
	var b strings.Builder
	fmt.Fprintf(&b, "z: %s, scaled by their bounds to between -1 and 1; v: the response, likewise\n",
		strings.Join(e.Columns, ", "))
	fmt.Fprintf(
		&b, "the number of rows times the least variance of z in any direction should be far above %s, the norm of "+
			"the noise on Σ z zᵀ", render.Compact(*e.NoiseNorm))
	if e.LeastSpread != nil {
		fmt.Fprintf(&b, "; with the expected number of rows, the standard deviation of z should be far above "+
			"%.2g", *e.LeastSpread)
	}
	b.WriteString("\n")
	b.WriteString(linearPrice(e))
	paragraphs(s, b.String())
	return nil
}

// layMeasured prints the sums that a regression measures.
func layMeasured(s *console.Console, sums []regression.LinearSum) {
	var rows [][]string
	for _, m := range sums {
		off := ""
		if m.OffDiagonal != nil {
			off = render.Compact(*m.OffDiagonal)
		}
		rows = append(rows, []string{m.Name, m.Noise, render.Compact(m.StdDev), off, m.Price.String()})
	}
	lay(s, []string{"measured", "noise", "std. dev.", "off the diagonal", "price"}, rows, 2)
}

// linearPrice returns the end of an explanation: its notes and its price.
func linearPrice(e *regression.LinearExplanation) string {
	var b strings.Builder
	for _, n := range e.Notes {
		fmt.Fprintf(&b, "note: %s\n", n)
	}
	affordability(&b, e.Quoted, e.Replayed)
	return b.String()
}

// linearChart draws the coefficients of a linear regression in the response's unit.
func linearChart(f *regression.LinearFit) plot.Chart {
	caption := pricePaid(f.Price, f.Replayed) + "; " + render.Percent(string(f.Confidence)) +
		" intervals cover sampling and noise"
	if f.About != regression.AboutPopulation {
		caption = pricePaid(f.Price, f.Replayed) + "; " + render.Percent(string(f.Confidence)) +
			" intervals cover noise, not sampling"
	}
	caption += dependentCaption(f.Clustered)
	if f.Line != nil {
		return theilSenChart(f)
	}
	caption = render.BoundedCaption(f.Limits, caption)
	var all []coefficient
	for _, k := range f.Coefficients {
		all = append(all, coefficient{k.Name, k.Width, k.Estimate, k.Low, k.High})
	}
	return coefficientsChart(f.Formula, caption, "change over a predictor's range", all)
}
