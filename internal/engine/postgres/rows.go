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

// Rows implements engine.Engine: one statement, whose rows are taken as they come.
func (e *Engine) Rows(ctx context.Context, b *bounded.Statement, from engine.Sealed, into *mechanism.Rows) error {
	if err := e.eachRow(ctx, b, from, into.Add); err != nil {
		return err
	}
	return into.Seal()
}

// eachRow feeds each row's integers to add, with whether it is its unit's first.
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

// rowsOf gives the contributions m0, m1, … of each row that counts, and where units may have several its unit u
// first: in its order, by which a unit's rows are beside each other.
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

// rowsOfSource are the rows that count where they are a Source's.
func rowsOfSource(b *bounded.Statement, in *rows) string {
	rows := evaluatedSource(b, in)
	if b.Unit == nil || b.Source.Single {
		return rows
	}
	rows = ranked(rows, part{unit: unitType(b.Source)}, engine.Contents(b), engine.Enough(b))
	return fmt.Sprintf("SELECT * FROM (%s) AS p WHERE q <= %d", rows, b.Caps.Rows)
}
