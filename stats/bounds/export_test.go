package bounds

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
)

// Shape is a made-up data set of one column, for tests outside the package.
type Shape struct {
	Name, Type, Wide string
	Draw             func(*rand.Rand) float64
	kind             kind
}

// Shapes returns the twelve shapes.
func Shapes() (out []Shape) {
	for _, s := range shapes {
		wide := ", bounds: [-100000, 1000000]"
		if s.kind == days {
			wide = ", bounds: [1900-01-01, 2100-12-31]"
		}
		out = append(out, Shape{
			s.name, map[kind]string{reals: "real", integers: "integer", days: "date"}[s.kind], wide, s.draw, s.kind,
		})
	}
	return out
}

// Text writes a value as a CSV field.
func (s Shape) Text(x float64) string { return s.kind.text(x) }

// Ratio returns the error of typical questions under bounds, as a multiple of the least error that bounds could have,
// and the bounds with the least error. count is the standard deviation of a count's noise.
func (s Shape) Ratio(values []float64, bounds string, count float64) (float64, string) {
	low, high, _ := strings.Cut(strings.Trim(bounds, "[]"), ", ")
	l, _ := s.kind.parsed(low)
	h, _ := s.kind.parsed(high)
	c, rows, q := s.kind.exactly(values), rowsOf{1, float64(len(values)), 0}, noise{count: count, halved: 2}
	best := c.best(rows, q)
	e := c.errorOf(l, h, lostBelow(values, l)+lostAbove(values, h), rows, q)
	return e / best.error, "[" + s.kind.text(best.low) + ", " + s.kind.text(best.high) + "]"
}

// RowsRatio is Ratio for a table with the given numbers of rows of its units, under a limit on rows and bounds of a
// column, over counts, sums and averages.
func RowsRatio(perUnit []int, values []float64, limit, bounds string, count float64, gaussian bool) (float64, string) {
	s := Shape{kind: reals}
	c, q := reals.exactly(values), noise{count: count, halved: 2}
	if gaussian {
		q.halved = math.Sqrt2
	}
	rows := func(m float64) (r rowsOf) {
		for _, n := range perUnit {
			r.counted += math.Min(float64(n), m)
			r.lost += math.Max(float64(n)-m, 0)
		}
		r.most = m
		return r
	}
	c.units = float64(len(values))
	best, at := math.Inf(1), ""
	for m := 1.0; m <= 900; m = math.Max(m+1, math.Round(m*1.05)) {
		b := c.best(rows(m), q)
		if e := rows(m).errorOfCounts(q) + b.error; e < best {
			best, at = e, fmt.Sprintf("%.0f rows and [%.4g, %.4g]", m, b.low, b.high)
		}
	}
	low, high, _ := strings.Cut(strings.Trim(bounds, "[]"), ", ")
	l, _ := s.kind.parsed(low)
	h, _ := s.kind.parsed(high)
	m, _ := strconv.ParseFloat(limit, 64)
	lost := lostBelow(values, l) + lostAbove(values, h)
	return (rows(m).errorOfCounts(q) + c.errorOf(l, h, lost, rows(m), q)) / best, at
}

// ShapeOf returns the shape of a column of integers or of reals.
func ShapeOf(whole bool) Shape {
	if whole {
		return Shape{kind: integers}
	}
	return Shape{kind: reals}
}
