package duckdb

import (
	"context"
	"database/sql/driver"
	"fmt"
	"slices"
	"strings"

	"dither/internal/bounded"
	"dither/internal/engine"
	"dither/mechanism"
)

// orderedRows returns a SELECT that counts how often each contribution m0 occurs among rows, by cell (group) and
// without NULLs.
func orderedRows(b *bounded.Statement, rows string) string {
	if b.CountsRows() {
		return rowsOfUnits(b.Measures[0], rows)
	}
	names := append(engine.KeyNames(b), "m0")
	inner := append(engine.KeyNames(b), contributions(b)[0])
	return "SELECT " + strings.Join(append(slices.Clone(names), "count(*)"), ", ") +
		" FROM (SELECT " + strings.Join(inner, ", ") + " FROM (" + rows + ") WHERE v0 IS NOT NULL)" +
		engine.GroupBy(names)
}

// rowsOfUnits returns a SELECT that counts how often each number of rows per unit occurs, clamped to m.Lo and m.Hi.
// It reads the column u of rows and no other.
func rowsOfUnits(m *bounded.Measure, rows string) string {
	return fmt.Sprintf(
		"SELECT m0, count(*) FROM (SELECT least(greatest(count(*), %s), %s) AS m0 FROM (%s) GROUP BY u) GROUP BY m0",
		integer(m.Lo), integer(m.Hi), rows)
}

// cappedCells returns the rows that count under the caps of an ordered statement. In each cell (group) of a unit, it
// keeps the first Caps.RowsPerGroup rows in the order of q, which numbers the unit's rows. Among a unit's cells, it
// keeps the first Caps.Groups in the order of their first rows. Both choices depend on that unit's own rows alone. Two
// cells of a unit never have the same first row.
func cappedCells(b *bounded.Statement, rows string) string {
	cell := strings.Join(append([]string{"u"}, engine.KeyNames(b)...), ", ")
	placed := fmt.Sprintf(
		"SELECT *, row_number() OVER (PARTITION BY %[1]s ORDER BY q) AS r, min(q) OVER (PARTITION BY %[1]s) AS f "+
			"FROM (%[2]s)",
		cell, rows)
	few := fmt.Sprintf(
		"SELECT *, dense_rank() OVER (PARTITION BY u ORDER BY f) AS c FROM (%s) WHERE r <= %d",
		placed, b.Caps.RowsPerGroup)
	return fmt.Sprintf("SELECT * FROM (%s) WHERE c <= %d", few, b.Caps.Groups)
}

// OrderCells implements [engine.Engine]. A pass runs one statement for each page of values of all cells (groups), in
// increasing order of the values.
func (e *Engine) OrderCells(
	ctx context.Context, b *bounded.Statement, from engine.Sealed,
) (mechanism.OrderedCells, error) {
	scan, err := e.scanCells(ctx, b, from)
	if err != nil {
		return mechanism.OrderedCells{}, err
	}
	return mechanism.NewOrderedCells(b.Cells(), scan), nil
}

// scanCells returns one pass over the values of all cells (groups).
func (e *Engine) scanCells(
	ctx context.Context, b *bounded.Statement, from engine.Sealed,
) (func(yield func(cell int, value, count int64) bool) error, error) {
	counted, err := statement(b, from)
	if err != nil {
		return nil, err
	}
	types := b.KeyTypes()
	return engine.ScanCells(b, e.page, func(from int64, most int, each func(engine.Tally) error) error {
		statement := fmt.Sprintf("SELECT * FROM (%s) WHERE m0 >= %s ORDER BY m0 LIMIT %d", counted, integer(from), most)
		return e.run(ctx, statement, func(row []driver.Value) error {
			keys, err := engine.Keys(types, row, scalar)
			if err != nil {
				return err
			}
			v, isValue := row[len(keys)].(int64)
			n, isCount := row[len(keys)+1].(int64)
			if !isValue || !isCount {
				return fmt.Errorf("duckdb: a value of Go type %T, a number of type %T",
					row[len(keys)], row[len(keys)+1])
			}
			return each(engine.Tally{Keys: keys, Value: v, Count: n})
		})
	}), nil
}
