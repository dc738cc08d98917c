package statistics

import (
	"math"
	"math/big"

	"dither/hypothesis"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/internal/plot"
	"dither/noise"
)

// runAnova tests whether the means of several samples are equal.
func runAnova(s *console.Console, o *testOptions) error {
	home, err := o.fromHome(sampleFlags...)
	if err != nil {
		return err
	}
	var c hypothesis.Comparison
	if c.Seed, err = o.seed(); err != nil {
		return err
	}
	switch {
	case o.given["release"]:
		return measure(s, o, "", nil, func(r *released) error {
			if len(r.Grouped) == 0 {
				return console.Usage("test anova needs a release of averages by one column, and this one is of all rows")
			}
			samples, names, err := releasedSamples(r)
			if err != nil {
				return err
			}
			return varied(s, o, samples, names, c, r)
		})
	case !home:
		samples, err := o.samples()
		if err != nil {
			return err
		}
		return varied(s, o, samples, nil, c, nil)
	case !o.given["by"]:
		return console.Usage("test anova needs --by, the column that defines the samples")
	}
	x, low, high, err := bounded(s, o, o.get("column"))
	if err != nil {
		return err
	}
	m := momentsOf(low, high)
	try := func(cells int) error {
		law, err := noise.NewDiscreteGaussian(big.NewRat(1, 1))
		if err != nil {
			return err
		}
		some := make([]hypothesis.Sample, max(2, cells))
		for i := range some {
			some[i] = m.madeUp(law)
		}
		_, err = hypothesis.Anova(some, c)
		return err
	}
	return measure(s, o, o.groupedBy(m.sql(x), o.get("by")), try, func(r *released) error {
		samples, names, err := m.samples(r)
		if err != nil {
			return err
		}
		return varied(s, o, samples, names, c, r)
	})
}

// varied shows the analysis of variance of samples.
func varied(
	s *console.Console, o *testOptions, samples []hypothesis.Sample, names []string, c hypothesis.Comparison, r *released,
) error {
	t, err := hypothesis.Anova(samples, c)
	if err != nil {
		return err
	}
	o.seeded(t)
	out := tested{Test: t, release: r, about: "Are the means of all samples equal? From noisy sums. The intervals of the means are 95 % ones, for noise and sampling."}
	means, err := meansOf(samples)
	if err != nil {
		return err
	}
	out.header, out.rows = variedRows(samples, means, names)
	if err := showTest(s, out); err != nil || o.get("plot") == "" {
		return err
	}
	return plotMeans(o, means, names, r)
}

// meansOf returns the mean of each sample with its interval.
func meansOf(samples []hypothesis.Sample) (means []*hypothesis.Test, err error) {
	for _, a := range samples {
		// the intervals of many samples need fewer simulations each to take no longer
		m, err := hypothesis.Mean(a, hypothesis.Comparison{Simulations: max(999, min(99_999, 2_000_000/len(samples)))})
		if err != nil {
			return nil, err
		}
		means = append(means, m)
	}
	return means, nil
}

// variedRows returns the table of an analysis of variance: each sample with its mean, the interval of the mean, and the
// standard deviation of its numbers if there are noisy squares.
func variedRows(samples []hypothesis.Sample, means []*hypothesis.Test, names []string) (header []string, rows [][]string) {
	header, rows = sampleRows(samples, names)
	header = append(header, "low", "high")
	for i, m := range means {
		rows[i] = append(rows[i], render.Number6(m.Interval.Low), render.Number6(m.Interval.High))
	}
	if !samples[0].HasSquares {
		return header, rows
	}
	header = append(header, "noisy std. dev.")
	for i, a := range samples {
		deviation := "–"
		mean := a.Centre + a.Sum.Value/a.Count.Value
		if v := a.SquareCentre + a.Squares.Value/a.Count.Value - (mean-a.About)*(mean-a.About); a.Count.Value > 1 && v > 0 {
			deviation = render.Number6(math.Sqrt(v * a.Count.Value / (a.Count.Value - 1)))
		}
		rows[i] = append(rows[i], deviation)
	}
	return header, rows
}

// plotMeans draws the means of samples with their intervals.
func plotMeans(o *testOptions, means []*hypothesis.Test, names []string, r *released) error {
	key := o.get("by")
	if o.given["release"] && len(r.Grouped) == 1 {
		key, _ = r.groupedBy(0)
	}
	chart := plot.Chart{
		Title: "means", Key: key, Caption: "Whiskers: 95 % intervals, which cover noise and sampling.",
	}
	if r != nil {
		chart.Caption = render.BoundedCaption(r.Limits, render.TruncatedCaption(render.TruncationText(r.Truncation), chart.Caption))
	}
	panel := plot.Panel{Name: "mean", Points: true, Marks: [][]plot.Mark{nil}}
	for i, m := range means {
		chart.Groups = append(chart.Groups, nameOf(names, i))
		panel.Marks[0] = append(panel.Marks[0], plot.Mark{
			Value: m.Estimate, Low: m.Interval.Low, High: m.Interval.High, Missing: math.IsNaN(m.Estimate),
		})
	}
	chart.Panels = []plot.Panel{panel}
	return console.DrawFile(o.get("plot"), plot.Write, chart, "the means are")
}

// sampleRows returns the table of some samples.
func sampleRows(samples []hypothesis.Sample, names []string) (header []string, rows [][]string) {
	counted := "count"
	for i, a := range samples {
		if a.Count.Noise != nil {
			counted = "noisy count"
		}
		mean := "–"
		if a.Count.Value > 0 {
			mean = render.Number6(a.Centre + a.Sum.Value/a.Count.Value)
		}
		rows = append(rows, []string{nameOf(names, i), render.Number6(a.Count.Value), mean})
	}
	return []string{"sample", counted, "noisy mean"}, rows
}
