package statistics

import (
	"fmt"
	"math"
	"strings"

	"dither/curator"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/internal/plot"
	"dither/stats/regression"
)

// showTheilSen prints a line that was fitted by the Theil–Sen method.
func showTheilSen(s *console.Console, f *regression.LinearFit) {
	header := []string{"", "estimate"}
	if f.Line.Intervals {
		header = append(header, render.Percent(string(f.Confidence))+" interval")
	}
	var rows [][]string
	for _, c := range append(f.Coefficients[:len(f.Coefficients):len(f.Coefficients)], theilSenHeight(f)) {
		rows = append(rows, theilSenRow(c, f.Line.Intervals))
	}
	lay(s, header, rows, 1)
	var b strings.Builder
	if f.Line.Intervals {
		b.WriteString(
			"intervals are for the population that the rows are sampled from: they cover sampling and noise, and " +
				"hold jointly\n")
	}
	closing(&b, f.Warnings, f.Paid, f.ID)
	paragraphs(s, b.String())
}

// theilSenHeight returns the line's value at the middle of the predictor's bounds, as a named coefficient.
func theilSenHeight(f *regression.LinearFit) regression.Coefficient {
	c := f.Line.Height
	c.Name = fmt.Sprintf("%s at %s = %s", c.Name, f.Coefficients[1].Name, render.Compact(f.Line.At))
	return c
}

func theilSenRow(c regression.Coefficient, intervals bool) []string {
	places := 4
	switch {
	case c.Low != nil && c.High != nil:
		places = render.Decimals((*c.High - *c.Low) / 4)
	case c.Estimate != nil && *c.Estimate != 0:
		places = render.Decimals(math.Abs(*c.Estimate) / 10)
	}
	row := []string{c.Name, fixed(c.Estimate, places, "?")}
	if intervals {
		row = append(row, fixedInterval(c.Low, c.High, places))
	}
	return row
}

// theilSenChart draws the line's value at both ends of the predictor's bounds and at their middle.
func theilSenChart(f *regression.LinearFit) plot.Chart {
	c := plot.Chart{Title: f.Formula, Caption: pricePaid(f.Price, f.Replayed) + "; without intervals"}
	if f.Line.Intervals {
		c.Caption = pricePaid(f.Price, f.Replayed) + "; " + render.Percent(string(f.Confidence)) +
			" intervals of the whole line cover sampling and noise"
	}
	c.Caption = render.BoundedCaption(f.Limits, c.Caption)
	slope := f.Coefficients[1]
	panel := plot.Panel{Name: f.Line.Height.Name, Points: true, Marks: [][]plot.Mark{nil}}
	for _, part := range []float64{-0.5, 0, 0.5} {
		dx := part * slope.Width
		value := func(height, slope *float64, none float64) float64 {
			switch {
			case height == nil || slope == nil && dx != 0:
				return none
			case dx == 0:
				return *height
			}
			return *height + *slope*dx
		}
		low, high := slope.Low, slope.High
		if dx < 0 {
			low, high = high, low
		}
		m := plot.Mark{Value: value(f.Line.Height.Estimate, slope.Estimate, math.NaN())}
		m.Text = fmt.Sprintf("%.4g", m.Value)
		m.Low, m.High = math.NaN(), math.NaN()
		if f.Line.Intervals {
			m.Low, m.High = value(f.Line.Height.Low, low, math.Inf(-1)), value(f.Line.Height.High, high, math.Inf(1))
		}
		c.Groups = append(c.Groups, fmt.Sprintf("%s = %s", slope.Name, render.Compact(f.Line.At+dx)))
		panel.Marks[0] = append(panel.Marks[0], m)
	}
	c.Panels = []plot.Panel{panel}
	return c
}

// explainTheilSen prints what a Theil–Sen fit would cost.
func explainTheilSen(s *console.Console, e *regression.LinearExplanation) {
	var rows [][]string
	for _, d := range e.Line.Draws {
		rows = append(rows, []string{d.Name, curator.Exponential, d.Price.String()})
	}
	lay(s, []string{"drawn", "by", "price"}, rows, 2)
	var b strings.Builder
	x := e.Columns[1]
	fmt.Fprintf(&b, "slopes of all pairs of rows, between ±%s, and the height of the line at %s = %s\n",
		render.Compact(e.Line.SlopeMost), x, render.Compact(e.Line.At))
	fmt.Fprintf(
		&b, "with about %s rows, spread evenly over the bounds of %s, and residuals of a tenth of the response's "+
			"range, noise adds about %s to the error of the slope, and %s to that of the height\n",
		render.Compact(float64(e.Line.Rows)), x, render.TwoDigits(e.Line.SlopeNoise),
		render.TwoDigits(e.Line.HeightNoise))
	b.WriteString(linearPrice(e))
	paragraphs(s, b.String())
}
