package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"dither/internal/bounded"
	"dither/internal/csvtable"
	"dither/internal/engine"
	"dither/internal/policy"
	"dither/internal/seal"
	"dither/internal/value"
)

// Sealer inspects and copies tables on servers, for sealing.
type Sealer struct{}

var _ seal.Server = Sealer{}

// Look implements seal.Server. It reads the table's kind and columns, and then runs its statements over the rows,
// all in one transaction. Errors quote no row.
func (Sealer) Look(ctx context.Context, t *policy.Table, values ...string) (seal.Found, error) {
	return inspect(ctx, t, "READ ONLY", 0, func(ctx context.Context, l *look) error { return l.values(ctx, values) })
}

// inspect inspects a table and then calls the function `then`, in the same transaction. The transaction ends with the
// connection. The parameter stored is the number of rows of a unit that a copy keeps, or 0 if no copy is made.
func inspect(
	ctx context.Context,
	t *policy.Table,
	mode string,
	stored int64,
	then func(context.Context, *look) error,
) (found seal.Found, err error) {
	config, err := configure(t.Source)
	if err != nil {
		return found, err
	}
	s, err := connect(ctx, config)
	if err != nil {
		return found, err
	}
	defer s.end()
	// The server's counters of changes are read first, in a transaction of their own. They are always current, but
	// the rows are those of the next transaction's snapshot. So a change between the two is reported, although the
	// sealed rows include it. In the opposite order, a change could be missed forever.
	if err := s.begin(ctx); err != nil {
		return found, err
	}
	if found.State, err = s.state(ctx, relationOf(t.Source)); err != nil {
		return found, explained(err)
	}
	if err := s.leave(ctx); err != nil {
		return found, err
	}
	if err := s.transaction(ctx, mode); err != nil {
		return found, err
	}
	in, err := New(t.Source).open(ctx, s, t.Columns, engine.Sealed{})
	if err != nil {
		return found, explained(err)
	}
	l := &look{session: s, table: t, rows: in, found: &found, stored: stored}
	last := func(ctx context.Context) error { return then(ctx, l) }
	for _, step := range []func(context.Context) error{l.kinds, l.ignored, l.role, l.count, l.units, last} {
		if err := step(ctx); err != nil {
			return found, explained(unquoted(err))
		}
	}
	return found, nil
}

// unquoted removes the server's text from an error after rows were read, because a view's functions may put
// anything into it. It keeps errors that concern the server alone: the server is full or unreachable, the time is
// up, or a permission is missing.
func unquoted(err error) error {
	var raised *pgconn.PgError
	if !errors.As(err, &raised) || len(raised.Code) != 5 ||
		slices.Contains([]string{"08", "53", "57"}, raised.Code[:2]) ||
		strings.HasPrefix(raised.Code, "25P0") || raised.Code == "42501" {
		return err
	}
	return fmt.Errorf("one of its rows cannot be read (SQLSTATE %s): a view fails on that row", raised.Code)
}

// look is the inspection of one table for sealing, with its connection to the server.
type look struct {
	*session
	*rows
	table  *policy.Table
	found  *seal.Found
	stored int64 // the number of rows of one unit that a copy keeps; 0 if no copy is made
}

func (l *look) regclass() string { return "CAST(" + quoted(l.name) + " AS regclass)" }

// kinds records the server's identity of the relation, and warns if its rows may change unnoticed or are on another
// server.
func (l *look) kinds(context.Context) error {
	l.found.Relation, l.found.Family, l.found.Shows = l.relation, l.family, l.shows
	switch l.kind {
	case "m":
		l.warn("it is a materialized view: after each refresh, seal it again, because the refresh changes this " +
			"version's rows")
	case "v":
		l.warn(
			"it is a view: dither cannot see when its rows change, and the view decides which person a row belongs " +
				"to. A person's rows must come only from that person's data, and be the same at each reading",
		)
	}
	if l.foreign {
		l.warn(
			"some of its rows are on another server: the connection between the two servers carries exact values, " +
				"and dither cannot check it",
		)
	}
	return nil
}

func (l *look) warn(text string) { l.found.Warnings = append(l.found.Warnings, text) }

// ignored records the names of columns that the policy does not declare.
func (l *look) ignored(ctx context.Context) error {
	return l.query(
		ctx,
		"SELECT attname FROM pg_attribute WHERE attnum > 0 AND NOT attisdropped AND attrelid = "+l.regclass()+" ORDER BY attnum",
		func(row [][]byte) error {
			if name := string(row[0]); l.table.Column(name) == nil {
				l.found.Ignored = append(l.found.Ignored, name)
			}
			return nil
		},
	)
}

// role warns if the server's role may do more than read.
func (l *look) role(ctx context.Context) error {
	return l.query(
		ctx,
		"SELECT current_user, rolsuper, has_table_privilege("+l.regclass()+", 'INSERT, UPDATE, DELETE, TRUNCATE') "+
			"FROM pg_roles WHERE rolname = current_user",
		func(row [][]byte) error {
			switch {
			case string(row[1]) == "t":
				l.warn(fmt.Sprintf("the role %s is a superuser: use a role that may only SELECT from this table",
					row[0]))
			case string(row[2]) == "t":
				l.warn(fmt.Sprintf("the role %s may write to the table: use a role that may only SELECT from it",
					row[0]))
			}
			return nil
		},
	)
}

// count counts rows, and NULL, special and out-of-range values of each column. It also computes a digest of all
// values: a sum of hashes of the rows, which does not depend on their order.
func (l *look) count(ctx context.Context) error {
	columns := l.table.Columns
	var read, counts, all []string
	for i, c := range columns {
		x := "x" + strconv.Itoa(i)
		read = append(read, fmt.Sprintf("%s IS NULL AS n%d, %s AS "+
			"%s", identifier(c.Name), i, readColumn(c, l.of[i]), x))
		all = append(all, x)
		lost, special, outside := fmt.Sprintf("NOT n%d AND x%[1]d IS NULL", i), "FALSE", sealOutside(c, x)
		switch {
		case c.Type == value.Real && l.of[i] == numeric: // NaN, ±∞ and numbers beyond the range of doubles
			lost, special = "FALSE", lost
		case c.Type == value.Real:
			special = x + " IN (CAST('NaN' AS double precision), CAST('Infinity' AS double precision), " +
				"CAST('-Infinity' AS double precision))"
			outside = "(" + outside + ") AND NOT " + special
		}
		for _, condition := range []string{"n" + strconv.Itoa(i), lost, special, outside} {
			counts = append(counts, "count(*) FILTER (WHERE "+condition+")")
		}
	}
	hash := fmt.Sprintf(
		"sum(CAST(hash_record_extended(ROW(%s), 1) AS numeric)), sum(CAST(hash_record_extended(ROW(%[1]s), "+
			"2) AS numeric))",
		list(all),
	)
	sql := "SELECT count(*), " + hash + ", " + list(counts) + " FROM (SELECT " + list(read) + " FROM " + l.scan +
		" OFFSET 0) AS x"
	return l.query(ctx, sql, func(row [][]byte) error {
		n := make([]int64, len(row))
		for i := range row {
			if i == 1 || i == 2 {
				continue
			}
			var err error
			if n[i], err = strconv.ParseInt(string(row[i]), 10, 64); err != nil {
				return err
			}
		}
		f := &l.found.Facts
		f.Rows = n[0]
		l.found.Content = fmt.Sprintf("%d rows of %s: %s %s", n[0], l.declared(), row[1], row[2])
		for i, c := range columns {
			nulls, lost, special, outside := n[3+4*i], n[4+4*i], n[5+4*i], n[6+4*i]
			f.Columns = append(f.Columns,
				seal.ColumnFacts{Name: c.Name, Nulls: nulls + lost, Special: special, Outside: outside})
			if lost > 0 {
				l.found.Invalids = append(l.found.Invalids, csvtable.Invalid{Column: c.Name, Count: lost})
			}
		}
		return nil
	})
}

// declared returns the names, types and kinds of the columns that were read, as a text.
func (l *look) declared() string {
	out := make([]string, len(l.table.Columns))
	for i, c := range l.table.Columns {
		out[i] = fmt.Sprintf("%q %s %d", c.Name, c.Type, l.of[i])
	}
	return strings.Join(out, ", ")
}

func readColumn(c *policy.Column, of kind) string { return read(bounded.Column{Column: c}, of) }

// sealOutside returns the condition that x, a column's value as read returns it, is outside the declared values or
// bounds.
func sealOutside(c *policy.Column, x string) string {
	switch {
	case c.Values != nil:
		return x + " NOT IN (" + constants(c.Values) + ")"
	case c.Lower == nil:
		return "FALSE"
	case c.Type == value.Real:
		return fmt.Sprintf("%[1]s < %[2]s OR %[1]s > %[3]s",
			x, double(bounded.RealBound(c.Lower)), double(bounded.RealBound(c.Upper)))
	}
	return fmt.Sprintf("%[1]s < %[2]s OR %[1]s > %[3]s",
		x, integer(c.Lower.Num().Int64()), integer(c.Upper.Num().Int64()))
}

func (l *look) units(ctx context.Context) error {
	t, f := l.table, &l.found.Facts
	switch {
	case t.Public:
		return nil
	case t.Unit.Column == "": // each row is a unit, or has its unit through a row of another table
		f.Units, f.MaxRowsPerUnit = f.Rows, min(f.Rows, 1)
		if t.Unit.Through == "" || l.stored == 0 {
			return nil
		}
		key := slices.IndexFunc(t.Columns, func(c *policy.Column) bool { return c.Name == t.Unit.Through })
		return l.numbers(ctx,
			fmt.Sprintf("SELECT coalesce(max(n), 0) FROM (SELECT count(*) AS n FROM (SELECT %s AS k "+
				"FROM %s OFFSET 0) AS x WHERE k IS NOT NULL GROUP BY k) AS g",
				readColumn(t.Columns[key], l.of[key]), l.scan), &f.MaxRowsPerKey)
	}
	i := slices.IndexFunc(t.Columns, func(c *policy.Column) bool { return c.Name == t.Unit.Column })
	f.NullUnits = f.Columns[i].Nulls
	over := fmt.Sprintf("FILTER (WHERE n > %d)", t.Unit.RowsPerUnit)
	kept := "count(*)"
	if l.stored > 0 {
		kept = fmt.Sprintf("least(count(*), %d)", l.stored)
	}
	sql := fmt.Sprintf(
		"SELECT count(*), coalesce(max(n), 0), count(*) %s, coalesce(sum(n - %d) %[1]s, 0), "+
			"count(*) FILTER (WHERE n < had), coalesce(sum(had - n), 0) "+
			"FROM (SELECT %[5]s AS n, count(*) AS had FROM (SELECT %[3]s AS u FROM %[4]s OFFSET 0) AS x "+
			"WHERE u IS NOT NULL GROUP BY u) AS g",
		over, t.Unit.RowsPerUnit, readColumn(t.Columns[i], l.of[i]), l.scan, kept)
	return l.numbers(ctx, sql, &f.Units, &f.MaxRowsPerUnit, &f.UnitsOver, &f.RowsOver, &f.UnitsLeftOut, &f.RowsLeftOut)
}

// numbers runs a query for one row of numbers, and stores them where the elements of out point.
func (l *look) numbers(ctx context.Context, sql string, out ...*int64) error {
	return l.query(ctx, sql, func(row [][]byte) error {
		for i, into := range out {
			n, err := strconv.ParseInt(string(row[i]), 10, 64)
			if err != nil {
				return err
			}
			*into = n
		}
		return nil
	})
}
