package channel

import (
	"io"
	"slices"
	"strconv"
)

// Adjacency is the symmetric set of pairs of inputs between which a mechanism must be private. The zero value
// contains all pairs.
type Adjacency struct {
	listed bool
	pairs  [][2]int // pairs of different rows, counted from 0; the smaller row first; no duplicates
}

// AllPairs returns the adjacency of every two inputs. It describes the local model, or datasets of one person whose
// values may change arbitrarily.
func AllPairs() Adjacency { return Adjacency{} }

// Pairs returns the adjacency of the given pairs of rows, counted from 0. The order within a pair does not matter,
// and duplicates and pairs of equal rows are ignored. If a row does not exist, methods that use the adjacency
// return ErrMatrix.
func Pairs(pairs [][2]int) Adjacency {
	a := Adjacency{listed: true}
	seen := map[[2]int]bool{}
	for _, p := range pairs {
		p = [2]int{min(p[0], p[1]), max(p[0], p[1])}
		if p[0] != p[1] && !seen[p] {
			seen[p] = true
			a.pairs = append(a.pairs, p)
		}
	}
	return a
}

// check returns an error if the adjacency contains a row that m does not have.
func (a Adjacency) check(m *Matrix) error {
	for _, p := range a.pairs {
		if p[0] < 0 || p[1] >= len(m.inputs) {
			return wrong("rows %d and %d are listed as adjacent, but there are only %d rows, numbered from "+
				"0", p[0], p[1], len(m.inputs))
		}
	}
	return nil
}

// count returns the number of ordered pairs.
func (a Adjacency) count(m *Matrix) int {
	if a.listed {
		return 2 * len(a.pairs)
	}
	return len(m.inputs) * (len(m.inputs) - 1)
}

// each calls f for every ordered pair, always in the same order.
func (a Adjacency) each(m *Matrix, f func(row, beside int)) {
	if a.listed {
		for _, p := range a.pairs {
			f(p[0], p[1])
			f(p[1], p[0])
		}
		return
	}
	for i := range m.inputs {
		for j := range m.inputs {
			if i != j {
				f(i, j)
			}
		}
	}
}

// ReadPairs reads an adjacency of m's inputs from CSV. Each line has two fields, which name two rows. If no row's
// name looks like a number, a field may also be the number of a row, from 1. A first line whose first field is
// "input" or "inputs" is skipped if neither of its fields is a row.
//
// A field that is no row is ErrMatrix, because a pair that is left out would not be checked. Pairs without any two
// different rows are also ErrMatrix, because there is nothing to check.
func ReadPairs(r io.Reader, m *Matrix) (Adjacency, error) {
	t, err := readTable(r, maxCells, 0)
	if err != nil {
		return Adjacency{}, err
	}
	rows, numbers := map[string]int{}, !slices.ContainsFunc(m.inputs, numeric)
	for i, name := range m.inputs {
		rows[name] = i
	}
	find := func(name string) (row int, ok bool) {
		if row, ok = rows[name]; ok || !numbers {
			return row, ok
		}
		n, err := strconv.Atoi(name)
		return n - 1, err == nil && 1 <= n && n <= len(m.inputs)
	}
	lines, skipped := t.lines, 0
	if len(lines) > 0 && isInput(lines[0][0]) &&
		!slices.ContainsFunc(lines[0], func(name string) bool { _, ok := find(name); return ok }) {
		lines, skipped = lines[1:], 1
	}
	pairs := make([][2]int, 0, len(lines))
	for i, line := range lines {
		if len(line) != 2 {
			return Adjacency{}, wrong("line %d of the pairs has %d fields, not 2", i+1+skipped, len(line))
		}
		var p [2]int
		for j, name := range line {
			row, ok := find(name)
			if !ok {
				return Adjacency{}, wrong("line %d of the pairs: there is no row %s",
					i+1+skipped, strconv.Quote(cut(name)))
			}
			p[j] = row
		}
		pairs = append(pairs, p)
	}
	a := Pairs(pairs)
	if len(a.pairs) == 0 {
		return a, wrong("no pair of two different rows is listed: there is nothing to check")
	}
	return a, nil
}

// Listed reports whether the adjacency is a list of pairs. Otherwise it contains all pairs.
func (a Adjacency) Listed() bool { return a.listed }

// Len returns the number of listed unordered pairs. It is 0 if the adjacency contains all pairs.
func (a Adjacency) Len() int { return len(a.pairs) }
