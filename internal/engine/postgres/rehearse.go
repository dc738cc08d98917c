package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"dither/internal/bounded"
	"dither/internal/engine"
	"dither/internal/value"
)

// Rehearse implements [engine.Engine]. It checks that the table is as declared and is the one that was sealed. Then
// it runs b's statement over made-up rows. It does so twice if there are real columns: as double precision and as
// numeric, whose extreme values differ. The connection is kept for the question itself. A question that finds no
// connection would fail after its price is paid.
func (e *Engine) Rehearse(ctx context.Context, b *bounded.Statement, from engine.Sealed) error {
	if err := refuse(b, from); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	s, err := e.beginAnew(ctx)
	if err != nil { // waiting connections may have exhausted the server's limit of connections
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

func (e *Engine) rehearse(ctx context.Context, s *session, b *bounded.Statement, from engine.Sealed) error {
	if _, err := e.find(ctx, s, b, from); err != nil {
		return unavailable(err)
	}
	nothing := func([][]byte) error { return nil }
	if err := s.bound(ctx); err != nil {
		return unavailable(err)
	}
	for _, in := range e.made(b, from) {
		for _, b := range statements(b) {
			err := s.query(ctx, render(b, in), nothing)
			switch {
			case blames(err):
				return err
			case exceeds(ctx, err):
				return fmt.Errorf("%w: %w", engine.ErrRehearsal, err)
			case err != nil:
				return unavailable(err)
			}
		}
	}
	if err := s.leave(ctx); err != nil {
		return unavailable(err)
	}
	return nil
}

// statements returns the statements that answer b. For unknown keys, the first finds the existing groups. There is
// a second only if b.Other is set: it sums the chosen groups and Other.
func statements(b *bounded.Statement) []*bounded.Statement {
	switch {
	case !b.Open():
		return []*bounded.Statement{b}
	case !b.Other:
		return []*bounded.Statement{engine.Unchosen(b).Counting()}
	}
	return []*bounded.Statement{engine.Unchosen(b).Counting(), b}
}

func unavailable(err error) error { return fmt.Errorf("%w: %w", engine.ErrUnavailable, err) }

// patience is the largest duration of a rehearsal. Only a missing server or a locked table takes longer.
const patience = 30 * time.Second

// bound limits the memory and the processes of the server for the rest of the transaction. Its time is limited
// already.
func (s *session) bound(ctx context.Context) error {
	return s.conn.Exec(ctx, "SET LOCAL work_mem = '64MB'; SET LOCAL max_parallel_workers_per_gather = 0").Close()
}

// exceeds reports whether err means that a statement exceeded a limit: its time (SQLSTATE 57014, or the deadline of
// ctx), or memory or disk (class 53).
func exceeds(ctx context.Context, err error) bool {
	var raised *pgconn.PgError
	if errors.As(err, &raised) {
		return raised.Code == "57014" || strings.HasPrefix(raised.Code, "53")
	}
	return err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded)
}

// blames reports whether the server's error concerns the statement: its values (SQLSTATE class 22), its form (42,
// 0A, XX) or its size (54).
func blames(err error) bool {
	var raised *pgconn.PgError
	return errors.As(err, &raised) && len(raised.Code) == 5 &&
		slices.Contains([]string{"22", "42", "0A", "XX", "54"}, raised.Code[:2])
}

// made returns the sources of made-up rows over which b is rehearsed, one after the other.
func (e *Engine) made(b *bounded.Statement, from engine.Sealed) []*rows {
	copied := isCopied(from)
	if copied && b.Source == nil {
		return []*rows{e.madeUpCopy(b, from.Complete)}
	}
	of := e.madeUp
	if b.Source != nil {
		of = func(b *bounded.Statement, real kind) *rows { return e.madeUpAll(b, real, copied) }
	}
	first := of(b, real8)
	if !first.hasReals() {
		return []*rows{first}
	}
	return []*rows{first, of(b, numeric)}
}

// hasReals reports whether some column may hold either doubles or numerics: a real column that is not a copy's.
func (in *rows) hasReals() bool {
	for _, one := range in.tables {
		if one.hasReals() {
			return true
		}
	}
	return !in.copied && slices.Contains(in.of, real8)
}

// madeUp returns made-up rows with the columns that b reads.
func (e *Engine) madeUp(b *bounded.Statement, real kind) *rows {
	in := madeUpOf(b, b.Columns, real, engine.RehearsalRows)
	in.hash = e.hash
	return in
}

// madeUpOf returns n made-up rows with some columns. Real columns have the type real.
func madeUpOf(b *bounded.Statement, of []bounded.Column, real kind, n int) *rows {
	in := &rows{}
	columns := make([][]string, len(of))
	for i, c := range of {
		k := map[value.Type]kind{
			value.Integer: bigint, value.Real: real, value.Text: plainText, value.Boolean: boolean,
			value.Date: dateKind, value.Timestamp: localTime, value.Time: timeKind,
		}[c.Type]
		in.of = append(in.of, k)
		for _, v := range engine.Corners(b, c.Type) {
			columns[i] = append(columns[i], stored(v, k))
		}
		columns[i] = append(columns[i], beyond[k]...)
	}
	in.scan = mixed(columns, namesOf(of), n)
	return in
}

// copiedCorners returns the SQL of extreme values of each column, as values of a copy.
func copiedCorners(b *bounded.Statement, of []bounded.Column) [][]string {
	columns := make([][]string, len(of))
	for i, c := range of {
		for _, v := range engine.Corners(b, c.Type) {
			columns[i] = append(columns[i], constant(v))
		}
	}
	return columns
}

// madeUpCopy returns made-up rows of a copy.
func (e *Engine) madeUpCopy(b *bounded.Statement, complete map[string]bool) *rows {
	in := &rows{hash: e.hash, copied: true, complete: complete}
	columns, names := copiedCorners(b, b.Columns), columnNames(b)
	if b.Unit != nil {
		columns = append(columns, []string{"1", "2", "3", "4", "5"}, []string{"1", "9", "1000000"})
		names = append(names, rankColumn, rowsColumn)
	}
	in.scan = mixed(columns, names, engine.RehearsalRows)
	return in
}

func columnNames(b *bounded.Statement) []string { return namesOf(b.Columns) }

func namesOf(columns []bounded.Column) []string {
	out := make([]string, len(columns))
	for i, c := range columns {
		out[i] = identifier(c.Name)
	}
	return out
}

func mixed(columns [][]string, names []string, n int) string {
	if len(columns) == 0 {
		return "(SELECT 1) AS made_up"
	}
	var made []string
	for _, row := range engine.Mixed(columns, n) {
		made = append(made, "("+strings.Join(row, ", ")+")")
	}
	return "(VALUES " + strings.Join(made, ", ") + ") AS made_up(" + strings.Join(names, ", ") + ")"
}

// stored returns the SQL of a value as a table on the server holds it, in a column of the given kind.
func stored(v value.Value, of kind) string {
	switch {
	case of == dateKind && v.Null:
		return "CAST(NULL AS date)"
	case of == dateKind:
		return "DATE '" + v.String() + "'"
	case of == localTime && v.Null:
		return "CAST(NULL AS timestamp)"
	case of == localTime:
		return storedTime(v.Int, of)
	case of == timeKind && v.Null:
		return "CAST(NULL AS time)"
	case of == timeKind:
		return "TIME '" + v.String() + "'"
	case of == numeric && v.Null:
		return "CAST(NULL AS numeric)"
	case of == numeric:
		return "CAST('" + v.String() + "' AS numeric)"
	}
	return constant(v)
}

// beyond lists values of columns on the server that are outside the range of the declared type.
var beyond = map[kind][]string{
	plainText: {text(strings.Repeat("y", value.MaxTextBytes+1))},
	dateKind: {
		"DATE 'infinity'", "DATE '-infinity'", "DATE '4713-01-01 BC'", "DATE '5874897-12-31'",
		"DATE '10000-01-01'", "DATE '0001-12-31 BC'",
	},
	localTime: {
		"TIMESTAMP 'infinity'", "TIMESTAMP '-infinity'", "TIMESTAMP '4713-01-01 00:00:00 BC'",
		"TIMESTAMP '294276-12-31 23:59:59'", "TIMESTAMP '10000-01-01 00:00:00'",
	},
	timeKind: {"TIME '24:00:00'"},
	numeric: {
		"CAST('1e400' AS numeric)", "CAST('-1e400' AS numeric)", "CAST('1e-400' AS numeric)",
		"CAST('" + overflow.String() + "' AS numeric)",
	},
}
