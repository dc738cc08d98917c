package model

import "slices"

// Model is a distribution over the cells of a domain, with a number of rows. Its methods only read it, and may run at
// the same time.
type Model struct {
	domain  *Domain
	tree    *tree
	factors []*factor
	total   float64
	report  Report
}

// Domain returns the domain of the model.
func (m *Model) Domain() *Domain { return m.domain }

// Total returns the number of rows.
func (m *Model) Total() float64 { return m.total }

// Report says how the fit ended.
func (m *Model) Report() Report { return m.report }

// Cliques returns the cliques of the junction tree, each after its parent, with their attributes ascending.
func (m *Model) Cliques() [][]int {
	out := make([][]int, len(m.tree.cliques))
	for i, c := range m.tree.cliques {
		out[i] = slices.Sorted(slices.Values(c.members))
	}
	return out
}
