// Package engine is the door to the rows: an engine runs a plan's bounded aggregate over one sealed table and hands
// back opaque integers. It decides nothing; what it runs, the plan has proved.
package engine

import (
	"context"
	"errors"
	"math/big"

	"dither/internal/bounded"
	"dither/internal/value"
	"dither/mechanism"
)

// Engine runs bounded aggregates over sealed files, or over a server's table: all that a statement says, its Part too,
// which charges rest on as noise rests on its Caps. What an engine cannot do, it refuses in Rehearse.
type Engine interface {
	// Aggregate gives, for every cell of b in the order of Cells, its measures' exact sums. The error may quote rows:
	// it is for nobody but the owner.
	Aggregate(ctx context.Context, b *bounded.Statement, from Sealed) ([][]mechanism.Exact, error)
	// Groups gives, for b whose keys are Open, the groups that there are, with their measures' exact sums. The error
	// may quote rows, as above. Once some are Chosen, Aggregate gives these alone.
	Groups(ctx context.Context, b *bounded.Statement, from Sealed) (*Groups, error)
	// Order gives the values of b's one measure, which b asks for Ordered: what is scanned later, in as many passes as
	// the mechanism takes, each with ctx. The errors of a pass may quote rows, as above.
	Order(ctx context.Context, b *bounded.Statement, from Sealed) (mechanism.Ordered, error)
	// OrderCells is Order for every cell of b, in the order of Cells.
	OrderCells(ctx context.Context, b *bounded.Statement, from Sealed) (mechanism.OrderedCells, error)
	// Rows gives the rows that count of b, which plan.BuildRows planned: of each its measures' integers, those of one
	// unit one after the other. In which order units come, or a unit's rows, must play no part. The error may quote
	// rows, as above; no part of what was given may be used where there is one.
	Rows(ctx context.Context, b *bounded.Statement, from Sealed, into *mechanism.Rows) error
	// Values gives the distinct values of a column of a PUBLIC table, cleaned, without NULL, in their order, and at
	// most so many.
	Values(ctx context.Context, c bounded.Column, from Sealed, most int) ([]value.Value, error)
	// Rehearse runs b over made-up rows of extreme values, and none of the sealed ones. What fails here must not be
	// asked: a row could decide whether the question fails, and no noise would hide it. Where from is a live table, it
	// must be there, and be the one that was sealed. It takes bounded time (ctx's) and memory, or fails with
	// ErrRehearsal.
	Rehearse(ctx context.Context, b *bounded.Statement, from Sealed) error
	Close() error
}

// Sealed is a version of a table, with what was recorded of it when this very file was sealed. The records make an
// answer quicker, and never another one: the sensitivity rests on that, since they are facts about all units' rows.
//
// Claim: a record that one unit's rows decide changes nothing of what any other unit adds. Let D be sealed data, and
// D′ the same without the unit w, or with another in its place. The records of D and D′ may differ, and with them
// the form of a statement. Let v be a unit of both. It has the same rows in both, with the same ranks, since a rank
// depends on v's rows alone. So it is enough to show, in one database, that the short form which a true record selects
// keeps the same rows and cells of v as the long form. Then both databases keep of v what the long form keeps.
//   - OneRowEach is true: v has at most one row, of rank 1. The long form keeps it. Each cap that is there is at
//     least 1; v is in one part, and PerUnit is at least 1; v is in one cell. The short form caps nothing, and keeps
//     it. The clamp of a unit's sum in a cell (CellsClamped) stands in both forms. The same holds of a relation in
//     which units have one row each (duckdb's sealedFiles.single): Select gives at most one row for a row, and so does
//     Join where Most is 1.
//   - Complete is true of every column that keys and coordinates read, and nothing else drops a row
//     (AllRowsAreLeft): all rows of v are left, with the ranks 1, 2, …, n. The short form keeps the ranks up to
//     Caps.Rows. The long form keeps all rows if n ≤ Caps.Rows, and else the first Caps.Rows in the order of ranks.
//     Both are the ranks up to Caps.Rows. A test for NULL that the short form omits (Kept) is true of every row.
//   - MostRows and MostPerKey are true: where they let the bound of a bounded.Owned be left out, v has no more rows
//     there than Stored (OwnedFit), and the long form keeps them all. ∎
//
// The proof rests on each record being true of its own database: a file is read with the record that was made of it.
type Sealed struct {
	File       string
	OneRowEach bool            // no unit has more than one row
	Complete   map[string]bool // columns in which no value is NULL, NaN or infinite
	// Stored is how many rows of one unit count of this version, those of the lowest ranks; 0 where it is sealed with
	// no more (policy.Table.Stored).
	Stored int64
	// MostRows is the most rows of one unit, and MostPerKey, where rows have their unit through a reference, the most
	// that refer to one row; 0 where neither was recorded.
	MostRows, MostPerKey int64
	// Tables are the sealed versions, by table, where the rows are a bounded.Source's.
	Tables map[string]Sealed
	Table  string // which table it is a version of

	// A live table has no file, and of its rows no record is relied on. Relation is what its server knows it by:
	// another relation that has taken its name is not read, since the promise is to the units of this one.
	Relation string

	// It was sealed in a state, if its server could tell; Changed is told where it is in another one now. That is for
	// the owner alone, and changes no answer.
	State   string
	Changed func(state string)

	// Copy is a copy on the server that was made when the table was sealed, and is read in its stead.
	Copy *Copy
}

// Copy is a table in a schema, what its server knows it by, and how many rows it has.
type Copy struct {
	Schema, Table, Relation string
	Rows                    int64
}

// RefusedError is what an engine's Rehearse gives where it does not do what is asked: then nothing is charged. It is
// about the question and about how its table was sealed, and about no row.
type RefusedError struct{ Message, Hint string }

// Error is the message.
func (e *RefusedError) Error() string { return e.Message }

// ErrUnavailable is wrapped by what Rehearse returns where not the statement failed, but the server that it was for: it
// cannot be reached, or its table is not as declared. No row has a part in it.
var ErrUnavailable = errors.New("the table's server is not available")

// Cells gathers an engine's result rows into the answer's cells: the product of the keys' known values, the last key
// running fastest. Cells that no row belongs to are 0.
type Cells struct {
	b     *bounded.Statement
	sums  [][]*big.Int
	place map[string]int // of the cells of open keys
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

// Add adds a result row to its cell. A nil sum counts as 0; a row whose keys are not known belongs to no cell.
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

// index is the place of the cell of these keys, or −1.
func (c *Cells) index(keys []value.Value) int {
	if c.place != nil {
		if i, ok := c.place[bounded.GroupName(keys)]; ok {
			return i
		}
		return -1
	}
	return CellOf(c.b, keys)
}

// Exact seals the sums.
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
