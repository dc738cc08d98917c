package product

import (
	"fmt"

	"dither/strategy"
)

// Factor is the questions of a term about one column: the total of all its values, each value, or any workload.
type Factor struct {
	cells int
	kind  kind
	of    strategy.Workload
}

type kind int

const (
	other kind = iota
	total
	values
)

// Total returns the sum over all n values of a column.
func Total(n int) Factor { return Factor{cells: n, kind: total} }

// Values returns each of the n values of a column.
func Values(n int) Factor { return Factor{cells: n, kind: values} }

// Of returns the questions of a workload.
func Of(w strategy.Workload) Factor { return Factor{cells: w.Cells(), of: w} }

// Cells returns the number of the column's values.
func (f Factor) Cells() int { return f.cells }

// Queries returns the number of questions about the column.
func (f Factor) Queries() int {
	switch f.kind {
	case total:
		return 1
	case values:
		return f.cells
	}
	return f.of.Queries()
}

// weight returns the sum of the weights of the questions.
func (f Factor) weight() float64 {
	if f.kind != other {
		return float64(f.Queries())
	}
	return f.of.Weight()
}

// workload returns the questions as a workload of package strategy.
func (f Factor) workload() (strategy.Workload, error) {
	switch f.kind {
	case total:
		return strategy.Total(f.cells)
	case values:
		return strategy.Values(f.cells)
	}
	return f.of, nil
}

// digest determines the questions.
func (f Factor) digest() string {
	if f.kind != other {
		return fmt.Sprintf("%d of %d", f.kind, f.cells)
	}
	return f.of.Digest()
}
