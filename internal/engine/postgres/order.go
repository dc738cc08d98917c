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

// orderedRows counts, by cell and in the order of m0, how often each non-NULL contribution m0 occurs among rows.
func orderedRows(b *bounded.Statement, rows string) string {
	if b.CountsRows() {
		return rowsOfUnits(b.Measures[0], rows)
	}
	keys := engine.KeyNames(b)
	names := list(keys, []string{"m0"})
	return "SELECT " + names + ", count(*) FROM (SELECT " + list(keys, contributions(b)[:1]) + " FROM (" + rows +
		") AS r WHERE v0 IS NOT NULL) AS m GROUP BY " + names + " ORDER BY m0"
}

// rowsOfUnits counts how often each clamped number of rows per unit occurs. Of the rows it reads only the unit.
func rowsOfUnits(m *bounded.Measure, rows string) string {
	return fmt.Sprintf(
		"SELECT m0, count(*) FROM (SELECT least(greatest(count(*), %s), %s) AS m0 FROM (%s) AS r GROUP BY u) AS m GROUP BY m0 ORDER BY m0",
		integer(m.Lo),
		integer(m.Hi),
		rows,
	)
}

// cappedCells keeps, of each unit's rows, the first Caps.RowsPerGroup in each cell, by place, and of its cells the
// first Caps.Groups, by the place of their first row. Both depend on that unit's own rows alone, as in render.
func cappedCells(b *bounded.Statement, rows string) string {
	cell := list([]string{"u"}, engine.KeyNames(b))
	placed := fmt.Sprintf(
		"SELECT *, row_number() OVER (PARTITION BY %[1]s ORDER BY q) AS r, min(q) OVER (PARTITION BY %[1]s) AS f FROM (%[2]s) AS p",
		cell,
		rows,
	)
	few := fmt.Sprintf(
		"SELECT *, dense_rank() OVER (PARTITION BY u ORDER BY f) AS c FROM (%s) AS p WHERE r <= %d",
		placed,
		b.Caps.RowsPerGroup,
	)
	return fmt.Sprintf("SELECT * FROM (%s) AS p WHERE c <= %d", few, b.Caps.Groups)
}

// defaultPage is how many distinct values are fetched at a time.
const defaultPage = 1 << 16

// Order implements engine.Engine. All passes read the values that the first pass found. These and a connection are held
// until ctx ends; if ctx never ends, the connection is never released.
func (e *Engine) Order(ctx context.Context, b *bounded.Statement, from engine.Sealed) (mechanism.Ordered, error) {
	scan, err := e.scan(ctx, b, from)
	if err != nil {
		return mechanism.Ordered{}, err
	}
	return mechanism.NewOrdered(scan), nil
}

// OrderCells implements engine.Engine, as Order.
func (e *Engine) OrderCells(
	ctx context.Context, b *bounded.Statement, from engine.Sealed,
) (mechanism.OrderedCells, error) {
	scan, err := e.scanCells(ctx, b, from)
	if err != nil {
		return mechanism.OrderedCells{}, err
	}
	return mechanism.NewOrderedCells(b.Cells(), scan), nil
}

// scan is a pass over the values of b's one measure.
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

// scanCells is a pass over the values of all cells. A row with unknown keys is in none.
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

// pass goes through the rows of b's statement until each wants no more. It uses a cursor, which the server advances
// page by page, and which later passes move back to its beginning. The server keeps the rows of a SCROLL cursor and
// does not run its statement again: over a view that draws random numbers, another run would be another table.
func (e *Engine) pass(
	ctx context.Context, b *bounded.Statement, from engine.Sealed,
) (func(each func(row [][]byte) (more bool, err error)) error, error) {
	s, in, err := e.prepare(ctx, b, from)
	if err != nil {
		return nil, err
	}
	var busy sync.Mutex // a connection is for one goroutine at a time
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
