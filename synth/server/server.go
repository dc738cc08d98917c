// Package server writes synthetic tables to a PostgreSQL server. It only sends made-up rows, and reads nothing.
package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"dither/synth"
)

// Is reports whether the text is the URL of a server.
func Is(text string) bool {
	return strings.HasPrefix(text, "postgres://") || strings.HasPrefix(text, "postgresql://")
}

// Target is a new table on a server.
type Target struct {
	config *pgconn.Config
	names  []string // the schema, unless it is the connection's, and the table; nil: the name of the real table
}

// errURL has no part of the URL, which may hold a password.
var errURL = errors.New("this is not the URL of a PostgreSQL server: write postgres://ROLE@HOST/DATABASE#SCHEMA.TABLE, " +
	"with the password in ~/.pgpass or PGPASSWORD")

// Parse reads a URL. Its fragment is the name of the table, perhaps with its schema. No error has a part of the URL.
func Parse(text string) (*Target, error) {
	u, err := url.Parse(text)
	if err != nil || !Is(text) {
		return nil, errURL
	}
	out := &Target{}
	if u.Fragment != "" {
		out.names = strings.Split(u.Fragment, ".")
		if len(out.names) > 2 || out.names[0] == "" || out.names[len(out.names)-1] == "" || strings.ContainsRune(u.Fragment, 0) {
			return nil, errURL
		}
	}
	u.Fragment = ""
	if out.config, err = pgconn.ParseConfig(u.String()); err != nil {
		return nil, errURL
	}
	return out, nil
}

// Describe returns the name of the table and the server, without role and password.
func (t *Target) Describe(rows *synth.Table) string {
	return fmt.Sprintf("table %s on %s", strings.Join(t.named(rows.Name), "."), t.config.Host)
}

// String has no password.
func (t *Target) String() string { return "a table on " + t.config.Host }

func (t *Target) named(real string) []string {
	if t.names == nil {
		return []string{real}
	}
	return t.names
}

// Check returns an error if the server cannot be reached, or has the table. real is the name of the real table.
func (t *Target) Check(ctx context.Context, real string) error {
	c, err := t.connect(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close(ctx) }() // nothing was written
	name := quoted(t.named(real))
	found, err := c.Exec(ctx, "SELECT to_regclass('"+strings.ReplaceAll(name, "'", "''")+"') IS NULL").ReadAll()
	switch {
	case err != nil:
		return plain(err)
	case len(found) != 1 || len(found[0].Rows) != 1 || string(found[0].Rows[0][0]) != "t":
		return fmt.Errorf("the server has a table %s, or another relation of this name: name another one after #", name)
	}
	return nil
}

// quoted writes the name of a table in SQL.
func quoted(names []string) string {
	var out []string
	for _, name := range names {
		out = append(out, identifier(name))
	}
	return strings.Join(out, ".")
}

func (t *Target) connect(ctx context.Context) (*pgconn.PgConn, error) {
	c, err := pgconn.ConnectConfig(ctx, t.config)
	if err == nil {
		return c, nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		return nil, plain(err)
	}
	return nil, errors.New("the server cannot be reached: check the host, the port and TLS")
}

// plain returns an error without the parts that may quote a connection.
func plain(err error) error {
	var of *pgconn.PgError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &of) && strings.HasPrefix(of.Code, "28"):
		return errors.New("the server refused the role or the password: check ~/.pgpass or PGPASSWORD")
	case errors.As(err, &of):
		return fmt.Errorf("the server: %s (%s)", of.Message, of.Code)
	}
	return errors.New("the connection to the server failed")
}

// types holds PostgreSQL's type of each type of a column.
var types = map[string]string{
	"integer": "bigint", "real": "double precision", "text": "text", "boolean": "boolean", "date": "date",
	"timestamp": "timestamp without time zone", "time": "time without time zone",
}

// Write creates the table, streams the rows into it, and says in its comment that they are synthetic. An existing table
// is an error, and stays as it is. On an error there is no table.
func (t *Target) Write(ctx context.Context, rows *synth.Table) (err error) {
	c, err := t.connect(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close(context.WithoutCancel(ctx)) }() // ends a transaction that was not committed
	table := quoted(t.named(rows.Name))
	var columns []string
	for _, column := range rows.Columns {
		kind, known := types[column.Type]
		if !known {
			return fmt.Errorf("there is no type %q", column.Type)
		}
		columns = append(columns, identifier(column.Name)+" "+kind)
	}
	about := fmt.Sprintf("synthetic: made-up rows by dither, from %s of table %s. They are no persons' rows, and have no intervals.",
		rows.Release, rows.Name)
	for _, statement := range []string{
		"SET standard_conforming_strings = on",
		"SET client_encoding = 'UTF8'",
		"SET datestyle = 'ISO, YMD'",
		"BEGIN",
		"CREATE TABLE " + table + " (" + strings.Join(columns, ", ") + ")",
		"COMMENT ON TABLE " + table + " IS '" + strings.ReplaceAll(about, "'", "''") + "'",
	} {
		if err := run(ctx, c, statement); err != nil {
			return err
		}
	}
	if err := stream(ctx, c, table, rows); err != nil {
		return err
	}
	return run(ctx, c, "COMMIT")
}

func run(ctx context.Context, c *pgconn.PgConn, statement string) error {
	_, err := c.Exec(ctx, statement).ReadAll()
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return plain(err)
}

// stream copies the rows. The server reads them as they are drawn.
func stream(ctx context.Context, c *pgconn.PgConn, table string, rows *synth.Table) error {
	from, to := io.Pipe()
	drawn := make(chan error, 1)
	go func() {
		buffer := bufio.NewWriterSize(to, 1<<16)
		err := rows.Each(func(row []string, null []bool) error {
			for i, text := range row {
				if i > 0 {
					_ = buffer.WriteByte(',') // Flush returns the first error
				}
				if !null[i] { // an unquoted empty field is NULL
					_, _ = buffer.WriteString(`"` + strings.ReplaceAll(text, `"`, `""`) + `"`) // as before
				}
			}
			return buffer.WriteByte('\n')
		})
		err = errors.Join(err, buffer.Flush())
		_ = to.CloseWithError(err) // it never fails
		drawn <- err
	}()
	_, err := c.CopyFrom(ctx, from, "COPY "+table+" FROM STDIN (FORMAT csv)")
	_ = from.CloseWithError(errStopped) // it never fails
	if made := <-drawn; made != nil && !errors.Is(made, errStopped) {
		return made
	}
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return plain(err)
}

var errStopped = errors.New("the server stopped reading")

// identifier quotes a name.
func identifier(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
