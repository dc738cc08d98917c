package statistics

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"dither/curator"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/internal/plot"
	"dither/stats/estimate"
)

func showEstimates(s *console.Console, e *estimate.Result) error {
	switch s.Format {
	case "json":
		return s.JSON(e)
	case "csv":
		return estimatesCSV(s, e)
	case "markdown":
		header, rows := estimateRows(e)
		s.Print("%s\n%s", render.MarkdownTable(header, estimateAligned(e), rows),
			render.MarkdownList(estimatesFooter(e)))
		return nil
	}
	header, rows := estimateRows(e)
	g := render.Grid{Right: estimateAligned(e)}
	g.Add(header...)
	for _, row := range rows {
		g.Add(row...)
	}
	s.Print("%s\n%s", g.Text("   "), estimatesFooter(e))
	return nil
}

func estimateAligned(e *estimate.Result) []bool {
	right := make([]bool, len(e.Keys)+5)
	for i := range 4 {
		right[len(e.Keys)+1+i] = true
	}
	return right
}

// estimateRows returns the usual statistical table: estimate, standard error, and the ends of the interval.
func estimateRows(e *estimate.Result) (header []string, rows [][]string) {
	header = append(header, e.Keys...)
	header = append(header, "", "estimate", "std. error", "low", "high")
	for _, v := range e.Values {
		var row []string
		for _, k := range v.Keys {
			row = append(row, render.KeyText(k))
		}
		places := estimatePlaces(v)
		number := func(n *curator.Number, none string) string {
			if n == nil {
				return none
			}
			return render.Round(n, places)
		}
		deviation := "–"
		if v.StdError != nil {
			deviation = render.Fixed(*v.StdError, places)
		}
		if v.Low == nil && v.High == nil && e.NoInterval {
			rows = append(rows, append(row, v.Name, number(v.Value, "?"), deviation, "–", "–"))
			continue
		}
		rows = append(rows, append(row, v.Name, number(v.Value, "?"), deviation, number(v.Low, "−∞"),
			number(v.High, "∞")))
	}
	return header, rows
}

// estimatePlaces returns the number of decimal places that show three significant digits of the interval's
// half-width. Without an interval, they show about six digits of the value.
func estimatePlaces(v estimate.Value) int {
	var width float64
	switch {
	case v.Low != nil && v.High != nil && v.High.Real > v.Low.Real:
		width = (v.High.Real - v.Low.Real) / 2
	case v.Value != nil && v.Value.Real != 0:
		width = math.Abs(v.Value.Real) * 1e-4
	default:
		return 4
	}
	return render.Decimals(width) + 1
}

// estimatesFooter states what was paid, and what the intervals cover.
func estimatesFooter(e *estimate.Result) string {
	var b strings.Builder
	paid := "free: released before"
	if !e.Replayed {
		var prices []string
		for _, p := range e.Price {
			prices = append(prices, p.String())
		}
		paid = "paid " + strings.Join(prices, " + ")
	}
	b.WriteString(render.BoundsLine(e.Limits) + render.TruncationLines(e.Truncation))
	fmt.Fprintf(&b, "method %s; %s, remaining %s", e.Method, paid, e.Remaining)
	if !e.NoInterval {
		fmt.Fprintf(&b, "; %s intervals cover %s", render.Percent(e.Confidence), coveredBy(e))
	}
	fmt.Fprintf(&b, " (%s)\n", strings.Join(e.Releases, ", "))
	for _, n := range e.Notes {
		fmt.Fprintf(&b, "%s\n", render.Printable(n))
	}
	return b.String()
}

// coveredBy returns what the intervals of estimates cover.
func coveredBy(e *estimate.Result) string {
	if e.Population {
		return "sampling and noise"
	}
	return "noise, not sampling"
}

func estimatesCSV(s *console.Console, e *estimate.Result) error {
	records := [][]string{append(append([]string{}, e.Keys...), "name", "value", "stddev", "low", "high")}
	for _, v := range e.Values {
		var row []string
		for _, k := range v.Keys {
			row = append(row, render.CSVKey(k))
		}
		deviation := ""
		if v.StdError != nil {
			deviation = strconv.FormatFloat(*v.StdError, 'g', -1, 64)
		}
		records = append(records,
			append(row, v.Name, render.CSVNumber(v.Value), deviation, render.CSVNumber(v.Low),
				render.CSVNumber(v.High)))
	}
	return s.CSV(render.TruncatedRecords(render.TruncationText(e.Truncation), render.BoundedRecords(e.Limits, records)))
}

// showEstimatePlan prints the questions of an estimate and their price.
func showEstimatePlan(s *console.Console, p *estimate.Plan) error {
	switch s.Format {
	case "json":
		return s.JSON(p)
	case "csv":
		return console.Usage("--explain supports --format table, json and markdown")
	case "markdown":
		s.Print("%s", render.MarkdownList(estimatePlanText(p)))
		return nil
	}
	s.Print("%s", estimatePlanText(p))
	return nil
}

func estimatePlanText(p *estimate.Plan) string {
	var b strings.Builder
	fmt.Fprintf(&b, "method     %s: %s\n", p.Method, p.Why)
	switch {
	case p.Replayed && len(p.Accesses) == 1:
		b.WriteString("price      free: this was released before (--fresh pays again)\n")
	case !p.Affordable:
		fmt.Fprintf(&b, "price      %s, more than the remaining %s\n", p.Price, p.Remaining)
	default:
		fmt.Fprintf(&b, "price      %s of the remaining %s\n", p.Price, p.Remaining)
	}
	for _, l := range p.Accesses {
		fmt.Fprintf(&b, "asks       %s, %s\n", l.What, l.Price)
		if l.SQL != "" {
			fmt.Fprintf(&b, "           %s\n", render.Printable(l.SQL))
		}
		if l.Expected != "" {
			fmt.Fprintf(&b, "expected   %s\n", render.Printable(l.Expected))
		}
	}
	for _, m := range p.Methods {
		fmt.Fprintf(&b, "could use  %-11s  %s\n", m.Method, foretoldText(m))
	}
	for _, n := range p.Notes {
		fmt.Fprintf(&b, "%s\n", render.Printable(n))
	}
	return b.String()
}

// foretoldText describes a method's expected errors.
func foretoldText(m estimate.Foretold) string {
	switch {
	case m.ExpectedError == nil && m.Method != estimate.MethodSmooth:
		return "no expected error is stated for this column"
	case m.ExpectedError == nil:
		return "its error depends on the number of rows, and the policy declares no expected_rows"
	}
	text := "off by about " + render.Compact(*m.ExpectedError) + " rows"
	if m.MedianError != nil {
		text += " as the mean, which rare misses by many rows dominate; half of the answers are off by at most about " +
			render.Compact(*m.MedianError)
	}
	if m.ExpectedHalfWidth != nil {
		text += "; " + render.Percent(m.Confidence) + " interval about ± " + render.Compact(*m.ExpectedHalfWidth) + " rows"
	}
	return text
}

// estimatesChart draws the estimates as points with their intervals. It has a panel for each statistic or, for a
// covariance, for each kind of statistic. Each group has a position on the horizontal axis.
func estimatesChart(e *estimate.Result, table string) plot.Chart {
	c := plot.Chart{Title: e.Kind + " of " + table, Key: strings.Join(e.Keys, " · "), Caption: estimatesCaption(e)}
	panelOf := func(v estimate.Value) (panel, group string) {
		if len(e.Keys) > 0 {
			return v.Name, keysText(v)
		}
		if e.Kind == "mean" || e.Kind == "variance" { // their columns have different units
			return v.Name, table
		}
		kind, of, _ := strings.Cut(strings.TrimSuffix(v.Name, ")"), "(")
		if kind == "var" {
			kind = "cov"
		}
		return kind, of
	}
	groups, panels := map[string]int{}, map[string]int{}
	for _, v := range e.Values {
		p, g := panelOf(v)
		if _, ok := groups[g]; !ok {
			groups[g], c.Groups = len(c.Groups), append(c.Groups, g)
		}
		if _, ok := panels[p]; !ok {
			panels[p] = len(c.Panels)
			c.Panels = append(c.Panels, plot.Panel{Name: p, Points: true})
		}
	}
	for i := range c.Panels {
		marks := make([]plot.Mark, len(c.Groups))
		for j := range marks {
			marks[j].Missing = true
		}
		c.Panels[i].Marks = [][]plot.Mark{marks}
	}
	for _, v := range e.Values {
		p, g := panelOf(v)
		c.Panels[panels[p]].Marks[0][groups[g]] = estimateMark(e, v)
	}
	return firstPanels(c)
}

// keysText returns the name of an estimate's group.
func keysText(v estimate.Value) string {
	var keys []string
	for _, k := range v.Keys {
		keys = append(keys, render.KeyText(k))
	}
	return strings.Join(keys, " · ")
}

// estimateMark returns an estimate with its interval as a mark.
func estimateMark(e *estimate.Result, v estimate.Value) plot.Mark {
	m := render.MarkOf(&curator.Estimate{Value: v.Value, Low: v.Low, High: v.High})
	if e.NoInterval {
		m.Low, m.High = math.NaN(), math.NaN()
	}
	return m
}
