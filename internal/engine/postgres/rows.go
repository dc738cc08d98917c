package postgres

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"dither/internal/bounded"
	"dither/internal/engine"
	"dither/mechanism"
)

// Rows implements [engine.Engine]. It runs one statement, and passes its rows on as they arrive.
func (e *Engine) Rows(ctx context.Context, b *bounded.Statement, from engine.Sealed, into *mechanism.Rows) error {
	if err := e.eachRow(ctx, b, from, into.Add); err != nil {
		return err
	}
	return into.Seal()
}

// eachRow passes the integers of each row to add. The argument first reports whether the row is the first of its
// unit.
func (e *Engine) eachRow(
	ctx context.Context, b *bounded.Statement, from engine.Sealed, add func(first bool, row []int64) error,
) error {
	s, in, err := e.prepare(ctx, b, from)
	if err != nil {
		return err
	}
	defer s.end()
	row := make([]int64, len(b.Measures))
	var unit []byte
	begun := false
	err = s.query(ctx, rowsOf(b, in), func(values [][]byte) error {
		first := true
		if b.Unit != nil {
			first = !begun || !slices.Equal(unit, values[0])
			unit, begun, values = append(unit[:0], values[0]...), true, values[1:]
		}
		if len(values) != len(row) {
			return fmt.Errorf("postgres: a row of %d coordinates, not %d", len(values), len(row))
		}
		for i, text := range values {
			if row[i], err = strconv.ParseInt(string(text), 10, 64); err != nil {
				return fmt.Errorf("postgres: a coordinate that reads %q", text)
			}
		}
		return add(first, row)
	})
	if err != nil {
		return err
	}
	return in.still(ctx)
}

// rowsOf returns a SELECT of the contributions m0, m1, … of each row that counts. If rows have units, the unit u
// comes first, and the rows are sorted by it.
func rowsOf(b *bounded.Statement, in *rows) string {
	var from string
	if b.Source != nil {
		from = rowsOfSource(b, in)
	} else {
		from = cappedRows(b, owned(b, in))
	}
	if b.Unit == nil {
		return "SELECT " + list(contributions(b)) + " FROM (" + from + ") AS r"
	}
	return "SELECT u, " + list(contributions(b)) + " FROM (" + from + ") AS r ORDER BY u"
}

// rowsOfSource returns a SELECT of the rows of a Source that count.
func rowsOfSource(b *bounded.Statement, in *rows) string {
	rows := evaluatedSource(b, in)
	if b.Unit == nil || b.Source.Single {
		return rows
	}
	rows = ranked(rows, part{unit: unitType(b.Source)}, engine.Contents(b), engine.Enough(b))
	return fmt.Sprintf("SELECT * FROM (%s) AS p WHERE q <= %d", rows, b.Caps.Rows)
}
