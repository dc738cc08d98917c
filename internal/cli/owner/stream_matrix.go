package owner

import (
	"fmt"
	"strconv"

	"dither/curator"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/internal/plot"
	"dither/privacy"
	"dither/strategy"
)

// chooseMatrix sets the matrix of a declaration to the one of least maximum error for its sums. It returns nil, and leaves the
// declaration to the curator's refusal, if the sums are not valid.
func chooseMatrix(d *curator.StreamDeclaration, changeOne bool) (*strategy.FactorChoice, error) {
	var sums strategy.Running
	var err error
	switch {
	case d.Decay != "":
		decay, parsed := strconv.ParseFloat(d.Decay, 64)
		if parsed != nil || !(decay > 0 && decay < 1) {
			return nil, console.Usage("--decay must be a decimal above 0 and below 1, such as 0.95")
		}
		sums, err = strategy.FadingSums(d.Periods, decay)
	case d.Window > 0:
		sums, err = strategy.LastSums(d.Periods, d.Window)
	default:
		sums, err = strategy.Totals(d.Periods)
	}
	if err != nil {
		return nil, nil //nolint:nilerr,nilnil // the curator names the mistake
	}
	limits := strategy.Limits{Rows: max(d.Rows, 1), PerPeriod: d.PerPeriod, Neighbours: privacy.AddRemove}
	if changeOne {
		limits.Neighbours = privacy.ChangeOne
	}
	choice, err := strategy.Factorize(sums, limits)
	if err != nil {
		return nil, nil //nolint:nilerr,nilnil // the curator names the mistake
	}
	d.Matrix = choice.Chosen.Matrix
	return choice, nil
}

// inRows adds a choice to the report of a stream, with its errors in rows.
func inRows(r *curator.StreamReport, c *strategy.FactorChoice) {
	if c == nil {
		return
	}
	most := 0.0
	for _, e := range r.Expected {
		switch {
		case r.Decay != "":
			most = max(most, e.Decayed)
		case r.Declared > 0:
			most = max(most, e.Window)
		default:
			most = max(most, e.Total)
		}
	}
	scale := most / c.Chosen.Maximum
	r.Choice = &curator.StreamChoice{Chosen: c.Chosen.Name, Bound: c.Bound * scale}
	for _, x := range c.Candidates {
		r.Choice.Candidates = append(r.Choice.Candidates, curator.StreamCandidate{
			Name: x.Name, RMSE: x.RMSE * scale, Maximum: x.Maximum * scale,
		})
	}
}

// showChoice prints the errors of the matrices that were compared.
func showChoice(s *console.Console, r *curator.StreamReport) {
	if r.Choice == nil {
		return
	}
	sums := "totals"
	switch {
	case r.Decay != "":
		sums = "decayed sums"
	case r.Declared > 0:
		sums = fmt.Sprintf("sums of %d periods", r.Declared)
	}
	s.Print("\nthe matrix that is measured has the smallest largest error of the %s:\n\n", sums)
	var g render.Grid
	g.Right = []bool{false, true, true}
	g.Add("matrix", " root mean square", " largest stddev")
	g.Add()
	for _, c := range r.Choice.Candidates {
		name := c.Name
		if name == r.Choice.Chosen {
			name += " (chosen)"
		}
		g.Add(name, fmt.Sprintf(" %.2f", c.RMSE), fmt.Sprintf(" %.2f", c.Maximum))
	}
	g.Add("no matrix has less than", "", fmt.Sprintf(" %.2f", r.Choice.Bound))
	s.Print("%s", g.Ruled())
	if r.PerPeriod > 0 {
		s.Print("this bound is loose, because a unit's rows may arrive in several periods\n")
	}
}

// drawExpected writes a picture of the expected standard deviations by period, if a file is given.
func drawExpected(file string, r *curator.StreamReport) error {
	if file == "" {
		return nil
	}
	l := plot.Lines{
		Title: "Expected standard deviations of " + r.Name, X: "period", Y: "standard deviation", Linear: true,
		Caption: "For " + r.Price.String() + ", which pays for all periods.",
		Lines:   []plot.Line{{Name: "count"}, {Name: "total"}, {Name: fmt.Sprintf("last_%d", r.Window)}},
	}
	if r.Decay != "" {
		l.Lines = append(l.Lines, plot.Line{Name: "decayed"})
	}
	for _, e := range r.Expected {
		for i, y := range []float64{e.Count, e.Total, e.Window, e.Decayed}[:len(l.Lines)] {
			l.Lines[i].Points = append(l.Lines[i].Points, plot.Point{X: float64(e.Period), Y: y})
		}
	}
	return console.DrawFile(file, plot.WriteLines, l, "")
}
