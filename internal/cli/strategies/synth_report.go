package strategies

import (
	"cmp"
	_ "embed" // reads synth_report.html
	"fmt"
	"html/template"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/synth"
)

// Limits of the HTML report. The JSON report has everything.
const (
	mostMarginals  = 100
	mostUnmeasured = 60
	mostMatrix     = 40
	mostBars       = 150 // of a column
)

// writeSynthReport writes the report of a synthetic table: HTML without references to other files, or JSON.
func writeSynthReport(name string, r *synth.Result) error {
	report, err := r.Report()
	if err != nil {
		return err
	}
	return console.ReplaceFile(name, func(w io.Writer) error {
		if isHTML(name) {
			return synthReportTemplate.Execute(w, synthPageOf(report))
		}
		text, err := report.MarshalJSON()
		if err == nil {
			_, err = fmt.Fprintf(w, "%s\n", render.PrintableJSON(text))
		}
		return err
	})
}

func isHTML(name string) bool { return strings.EqualFold(filepath.Ext(name), ".html") }

type synthPage struct {
	Table           string
	Foot, Limits    []string
	Marginals       reportGrid
	More            string
	Columns         []synthColumn
	Matrix          []synthRow
	Unmeasured      string
	UnmeasuredPairs string
	Omitted         []string
}

type synthColumn struct {
	Name, First, Last, About string
	Bars                     []synthBar
	Dots                     []synthDot
}

// synthBar and synthDot are in the units of a picture of 300 by 100.
type synthBar struct {
	X, Y, Width, Height string
	Label               string
}

type synthDot struct{ X, Y, Low, High, R string }

type synthRow struct {
	Number int
	Name   string
	Cells  []synthCell
}

type synthCell struct {
	Text     string
	Part     int
	Measured bool
}

func synthPageOf(r *synth.Report) *synthPage {
	p := r.Result.Plan
	out := &synthPage{
		Table: render.Printable(p.Table), Limits: r.Limits,
		Foot: []string{
			"release " + r.Result.Release + ", method " + string(p.Method) + ", price " + p.Price.String(),
			render.Thousands(int(r.Result.Rows)) + " rows of " + render.Plural(len(p.Columns), "column"),
		},
		Marginals: reportGrid{Labels: 1, Header: []string{"marginal", "cells", "noise (stddev)", "expected error", "distance", "estimated error"}},
	}
	if r.Counted < r.Result.Rows {
		out.Foot = append(out.Foot, "this report counts the first "+render.Thousands(int(r.Counted))+" rows")
	}
	all := slices.Clone(r.Marginals)
	slices.SortStableFunc(all, func(a, b synth.MarginalReport) int { return cmp.Compare(b.Estimated, a.Estimated) })
	if len(all) > mostMarginals {
		out.More = render.Plural(len(all)-mostMarginals, "marginal")
		all = all[:mostMarginals]
	}
	percent := func(x float64) string { return render.TwoDigits(100*x) + " %" }
	for _, m := range all {
		out.Marginals.add(strings.Join(m.Columns, ", "), render.Thousands(m.Cells), render.TwoDigits(m.StdDev),
			percent(m.Expected), percent(m.Apart), percent(m.Estimated))
	}
	for i := range r.Columns {
		out.Columns = append(out.Columns, synthColumnOf(&r.Columns[i]))
	}
	out.relations(r)
	for _, o := range p.Omitted {
		out.Omitted = append(out.Omitted, render.Printable(o.Name)+": "+o.Reason)
	}
	return out
}

// synthColumnOf draws the shares of a column: bars of the synthetic ones, dots of the measured ones.
func synthColumnOf(c *synth.ColumnReport) synthColumn {
	n := min(len(c.Labels), mostBars)
	out := synthColumn{Name: render.Printable(c.Name), First: render.Printable(c.Labels[0]), Last: render.Printable(c.Labels[n-1])}
	if n < 2 {
		out.Last = ""
	}
	out.About = render.Plural(len(c.Labels), "cell")
	if n < len(c.Labels) {
		out.About = fmt.Sprintf("the first %d of %d cells", n, len(c.Labels))
	}
	top := 1e-9
	for i := range n {
		top = max(top, c.Synthetic[i])
		if c.Measured != nil {
			top = max(top, c.Measured[i]+c.Margin)
		}
	}
	out.About += fmt.Sprintf("; the highest share is %s %%", render.TwoDigits(100*top))
	text := func(x float64) string { return strconv.FormatFloat(x, 'f', 2, 64) }
	height := func(share float64) float64 { return 100 - 96*min(max(share/top, 0), 1) }
	step := 300 / float64(n)
	for i := range n {
		y := height(c.Synthetic[i])
		label := render.Printable(c.Labels[i]) + ": " + render.TwoDigits(100*c.Synthetic[i]) + " %"
		if c.Measured != nil {
			label += ", measured " + render.TwoDigits(100*c.Measured[i]) + " % ± " + render.TwoDigits(100*c.Margin)
			m := c.Measured[i]
			out.Dots = append(out.Dots, synthDot{
				X: text((float64(i) + 0.5) * step), Y: text(height(m)), Low: text(height(m - c.Margin)), High: text(height(m + c.Margin)),
				R: text(min(2.6, max(0.8, step/5))),
			})
		}
		out.Bars = append(out.Bars, synthBar{
			X: text(float64(i)*step + 0.1*step), Y: text(y), Width: text(0.8 * step), Height: text(100 - y), Label: label,
		})
	}
	return out
}

// relations fills in the matrix of relations and the pairs that were never measured.
func (p *synthPage) relations(r *synth.Report) {
	var never []string
	pairs := 0
	for i, c := range r.Columns {
		row := synthRow{Number: i + 1, Name: render.Printable(c.Name)}
		for j := range r.Columns {
			cell := synthCell{Measured: i != j && r.Measured[i][j]}
			if v := r.Association[i][j]; i != j && !math.IsNaN(v) {
				cell.Part = int(math.Round(100 * v))
				cell.Text = strconv.Itoa(cell.Part)
			}
			row.Cells = append(row.Cells, cell)
			if j < i && !r.Measured[i][j] {
				if pairs++; pairs <= mostUnmeasured {
					never = append(never, render.Printable(r.Columns[j].Name)+" × "+row.Name)
				}
			}
		}
		if len(r.Columns) > 1 && len(r.Columns) <= mostMatrix {
			p.Matrix = append(p.Matrix, row)
		}
	}
	p.Unmeasured = strings.Join(never, "; ")
	p.UnmeasuredPairs = render.Plural(pairs, "pair")
	if more := pairs - len(never); more > 0 {
		p.Unmeasured += fmt.Sprintf("; and %d more", more)
	}
}

//go:embed synth_report.html
var synthReportText string

var synthReportTemplate = template.Must(template.Must(sharedTemplate.Clone()).New("synth").Parse(synthReportText))
