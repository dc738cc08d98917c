package channel

import (
	"io"
	"strconv"
	"strings"
)

// Adjacency says between which inputs a mechanism is to hide: it is symmetric. The zero value is all pairs.
type Adjacency struct {
	listed bool
	pairs  [][2]int // of rows, from 0, the smaller first, each once
}

// AllPairs is the adjacency of every two inputs, as in the local model, or of data sets of one person of whom anything may change.
func AllPairs() Adjacency { return Adjacency{} }

// Pairs is the adjacency of some pairs of rows, from 0. Duplicates, either order and a row beside itself do no harm. A row that is not there is
// ErrMatrix where the pairs are used.
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

// check reports a row that m does not have.
func (a Adjacency) check(m *Matrix) error {
	for _, p := range a.pairs {
		if p[0] < 0 || p[1] >= len(m.inputs) {
			return wrong("rows %d and %d are said to be adjacent; there are %d, from 0", p[0], p[1], len(m.inputs))
		}
	}
	return nil
}

// count is how many ordered pairs there are.
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

// ReadPairs reads an adjacency of m's inputs from CSV: two fields a line, each the name of a row, or, if no row has that name, its number, from 1. A first line
// whose first field begins with "input" is skipped. What names no row is ErrMatrix: a pair that is left out would be one that is not checked.
func ReadPairs(r io.Reader, m *Matrix) (Adjacency, error) {
	t, err := readTable(r, maxCells)
	if err != nil {
		return Adjacency{}, err
	}
	rows := map[string]int{}
	for i, name := range m.inputs {
		rows[name] = i
	}
	lines, skipped := t.lines, 0
	if len(lines) > 0 && strings.HasPrefix(strings.ToLower(lines[0][0]), "input") {
		if _, row := rows[lines[0][0]]; !row {
			lines, skipped = lines[1:], 1
		}
	}
	pairs := make([][2]int, 0, len(lines))
	for i, line := range lines {
		if len(line) != 2 {
			return Adjacency{}, wrong("line %d of the pairs has %d fields, not 2", i+1+skipped, len(line))
		}
		var p [2]int
		for j, name := range line {
			row, ok := rows[name]
			if n, err := strconv.Atoi(name); !ok && err == nil && 1 <= n && n <= len(m.inputs) {
				row, ok = n-1, true
			}
			if !ok {
				return Adjacency{}, wrong("line %d of the pairs: there is no row %s", i+1+skipped, strconv.Quote(cut(name)))
			}
			p[j] = row
		}
		pairs = append(pairs, p)
	}
	return Pairs(pairs), nil
}

// Listed reports that pairs are listed, rather than all.
func (a Adjacency) Listed() bool { return a.listed }

// Len is how many pairs are listed.
func (a Adjacency) Len() int { return len(a.pairs) }
