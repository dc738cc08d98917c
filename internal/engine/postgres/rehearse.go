package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"dither/internal/engine"
	"dither/internal/plan"
	"dither/internal/value"
)

// Rehearse implements engine.Engine: b's statement over made-up rows, once the table was found to be as declared. Real columns are
// made up as double precision and then as numeric, whose extremes are others.
func (e *Engine) Rehearse(ctx context.Context, b *plan.Bounded) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	s, _, err := e.open(ctx, columnsOf(b))
	if err != nil {
		return fmt.Errorf("%w: %w", engine.ErrUnavailable, err)
	}
	defer s.end()
	nothing := func([][]byte) error { return nil }
	for _, real := range []kind{real8, numeric} {
		scan, of := madeUp(b, real)
		if real == numeric && !slices.Contains(of, numeric) {
			break
		}
		if err := s.query(ctx, render(b, scan, of), nothing); blames(err) {
			return err
		} else if err != nil {
			return fmt.Errorf("%w: %w", engine.ErrUnavailable, err)
		}
	}
	return nil
}

// patience is how long a rehearsal may take: longer takes only a server that is not there, or a table that somebody locked.
const patience = 30 * time.Second

// blames holds where the server blames the statement: its values (SQLSTATE 22), its form (42, 0A, XX) or its size (54).
func blames(err error) bool {
	var raised *pgconn.PgError
	return errors.As(err, &raised) && len(raised.Code) == 5 && slices.Contains([]string{"22", "42", "0A", "XX", "54"}, raised.Code[:2])
}

// madeUp writes rows of the columns that b reads, and their kinds.
func madeUp(b *plan.Bounded, real kind) (scan string, of []kind) {
	columns := make([][]string, len(b.Columns))
	names := make([]string, len(b.Columns))
	for i, c := range b.Columns {
		k := map[value.Type]kind{
			value.Integer: bigint, value.Real: real, value.Text: plainText, value.Boolean: boolean, value.Date: dateKind,
		}[c.Type]
		of, names[i] = append(of, k), identifier(c.Name)
		for _, v := range engine.Corners(b, c.Type) {
			columns[i] = append(columns[i], stored(v, k))
		}
		columns[i] = append(columns[i], beyond[k]...)
	}
	if len(columns) == 0 {
		return "(SELECT 1) AS made_up", nil
	}
	var rows []string
	for _, row := range engine.Mixed(columns) {
		rows = append(rows, "("+strings.Join(row, ", ")+")")
	}
	return "(VALUES " + strings.Join(rows, ", ") + ") AS made_up(" + strings.Join(names, ", ") + ")", of
}

// stored writes a value as a table holds it.
func stored(v value.Value, of kind) string {
	switch {
	case of == dateKind && v.Null:
		return "CAST(NULL AS date)"
	case of == dateKind:
		return "DATE '" + v.String() + "'"
	case of == numeric && v.Null:
		return "CAST(NULL AS numeric)"
	case of == numeric:
		return "CAST('" + v.String() + "' AS numeric)"
	}
	return constant(v)
}

// beyond are values that a table on the server may hold, and that are none of the declared type.
var beyond = map[kind][]string{
	plainText: {text(strings.Repeat("y", value.MaxTextBytes+1))},
	dateKind:  {"DATE 'infinity'", "DATE '-infinity'", "DATE '4713-01-01 BC'", "DATE '5874897-12-31'", "DATE '10000-01-01'", "DATE '0001-12-31 BC'"},
	numeric:   {"CAST('1e400' AS numeric)", "CAST('-1e400' AS numeric)", "CAST('1e-400' AS numeric)", "CAST('" + overflow.String() + "' AS numeric)"},
}
