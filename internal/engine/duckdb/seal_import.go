package duckdb

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"dither/internal/csvtable"
	"dither/internal/engine"
	"dither/internal/policy"
	"dither/internal/seal"
	"dither/internal/value"
)

// sealSource is a table with typed columns that DuckDB can read.
type sealSource struct {
	from  string
	names []string
	types map[string]string // in DuckDB's spelling
}

// Import implements seal.Backend. The first pass over the source checks every value against the declaration, and
// the second copies the rows. For an invalid value, the error is a *csvtable.Error with the row's number in the
// order of the source.
func (s *Sealer) Import(
	ctx context.Context, file string, t *policy.Table, files []string, held seal.Held,
) (invalids []csvtable.Invalid, err error) {
	if err := sealNames(t); err != nil {
		return nil, err
	}
	err = s.with(ctx, func(conn *sql.Conn) error {
		source, err := openSealSource(ctx, conn, t.Source, files)
		if err != nil {
			return err
		}
		columns, err := source.columns(t)
		if err != nil {
			return err
		}
		if invalids, err = source.check(ctx, conn, columns); err != nil {
			return err
		}
		selected := make([]string, len(columns))
		for i, c := range columns {
			selected[i] = c.converted() + " AS " + identifier(c.Name)
		}
		rows := "SELECT " + strings.Join(selected, ", ") + " FROM " + source.from
		if held != nil {
			if rows, err = withHoldout(conn, t, rows, held); err != nil {
				return err
			}
		}
		return sealTable(ctx, conn, t, rows, file)
	})
	return invalids, err
}

// openSealSource opens a source and reads the names and types of its columns. If there are several files, each must
// have all columns of the first file, with the same types. So no value is converted before it is checked.
func openSealSource(ctx context.Context, conn *sql.Conn, src policy.Source, files []string) (*sealSource, error) {
	switch src.Format {
	case policy.Parquet:
		return openSealFiles(ctx, conn, files)
	case policy.DuckDB:
		from, err := attachSealSource(ctx, conn, src, files[0])
		if err != nil {
			return nil, err
		}
		return describeSealSource(ctx, conn, from)
	default:
		return nil, fmt.Errorf("a %s source is not imported", src.Format)
	}
}

// openSealFiles opens Parquet files as one relation.
func openSealFiles(ctx context.Context, conn *sql.Conn, files []string) (first *sealSource, err error) {
	var scans []string
	for _, file := range files {
		scan, err := sealScan(file)
		if err != nil {
			return nil, err
		}
		one, err := describeSealSource(ctx, conn, scan)
		if err != nil {
			return nil, err
		}
		if first == nil {
			first = one
		}
		for _, name := range first.names {
			kind, ok := one.types[name]
			if !ok {
				kind = "no such column"
			}
			if kind != first.types[name] {
				return nil, fmt.Errorf(
					"%s and %s have different columns: column %q is %s in the first and %s in the second",
					filepath.Base(files[0]), filepath.Base(file), name, sealKindName(first.types[name]),
					sealKindName(kind))
			}
		}
		scans = append(scans, scan)
	}
	if len(scans) > 1 { // columns are matched by name, because their order may differ
		names := make([]string, len(first.names))
		for i, name := range first.names {
			names[i] = identifier(name)
		}
		each := "SELECT " + strings.Join(names, ", ") + " FROM "
		first.from = "(" + each + strings.Join(scans, " UNION ALL "+each) + ")"
	}
	return first, nil
}

// describeSealSource reads the names and types of the columns of the relation from.
func describeSealSource(ctx context.Context, conn *sql.Conn, from string) (*sealSource, error) {
	s := &sealSource{from: from, types: make(map[string]string)}
	describe := "SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM " + from + ")" //nolint:gosec // from is quoted by sealScan or identifier
	rows, err := conn.QueryContext(ctx, describe)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var name, kind string
		if err := rows.Scan(&name, &kind); err != nil {
			return nil, err
		}
		s.names = append(s.names, name)
		s.types[name] = kind
	}
	return s, rows.Err()
}

// attachSealSource opens a database file for reading and returns the SQL name of the source's table. It accepts
// base tables only, because a view could read anything.
func attachSealSource(ctx context.Context, conn *sql.Conn, src policy.Source, file string) (string, error) {
	if err := attachSealFile(ctx, conn, file); err != nil {
		return "", err
	}
	rows, err := conn.QueryContext(ctx,
		"SELECT schema_name FROM duckdb_tables() WHERE database_name = 'dither_source' AND "+
			"table_name = ? ORDER BY schema_name <> 'main', schema_name", src.Table)
	if err != nil {
		return "", err
	}
	defer func() { _ = rows.Close() }()
	var schemas []string
	for rows.Next() {
		var schema string
		if err := rows.Scan(&schema); err != nil {
			return "", err
		}
		schemas = append(schemas, schema)
	}
	switch {
	case rows.Err() != nil:
		return "", rows.Err()
	case len(schemas) == 0:
		return "", fmt.Errorf("the database has no table %q (views cannot be sealed)", src.Table)
	case len(schemas) > 1 && schemas[0] != "main":
		return "", fmt.Errorf("the database has a table %q in several schemas, but not in main", src.Table)
	}
	return "dither_source." + identifier(schemas[0]) + "." + identifier(src.Table), nil
}

// sealColumn is a declared column, with the SQL that converts the source's column to it.
type sealColumn struct {
	*policy.Column
	cast string // SQL of the source's value as the sealed type; NULL if it cannot be converted
	fits string // SQL of whether the source's value can be sealed, if it is not NULL
}

func (c sealColumn) converted() string { return "CASE WHEN " + c.fits + " THEN " + c.cast + " END" }

var sealWholeDecimal = regexp.MustCompile(`^DECIMAL\(\d+,0\)$`)

func sealIsInteger(kind string) bool {
	switch kind {
	case "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT",
		"HUGEINT", "UHUGEINT":
		return true
	}
	return sealWholeDecimal.MatchString(kind)
}

// sealable reports whether a source's column of type kind can be declared as type t. A TIMESTAMP cannot be a date,
// because the end of its day depends on a time zone.
func sealable(kind string, t value.Type) bool {
	switch t {
	case value.Integer:
		return sealIsInteger(kind)
	case value.Real:
		return kind == "FLOAT" || kind == "DOUBLE" || strings.HasPrefix(kind, "DECIMAL(") || sealIsInteger(kind)
	case value.Text:
		return kind == "VARCHAR" || kind == "UUID" || strings.HasPrefix(kind, "ENUM(") && strings.HasSuffix(kind, ")")
	case value.Boolean:
		return kind == "BOOLEAN"
	case value.Date:
		return kind == "DATE"
	case value.Timestamp:
		return kind == sealMoment || slices.Contains(sealTimestamps, kind)
	case value.Time:
		return kind == "TIME"
	}
	return false
}

// sealTimestamps lists the types of timestamps without a zone.
var sealTimestamps = []string{"TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"}

// sealMoment is the type of timestamps with a zone, which are moments.
const sealMoment = "TIMESTAMP WITH TIME ZONE"

// localMicros returns the SQL of the time that clocks in a zone show at a moment, in microseconds, or of NULL for a moment
// without one. The epoch of a moment does not depend on DuckDB's own zone, and the offset is read from a table in the
// statement.
func localMicros(x string, zone *time.Location) string {
	finite := "CASE WHEN isfinite(" + x + ") THEN epoch_us(" + x + ") END"
	if zone == nil {
		return finite
	}
	before := func(n int64) string { return fmt.Sprintf("(%s) < %d", finite, n) }
	plain := func(n int64) string { return strconv.FormatInt(n, 10) }
	return fmt.Sprintf("CASE WHEN (%[1]s) >= %[2]d AND (%[1]s) < %[3]d THEN (%[1]s) + %[4]s END",
		finite, value.FirstShift, value.LastShift, engine.Offset(zone, before, plain))
}

// columns finds the source's column for each declared column, by name.
func (s *sealSource) columns(t *policy.Table) ([]sealColumn, error) {
	declared := t.SourceColumns()
	out := make([]sealColumn, len(declared))
	names := make([]string, len(declared))
	var faults csvtable.Faults
	for i, c := range declared {
		names[i] = c.Name
		kind, ok := s.types[c.Name]
		switch {
		case !ok:
			faults.AddColumn(csvtable.Fault{Column: c.Name, Message: "the source has no such column"})
		case !sealable(kind, c.Type):
			faults.AddColumn(csvtable.Fault{
				Column:  c.Name,
				Message: fmt.Sprintf("declared as %s, but the source has %s", c.Type, sealKindName(kind)),
			})
		}
		x := identifier(c.Name)
		out[i] = sealColumn{Column: c, cast: "TRY_CAST(" + x + " AS " + sealTypes[c.Type] + ")"}
		switch c.Type {
		case value.Text:
			out[i].fits = fmt.Sprintf(
				"(strlen(CAST(%[1]s AS VARCHAR)) <= %[2]d AND NOT contains(CAST(%[1]s AS VARCHAR), chr(0)))", x,
				value.MaxTextBytes)
		case value.Date:
			out[i].fits = "(" + x + " BETWEEN DATE '0001-01-01' AND DATE '9999-12-31')"
		case value.Timestamp:
			micros := "TRY_CAST(" + x + " AS TIMESTAMP)"
			out[i].cast = "CASE WHEN isfinite(" + micros + ") THEN epoch_us(" + micros + ") END"
			if kind == sealMoment {
				out[i].cast = localMicros(x, c.Zone)
			}
			out[i].fits = fmt.Sprintf("coalesce((%s) BETWEEN %d AND %d, FALSE)", out[i].cast, value.MinMicro, value.MaxMicro)
		case value.Time:
			out[i].cast = "epoch_us(" + x + ")"
			out[i].fits = fmt.Sprintf("(epoch_us(%s) BETWEEN 0 AND %d)", x, value.DayMicros-1) // DuckDB has a time 24:00:00
		default:
			out[i].fits = "(" + out[i].cast + " IS NOT NULL)"
		}
	}
	return out, faults.Err(names, nil)
}

// sealKindName returns the name of a DuckDB type for messages. For an ENUM it omits the values, because they are
// contents of cells.
func sealKindName(kind string) string {
	if strings.HasPrefix(kind, "ENUM(") {
		return "ENUM"
	}
	return sealFirstLine(kind)
}

// check counts the values of each column that cannot be sealed, and the NULLs in columns that are not nullable. If the
// policy does not allow them, its error lists the faults of all columns. Other faults become NULL, and it returns their
// numbers.
func (s *sealSource) check(ctx context.Context, conn *sql.Conn, columns []sealColumn) ([]csvtable.Invalid, error) {
	faults := make([]string, 0, 2*len(columns)) // two conditions for each column
	counts := []string{"count(*)"}
	for _, c := range columns {
		x := identifier(c.Name)
		null := "FALSE"
		if !c.Nullable {
			null = x + " IS NULL"
		}
		faults = append(faults, x+" IS NOT NULL AND NOT "+c.fits, null)
	}
	for _, f := range faults {
		counts = append(counts, sealCount(f))
	}
	found := make([]int64, len(counts))
	into := make([]any, len(counts))
	for i := range found {
		into[i] = &found[i]
	}
	if err := conn.QueryRowContext(ctx, "SELECT "+strings.Join(counts, ", ")+" FROM "+s.from).Scan(into...); err != nil {
		return nil, err
	}
	if found[0] > seal.MaxRows {
		return nil, fmt.Errorf("the source has %d rows, more than a table may have (2^32)", found[0])
	}
	first, err := s.first(ctx, conn, columns, faults, found[1:])
	if err != nil {
		return nil, err
	}
	var invalids []csvtable.Invalid
	var refused csvtable.Faults
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
		for j, message := range []string{
			"the value cannot be read as " + c.Type.String(), "the value is NULL, but the column is not declared nullable",
		} {
			n := found[1+2*i+j]
			if n == 0 {
				continue
			}
			row := first[2*i+j]
			if j == 1 || c.Invalid != policy.InvalidIsNull || !c.Nullable {
				refused.AddColumn(csvtable.Fault{Column: c.Name, Message: message, Count: n, Rows: []int64{row}})
				continue
			}
			invalids = append(invalids, csvtable.Invalid{Column: c.Name, Count: n, FirstRow: row})
		}
	}
	return invalids, refused.Err(names, nil)
}

// first returns, for each condition, the number of the first row that satisfies it, from 1 in the order of the source.
// It returns 0 for a condition that no row satisfies, according to counts.
func (s *sealSource) first(
	ctx context.Context, conn *sql.Conn, columns []sealColumn, conditions []string, counts []int64,
) ([]int64, error) {
	rows := make([]int64, len(conditions))
	var sums []string
	var into []any
	for i, condition := range conditions {
		if counts[i] > 0 {
			sums = append(sums, "coalesce(min(__dither_row) FILTER (WHERE "+condition+"), 0)")
			into = append(into, &rows[i])
		}
	}
	if len(sums) == 0 {
		return rows, nil
	}
	var names strings.Builder
	for _, c := range columns {
		names.WriteString(identifier(c.Name) + ", ")
	}
	err := conn.QueryRowContext(ctx, "SELECT "+strings.Join(sums, ", ")+" FROM (SELECT "+names.String()+
		"row_number() OVER () AS __dither_row FROM "+s.from+")").Scan(into...)
	return rows, err
}
