package statistics

import (
	"fmt"
	"math"
	"strconv"

	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/internal/plot"
	"dither/stats/cluster"
)

// drawClusters writes a picture of clusters. For two columns, it shows the plane, with the centres of each
// iteration if there are any. Otherwise it shows the centres of each column with their intervals.
func drawClusters(p *console.Picture, c *cluster.Result) error {
	if p.File == "" {
		return nil
	}
	const paid = "the clusters are"
	if len(c.Columns) == 2 {
		return console.DrawFile(p.File, plot.WritePlaces, clusterPlaces(c), paid)
	}
	return console.DrawFile(p.File, plot.Write, clusterChart(c), paid)
}

func clusterCaption(c *cluster.Result) string {
	return render.BoundedCaption(c.Limits, fmt.Sprintf("k-means by %s, %s; whiskers are %s intervals, each by itself",
		c.Method, c.Price, render.Percent(c.Confidence.String())))
}

func clusterPlaces(c *cluster.Result) plot.Places {
	out := plot.Places{
		Title: render.Plural(len(c.Clusters), "cluster"), Caption: clusterCaption(c), X: c.Columns[0], Y: c.Columns[1],
		Low: plot.Point{X: c.Bounds[0][0], Y: c.Bounds[1][0]}, High: plot.Point{X: c.Bounds[0][1], Y: c.Bounds[1][1]},
	}
	none := plot.Point{X: math.NaN(), Y: math.NaN()}
	if len(c.Trace) < plot.MaxPanels {
		for t, centres := range c.Trace {
			panel := plot.PlacePanel{Name: fmt.Sprintf("t = %d", t)}
			for _, at := range centres {
				panel.Crosses = append(panel.Crosses,
					plot.Cross{Point: plot.Point{X: at[0], Y: at[1]}, Low: none, High: none})
			}
			out.Panels = append(out.Panels, panel)
		}
	}
	released := plot.PlacePanel{}
	if len(out.Panels) > 0 {
		released.Name = "released"
	}
	for _, k := range c.Clusters {
		x, y := k.Centre[0], k.Centre[1]
		released.Crosses = append(released.Crosses, plot.Cross{
			Point: plot.Point{X: x.Value, Y: y.Value}, Low: plot.Point{X: x.Low, Y: y.Low},
			High: plot.Point{X: x.High, Y: y.High},
		})
	}
	out.Panels = append(out.Panels, released)
	return out
}

func clusterChart(c *cluster.Result) plot.Chart {
	out := plot.Chart{Title: render.Plural(len(c.Clusters), "cluster"), Caption: clusterCaption(c), Key: "cluster"}
	for i := range c.Clusters {
		out.Groups = append(out.Groups, strconv.Itoa(i+1))
	}
	panel := func(name string, number func(cluster.Cluster) cluster.Number, points bool) {
		if len(out.Panels) == plot.MaxPanels {
			return
		}
		marks := make([]plot.Mark, len(c.Clusters))
		for i, k := range c.Clusters {
			n := number(k)
			marks[i] = plot.Mark{Value: n.Value, Low: n.Low, High: n.High, Text: clusterNumber(n)}
		}
		out.Panels = append(out.Panels, plot.Panel{Name: name, Points: points, Marks: [][]plot.Mark{marks}})
	}
	panel("rows", func(k cluster.Cluster) cluster.Number { return k.Size }, false)
	for i, name := range c.Columns {
		panel(name, func(k cluster.Cluster) cluster.Number { return k.Centre[i] }, true)
	}
	return out
}
