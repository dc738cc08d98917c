package statistics

import (
	"fmt"
	"strings"

	"dither/internal/cli/render"
	"dither/internal/plot"
	"dither/stats/estimate"
)

// componentsChart draws components: a scree plot, which shows the share of each component in the variance, and below it a
// panel for each column, with its loadings on the components. Groups of rows are series.
func componentsChart(e *estimate.Result, table string, columns []string) plot.Chart {
	c := plot.Chart{
		Title: e.Kind + " of " + table, Key: "component", Legend: strings.Join(e.Keys, " · "), Caption: estimatesCaption(e),
	}
	d := len(columns)
	for k := range d {
		c.Groups = append(c.Groups, fmt.Sprint(k+1))
	}
	c.Panels = []plot.Panel{{Name: "share of the variance"}}
	for _, column := range columns {
		c.Panels = append(c.Panels, plot.Panel{
			Name: "loading of " + column, Points: true, Line: new(0.0), Within: []float64{-1, 1},
		})
	}
	cells := len(e.Values) / (d * (1 + d)) // a cell lists each component: its share, and the loading of each column
	for g := range min(cells, plot.MaxSeries) {
		values := e.Values[g*d*(1+d):]
		if len(e.Keys) > 0 {
			c.Series = append(c.Series, keysText(values[0]))
		}
		for i := range c.Panels {
			var marks []plot.Mark
			for k := range d {
				marks = append(marks, estimateMark(e, values[k*(1+d)+i]))
			}
			c.Panels[i].Marks = append(c.Panels[i].Marks, marks)
		}
	}
	if cells > plot.MaxSeries {
		c.Caption += fmt.Sprintf("; the first %d of %d groups", plot.MaxSeries, cells)
	}
	return firstPanels(c)
}

// firstPanels leaves out panels that a picture has no place for, and says so.
func firstPanels(c plot.Chart) plot.Chart {
	if n := len(c.Panels); n > plot.MaxPanels {
		c.Panels = c.Panels[:plot.MaxPanels]
		c.Caption += fmt.Sprintf("; the first %d of %d statistics", plot.MaxPanels, n)
	}
	return c
}

// estimatesCaption returns what the intervals of estimates cover, and what bounds the estimates.
func estimatesCaption(e *estimate.Result) string {
	caption := "method " + e.Method
	if !e.NoInterval {
		caption += fmt.Sprintf("; %s intervals cover %s", render.Percent(e.Confidence), coveredBy(e))
	}
	caption += " (" + strings.Join(e.Releases, ", ") + ")"
	return render.BoundedCaption(e.Limits, render.TruncatedCaption(render.TruncationText(e.Truncation), caption))
}
