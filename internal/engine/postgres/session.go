package postgres

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"dither/internal/policy"
	"dither/internal/value"
)

// session is one connection. Each of its transactions reads one snapshot. Transactions are read-only, unless they
// make or drop a copy.
type session struct{ conn *pgconn.PgConn }

// oldest is the oldest version of PostgreSQL on which the tests ran.
const oldest = 15

// settings fix the meaning and the rights of a statement, independent of the settings of the server, the role and
// the database. JIT compilation costs more than it saves here. With row_security off, rows hidden from the role
// cause an error, and not a silently smaller table.
var settings = []string{
	"search_path = pg_catalog, pg_temp", "client_encoding = 'UTF8'", "standard_conforming_strings = on",
	"transform_null_equals = off",
	"DateStyle = 'ISO, YMD'", "TimeZone = 'UTC'", "row_security = off", "jit = off", "cursor_tuple_fraction = 1",
}

// connect opens a connection. It begins no transaction.
func connect(ctx context.Context, config *pgconn.Config) (*session, error) {
	conn, err := pgconn.ConnectConfig(ctx, config)
	if err != nil {
		return nil, explained(err)
	}
	s := &session{conn}
	if err := s.check(); err != nil {
		s.end()
		return nil, err
	}
	return s, nil
}

// begin begins a read-only transaction, which sees the rows at the moment of its first statement. The server itself
// ends its statements and its idle time at the deadline of ctx, even if this process no longer exists.
func (s *session) begin(ctx context.Context) error {
	return s.transaction(ctx, "READ ONLY")
}

func (s *session) transaction(ctx context.Context, mode string) error {
	limit := int64(0) // no limit
	if deadline, ok := ctx.Deadline(); ok {
		limit = max(time.Until(deadline).Milliseconds(), 1)
	}
	var sql strings.Builder
	sql.WriteString("BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ " + mode)
	for _, set := range settings {
		sql.WriteString("; SET LOCAL " + set)
	}
	fmt.Fprintf(&sql, "; SET LOCAL statement_timeout = %d; SET LOCAL idle_in_transaction_session_timeout = %[1]d",
		min(limit, 1<<31-1))
	return s.conn.Exec(ctx, sql.String()).Close()
}

// leave ends the transaction and keeps the connection.
func (s *session) leave(ctx context.Context) error { return s.conn.Exec(ctx, "ROLLBACK").Close() }

// check returns an error for a server whose version or encoding this package does not support. It uses only the
// parameters that the server sent when the connection was made.
func (s *session) check() error {
	version := s.conn.ParameterStatus("server_version")
	major, _ := strconv.Atoi(version[:len(version)-len(strings.TrimLeft(version, "0123456789"))])
	if major < oldest {
		return fmt.Errorf("postgres: the server's version is %q, but dither needs at least %d", version, oldest)
	}
	if encoding := s.conn.ParameterStatus("server_encoding"); encoding != "UTF8" {
		return fmt.Errorf("postgres: the database's encoding is %q, but dither needs UTF8, because it compares "+
			"texts by their bytes",
			encoding)
	}
	return nil
}

// end closes the connection, which ends the transaction.
func (s *session) end() {
	ctx, cancel := context.WithTimeout(context.Background(), goodbye)
	defer cancel()
	_ = s.conn.Close(ctx)
}

// goodbye is how long to wait for the end of a connection, and for a server that was asked to cancel a statement.
const goodbye = 2 * time.Second

// query runs one statement and passes each result row to the function each: the texts of its columns, with nil for
// NULL. The texts are valid until that call returns.
func (s *session) query(ctx context.Context, sql string, each func(row [][]byte) error) error {
	result := s.conn.ExecParams(ctx, sql, nil, nil, nil, nil)
	var failed error
	for failed == nil && result.NextRow() {
		failed = each(result.Values())
	}
	if failed != nil {
		s.end() // closes the connection without reading the remaining rows
		return failed
	}
	_, err := result.Close()
	return err
}

// columns returns the kinds of a relation's columns. Its statement reads no row, and locks the relation against
// being changed or dropped until the transaction ends. It returns an error if a column's kind is not among those of
// its declared type.
func (s *session) columns(
	ctx context.Context, relation string, columns []*policy.Column, kinds map[value.Type][]kind,
) ([]kind, error) {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = identifier(c.Name)
	}
	result := s.conn.ExecParams(ctx, "SELECT "+list(names)+" FROM "+relation+" LIMIT 0", nil, nil, nil, nil)
	result.NextRow() // no row is returned, but the columns are described
	out := make([]kind, len(columns))
	fields := result.FieldDescriptions()
	for i := range min(len(out), len(fields)) {
		out[i] = kind(fields[i].DataTypeOID)
	}
	if _, err := result.Close(); err != nil {
		return nil, err
	}
	for i, c := range columns {
		if slices.Contains(kinds[c.Type], enum) && !slices.Contains(kinds[c.Type], out[i]) && s.isEnum(ctx, out[i]) {
			out[i] = enum
		}
		if !slices.Contains(kinds[c.Type], out[i]) {
			return nil, fmt.Errorf("column %q is declared as %s, but the server has %s",
				c.Name, c.Type, s.typeName(ctx, out[i]))
		}
	}
	return out, nil
}

// isEnum reports whether a type was made by CREATE TYPE … AS ENUM. Such types have numbers of their own.
func (s *session) isEnum(ctx context.Context, of kind) (is bool) {
	_ = s.query(ctx, fmt.Sprintf("SELECT 1 FROM pg_type WHERE oid = %d AND typtype = 'e'", of),
		func([][]byte) error { is = true; return nil })
	return is
}

func (s *session) typeName(ctx context.Context, of kind) (name string) {
	name = fmt.Sprintf("the type number %d", of)
	_ = s.query(ctx, fmt.Sprintf("SELECT format_type(%d, NULL)", of),
		func(row [][]byte) error { name = string(row[0]); return nil })
	return name
}

// state returns a summary of a relation that changes when its rows change, without reading rows. For a table and
// all tables that inherit from it, it has the file and the numbers of rows ever inserted, updated and deleted. For
// a view it is "". The counts may lag by about a second. The file also changes when the same rows are rewritten.
func (s *session) state(ctx context.Context, relation string) (state string, err error) {
	err = s.query(
		ctx,
		`WITH RECURSIVE parts(part) AS (SELECT oid FROM pg_class WHERE oid = CAST(`+quoted(relation)+` AS regclass) AND relkind IN ('r', 'p', 'm')
		UNION SELECT inhrelid FROM pg_inherits JOIN parts ON inhparent = part)
		SELECT coalesce(string_agg(concat_ws('/', part, pg_relation_filenode(part), pg_stat_get_tuples_inserted(part),
		pg_stat_get_tuples_updated(part), pg_stat_get_tuples_deleted(part)), ' ' ORDER BY part), '') FROM parts`,
		func(row [][]byte) error { state = string(row[0]); return nil },
	)
	return state, err
}
