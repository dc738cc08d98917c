// Package engine is the interface to the rows. An engine runs a bounded statement over one sealed table, or over a
// relation of several, and returns opaque integers. An engine decides nothing about privacy: the planner has
// already proved the statement's sensitivity.
package engine

import (
	"context"
	"errors"
	"math/big"

	"dither/internal/bounded"
	"dither/internal/value"
	"dither/mechanism"
)

// Engine runs bounded statements over sealed files, or over a server's tables. It must apply every part of a
// statement: the noise relies on its Caps, and the charge relies on its Part. Rehearse refuses statements that the
// engine does not support.
type Engine interface {
	// Aggregate returns the exact sum of each measure for every cell (group) of b, in the order of
	// [bounded.Statement.CellKeys]. Its error may quote rows, so only the owner may see it.
	Aggregate(ctx context.Context, b *bounded.Statement, from Sealed) ([][]mechanism.Exact, error)
	// Margins returns histograms of b, which has known keys and one measure: for each list of indices of b's keys, the
	// exact sum by these keys, over all values of the others. The last key of a list changes fastest. It runs b once. Its
	// error is as that of Aggregate.
	Margins(ctx context.Context, b *bounded.Statement, keys [][]int, from Sealed) ([][]mechanism.Exact, error)
	// Groups returns the groups that exist, with the exact sums of their measures, for a statement with unknown
	// keys ([bounded.Statement.Open]). Its error may quote rows. Once groups are selected (b.Chosen), Aggregate
	// returns their sums.
	Groups(ctx context.Context, b *bounded.Statement, from Sealed) (*Groups, error)
	// Order returns the values of the one measure of a statement that is Ordered. A mechanism reads them later, in
	// as many passes as it needs. Every pass uses ctx, and its error may quote rows.
	Order(ctx context.Context, b *bounded.Statement, from Sealed) (mechanism.Ordered, error)
	// OrderCells is like Order, with the values of every cell (group) of b, in the order of
	// [bounded.Statement.CellKeys].
	OrderCells(ctx context.Context, b *bounded.Statement, from Sealed) (mechanism.OrderedCells, error)
	// Rows adds each row of b that counts to a collector, the parameter `into`: the row's measures as integers. The
	// rows of one unit follow each other. The result must not depend on the order of the units, nor on the order of a
	// unit's rows. The error may quote rows. After an error, the collector is incomplete and must be discarded.
	Rows(ctx context.Context, b *bounded.Statement, from Sealed, into *mechanism.Rows) error
	// Values returns the distinct cleaned values of a column of a PUBLIC table, in increasing order, without NULL. It
	// returns at most as many values as the parameter most says.
	Values(ctx context.Context, c bounded.Column, from Sealed, most int) ([]value.Value, error)
	// PublicRows returns the cleaned values of columns of the rows of a PUBLIC table, in any order. It returns at most as
	// many rows as the parameter most says.
	PublicRows(ctx context.Context, columns []bounded.Column, from Sealed, most int) ([][]value.Value, error)
	// Rehearse runs b over made-up rows of extreme values, and reads no sealed row. A statement that fails here must
	// not run on sealed rows: a row could decide whether it fails, and no noise would hide the failure. If the sealed
	// version from is a live table, Rehearse also checks that the table exists and is the one that was sealed. Rehearse
	// takes bounded time (that of ctx) and memory, or fails with an error that wraps ErrRehearsal.
	Rehearse(ctx context.Context, b *bounded.Statement, from Sealed) error
	Close() error
}

// Sealed is a sealed version of a table, with the facts that sealing recorded about this version. The facts concern
// the rows of all units. An engine may use them to run a quicker statement, but they never change an answer. The
// sensitivity relies on this.
//
// Claim: if the rows of one unit change a fact, they still do not change what any other unit adds. Let D be sealed
// data, and D′ the same data without the unit w, or with other rows in its place. The facts of D and D′ may differ, and
// so may the form of a statement. Let v be a unit of both. Its rows are the same in both, and so are their ranks: the
// numbers of the unit's rows in the order in which they count. A rank depends on v's rows alone. So it suffices to show
// for a single database that the short form, which a true fact selects, keeps the same rows and cells of v as the long
// form. Then D and D′ both keep the rows and cells of v that the long form keeps.
//   - OneRowEach is true: v has at most one row, of rank 1. The long form keeps this row: each cap that is set is
//     at least 1, v is in one part and PerUnit is at least 1, and v is in one cell. The short form caps nothing,
//     and keeps the row too. Both forms clamp a unit's sum in a cell (CellsClamped). The same argument holds for a
//     relation in which each unit has at most one row (duckdb's sealedFiles.single): Select returns at most one row
//     for each row of its input, and so does Join if Most is 1.
//   - Complete is true of every column that keys and coordinates read, and nothing else drops a row
//     (AllRowsAreLeft). So all rows of v are left, with the ranks 1, 2, …, n. The short form keeps the ranks up to
//     Caps.Rows. The long form keeps all rows if n ≤ Caps.Rows, and otherwise the first Caps.Rows rows in the order
//     of ranks. Both are the ranks up to Caps.Rows. The short form omits tests for NULL (Kept) only where they are
//     true of every row.
//   - MostRows is true and at most Caps.Rows. So v has at most Caps.Rows rows, and both forms keep all that are left.
//   - MostRows and MostPerKey are true. They permit omitting the bound of a bounded.Owned only if v has no more
//     rows there than Stored (OwnedFit). Then the long form keeps all of them. ∎
//
// The proof needs each fact to be true of its own database. So a file is always read with the facts recorded about
// that file.
type Sealed struct {
	File       string
	OneRowEach bool            // no unit has more than one row
	Complete   map[string]bool // the columns without NULL, NaN and infinite values
	// Stored, if not 0, limits the rows of each unit that count to the Stored rows with the lowest ranks. A rank
	// numbers the rows of one unit, in the order in which they count. Stored is 0 if sealing already kept no more rows
	// of a unit than the policy now allows (policy.Table.Stored).
	Stored int64
	// MostRows is the largest number of rows of one unit. MostPerKey is the largest number of rows that refer to
	// the same row, for a table whose rows have their unit through a reference. A field is 0 if sealing did not
	// record it.
	MostRows, MostPerKey int64
	// Tables holds the sealed versions by table name, if the statement has a bounded.Source.
	Tables map[string]Sealed
	Table  string // the table's name

	// Relation is the server's identity of a live table. Another relation that took the table's name is not read,
	// because the promise covers the units of the sealed relation. A live table has no file, and no recorded fact
	// about its rows is used.
	Relation string

	// State is the server's state of the table at sealing, if the server reports one. If the present state differs,
	// the engine calls Changed with it. Only the owner sees this, and it changes no answer.
	State   string
	Changed func(state string)

	// Copy is a copy of the table on the server, made at sealing. If it is set, the engine reads it in place of the
	// table.
	Copy *Copy
}

// For returns s in the form that b needs: a statement over a bounded.Source finds its tables in Tables. So a question
// about one table may have statements of both forms.
func (s Sealed) For(b *bounded.Statement) Sealed {
	if b.Source == nil || s.Tables != nil {
		return s
	}
	return Sealed{Table: s.Table, Tables: map[string]Sealed{b.Table: s}}
}

// Copy identifies a copy on a server: its schema and name, the server's identity of the table, and its number of
// rows.
type Copy struct {
	Schema, Table, Relation string
	Rows                    int64
}

// RefusedError is the error of Rehearse for a statement that the engine does not support. Nothing is charged. The
// error depends on the question and on how its tables were sealed, and on no row.
type RefusedError struct{ Message, Hint string }

// Error returns the message.
func (e *RefusedError) Error() string { return e.Message }

// ErrUnavailable is wrapped by the error of Rehearse if the server caused the failure, and not the statement: the
// server cannot be reached, or its table is not as declared. The error does not depend on any row.
var ErrUnavailable = errors.New("the table's server is not available")

// Cells adds up an engine's result rows by cell: the group with one combination of key values. The cells are in the
// order of [bounded.Statement.CellKeys]. A cell without a result row is 0.
type Cells struct {
	b     *bounded.Statement
	sums  [][]*big.Int
	place map[string]int // for unknown keys: the index of a cell, by the text of its key values
}

// NewCells returns Cells with a 0 for every cell and measure of b.
func NewCells(b *bounded.Statement) *Cells {
	c := &Cells{b: b, sums: make([][]*big.Int, b.Cells())}
	for i := range c.sums {
		c.sums[i] = make([]*big.Int, b.Width())
		for j := range c.sums[i] {
			c.sums[i][j] = new(big.Int)
		}
	}
	if b.Open() {
		c.place = map[string]int{}
		for i := range c.sums {
			c.place[bounded.GroupName(b.CellKeys(i))] = i
		}
	}
	return c
}

// Add adds a result row to its cell. A nil sum counts as 0. A row with a key value that b does not list is ignored.
func (c *Cells) Add(keys []value.Value, sums []*big.Int) {
	cell := c.index(keys)
	if cell < 0 {
		return
	}
	for j, s := range sums {
		if s != nil {
			c.sums[cell][j].Add(c.sums[cell][j], s)
		}
	}
}

// index returns the index of the cell with these keys, or −1 if there is none.
func (c *Cells) index(keys []value.Value) int {
	if c.place != nil {
		if i, ok := c.place[bounded.GroupName(keys)]; ok {
			return i
		}
		return -1
	}
	return CellOf(c.b, keys)
}

// Exact returns the sums as opaque values.
func (c *Cells) Exact() [][]mechanism.Exact {
	out := make([][]mechanism.Exact, len(c.sums))
	for i, sums := range c.sums {
		out[i] = make([]mechanism.Exact, len(sums))
		for j, s := range sums {
			out[i][j] = mechanism.NewExact(s)
		}
	}
	return out
}
