package statistics

import (
	"fmt"
	"slices"

	"dither/hypothesis"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
)

// runTable tests a table of noisy counts. If samples is true, it tests whether the rows are samples with the same
// proportions. Otherwise it tests whether rows and columns are independent.
func runTable(s *console.Console, o *testOptions, samples bool) error {
	home, err := o.fromHome("counts", "sigma", "laplace-scale")
	if err != nil {
		return err
	}
	var t hypothesis.Table
	if t.How, err = o.how(); err != nil {
		return err
	}
	if t.N, err = o.people(); err != nil {
		return err
	}
	if samples && o.given["n"] {
		return console.Usage("test proportions has no --n; if the sizes of the samples are public, give them by " +
			"--sizes")
	}
	if o.given["sizes"] {
		if t.Sizes, err = o.numbers("sizes"); err != nil {
			return err
		}
	}
	if home {
		if !o.given["by"] && !o.given["release"] {
			return console.Usage("test %s needs --column and --by", o.kind)
		}
		if !o.given["release"] && o.get("by") == o.get("column") {
			return console.Usage("--by and --column must be different columns")
		}
		if !samples {
			if err := o.declaredRows(s, &t.N, o.get("by"), o.get("column")); err != nil {
				return err
			}
		}
		return measure(s, o, o.groupedBy("COUNT(*)", o.get("by"), o.get("column")), func(int) error {
			some := hypothesis.Table{How: t.How, Counts: [][]float64{{1000, 1000}, {1000, 1000}}}
			_, err := some.Independence()
			if err == nil && samples {
				_, err = o.confidence()
			}
			return err
		}, func(r *released) error {
			names, counts, d, err := r.counts(o.kind, 2)
			if err != nil {
				return err
			}
			t.Noise = d
			rows, columns, table, err := crossed(names, counts)
			if err != nil {
				return err
			}
			t.Counts = table
			return tabled(s, o, t, samples, rows, columns, r)
		})
	}
	if !o.given["counts"] {
		return console.Usage("test %s needs --counts '10,20;30,40', or --table, --column and --by", o.kind)
	}
	if t.Counts, err = o.table("counts"); err != nil {
		return err
	}
	if t.Noise, err = o.noiseFrom("sigma", "laplace-scale"); err != nil {
		return err
	}
	return tabled(s, o, t, samples, nil, nil, nil)
}

// names returns the names of the two expressions by which the table of a release is grouped. Published counts have none.
func (r *released) names() (out [2]string) {
	if r == nil {
		return out
	}
	for place := range out {
		out[place], _ = r.groupedBy(place)
	}
	return out
}

// crossed arranges cells with two keys each as a table.
func crossed(names [][]string, counts []float64) (rows, columns []string, table [][]float64, err error) {
	for _, n := range names {
		if !slices.Contains(rows, n[0]) {
			rows = append(rows, n[0])
		}
		if !slices.Contains(columns, n[1]) {
			columns = append(columns, n[1])
		}
	}
	if len(names) != len(rows)*len(columns) {
		return nil, nil, nil,
			console.Usage("the release lacks some cells of the table: a table needs columns whose values the policy " +
				"declares")
	}
	table = make([][]float64, len(rows))
	for i := range table {
		table[i] = make([]float64, len(columns))
	}
	for k, n := range names {
		table[slices.Index(rows, n[0])][slices.Index(columns, n[1])] = counts[k]
	}
	return rows, columns, table, nil
}

func tabled(
	s *console.Console, o *testOptions, t hypothesis.Table, samples bool, rows, columns []string, r *released,
) error {
	test, about := t.Independence, "Are rows and columns independent? Noisy counts, with noise "
	if samples {
		test, about = t.Proportions, "Do the samples (rows) have the same proportions? Noisy counts, with noise "
	}
	found, err := test()
	if err != nil {
		return err
	}
	o.seeded(found)
	out := tested{Test: found, about: about + noiseText(t.Noise) + ".", release: r}
	attributes := r.names()
	out.counted(t.Counts, attributes, rows, columns)
	if samples && len(t.Counts) == 2 && len(t.Counts[0]) == 2 {
		if err := o.difference(&out, t, columns); err != nil {
			return err
		}
	}
	if err := showTest(s, out); err != nil {
		return err
	}
	return plotTable(o, r, t, attributes, rows, columns)
}

// counted sets the table of counts beside a test. attributes are the names of its rows and of its columns, if it has any.
// Without names, the values of rows and columns are numbered.
func (t *tested) counted(counts [][]float64, attributes [2]string, rows, columns []string) {
	t.header = []string{""}
	if attributes != [2]string{} {
		t.header[0] = attributes[0] + " × " + attributes[1]
	}
	for j := range counts[0] {
		t.header = append(t.header, nameOf(columns, j))
	}
	for i, row := range counts {
		line := []string{nameOf(rows, i)}
		for _, c := range row {
			line = append(line, render.Number6(c))
		}
		t.rows = append(t.rows, line)
	}
}

// difference adds the difference of two proportions, with its interval.
func (o *testOptions) difference(out *tested, t hypothesis.Table, columns []string) error {
	confidence, err := o.confidence()
	if err != nil {
		return err
	}
	d, err := t.Difference(confidence)
	if err != nil {
		return err
	}
	out.Estimate, out.Interval = d.Estimate, d.Interval
	out.Warnings = append(out.Warnings, d.Warnings...)
	out.estimated = fmt.Sprintf("share of %s: first sample minus second", nameOf(columns, 0))
	if columns == nil {
		out.estimated = "share of the first column, first row minus second"
	}
	return nil
}

func (o *testOptions) confidence() (float64, error) {
	c, err := o.number("confidence", 0.95)
	if err == nil && !(c > 0 && c < 1) {
		err = console.Usage("--confidence must be between 0 and 1")
	}
	return c, err
}
