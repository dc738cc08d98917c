package audit

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// numbers are so many texts of noise.
func numbers(r *rand.Rand, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("%.6f", laplace(r, 10))
	}
	return out
}

// formats tell the data by how answers are written, whatever the noise in them.
var formats = []member{
	{"a space after the comma", "1", "0", 2000, func(r *rand.Rand, side Side) string { return strings.Join(numbers(r, 2), pick(side, ",", ", ")) }, false},
	{"a tab for a space", "1", "0", 2000, func(r *rand.Rand, side Side) string { return `{"x":` + pick(side, " ", "\t") + numbers(r, 1)[0] + "}" }, false},
	{"brackets or quotes", "1", "0", 2000, func(r *rand.Rand, side Side) string { return fmt.Sprintf(pick(side, "[%s]", "%q"), numbers(r, 1)[0]) }, false},
	{"a plus sign", "1", "0", 2000, func(r *rand.Rand, side Side) string { return fmt.Sprintf(pick(side, "%.6f", "%+.6f"), laplace(r, 10)) }, false},
	{"an exponent", "1", "0", 2000, func(r *rand.Rand, side Side) string { return fmt.Sprintf(pick(side, "%.6f", "%.7e"), laplace(r, 10)) }, false},
	{"zeros at the end, cut off", "1", "0", 4000, func(r *rand.Rand, side Side) string {
		x := strconv.FormatFloat(laplace(r, 10), 'f', 6, 64)
		return pick(side, strings.TrimRight(x, "0"), x)
	}, false},
	{"the order of JSON's keys", "1", "0", 2000, func(r *rand.Rand, side Side) string {
		return fmt.Sprintf(pick(side, `{"a": %.3f, "b": %.3f}`, `{"b": %.3f, "a": %.3f}`), laplace(r, 10),
			laplace(r, 10))
	}, false},
	{"a leak at the 300th place", "1", "0", 200, func(r *rand.Rand, side Side) string {
		return strings.Join(append(append(numbers(r, 256), slices.Repeat([]string{"0"}, 43)...), pick(side, "5", "7")),
			" ")
	}, false},
}

// joints tell the data by what their coordinates are together, and by no coordinate alone.
var joints = []member{
	{"two equal coordinates of eight", "1", "0", 4000, func(r *rand.Rand, side Side) string {
		v := numbers(r, 8)
		if side == Neighbor && r.IntN(4) == 0 {
			v[6] = v[2]
		}
		return strings.Join(v, ",")
	}, false},
	{"signs that agree", "1", "0", 2000, func(r *rand.Rand, side Side) string {
		x, y := laplace(r, 10), laplace(r, 10)
		if side == Neighbor {
			y = math.Copysign(y, x)
		}
		return fmt.Sprintf("%.6f %.6f", x, y)
	}, false},
	{"the product of three signs", "1", "0", 4000, func(r *rand.Rand, side Side) string {
		x, y, z := laplace(r, 10), laplace(r, 10), laplace(r, 10)
		if side == Neighbor {
			z = math.Copysign(z, x*y)
		}
		return fmt.Sprintf("%.6f %.6f %.6f", x, y, z)
	}, false},
	{"exclusive or, beside a noisy number", "1", "0", 4000, func(r *rand.Rand, side Side) string {
		answers, a := []string{"yes", "no"}, r.IntN(2)
		return fmt.Sprintf("%s %s %.4f", answers[a], answers[a^int(side)], laplace(r, 1))
	}, false},
	{"noise that coordinates 2 and 10 of 12 share, tripled", "1", "0", 3000, func(r *rand.Rand, side Side) string {
		v := numbers(r, 12)
		if side == Neighbor {
			z := laplace(r, 10)
			v[1], v[9] = fmt.Sprintf("%.6f", z), fmt.Sprintf("%.6f", 3*z)
		}
		return strings.Join(v, ",")
	}, false},
	{"one noise as a factor of two", "1", "0", 6000, func(r *rand.Rand, side Side) string {
		z := 0.5 + r.Float64()
		return fmt.Sprintf("%.6f %.6f", 10*z, z*pick(side, 20., 26))
	}, false},
	// A table whose every row stands for three people at least, made from the data by Mondrian's rule: halve at the
	// median age while both halves keep three. It is k-anonymous with a person and without her; and whoever sees both
	// tables sees her row.
	{"two k-anonymous tables", "1", "1e-6", 1000, func(_ *rand.Rand, side Side) string {
		type person struct {
			age     int
			disease string
		}
		town := []person{{21, "flu"}, {24, "none"}, {28, "flu"}, {33, "none"}, {34, "gout"}, {39, "none"}, {41, "flu"}}
		if side == Neighbor {
			town = slices.Delete(town, 4, 5)
		}
		slices.SortFunc(town, func(a, b person) int { return cmp.Compare(a.age, b.age) })
		var rows []string
		var split func([]person)
		split = func(p []person) {
			if len(p) >= 6 {
				split(p[:len(p)/2])
				split(p[len(p)/2:])
				return
			}
			for _, q := range p {
				rows = append(rows, fmt.Sprintf("%d-%d %s", p[0].age, p[len(p)-1].age, q.disease))
			}
		}
		split(town)
		return strings.Join(rows, "; ")
	}, false},
}
