package bounded

import "fmt"

// WindowFunc is a function of a row's place among the rows of its part.
type WindowFunc string

// The functions of a row's place. RowNumber counts the rows from 1. Rank is one more than the number of rows that Order
// puts before the row, and DenseRank counts these without those that Order puts equal. Lag and Lead are the value that a
// column has in the row so many rows before or after, or NULL if there is no such row. FirstValue is the column's value in
// the first row.
const (
	RowNumber WindowFunc = "row_number"
	Rank      WindowFunc = "rank"
	DenseRank WindowFunc = "dense_rank"
	Lag       WindowFunc = "lag"
	Lead      WindowFunc = "lead"

	FirstValue WindowFunc = "first_value"
)

// Windowed is one column of a Window: what Func says of a row's place in its part. A part consists of the rows of one unit
// that have the same values, or NULL, in the columns Within. Its rows are in the order Order, then by a hash of the unit
// and the values of all columns, then by these values.
//
// Claim: the rows of a Window are a function of each unit's own rows. Proof. A part has rows of one unit alone. The order
// reads a row's values and its unit alone. Rows that it leaves equal have the same values in all columns. Exchanging two
// of them leaves the multiset of the part's rows with their new columns as it is, because the row at each place has the
// same values either way. So this multiset follows from the multiset of the part's rows, in whatever order they arrive.
// Each input row is returned once, so a unit has as many rows as before. ∎
type Windowed struct {
	Func   WindowFunc
	Column int   // for Lag, Lead and FirstValue: the index of the input's column
	Offset int64 // for Lag and Lead: how many rows away
}

// Ordering is one key of an order of rows: a column of the input.
type Ordering struct {
	Column           int
	Desc, NullsFirst bool
}

// String returns the column's canonical text.
func (w Windowed) String() string {
	if w.Reads() {
		return fmt.Sprintf("%s(%d, %d)", w.Func, w.Column, w.Offset)
	}
	return string(w.Func)
}

// Reads reports whether w is the value of a column in some row.
func (w Windowed) Reads() bool { return w.Func == Lag || w.Func == Lead || w.Func == FirstValue }

// String returns the key's canonical text.
func (o Ordering) String() string {
	return fmt.Sprintf("%d desc=%t first=%t", o.Column, o.Desc, o.NullsFirst)
}
