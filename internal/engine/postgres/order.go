package postgres

import (
	"context"
	"fmt"
	"strconv"
	"sync"

	"dither/internal/bounded"
	"dither/internal/engine"
	"dither/mechanism"
)

// orderedRows returns a SELECT that counts how often each contribution m0 occurs among rows, by cell (group) and
// without NULLs. Its result is sorted by m0.
func orderedRows(b *bounded.Statement, rows string) string {
	if b.CountsRows() {
		return rowsOfUnits(b.Measures[0], rows)
	}
	keys := engine.KeyNames(b)
	names := list(keys, []string{"m0"})
	return "SELECT " + names + ", count(*) FROM (SELECT " + list(keys, contributions(b)[:1]) + " FROM (" + rows +
		") AS r WHERE v0 IS NOT NULL) AS m GROUP BY " + names + " ORDER BY m0"
}

// rowsOfUnits returns a SELECT that counts how often each number of rows per unit occurs, clamped to m.Lo and m.Hi.
// It reads the column u of rows and no other.
func rowsOfUnits(m *bounded.Measure, rows string) string {
	return fmt.Sprintf(
		"SELECT m0, count(*) FROM (SELECT least(greatest(count(*), %s), %s) AS m0 FROM (%s) AS r GROUP BY u) AS m "+
			"GROUP BY m0 ORDER BY m0",
		integer(m.Lo), integer(m.Hi), rows)
}

// cappedCells returns the rows that count under the caps of an ordered statement. In each cell (group) of a unit, it
// keeps the first Caps.RowsPerGroup rows by their places. A place numbers the rows of one unit. Among a unit's cells,
// it keeps the first Caps.Groups in the order of their first rows. Both choices depend on that unit's own rows alone:
// see render.
func cappedCells(b *bounded.Statement, rows string) string {
	cell := list([]string{"u"}, engine.KeyNames(b))
	placed := fmt.Sprintf(
		"SELECT *, row_number() OVER (PARTITION BY %[1]s ORDER BY q) AS r, min(q) OVER (PARTITION BY %[1]s) AS f "+
			"FROM (%[2]s) AS p",
		cell, rows)
	few := fmt.Sprintf(
		"SELECT *, dense_rank() OVER (PARTITION BY u ORDER BY f) AS c FROM (%s) AS p WHERE r <= %d",
		placed, b.Caps.RowsPerGroup)
	return fmt.Sprintf("SELECT * FROM (%s) AS p WHERE c <= %d", few, b.Caps.Groups)
}

// defaultPage is the number of distinct values that the engine fetches at a time.
const defaultPage = 1 << 16

// Order implements [engine.Engine]. The first pass runs the statement, and the server keeps its result for later
// passes. The result and a connection are held until ctx ends. If ctx never ends, the connection is never released.
func (e *Engine) Order(ctx context.Context, b *bounded.Statement, from engine.Sealed) (mechanism.Ordered, error) {
	scan, err := e.scan(ctx, b, from)
	if err != nil {
		return mechanism.Ordered{}, err
	}
	return mechanism.NewOrdered(scan), nil
}

// OrderCells implements [engine.Engine]. It holds a connection as Order does.
func (e *Engine) OrderCells(
	ctx context.Context, b *bounded.Statement, from engine.Sealed,
) (mechanism.OrderedCells, error) {
	scan, err := e.scanCells(ctx, b, from)
	if err != nil {
		return mechanism.OrderedCells{}, err
	}
	return mechanism.NewOrderedCells(b.Cells(), scan), nil
}

// scan returns a function that passes over the values of b's one measure.
func (e *Engine) scan(
	ctx context.Context, b *bounded.Statement, from engine.Sealed,
) (func(yield func(value, count int64) bool) error, error) {
	pass, err := e.pass(ctx, b, from)
	if err != nil {
		return nil, err
	}
	return func(yield func(value, count int64) bool) error {
		return pass(func(row [][]byte) (bool, error) {
			v, n, err := valueAndCount(row)
			return err == nil && yield(v, n), err
		})
	}, nil
}

// scanCells returns a function that passes over the values of all cells (groups). It ignores result rows with unknown
// keys.
func (e *Engine) scanCells(
	ctx context.Context, b *bounded.Statement, from engine.Sealed,
) (func(yield func(cell int, value, count int64) bool) error, error) {
	pass, err := e.pass(ctx, b, from)
	if err != nil {
		return nil, err
	}
	types := b.KeyTypes()
	return func(yield func(cell int, value, count int64) bool) error {
		return pass(func(row [][]byte) (bool, error) {
			keys, err := engine.Keys(types, row, scalar)
			if err != nil {
				return false, err
			}
			v, n, err := valueAndCount(row[len(types):])
			if err != nil {
				return false, err
			}
			cell := engine.CellOf(b, keys)
			return cell < 0 || yield(cell, v, n), nil
		})
	}, nil
}

// pass returns a function that passes the rows of b's statement to each, until each returns false for more. It uses
// a cursor. The server advances the cursor page by page, and later passes move it back to its beginning. The server
// keeps the rows of a SCROLL cursor and does not run the statement again. Over a view that draws random numbers, a
// second run would be a different table.
func (e *Engine) pass(
	ctx context.Context, b *bounded.Statement, from engine.Sealed,
) (func(each func(row [][]byte) (more bool, err error)) error, error) {
	s, in, err := e.prepare(ctx, b, from)
	if err != nil {
		return nil, err
	}
	var busy sync.Mutex // a connection serves one goroutine at a time
	context.AfterFunc(ctx, func() {
		busy.Lock()
		defer busy.Unlock()
		s.end()
	})
	nothing := func([][]byte) error { return nil }
	begun := false
	begin := func() error {
		if begun {
			return s.query(ctx, "MOVE ABSOLUTE 0 IN pass", nothing)
		}
		begun = true
		if err := s.query(ctx, "DECLARE pass SCROLL CURSOR FOR "+render(b, in), nothing); err != nil {
			return err
		}
		return in.still(ctx)
	}
	return func(each func(row [][]byte) (bool, error)) error {
		busy.Lock()
		defer busy.Unlock()
		if err := begin(); err != nil {
			return err
		}
		for {
			values, enough := 0, false
			err := s.query(ctx, fmt.Sprintf("FETCH FORWARD %d FROM pass", e.page), func(row [][]byte) error {
				values++
				if enough {
					return nil
				}
				more, err := each(row)
				enough = !more
				return err
			})
			if err != nil || enough || values < e.page {
				return err
			}
		}
	}, nil
}

func valueAndCount(row [][]byte) (v, n int64, err error) {
	if len(row) == 2 {
		if v, err = strconv.ParseInt(string(row[0]), 10, 64); err == nil {
			n, err = strconv.ParseInt(string(row[1]), 10, 64)
		}
	}
	if err != nil || len(row) != 2 {
		return 0, 0, fmt.Errorf("postgres: a value and its count that read %q", row)
	}
	return v, n, nil
}
