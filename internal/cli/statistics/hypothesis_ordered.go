package statistics

import (
	"dither/curator"
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
		return orderedTest(s, o, t, test, about, "", nil, nil, nil)
	}
	if o.given["release"] {
		return measure(s, o, "", nil, func(r *released) error {
			return orderedRelease(s, o, t, test, about, orderedKey{}, orderedKey{}, r)
		})
	}
	if !o.given["by"] || o.get("by") == o.get("column") {
		return console.Usage("test %s needs --column and --by, which are different columns", o.kind)
	}
	column, err := orderedKeyOf(s, o.get("table"), o.get("column"), parts)
	if err != nil {
		return err
	}
	by := orderedKey{sql: curator.SQLName(o.get("by"))}
	if o.kind == "rank-correlation" {
		if by, err = orderedKeyOf(s, o.get("table"), o.get("by"), parts); err != nil {
			return err
		}
	}
	sql := groupedSQL(o.get("table"), "COUNT(*)", o.get("where"), by.sql, column.sql)
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
		return orderedRelease(s, o, t, test, about, by, column, r)
	})
}

func orderedRelease(
	s *console.Console, o *testOptions, t hypothesis.Table, test func(hypothesis.Table) (*hypothesis.Test, error),
	about string, by, column orderedKey, r *released,
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
	for i := range rows {
		rows[i] = by.name(rows[i])
	}
	for j := range columns {
		columns[j] = column.name(columns[j])
	}
	corner := nameOfKey(r.Keys[r.Grouped[0]]) + " × " + nameOfKey(r.Keys[r.Grouped[1]])
	if !o.given["release"] {
		corner = o.get("by") + " × " + o.get("column")
	}
	return orderedTest(s, o, t, test, about, corner, rows, columns, r)
}

func orderedTest(
	s *console.Console, o *testOptions, t hypothesis.Table, test func(hypothesis.Table) (*hypothesis.Test, error),
	about, corner string, rows, columns []string, r *released,
) error {
	found, err := test(t)
	if err != nil {
		return err
	}
	o.seeded(found)
	out := tested{
		Test: found, about: about + ", with noise " + noiseText(t.Noise) + ".", release: r, estimated: "rank correlation",
	}
	out.counted(t.Counts, corner, rows, columns)
	if err := showTest(s, out); err != nil {
		return err
	}
	return plotTable(o, r, t, rows, columns)
}
