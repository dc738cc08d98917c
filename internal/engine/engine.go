// Package engine is the interface to the rows: an engine runs a bounded statement over one sealed table, or a relation
// of several, and returns opaque integers. An engine decides nothing: the plan has proved the statement.
package engine

import (
	"context"
	"errors"
	"math/big"

	"dither/internal/bounded"
	"dither/internal/value"
	"dither/mechanism"
)

// Engine runs bounded statements over sealed files, or over a server's tables. It must apply everything that a
// statement says: noise relies on its Caps, and charges rely on its Part. Rehearse refuses what an engine does not
// support.
type Engine interface {
	// Aggregate returns the measures' exact sums for every cell of b, in the order of Cells. Its error may quote rows,
	// so only the owner may see it.
	Aggregate(ctx context.Context, b *bounded.Statement, from Sealed) ([][]mechanism.Exact, error)
	// Groups returns, for a b with unknown keys (Open), the groups that exist, with their measures' exact sums. Its
	// error may quote rows. After a selection (Chosen), Aggregate returns the chosen groups alone.
	Groups(ctx context.Context, b *bounded.Statement, from Sealed) (*Groups, error)
	// Order returns the values of b's one measure, which b asks for Ordered. The mechanism scans them later, in as many
	// passes as it needs, each with ctx. Errors of a pass may quote rows.
	Order(ctx context.Context, b *bounded.Statement, from Sealed) (mechanism.Ordered, error)
	// OrderCells is Order for every cell of b, in the order of Cells.
	OrderCells(ctx context.Context, b *bounded.Statement, from Sealed) (mechanism.OrderedCells, error)
	// Rows adds the rows of b that count, as plan.BuildRows planned them: each row's measures as integers, the rows of
	// one unit one after the other. The result must not depend on the order of the units, or of a unit's rows. Its
	// error may quote rows; on an error, discard partial output.
	Rows(ctx context.Context, b *bounded.Statement, from Sealed, into *mechanism.Rows) error
	// Values returns the distinct values of a column of a PUBLIC table, cleaned, without NULL, in order, and at most
	// most of them.
	Values(ctx context.Context, c bounded.Column, from Sealed, most int) ([]value.Value, error)
	// Rehearse runs b over made-up rows of extreme values, and over no sealed row. A statement that fails here must not
	// run on sealed rows: a row could decide whether it fails, and no noise would hide that. A live table in from must
	// exist and be the one that was sealed. Rehearse takes bounded time (ctx's) and memory, or fails with ErrRehearsal.
	Rehearse(ctx context.Context, b *bounded.Statement, from Sealed) error
	Close() error
}

// Sealed is a version of a table, with the facts that sealing recorded about this very file. The facts make an answer
// quicker and never change it. The sensitivity depends on that, because they are facts about all units' rows.
//
// Claim: a fact that one unit's rows decide does not change what any other unit adds. Let D be sealed data, and D′
// the same without the unit w, or with another in its place. The facts of D and D′ may differ, and with them the form
// of a statement. Let v be a unit of both. It has the same rows in both, with the same ranks, since a rank depends on
// v's rows alone. So it is enough to show, in one database, that the short form which a true fact selects keeps the
// same rows and cells of v as the long form. Then both databases keep the rows and cells of v that the long form keeps.
//   - OneRowEach is true: v has at most one row, of rank 1. The long form keeps it. Each cap that is set is at least 1;
//     v is in one part, and PerUnit is at least 1; v is in one cell. The short form caps nothing, and keeps it. The
//     clamp of a unit's sum in a cell (CellsClamped) stands in both forms. The same holds for a relation in which units
//     have one row each (duckdb's sealedFiles.single): Select returns at most one row for a row, and so does Join if
//     Most is 1.
//   - Complete is true of every column that keys and coordinates read, and nothing else drops a row
//     (AllRowsAreLeft): all rows of v are left, with the ranks 1, 2, …, n. The short form keeps the ranks up to
//     Caps.Rows. The long form keeps all rows if n ≤ Caps.Rows, and else the first Caps.Rows in the order of ranks.
//     Both are the ranks up to Caps.Rows. A test for NULL that the short form omits (Kept) is true of every row.
//   - MostRows and MostPerKey are true: if they permit omitting the bound of a bounded.Owned, v has no more rows there
//     than Stored (OwnedFit), and the long form keeps them all. ∎
//
// The proof needs each fact to be true of its own database: a file is read with the facts recorded about it.
type Sealed struct {
	File       string
	OneRowEach bool            // no unit has more than one row
	Complete   map[string]bool // columns in which no value is NULL, NaN or infinite
	// Stored is how many rows of one unit count in this version: those of the lowest ranks. It is 0 if sealing kept no
	// more (policy.Table.Stored).
	Stored int64
	// MostRows is the most rows of one unit. MostPerKey is the most rows that refer to one row, if rows have their unit
	// through a reference. Both are 0 if not recorded.
	MostRows, MostPerKey int64
	// Tables are the sealed versions by table, if the rows are those of a bounded.Source.
	Tables map[string]Sealed
	Table  string // the name of the table

	// A live table has no file, and no recorded fact about its rows is used. Relation is the server's identity of the
	// table. Another relation that took its name is not read, because the promise is to the units of this one.
	Relation string

	// State is the server's state of the table at sealing, if the server has one. Changed is called with the present
	// state if it differs. That is for the owner alone, and changes no answer.
	State   string
	Changed func(state string)

	// Copy is a copy on the server, made at sealing, that is read instead of the table.
	Copy *Copy
}

// Copy is a table in a schema, with the server's identity of it and its number of rows.
type Copy struct {
	Schema, Table, Relation string
	Rows                    int64
}

// RefusedError is Rehearse's error for a statement that the engine does not support. Nothing is charged. It concerns
// the question and how its tables were sealed, and no row.
type RefusedError struct{ Message, Hint string }

// Error returns the message.
func (e *RefusedError) Error() string { return e.Message }

// ErrUnavailable is wrapped by Rehearse's error if the server failed and not the statement: it cannot be reached, or
// its table is not as declared. It does not depend on any row.
var ErrUnavailable = errors.New("the table's server is not available")

// Cells collects an engine's result rows into the answer's cells: the product of the keys' known values, with the last
// key running fastest. Cells without a row are 0.
type Cells struct {
	b     *bounded.Statement
	sums  [][]*big.Int
	place map[string]int // of the cells of unknown keys
}

// NewCells starts with every cell 0.
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

// Add adds a result row to its cell. A nil sum counts as 0. A row with an unknown key belongs to no cell.
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

// index is the index of the cell with these keys, or −1.
func (c *Cells) index(keys []value.Value) int {
	if c.place != nil {
		if i, ok := c.place[bounded.GroupName(keys)]; ok {
			return i
		}
		return -1
	}
	return CellOf(c.b, keys)
}

// Exact turns the sums into opaque values.
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
