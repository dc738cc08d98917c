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
	if t.N < 1 {
		return console.Usage("--plot needs people to simulate, but the noisy counts sum to less than 1")
	}
	methods := []hypothesis.Method{hypothesis.Projected, hypothesis.Corrected, hypothesis.Naive}
	g.Simulate, g.Simulations = false, 999
	p, err := g.NullPValues(int(math.Round(t.N)), quantilesDrawn, methods)
	if err != nil {
		return err
	}
	l := plot.Lines{
		Title: "p-values under a true null hypothesis", X: "share of samples", Y: "p-value at most", Linear: true,
		Caption: fmt.Sprintf(
			"%d simulated samples of %s people, with noise %s. A test on the diagonal rejects at level α with "+
				"probability α; a test below it rejects less often.",
			quantilesDrawn, render.Number6(math.Round(t.N)), noiseText(g.Noise)),
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

// plotTable draws the noisy counts of a table, with the intervals of their noise.
func plotTable(o *testOptions, r *released, t hypothesis.Table, rows, columns []string) error {
	if o.get("plot") == "" {
		return nil
	}
	if len(t.Counts) > plot.MaxSeries {
		return console.Usage("--plot supports tables of at most %d rows", plot.MaxSeries)
	}
	c := plot.Chart{
		Title: "noisy counts", Caption: "With noise " + noiseText(t.Noise) + "; whiskers: 95 % intervals of the noise.",
		Key: o.get("column"), Legend: o.get("by"),
	}
	if r != nil {
		c.Caption = render.BoundedCaption(r.Limits, render.TruncatedCaption(render.TruncationText(r.Truncation), c.Caption))
	}
	reach := 0.0
	if t.Noise != nil {
		reach, _ = t.Noise.Quantile(0.05).Float64()
	}
	panel := plot.Panel{Name: "count"}
	for j := range t.Counts[0] {
		c.Groups = append(c.Groups, nameOf(columns, j))
	}
	for i, row := range t.Counts {
		c.Series = append(c.Series, nameOf(rows, i))
		var marks []plot.Mark
		for _, v := range row {
			marks = append(marks, plot.Mark{Value: v, Low: v - reach, High: v + reach})
		}
		panel.Marks = append(panel.Marks, marks)
	}
	c.Panels = []plot.Panel{panel}
	return console.DrawFile(o.get("plot"), plot.Write, c, "")
}
