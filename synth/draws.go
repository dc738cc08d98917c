package synth

import (
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"dither/internal/splitmix"
	"dither/synth/estimate"
	"dither/synth/model"
	"dither/synth/posterior"
)

// MaxDraws is the largest number of synthetic tables from one model.
const MaxDraws = posterior.MaxDraws

// rowsOfDraws is the number of rows of each draw, in numbers of real rows, unless the request has another one. More
// rows make intervals shorter: the combining rules subtract the variance that comes from the number of synthetic rows.
const rowsOfDraws = 5

// Draws are synthetic tables, each from its own draw from the posterior distribution of the model, given the
// measurements.
type Draws struct {
	Results   []*Result
	Diagnosis posterior.Diagnosis
}

// Inference says whether intervals over draws hold: "" if they do, or the reason.
func (p *Plan) Inference() string {
	switch p.Method {
	case AIM:
		return "aim selects the marginals where the model fits worst, so intervals over draws do not hold: use mst, independent or --cliques"
	case Recorded:
		return "earlier releases may have measured marginals where a model fitted worst, so intervals over draws do not hold: " +
			"repeat the command that made them, free"
	case MWEM:
		return "mwem keeps one table of all columns, which has no draws: use mst, independent or --cliques"
	}
	if len(p.constraints) > 0 {
		return "rows of draws that break a constraint are drawn again, and no simulation has shown that intervals cover then"
	}
	return ""
}

// dense is the least mean number of rows of a measured cell, in standard deviations of its noise, for which intervals
// hold. In sparser marginals the prior decides how many of the cells are empty, and moves all statistics of their
// columns. In the simulations of package estimate, the number is 8.3.
const dense = 8

// inference says whether intervals over draws of this result hold, as [Plan.Inference] does.
func (r *Result) inference() string {
	if reason := r.Plan.Inference(); reason != "" {
		return reason
	}
	if len(r.Values) > 0 {
		return "the values of " + strings.Join(slices.Sorted(maps.Keys(r.Values)), ", ") + " were chosen by the rows, and no simulation " +
			"has shown that intervals cover then: name them with --values"
	}
	for _, m := range r.measured {
		if rows := r.model.Total() / float64(len(m.Values)); rows < dense*math.Sqrt(m.Variance) {
			return fmt.Sprintf("the measured marginal of %s has %.2g rows in a mean cell, fewer than %d times its noise of %.2g: "+
				"give fewer --bins, name fewer columns together with --cliques, or pay more",
				strings.Join(r.Plan.names(m.Attributes), ", "), rows, dense, math.Sqrt(m.Variance))
		}
	}
	return ""
}

// Inference says whether intervals over the draws hold: "" if they do, or the reason.
func (d *Draws) Inference() string { return d.Results[0].inference() }

// Draw makes synthetic tables from m draws from the posterior distribution. It computes with released numbers only, so
// it is free. The same result has the same draws.
func (r *Result) Draw(ctx context.Context, m int) (*Draws, error) {
	if err := CheckDraws(r.Plan.Method, m); err != nil {
		return nil, err
	}
	fitted, ok := r.model.(*model.Model)
	if !ok {
		return nil, usage("", "%s", r.Plan.Inference())
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	h := fnv.New64a()
	_, _ = fmt.Fprint(h, r.Release, r.Plan.SQL, " posterior") // a hash accepts every write
	words := splitmix.At(splitmix.Mix(h.Sum64()))
	all, diagnosis, err := posterior.Sample(ctx, posterior.Problem{Model: fitted, Measured: r.measured, Laplace: r.laplace}, m, &words)
	if err != nil {
		return nil, err
	}
	out := &Draws{Diagnosis: *diagnosis}
	for i, d := range all {
		one := *r
		if r.Plan.request.Rows == 0 {
			one.Rows = min(rowsOfDraws*r.Rows, MaxRows)
		}
		one.model, one.draw, one.draws = d, i+1, m
		out.Results = append(out.Results, &one)
	}
	return out, nil
}

// CheckDraws refuses a number of draws out of range, and a method without draws.
func CheckDraws(method Method, m int) error {
	if m < 2 || m > MaxDraws {
		return usage("20 is a good number", "there are 2 to %d draws, not %d", MaxDraws, m)
	}
	if p := (&Plan{Method: method}); method == MWEM {
		return usage("", "%s", p.Inference())
	}
	return nil
}

// Write writes each table as CSV, and then the manifest that estimates read, as JSON. The names are those of [DrawName]
// and [ManifestName] for out. replace writes a whole file or leaves it unchanged.
func (d *Draws) Write(out string, replace func(name string, write func(io.Writer) error) error) error {
	for i, r := range d.Results {
		if err := replace(DrawName(out, i+1), r.WriteCSV); err != nil {
			return err
		}
	}
	return replace(ManifestName(out), func(w io.Writer) error { return d.Manifest(out).Write(w) })
}

// DrawName returns the name of the file of a draw: people-3.csv for people.csv.
func DrawName(out string, draw int) string {
	end := filepath.Ext(out)
	return fmt.Sprintf("%s-%d%s", strings.TrimSuffix(out, end), draw, end)
}

// ManifestName returns the name of the manifest: people.draws.json for people.csv.
func ManifestName(out string) string {
	return strings.TrimSuffix(out, filepath.Ext(out)) + ".draws.json"
}

// Manifest describes the draws for package estimate.
func (d *Draws) Manifest(out string) *estimate.Manifest {
	first := d.Results[0]
	m := &estimate.Manifest{
		Synthetic: true, Release: first.Release, Table: first.Plan.Table, Method: string(first.Plan.Method),
		Valid: d.Inference() == "", Reason: d.Inference(), Rows: first.Rows,
	}
	people := 0.0
	for i, r := range d.Results {
		people += r.model.Total() / float64(len(d.Results))
		m.Files = append(m.Files, filepath.Base(DrawName(out, i+1)))
	}
	m.RealRows = max(1, int64(math.Round(people)))
	for _, one := range first.Measured {
		if len(one.Columns) > 0 && !one.Shape {
			m.Measured = append(m.Measured, one.Columns)
		}
	}
	for _, c := range first.Plan.Columns {
		column := estimate.Column{Name: c.Name, Type: c.Type, Binned: c.Binned}
		if !c.Binned {
			cells := newCells(c)
			column.Values = cells.texts
			for i, text := range cells.texts {
				column.Empty = column.Empty || text == "" && !cells.null[i]
			}
		}
		m.Columns = append(m.Columns, column)
	}
	return m
}
