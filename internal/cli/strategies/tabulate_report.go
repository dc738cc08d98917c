package strategies

import (
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
	page := reportPage{Result: r, Foot: strings.Split(strings.TrimSpace(foot(r, "")), "\n")}
	page.Plan = planRecords(r.Plan)
	for i := range r.Tables {
		t := &r.Tables[i]
		of := reportTable{Name: t.Name, Cells: render.Thousands(len(t.Cells)), Marked: render.Thousands(t.Marked())}
		for _, c := range r.Quality(i) {
			relative := "–"
			if !math.IsInf(c.Relative, 1) {
				relative = render.TwoDigits(100*c.Relative) + " %"
			}
			of.Classes = append(of.Classes, []string{
				render.Compact(c.From) + " to " + render.Compact(c.To-1), render.Thousands(c.Cells), render.TwoDigits(c.Expected),
				render.TwoDigits(c.Estimated), render.TwoDigits(c.Margin), relative, render.TwoDigits(c.Moved),
			})
		}
		of.Header = t.Header()
		of.Header = of.Header[:len(of.Header)-5]
		for _, at := range r.Worst(i, mostWorst) {
			c := &t.Cells[at]
			v, _ := c.Value.Float64()
			of.Worst = append(of.Worst, append(append([]string{}, t.Labels(c)...),
				cellText(c), render.TwoDigits(100*c.Margin/math.Abs(v))+" %"))
		}
		page.Tables = append(page.Tables, of)
	}
	for i, g := range r.Plan.Groups {
		of := reportGroup{GroupPlan: g}
		for j, p := range g.Parts {
			of.Measured = append(of.Measured, []string{
				partName(p), render.TwoDigits(100*p.Share) + " %", render.TwoDigits(p.StdDev), render.TwoDigits(r.Residuals[i][j]),
			})
		}
		for _, c := range g.Candidates {
			of.Compared = append(of.Compared, []string{c.Name, render.Number6(c.Error)})
		}
		of.Compared = append(of.Compared, []string{"lower bound over all divisions", render.Number6(g.Bound)})
		page.Groups = append(page.Groups, of)
	}
	return reportTemplate.Execute(w, page)
}

type reportPage struct {
	Result *tabulate.Result
	Foot   []string
	Plan   [][]string
	Tables []reportTable
	Groups []reportGroup
}

type reportTable struct {
	Name, Cells, Marked string
	Classes             [][]string
	Header              []string
	Worst               [][]string
}

type reportGroup struct {
	tabulate.GroupPlan
	Measured, Compared [][]string
}

var reportTemplate = template.Must(template.New("report").Parse(`<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Quality report</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; color: #222; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 2.2rem; } h3 { font-size: 1rem; margin-bottom: .3rem; }
table { border-collapse: collapse; margin: .4rem 0 1rem; } caption { text-align: left; color: #555; padding-bottom: .3rem; }
th, td { padding: .2rem .8rem .2rem 0; border-bottom: 1px solid #ddd; text-align: left; vertical-align: top; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; } code { background: #f4f4f4; padding: .1rem .3rem; }
</style></head><body>
<h1>Quality report</h1>
<ul>{{range .Foot}}<li>{{.}}</li>{{end}}</ul>
<h2>Expected errors, before measuring</h2>
<table>{{range $i, $row := .Plan}}<tr>{{range $j, $c := $row}}{{if eq $i 0}}<th{{if ge $j 2}} class="n"{{end}}>{{$c}}</th>{{else}}<td{{if ge $j 2}} class="n"{{end}}>{{$c}}</td>{{end}}{{end}}</tr>
{{end}}</table>
{{range .Tables}}<h2>{{.Name}}</h2>
<p>{{.Cells}} cells, {{.Marked}} of them marked.</p>
<table><caption>Errors by size of the value</caption>
<tr><th>value</th><th class="n">cells</th><th class="n">expected error</th><th class="n">estimated error</th><th class="n">mean margin</th><th class="n">margin / value</th><th class="n">moved by rounding</th></tr>
{{range .Classes}}<tr>{{range $j, $c := .}}<td{{if gt $j 0}} class="n"{{end}}>{{$c}}</td>{{end}}</tr>
{{end}}</table>
{{if .Worst}}<table><caption>Largest margins of error relative to the value, among cells that are not marked</caption>
<tr>{{range .Header}}<th>{{.}}</th>{{end}}<th class="n">value</th><th class="n">margin / value</th></tr>
{{$n := len .Header}}{{range .Worst}}<tr>{{range $j, $c := .}}<td{{if ge $j $n}} class="n"{{end}}>{{$c}}</td>{{end}}</tr>
{{end}}</table>{{end}}
{{end}}<h2>What was measured</h2>
{{range .Groups}}<p><code>{{.SQL}}</code>, for {{range $i, $t := .Tables}}{{if $i}}, {{end}}{{$t}}{{end}}: {{.Price.String}}</p>
<table><tr><th>measured table</th><th class="n">share of the price</th><th class="n">noise</th><th class="n">residuals</th></tr>
{{range .Measured}}<tr>{{range $j, $c := .}}<td{{if gt $j 0}} class="n"{{end}}>{{$c}}</td>{{end}}</tr>
{{end}}</table>
<table><caption>Divisions of the price that were compared before measuring. The division in use: {{.Chosen}}</caption>
<tr><th>division</th><th class="n">expected error</th></tr>
{{range .Compared}}<tr>{{range $j, $c := .}}<td{{if gt $j 0}} class="n"{{end}}>{{$c}}</td>{{end}}</tr>
{{end}}</table>{{end}}
<h2>How to read this report</h2>
<ul>
<li>The expected error is the standard deviation of the least-squares estimate, computed from the noise alone. It depends on no row.</li>
<li>The estimated error is the expected error, corrected by how far the measured numbers are from the fitted ones. Residuals are these squared distances divided by their expected value: near 1 if the noise is as stated.</li>
<li>Values are whole numbers of 0 or more that add up exactly. Making them so moves them away from the estimates, by the amount in the last column. Margins of error are around the values. They include this distance, so they are conservative.</li>
<li>Errors are those of noise and rounding. Errors of sampling, answers and contribution bounds come in addition.</li>
</ul>
</body></html>
`))
