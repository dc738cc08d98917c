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

// Rehearse implements engine.Engine: it checks that the table is as declared and the one that was sealed, and then runs
// b's statement over made-up rows. Real columns are made up as double precision and then as numeric, whose extremes
// differ. The connection is kept for the question, which might otherwise find none after its price is paid.
func (e *Engine) Rehearse(ctx context.Context, b *bounded.Statement, from engine.Sealed) error {
	if err := refuse(b, from); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	s, err := e.beginAnew(ctx)
	if err != nil { // waiting connections may have filled the server
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

// statements are the statements that answer b. For unknown keys they are one for the existing groups, and another if
// the groups that are not chosen form one group.
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

// patience is how long a rehearsal may take. Only a missing server or a locked table takes longer.
const patience = 30 * time.Second

// bound limits the server's resources for the rest of the transaction. Its time is already limited.
func (s *session) bound(ctx context.Context) error {
	return s.conn.Exec(ctx, "SET LOCAL work_mem = '64MB'; SET LOCAL max_parallel_workers_per_gather = 0").Close()
}

// exceeds reports that a statement exceeded its limits on the server: time (57014, or ctx's), memory or disk (53).
func exceeds(ctx context.Context, err error) bool {
	var raised *pgconn.PgError
	if errors.As(err, &raised) {
		return raised.Code == "57014" || strings.HasPrefix(raised.Code, "53")
	}
	return err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded)
}

// blames reports that the server blames the statement: its values (SQLSTATE 22), its form (42, 0A, XX) or its size
// (54).
func blames(err error) bool {
	var raised *pgconn.PgError
	return errors.As(err, &raised) && len(raised.Code) == 5 &&
		slices.Contains([]string{"22", "42", "0A", "XX", "54"}, raised.Code[:2])
}

// made are the sets of made-up rows over which b is tried, one after the other.
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

// hasReals reports whether some column is read as a double, for which a numeric may stand too.
func (in *rows) hasReals() bool {
	for _, one := range in.tables {
		if one.hasReals() {
			return true
		}
	}
	return !in.copied && slices.Contains(in.of, real8)
}

// madeUp writes rows of the columns that b reads.
func (e *Engine) madeUp(b *bounded.Statement, real kind) *rows {
	in := madeUpOf(b, b.Columns, real, engine.RehearsalRows)
	in.hash = e.hash
	return in
}

// madeUpOf writes n rows of some columns.
func madeUpOf(b *bounded.Statement, of []bounded.Column, real kind, n int) *rows {
	in := &rows{}
	columns := make([][]string, len(of))
	for i, c := range of {
		k := map[value.Type]kind{
			value.Integer: bigint, value.Real: real, value.Text: plainText, value.Boolean: boolean,
			value.Date: dateKind,
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

// copiedCorners are extreme values as a copy holds them.
func copiedCorners(b *bounded.Statement, of []bounded.Column) [][]string {
	columns := make([][]string, len(of))
	for i, c := range of {
		for _, v := range engine.Corners(b, c.Type) {
			columns[i] = append(columns[i], constant(v))
		}
	}
	return columns
}

// madeUpCopy writes rows of a copy.
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

// beyond are values that a table on the server may hold, but that are not of the declared type.
var beyond = map[kind][]string{
	plainText: {text(strings.Repeat("y", value.MaxTextBytes+1))},
	dateKind: {
		"DATE 'infinity'", "DATE '-infinity'", "DATE '4713-01-01 BC'", "DATE '5874897-12-31'",
		"DATE '10000-01-01'", "DATE '0001-12-31 BC'",
	},
	numeric: {
		"CAST('1e400' AS numeric)", "CAST('-1e400' AS numeric)", "CAST('1e-400' AS numeric)",
		"CAST('" + overflow.String() + "' AS numeric)",
	},
}
