package bounds

import (
	"math/rand/v2"
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
