package post

import (
	"math/big"
	"strings"
	"testing"

	"dither/internal/query"
	"dither/internal/value"
	"dither/noise"
)

// BenchmarkQuotients computes the quotients of an answer with 365 × 116 groups, such as days and ages.
func BenchmarkQuotients(b *testing.B) {
	law, err := noise.NewDiscreteLaplace(big.NewRat(10, 1))
	if err != nil {
		b.Fatal(err)
	}
	count := &Noise{Law: law, Unit: 1}
	var rows [][]Cell
	for day := range int64(365) {
		for age := range int64(116) {
			n, s := 400+(day*31+age*17)%200+law.Draw().Int64(), 100+(day*7+age*13)%50+law.Draw().Int64()
			id := 2 * len(rows)
			rows = append(rows, []Cell{
				Exact(value.OfInt(day)), Exact(value.OfInt(age)), Released(value.OfInt(n), id, count), Released(value.OfInt(s), id+1, count),
			})
		}
	}
	columns := []Column{
		{Name: "day", Type: value.Integer},
		{Name: "age", Type: value.Integer},
		{Name: "n", Type: value.Integer, Noisy: true},
		{Name: "s", Type: value.Integer, Noisy: true},
	}
	for name, form := range map[string]string{
		"of two counts":        "s / n",
		"share of a day":       "n / SUM(n) OVER (PARTITION BY day)",
		"share of all":         "n / SUM(n) OVER ()",
		"day before":           "n / LAG(n) OVER (PARTITION BY age ORDER BY day)",
		"of two sums of a day": "SUM(s) OVER (PARTITION BY day) / SUM(n) OVER (PARTITION BY day)",
	} {
		sql := "SELECT " + form + " FROM (SELECT day, age, COUNT(*) AS n, COUNT(x) AS s FROM t GROUP BY 1, 2) q"
		b.Run(strings.ReplaceAll(name, " ", "_"), func(b *testing.B) {
			tree, err := query.Parse(sql)
			if err != nil {
				b.Fatal(err)
			}
			programs := Split(tree, func(*query.Select, string) bool { return false })
			bound, err := programs[len(programs)-1].Bind(columns, len(rows), "")
			if err != nil {
				b.Fatal(err)
			}
			width := 0.0
			for b.Loop() {
				for _, r := range computed(b, bound, rows).Rows {
					if i := r[0].Interval; i != nil {
						width += i.High - i.Low
					}
				}
			}
			b.ReportMetric(width/float64(b.N)/float64(len(rows)), "width")
		})
	}
}
