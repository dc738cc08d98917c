package statistics

import (
	"fmt"
	"slices"
	"strings"

	"dither/hypothesis"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
)

// runGoodnessOfFit tests whether noisy counts fit a hypothesis.
func runGoodnessOfFit(s *console.Console, o *testOptions) error {
	home, err := o.fromHome("counts", "sigma", "laplace-scale")
	if err != nil {
		return err
	}
	var g hypothesis.GoodnessOfFit
	if g.How, err = o.how(); err != nil {
		return err
	}
	if g.N, err = o.people(); err != nil {
		return err
	}
	if null := o.get("null"); null != "" && null != "uniform" {
		if g.Null, err = o.numbers("null"); err != nil {
			return err
		}
	}
	if o.given["by"] {
		return console.Usage("test gof has no --by: it tests one column; for two columns use test independence")
	}
	if home {
		if err := o.declaredRows(s, &g.N, o.get("column")); err != nil {
			return err
		}
		return measure(s, o, o.groupedBy("COUNT(*)", o.get("column")), tryFit(g), func(r *released) error {
			names, counts, d, err := r.counts(o.kind, 1)
			if err != nil {
				return err
			}
			g.Counts, g.Noise = counts, d
			return fitted(s, o, g, flat(names), r)
		})
	}
	if !o.given["counts"] {
		return console.Usage("test gof needs --counts, or --table and --column")
	}
	if g.Counts, err = o.numbers("counts"); err != nil {
		return err
	}
	if g.Noise, err = o.noiseFrom("sigma", "laplace-scale"); err != nil {
		return err
	}
	return fitted(s, o, g, nil, nil)
}

// tryFit returns a function that tries the test on made-up counts, so that an impossible test fails before anything is
// paid. The argument of the function is the number of cells (groups), one of which may be for NULL.
func tryFit(g hypothesis.GoodnessOfFit) func(int) error {
	return func(cells int) error {
		k := max(cells, 2)
		if n := len(g.Null); n == cells || n == cells-1 {
			k = n
		}
		if g.Counts = slices.Repeat([]float64{1000}, k); g.N > 0 {
			g.N = float64(1000 * k)
		}
		_, err := g.Test()
		return err
	}
}

// people returns the number of people from --n, or 0.
func (o *testOptions) people() (float64, error) {
	n, err := o.number("n", 0)
	if err == nil && o.given["n"] && !(n >= 1) {
		err = console.Usage("--n must be a whole number of at least 1")
	}
	return n, err
}

func fitted(s *console.Console, o *testOptions, g hypothesis.GoodnessOfFit, names []string, r *released) error {
	t, err := g.Test()
	if err != nil {
		return err
	}
	o.seeded(t)
	out := tested{
		Test:  t,
		about: "Do the counts fit the hypothesis? Goodness of fit, with noise " + noiseText(g.Noise) + ".", release: r,
	}
	out.header = []string{"category", "noisy count", "expected"}
	for i, c := range g.Counts {
		p := 1 / float64(len(g.Counts))
		if g.Null != nil {
			p = g.Null[i]
		}
		out.rows = append(out.rows, []string{nameOf(names, i), render.Number6(c), render.Number6(t.N * p)})
	}
	if err := showTest(s, out); err != nil {
		return err
	}
	return plotFit(o, g, t)
}

func nameOf(names []string, i int) string {
	if names == nil {
		return fmt.Sprint(i + 1)
	}
	return names[i]
}

func flat(names [][]string) (out []string) {
	for _, n := range names {
		out = append(out, strings.Join(n, ", "))
	}
	return out
}
