package strategies

import (
	_ "embed" // reads report.html and report_shared.html
	"html/template"
	"io"
	"math"
	"strings"

	"dither/internal/cli/render"
	"dither/strategy/tabulate"
)

// mostWorst is the number of cells that the report lists as the least accurate ones of a table.
const mostWorst = 10

// report writes the quality report: one HTML file without references to others.
func report(w io.Writer, r *tabulate.Result) error {
	page := reportPage{
		Confidence: render.Percent(r.Plan.Confidence), Foot: strings.Split(strings.TrimSpace(foot(r, "")), "\n"),
	}
	records := planRecords(r.Plan)
	page.Plan = reportGrid{Labels: 2, Header: records[0], Rows: records[1:]}
	var names []string
	for i := range r.Tables {
		page.Tables = append(page.Tables, tableReport(r, i))
		names = append(names, r.Tables[i].Name)
	}
	page.Names = strings.Join(names, ", ")
	for i, g := range r.Plan.Groups {
		of := reportGroup{
			GroupPlan: g, SQL: render.Printable(g.SQL),
			Measured: reportGrid{Labels: 1, Header: []string{"table", "share of the price", "noise", "residuals"}},
			Compared: reportGrid{Labels: 1, Header: []string{"division", "expected error"}},
		}
		if g.Declared {
			of.Compared.Header[1] += " without declared totals"
		}
		for j, p := range g.Parts {
			of.Measured.add(partName(p), twoDigits(100*p.Share)+" %", twoDigits(p.StdDev),
				twoDigits(r.Residuals[i][j]))
		}
		for _, c := range g.Candidates {
			of.Compared.add(c.Name, render.Number6(c.Error))
		}
		of.Compared.add("lower bound over all divisions", render.Number6(g.Bound))
		if !math.IsNaN(g.SVDBound) {
			name := "lower bound over all linear measurements"
			if g.Price.Rho == "" {
				name += ", which is that of Gaussian noise: a price in ε may not come near it"
			}
			of.Compared.add(name, render.Number6(g.SVDBound))
		}
		page.Groups = append(page.Groups, of)
	}
	return reportTemplate.Execute(w, page)
}

// tableReport describes the errors of one table.
func tableReport(r *tabulate.Result, i int) reportTable {
	t := &r.Tables[i]
	out := reportTable{
		Name: t.Name, Description: render.Printable(t.Description), Cells: render.Thousands(len(t.Cells)),
		Classes: reportGrid{Labels: 1, Header: []string{
			"value", "cells", "expected error", "estimated error", "mean margin", "margin / value", "moved by rounding",
		}},
	}
	if n := t.Marked(); n > 0 {
		out.Marked = render.Thousands(n)
	}
	percent := func(x float64) string {
		if math.IsInf(x, 1) {
			return "–"
		}
		return twoDigits(100*x) + " %"
	}
	for _, c := range r.Quality(i) {
		out.Classes.add(render.Thousands(int(c.From))+" to "+render.Thousands(int(c.To-1)), render.Thousands(c.Cells),
			twoDigits(c.Expected), twoDigits(c.Estimated), twoDigits(c.Margin), percent(c.Relative),
			twoDigits(c.Moved))
	}
	labels := t.Header()
	labels = labels[:len(labels)-5]
	for i := range labels {
		labels[i] = render.Printable(labels[i])
	}
	out.Worst = reportGrid{Labels: len(labels), Header: append(labels, "value", "margin / value")}
	for _, at := range r.Worst(i, mostWorst) {
		c := &t.Cells[at]
		v, _ := c.Value.Float64()
		row := append([]string{}, t.Labels(c)...)
		out.Worst.add(append(row, cellText(c), percent(c.Margin/math.Abs(v)))...)
	}
	return out
}

type reportPage struct {
	Names, Confidence string
	Foot              []string
	Plan              reportGrid
	Tables            []reportTable
	Groups            []reportGroup
}

type reportTable struct {
	Name, Description string
	Cells, Marked     string // Marked is "" if no cell is marked
	Classes, Worst    reportGrid
}

type reportGroup struct {
	tabulate.GroupPlan
	SQL                string
	Measured, Compared reportGrid
}

// reportGrid is a table of the report.
type reportGrid struct {
	Labels int // the number of columns of texts before those of numbers
	Header []string
	Rows   [][]string
}

// add adds a row, without characters that change the direction of the text around them.
func (g *reportGrid) add(row ...string) {
	for i := range row {
		row[i] = render.Printable(row[i])
	}
	g.Rows = append(g.Rows, row)
}

//go:embed report_shared.html
var sharedText string

// sharedTemplate has the style and the tables of all reports.
var sharedTemplate = template.Must(template.New("shared").Parse(sharedText))

//go:embed report.html
var reportText string

var reportTemplate = template.Must(template.Must(sharedTemplate.Clone()).New("report").Parse(reportText))
