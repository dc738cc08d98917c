package channel

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
