package strategies

import (
	"fmt"
	"math"
	"strings"

	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/internal/plot"
)

// far is the error, as a multiple of the least one, from which a picture of strategies leaves a strategy out.
const far = 5

// drawn writes a chart, if a file is given. Nothing is paid for it.
func (a asked) drawn(c plot.Chart) error {
	if a.picture.File == "" {
		return nil
	}
	return console.DrawFile(a.picture.File, plot.Write, c, "")
}

// chart returns a picture of the expected errors of the compared strategies.
func (c comparison) chart(p price) plot.Chart {
	out := errorChart("Expected error by strategy", "strategy", p)
	least := math.Inf(1)
	for _, k := range c.Candidates {
		least = min(least, k.RMSE)
	}
	var left []string
	for _, k := range c.Candidates {
		name := k.Name
		if name == c.Chosen {
			name += " (chosen)"
		}
		if k.RMSE > far*least {
			left = append(left, fmt.Sprintf("%s (%s)", name, digits(k.RMSE)))
			continue
		}
		addErrors(&out, name, k.RMSE, k.Maximum)
	}
	if c.Bound > 0 {
		addErrors(&out, "lower bound", c.Bound, math.NaN())
	}
	if left != nil {
		out.Caption += " Not drawn: " + strings.Join(left, ", ") + "."
	}
	return out
}

// chart returns a picture of the expected errors of the chosen strategy by marginal.
func (c counts) chart() plot.Chart {
	if c.crossed != nil {
		return c.compared().chart(c.price)
	}
	out := errorChart("Expected error by marginal: "+c.Chosen.Name, "marginal", c.price)
	all := c.Chosen.Errors()
	for _, e := range all[:min(len(all), mostExplained)] {
		addErrors(&out, marginalName(e), e.RMSE, e.Maximum)
	}
	if len(all) > mostExplained {
		out.Caption += fmt.Sprintf(" The first %d of %d kinds of marginals.", mostExplained, len(all))
	}
	return out
}

func errorChart(title, key string, p price) plot.Chart {
	return plot.Chart{
		Title: title, Key: key,
		Caption: fmt.Sprintf("In units of the noise of one count, whose standard deviation at %s is %s.",
			p.text, render.Compact(p.deviation)),
		Panels: []plot.Panel{{Name: "rmse", Marks: [][]plot.Mark{nil}}, {Name: "maximum", Marks: [][]plot.Mark{nil}}},
	}
}

// addErrors adds a group to a chart of expected errors. An error that is NaN is not drawn.
func addErrors(c *plot.Chart, name string, errors ...float64) {
	c.Groups = append(c.Groups, name)
	for i, e := range errors {
		c.Panels[i].Marks[0] = append(c.Panels[i].Marks[0], plot.Mark{
			Value: e, Low: math.NaN(), High: math.NaN(), Missing: math.IsNaN(e),
		})
	}
}

// chart returns a picture of the measured answers with their intervals.
func (a fromRelease) chart() plot.Chart {
	c := plot.Chart{
		Title: "Answers from one measurement", Key: "question",
		Caption: fmt.Sprintf("%s, measured by %s for %s. Intervals at %s confidence cover noise.",
			a.ID, a.Chosen.Name, a.Price, render.Percent(fmt.Sprint(a.confidence))),
		Panels: []plot.Panel{{Name: "answer", Marks: [][]plot.Mark{nil}}},
	}
	for _, l := range a.lines() {
		c.Groups = append(c.Groups, l.name)
		c.Panels[0].Marks[0] = append(c.Panels[0].Marks[0], plot.Mark{Value: l.Value, Low: l.Low, High: l.High})
	}
	return c
}
