// Package post computes with the rows of an answer: an outer SELECT over them, with expressions, window functions,
// WHERE, GROUP BY, HAVING, ORDER BY, LIMIT and DISTINCT, nested as often as the question nests them.
//
// [Split] divides a question into the question that is measured and the SELECTs over its answer. Only the first has a
// price, a release and a replay key. The other SELECTs are functions of released numbers and of public values, so they
// cost nothing, and no mistake in this package can reveal more than the release itself does. The package imports
// neither an engine nor the ledger.
//
// The intervals of this package are exact for linear functions of released numbers, and for quotients of two linear
// functions, because the noise of released numbers is independent and its distribution is public (see form and
// quotient). Monotone functions map the ends of an interval. All other results have no interval, and [Column.Why] says
// why.
package post

import (
	"cmp"
	"math"
	"slices"

	"dither/internal/bind"
	"dither/internal/query"
	"dither/internal/value"
	"dither/noise"
)

// Column describes a column of a table.
type Column struct {
	Name  string
	Type  value.Type
	Noisy bool   // the values depend on released numbers
	Why   string // why the column has no interval; "" if it has one, or is not noisy
	From  int    // 1 + the index of the measured question's column that this column shows unchanged; 0 for none
	Sure  bool   // no value is NULL, whatever the noise, as those of counts and sums
	Width int    // a bound on the bytes of the column's texts; 0 if it is not known

	untyped bool       // every value is NULL, and no type was said
	whole   bind.Whole // the type of the column's whole numbers in PostgreSQL
}

// Table is the answer of the question that is measured.
type Table struct {
	Columns []Column
	Rows    [][]Cell
	// Chosen says why the numbers of the rows have no intervals: which rows there are depends on their noise. It is "" if
	// the rows were known before.
	Chosen string
}

// Cell is a value, with its error if it depends on released numbers. The error is nil if the value is exact or has no
// interval.
type Cell struct {
	Value  value.Value
	error  *margin
	absent bool // a NULL of a row without a match in an outer join, which does not depend on noise
}

// Noise is the error of a released number: Unit·(Z + r), where Z has the distribution Law, and the rounding r is at most
// Rounding in magnitude.
type Noise struct {
	Law            noise.Distribution
	Unit, Rounding float64
}

// Interval is a closed interval. An infinite end is no bound.
type Interval struct{ Low, High float64 }

// Exact returns a cell without an error.
func Exact(v value.Value) Cell { return Cell{Value: v} }

// Released returns the cell of a released number. Its id is unique among the released numbers of the answer, whose noises
// are independent. Cells whose numbers have the same noise share n.
func Released(v value.Value, id int, n *Noise) Cell {
	return Cell{Value: v, error: &margin{over: released(id, n, number(v))}}
}

// Part is a released number in a sum, with its exact coefficient.
type Part struct {
	ID    int
	Times float64
	*Noise
}

// Sum returns the cell of a linear form of released numbers, whose value is v. The ids are as in [Released], and
// differ.
func Sum(v value.Value, parts []Part) Cell {
	if len(parts) == 1 && parts[0].Times == 1 {
		return Released(v, parts[0].ID, parts[0].Noise)
	}
	f := &form{size: math.Abs(number(v))}
	for _, p := range parts {
		f.terms = append(f.terms, term{p.ID, p.Times, p.Noise, math.Abs(number(v))})
	}
	slices.SortFunc(f.terms, func(a, b term) int { return cmp.Compare(a.id, b.id) })
	return Cell{Value: v, error: &margin{over: f}}
}

// Bounded returns the cell of a number that has an interval of its own, such as an average.
func Bounded(v value.Value, i Interval) Cell { return Cell{Value: v, error: &margin{ends: &i}} }

// Program is a question that computes with an answer: the question that is measured, and the SELECTs over its answer.
type Program struct {
	// Measured is the question that is measured. Its columns are GROUP BY expressions and aggregates.
	Measured *query.Select
	names    []string // of the columns of Measured
	as       string   // Measured as the question writes it: a subquery with this text is the same answer
	split    *query.Select
	over     []*query.Select // the SELECTs over the answer, from the innermost on
	level    int             // how many SELECTs of the question are around the one that is measured
}

// Names returns the names of the columns of Measured.
func (p *Program) Names() []string { return p.names }
