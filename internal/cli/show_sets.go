package cli

import (
	"math"
	"strings"

	"dither/curator"
)

// groupingsText tells of each grouping set its share of the price, its noise, and the error of its rows.
func groupingsText(e *curator.Explanation) string {
	if len(e.Groupings) == 0 {
		return ""
	}
	var g grid
	g.add(" rows by", "rows", "noisy vector", "share", "sensitivity", "noise scale")
	for _, s := range e.Groupings {
		by := groupedBy(s)
		rows := plural(s.Cells, "row")
		for _, v := range s.Vectors {
			g.add(" "+by, rows, v.Name+": "+v.Mechanism, v.Share.String(), compact(v.Sensitivity), compact(v.Scale))
			by, rows = "", ""
		}
	}
	var fitted grid
	fitted.add(" rows by", "column", "expected error once fitted, "+percent(e.Confidence))
	for _, s := range e.Groupings {
		by := groupedBy(s)
		for _, x := range s.Expected {
			if !math.IsNaN(x.StdDev) && x.HalfWidth == 0 {
				continue // computed from nothing private
			}
			fitted.add(" "+by, x.Column, forecast(curator.Column{Expected: &x.Expected}))
			by = ""
		}
	}
	return "\n" + g.text("  ") + "\n" + fitted.text("  ")
}

func groupedBy(g curator.Grouping) string {
	if len(g.Keys) == 0 {
		return "(total)"
	}
	return strings.Join(g.Keys, ", ")
}

// reuseErrors tells the error of what earlier releases give.
func reuseErrors(r *curator.Reuse) string {
	out := ""
	for _, x := range r.Expected {
		if math.IsNaN(x.HalfWidth) && math.IsNaN(x.HalfWidthTimesN) || x.HalfWidth == 0 {
			continue
		}
		out += ", " + printable(x.Column) + " " + forecast(curator.Column{Expected: &x.Expected})
	}
	return out
}
