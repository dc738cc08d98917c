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

// Rehearse implements engine.Engine: b's statement over made-up rows, once the table was found to be as declared, and the one that was
// sealed. Real columns are made up as double precision and then as numeric, whose extremes are others. The connection is kept for the
// question, which could else find none when its price is already paid.
func (e *Engine) Rehearse(ctx context.Context, b *plan.Bounded, from engine.Sealed) error {
	if err := refuse(b, from); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	s, err := e.beginAnew(ctx)
	if err != nil { // the server may be full of those that wait
		if s, err = e.begin(ctx); err != nil {
			return unavailable(err)
		}
	}
	if err := e.rehearse(ctx, s, b, from); err != nil {
		s.end()
		return err
	}
	e.idle.put(whereabouts(e.source), s)
	return nil
}

func (e *Engine) rehearse(ctx context.Context, s *session, b *plan.Bounded, from engine.Sealed) error {
	if _, err := e.find(ctx, s, b, from); err != nil {
		return unavailable(err)
	}
	nothing := func([][]byte) error { return nil }
	made := []*rows{e.madeUpCopy(b, from.Complete)}
	if from.Copy == nil {
		made = []*rows{e.madeUp(b, real8)}
		if slices.Contains(made[0].of, real8) {
			made = append(made, e.madeUp(b, numeric))
		}
	}
	for _, in := range made {
		for _, b := range statements(b) {
			if err := s.query(ctx, render(b, in), nothing); blames(err) {
				return err
			} else if err != nil {
				return unavailable(err)
			}
		}
	}
	if err := s.leave(ctx); err != nil {
		return unavailable(err)
	}
	return nil
}

// statements are what b is answered by: of open keys one of the groups that there are, and one more where those that are not chosen are one group.
func statements(b *plan.Bounded) []*plan.Bounded {
	switch {
	case !b.Open():
		return []*plan.Bounded{b}
	case !b.Other:
		return []*plan.Bounded{engine.Unchosen(b).Counting()}
	}
	return []*plan.Bounded{engine.Unchosen(b).Counting(), b}
}

func unavailable(err error) error { return fmt.Errorf("%w: %w", engine.ErrUnavailable, err) }

// patience is how long a rehearsal may take: longer takes only a server that is not there, or a table that somebody locked.
const patience = 30 * time.Second

// blames holds where the server blames the statement: its values (SQLSTATE 22), its form (42, 0A, XX) or its size (54).
func blames(err error) bool {
	var raised *pgconn.PgError
	return errors.As(err, &raised) && len(raised.Code) == 5 && slices.Contains([]string{"22", "42", "0A", "XX", "54"}, raised.Code[:2])
}

// madeUp writes rows of the columns that b reads.
func (e *Engine) madeUp(b *plan.Bounded, real kind) *rows {
	in := &rows{hash: e.hash}
	columns := make([][]string, len(b.Columns))
	for i, c := range b.Columns {
		k := map[value.Type]kind{
			value.Integer: bigint, value.Real: real, value.Text: plainText, value.Boolean: boolean, value.Date: dateKind,
		}[c.Type]
		in.of = append(in.of, k)
		for _, v := range engine.Corners(b, c.Type) {
			columns[i] = append(columns[i], stored(v, k))
		}
		columns[i] = append(columns[i], beyond[k]...)
	}
	in.scan = mixed(columns, columnNames(b))
	return in
}

// madeUpCopy writes rows of a copy.
func (e *Engine) madeUpCopy(b *plan.Bounded, complete map[string]bool) *rows {
	in := &rows{hash: e.hash, copied: true, complete: complete}
	columns, names := make([][]string, len(b.Columns)), columnNames(b)
	for i, c := range b.Columns {
		for _, v := range engine.Corners(b, c.Type) {
			columns[i] = append(columns[i], constant(v))
		}
	}
	if b.Unit != nil {
		columns = append(columns, []string{"1", "2", "3", "4", "5"}, []string{"1", "9", "1000000"})
		names = append(names, rankColumn, rowsColumn)
	}
	in.scan = mixed(columns, names)
	return in
}

func columnNames(b *plan.Bounded) []string {
	out := make([]string, len(b.Columns))
	for i, c := range b.Columns {
		out[i] = identifier(c.Name)
	}
	return out
}

func mixed(columns [][]string, names []string) string {
	if len(columns) == 0 {
		return "(SELECT 1) AS made_up"
	}
	var made []string
	for _, row := range engine.Mixed(columns, engine.RehearsalRows) {
		made = append(made, "("+strings.Join(row, ", ")+")")
	}
	return "(VALUES " + strings.Join(made, ", ") + ") AS made_up(" + strings.Join(names, ", ") + ")"
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
