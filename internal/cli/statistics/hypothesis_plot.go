package statistics

import (
	"fmt"
	"math"
	"slices"

	"dither/hypothesis"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/internal/plot"
)

// quantilesDrawn is the number of p-values in a QQ plot.
const quantilesDrawn = 400

// plotFit draws a QQ plot: the p-values of each goodness-of-fit test under the null hypothesis, against those of a
// valid test. The p-values are simulated with the same number of people and the same noise, and depend on no rows.
func plotFit(o *testOptions, g hypothesis.GoodnessOfFit, t *hypothesis.Test) error {
	if o.get("plot") == "" {
		return nil
	}
	people := max(1, math.Round(t.N)) // the noisy counts may sum to less than 1
	methods := []hypothesis.Method{hypothesis.Projected, hypothesis.Corrected, hypothesis.Naive}
	g.Simulate, g.Simulations = false, 999
	p, err := g.NullPValues(int(people), quantilesDrawn, methods)
	if err != nil {
		return err
	}
	l := plot.Lines{
		Title: "p-values under a true null hypothesis", X: "share of samples", Y: "p-value at most", Linear: true,
		Caption: fmt.Sprintf(
			"%d simulated samples of %s people, with noise %s. A test on the diagonal rejects at level α with "+
				"probability α; a test below it rejects less often.",
			quantilesDrawn, render.Number6(people), noiseText(g.Noise)),
		Lines: []plot.Line{{Name: "valid", Points: []plot.Point{{X: 0, Y: 0}, {X: 1, Y: 1}}}},
	}
	for _, m := range methods {
		all := p[m]
		slices.Sort(all)
		line := plot.Line{Name: string(m)}
		for i, v := range all {
			line.Points = append(line.Points, plot.Point{X: (float64(i) + 0.5) / float64(len(all)), Y: v})
		}
		l.Lines = append(l.Lines, line)
	}
	return console.DrawFile(o.get("plot"), plot.WriteLines, l, "")
}

// plotTable draws the noisy counts of a table with named rows and columns: bars with the intervals of the noise, or a heat map if a table has too many
// rows for bars. A table of any size can be drawn, so that no picture fails after its counts are paid.
func plotTable(o *testOptions, r *released, t hypothesis.Table, attributes [2]string, rows, columns []string) error {
	if o.get("plot") == "" {
		return nil
	}
	reach := 0.0
	if t.Noise != nil {
		reach, _ = t.Noise.Quantile(0.05).Float64()
	}
	var names [2][]string // of the rows and of the columns
	for i := range t.Counts {
		names[0] = append(names[0], nameOf(rows, i))
	}
	for j := range t.Counts[0] {
		names[1] = append(names[1], nameOf(columns, j))
	}
	caption, paid := "With noise "+noiseText(t.Noise), ""
	bounded := func(text string) string { return text }
	if r != nil {
		paid = "the counts are"
		bounded = func(text string) string {
			return render.BoundedCaption(r.Limits, render.TruncatedCaption(render.TruncationText(r.Truncation), text))
		}
	}
	if len(t.Counts) <= plot.MaxSeries {
		c := plot.Chart{
			Title: "noisy counts", Caption: bounded(caption + "; whiskers: 95 % intervals of the noise."),
			Key: attributes[1], Legend: attributes[0], Groups: names[1], Series: names[0],
			Panels: []plot.Panel{{Name: "count"}},
		}
		for _, row := range t.Counts {
			var marks []plot.Mark
			for _, v := range row {
				marks = append(marks, plot.Mark{Value: v, Low: v - reach, High: v + reach})
			}
			c.Panels[0].Marks = append(c.Panels[0].Marks, marks)
		}
		return console.DrawFile(o.get("plot"), plot.Write, c, paid)
	}
	if t.Noise != nil {
		caption += "; with 95 % probability, a count is off by at most " + render.Number6(reach)
	}
	h := plot.Heat{
		Title: "noisy counts", Caption: bounded(caption + "."), X: attributes[1], Y: attributes[0], Of: "count",
		Rows: names[0], Columns: names[1], Values: slices.Clone(t.Counts),
	}
	if o.kind != "rank-correlation" { // its rows are in order, and rise as on an axis; others read as a table does
		slices.Reverse(h.Rows)
		slices.Reverse(h.Values)
	}
	return console.DrawFile(o.get("plot"), plot.WriteHeat, h, paid)
}
