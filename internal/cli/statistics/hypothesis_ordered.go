package statistics

import (
	"dither/hypothesis"
	"dither/internal/cli/console"
)

// runKruskal tests whether samples have the same distribution over ordered values.
func runKruskal(s *console.Console, o *testOptions) error {
	return runOrdered(s, o, "Do the samples (rows) have equally high values? Ranks of noisy counts",
		func(t hypothesis.Table) (*hypothesis.Test, error) { return t.Kruskal() })
}

// runRankCorrelation tests whether two attributes with ordered values are correlated.
func runRankCorrelation(s *console.Console, o *testOptions) error {
	confidence, err := o.confidence()
	if err != nil {
		return err
	}
	return runOrdered(s, o, "Are rows and columns correlated? Ranks of noisy counts",
		func(t hypothesis.Table) (*hypothesis.Test, error) { return t.RankCorrelation(confidence) })
}

// runOrdered tests a table of noisy counts whose columns are in order.
func runOrdered(
	s *console.Console, o *testOptions, about string, test func(hypothesis.Table) (*hypothesis.Test, error),
) error {
	home, err := o.fromHome("counts", "sigma", "laplace-scale")
	if err != nil {
		return err
	}
	var t hypothesis.Table
	if t.How, err = o.how(); err != nil {
		return err
	}
	parts, err := partsOf("bins", o.get("bins"))
	if err != nil {
		return err
	}
	if !home {
		if !o.given["counts"] {
			return console.Usage("test %s needs --counts '10,20;30,40', or --table, --column and --by", o.kind)
		}
		if t.Counts, err = o.table("counts"); err != nil {
			return err
		}
		if t.Noise, err = o.noiseFrom("sigma", "laplace-scale"); err != nil {
			return err
		}
		return orderedTest(s, o, t, test, about, nil, nil, nil)
	}
	if o.given["release"] {
		return measure(s, o, "", nil, func(r *released) error {
			return orderedRelease(s, o, t, test, about, r)
		})
	}
	if !o.given["by"] || o.get("by") == o.get("column") {
		return console.Usage("test %s needs --column and --by, which are different columns", o.kind)
	}
	column, err := orderedKeyOf(s, o.get("table"), o.get("column"), parts)
	if err != nil {
		return err
	}
	by := columnKey(o.get("by"))
	if o.kind == "rank-correlation" {
		rows, err := orderedKeyOf(s, o.get("table"), o.get("by"), parts)
		if err != nil {
			return err
		}
		by.sql = rows.sql
	}
	sql := groupedSQL(o.get("table"), "COUNT(*)", o.get("where"), by, namedKey{column.sql, o.get("column")})
	try := func(cells int) error {
		if cells > hypothesis.MaxCells {
			return console.Usage("these columns have %d cells, and a test has at most %d: divide them by --bins", cells,
				hypothesis.MaxCells)
		}
		some := t
		some.Counts = [][]float64{{1000, 1000}, {1000, 1000}}
		_, err := test(some)
		return err
	}
	return measure(s, o, sql, try, func(r *released) error {
		return orderedRelease(s, o, t, test, about, r)
	})
}

func orderedRelease(
	s *console.Console, o *testOptions, t hypothesis.Table, test func(hypothesis.Table) (*hypothesis.Test, error),
	about string, r *released,
) error {
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
	for place, values := range [][]string{rows, columns} {
		_, key := r.groupedBy(place)
		for i := range values {
			values[i] = key.name(values[i])
		}
	}
	return orderedTest(s, o, t, test, about, rows, columns, r)
}

func orderedTest(
	s *console.Console, o *testOptions, t hypothesis.Table, test func(hypothesis.Table) (*hypothesis.Test, error),
	about string, rows, columns []string, r *released,
) error {
	found, err := test(t)
	if err != nil {
		return err
	}
	o.seeded(found)
	out := tested{
		Test: found, about: about + ", with noise " + noiseText(t.Noise) + ".", release: r, estimated: "rank correlation",
	}
	if r != nil {
		if o.kind == "rank-correlation" { // the rows of other tests are samples, without an order
			out.Warnings = append(out.Warnings, r.alphabetical(0)...)
		}
		out.Warnings = append(out.Warnings, r.alphabetical(1)...)
	}
	attributes := r.names()
	out.counted(t.Counts, attributes, rows, columns)
	if err := showTest(s, out); err != nil {
		return err
	}
	return plotTable(o, r, t, attributes, rows, columns)
}
