package strategies

import (
	"io"
	"strconv"

	"dither/curator"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/synth"
	"dither/synth/estimate"
)

// writeDraws draws from the posterior distribution of a model, and writes the tables with their manifest.
func writeDraws(s *console.Console, r *synth.Result, draws int, out string) (*synth.Draws, error) {
	if console.Obeys(s.Stderr) {
		defer console.Spin(s.Stderr, "drawing")()
	}
	d, err := r.Draw(s.Context(), draws)
	if err != nil {
		return nil, err
	}
	return d, d.Write(out, func(name string, write func(io.Writer) error) error { return console.ReplaceFile(name, write) })
}

// showIntervals says whether draws of a plan will have intervals.
func showIntervals(s *console.Console, p *synth.Plan) {
	switch reason := p.Inference(); {
	case reason != "":
		s.Print("no intervals: %s\n", reason)
	case p.Dense > 0:
		s.Print("draws have intervals if the table has about %s rows or more: with fewer, give fewer --bins, name fewer columns together "+
			"with --cliques, or pay more\n", render.Thousands(int(p.Dense)))
	}
}

// showDraws prints where the draws are, and whether intervals over them hold.
func showDraws(s *console.Console, d *synth.Draws, out string) {
	if s.Format == "json" {
		return
	}
	s.Print("draws: %d tables of %s rows, %s to %s, described in %s\n", len(d.Results), render.Thousands(int(d.Results[0].Rows)),
		render.Printable(synth.DrawName(out, 1)), render.Printable(synth.DrawName(out, len(d.Results))), render.Printable(synth.ManifestName(out)))
	if reason := d.Inference(); reason != "" {
		s.Print("no intervals: %s\n", reason)
	} else {
		s.Print("`dither synth estimate %s mean COLUMN` has an interval if one measured marginal has its columns\n",
			render.Printable(synth.ManifestName(out)))
	}
	if d.Diagnosis.Apart > 4 {
		s.Print("warning: the Markov chain has not converged, so intervals may be too short: measure fewer cells\n")
	}
}

// runEstimate is `dither synth estimate`.
func runEstimate(s *console.Console, args []string) error {
	confidence := "0.95"
	s.FormatFlag("table", "json")
	s.ConfidenceFlag(&confidence)
	rest, helped, err := s.Parse(args)
	if err != nil || helped {
		return err
	}
	if len(rest) != 3 {
		return console.Usage("synth estimate takes the manifest of draws, a kind (mean, proportion, linear or logistic) and a statistic, " +
			"such as: dither synth estimate people.draws.json linear 'size ~ age + job'")
	}
	kind := estimate.Kind(rest[1])
	if kind != estimate.Mean && kind != estimate.Proportion && kind != estimate.Linear && kind != estimate.Logistic {
		return console.Usage("%q is no statistic: use mean, proportion, linear or logistic", rest[1])
	}
	level, err := strconv.ParseFloat(confidence, 64)
	if err != nil || !(level > 0 && level < 1) {
		return console.Usage("--confidence: %q is not a number between 0 and 1", confidence)
	}
	statistic, err := estimate.ParseStatistic(kind, rest[2])
	if err != nil {
		return console.Usage("%v", err)
	}
	tables, err := estimate.Read(rest[0])
	if err != nil {
		return &curator.Error{Code: curator.CodeUsage, Message: err.Error()}
	}
	r, err := tables.Estimate(s.Context(), statistic, level)
	if err != nil {
		return &curator.Error{Code: curator.CodeUsage, Message: err.Error()}
	}
	if s.Format == "json" {
		return s.JSON(r)
	}
	g := render.Grid{Right: []bool{false, true, true, true}}
	g.Add("", "estimate", "from", "to")
	for _, c := range r.Coefficients {
		low, high := "–", "–"
		if c.Interval != nil {
			low, high = render.Number6(c.Interval.Low), render.Number6(c.Interval.High)
		}
		g.Add(render.Printable(c.Name), render.Number6(c.Value), low, high)
	}
	s.Print("%s\n", g.Text("  "))
	if r.Reason != "" {
		s.Print("no interval: %s\n", render.Printable(r.Reason))
	}
	s.Print("synthetic: combined over %d draws from %s, of which each has %s rows; the confidence of intervals is %s\n", r.Draws,
		render.Printable(tables.Release), render.Thousands(int(tables.Rows)), confidence)
	return nil
}
