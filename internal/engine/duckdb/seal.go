package duckdb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	driverpkg "github.com/duckdb/duckdb-go/v2"

	"dither/internal/policy"
	"dither/internal/seal"
	"dither/internal/value"
)

// Sealer writes, imports and inspects sealed files for the owner. Each call uses an in-memory DuckDB of its own.
// This DuckDB has limited memory, a private folder to spill into, and built-in extensions only. Errors name rows
// and columns, and never quote the content of a cell.
type Sealer struct {
	tmp string
}

var _ seal.Backend = (*Sealer)(nil)

// NewSealer returns a Sealer. Each of its calls makes a folder of mode 0700 in tmp to spill into, and removes it at
// the end.
func NewSealer(tmp string) *Sealer { return &Sealer{tmp: tmp} }

// sealMemory is how much memory DuckDB may use before it spills or fails.
const sealMemory = "2GB"

// sealRowGroup limits the size of a row group. Writing from one thread then needs only a few times this much
// memory, even if rows are long. DuckDB accepts the setting only if it need not keep the order of rows. With one
// thread it keeps the order anyway.
const sealRowGroup = "128MB"

// sealSettings returns the first statements of a sealing database, in order.
func sealSettings(folder string) []string {
	return []string{
		"SET temp_directory = " + text(folder),
		"SET memory_limit = '" + sealMemory + "'",
		"SET " + sound,
		"SET autoinstall_known_extensions = false",
		"SET autoload_known_extensions = false",
		"SET allow_community_extensions = false",
	}
}

// with calls f with a connection to a new database. Afterwards it closes the database and removes what it spilled.
func (s *Sealer) with(ctx context.Context, f func(*sql.Conn) error) (err error) {
	folder, done, err := s.folder()
	if err != nil {
		return err
	}
	defer done()
	connector, err := driverpkg.NewConnector("", nil)
	if err != nil {
		return err
	}
	db := sql.OpenDB(connector)
	defer func() { _ = db.Close() }()
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	for _, statement := range sealSettings(folder) {
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("setting up DuckDB: %w", err)
		}
	}
	if err := f(conn); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return sealError(err)
	}
	return nil
}

// sealError removes the contents of cells from a DuckDB error. It keeps the text of errors about files, names and
// memory. Of any other DuckDB error, whose text may quote a cell, it keeps the kind alone. An error that is not
// DuckDB's is returned unchanged.
func sealError(err error) error {
	var e *driverpkg.Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Type {
	case driverpkg.ErrorTypeIO, driverpkg.ErrorTypeOutOfMemory, driverpkg.ErrorTypePermission,
		driverpkg.ErrorTypeCatalog:
		return errors.New("DuckDB: " + sealFirstLine(e.Msg))
	default:
	}
	if strings.Contains(e.Msg, "Invalid string encoding") || strings.Contains(e.Msg, "not valid UTF8") {
		return errors.New("a text value is not valid UTF-8")
	}
	if strings.Contains(e.Msg, "No magic bytes") || strings.Contains(e.Msg, "too small to be a Parquet file") {
		return errors.New("the file is not Parquet, or is truncated")
	}
	kind, _, _ := strings.Cut(e.Msg, ":")
	return errors.New("DuckDB could not read the file (" + sealFirstLine(kind) + ")")
}

func sealFirstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line[:min(len(line), 400)]
}

// sealTypes holds the DuckDB type of a sealed column, by the declared type.
var sealTypes = map[value.Type]string{
	value.Integer: "BIGINT", value.Real: "DOUBLE", value.Text: "VARCHAR", value.Boolean: "BOOLEAN", value.Date: "DATE",
	value.Timestamp: "BIGINT", value.Time: "BIGINT", // the microseconds
}

// sealCopy writes the rows of the SELECT from, in their order, to a file that already exists. The file keeps its
// mode.
func sealCopy(ctx context.Context, conn *sql.Conn, from, file string) error {
	return sealRun(ctx, conn,
		"SET threads = 1",
		"SET preserve_insertion_order = false",
		"COPY ("+from+") TO "+text(
			file)+" (FORMAT parquet, COMPRESSION zstd, USE_TMP_FILE false, ROW_GROUP_SIZE_BYTES '"+sealRowGroup+"')",
	)
}

func sealRun(ctx context.Context, conn *sql.Conn, statements ...string) error {
	for _, statement := range statements {
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// Columns that sealing adds to the files of tables with a column that identifies units: the rank of a row among its
// unit's rows, from 1, and the number of the unit's rows.
const (
	rankColumn = "__dither_rank"
	rowsColumn = "__dither_rows"
)

// sealTable writes the rows of the SELECT from as the sealed file of table t. If a column identifies the unit, the
// rows of each unit stand together and are ranked, so that a cap on rows is a filter. Units with more rows come later, so
// that DuckDB reads only the end of the file for the few units with more rows than a cap. The rank of a row
// depends on the content of that unit's rows alone: rows are ordered by a hash and then by their values. Rows with
// equal values are interchangeable. sealTable keeps the first t.Stored() rows of each unit, in the order of ranks.
//
// Claim: leaving out rows at sealing is safe. If two tables differ only in the rows of one unit, so do their sealed
// files. Proof: the kept rows of a unit, as a multiset, are a function of that unit's rows, as a multiset, and of
// the policy's bound. No other unit's row, no order and no file name affects them. So removing a unit removes its
// kept rows and no others, and replacing it replaces them. The column rowsColumn, a unit's number of rows in the
// source, also depends on that unit alone. ∎
//
// All rows whose unit is NULL are kept, because no question reads them.
func sealTable(ctx context.Context, conn *sql.Conn, t *policy.Table, from, file string) (err error) {
	if !filepath.IsAbs(file) { // DuckDB would expand ~/x
		return fmt.Errorf("%s is not an absolute path", file)
	}
	if t.Public || t.Unit.Column == "" {
		return sealCopy(ctx, conn, from, file)
	}
	raw := file + ".raw" // in the same folder, so that cleaning up after a killed sealing removes it
	if err := os.WriteFile(raw, nil, 0o600); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(raw)) }()
	if err := sealCopy(ctx, conn, from, raw); err != nil {
		return err
	}
	scan, err := sealScan(raw)
	if err != nil {
		return err
	}
	columns := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		columns[i] = identifier(c.Name)
	}
	all, unit := strings.Join(columns, ", "), identifier(t.Unit.Column)
	ranked := fmt.Sprintf(
		"SELECT * FROM (SELECT %[1]s, row_number() OVER (PARTITION BY %[2]s ORDER BY hash(%[1]s), %[1]s) AS %[3]s, "+
			"count(*) OVER (PARTITION BY %[2]s) AS %[4]s FROM %[5]s) WHERE %[2]s IS NULL OR %[3]s <= %[6]d "+
			"ORDER BY %[4]s, %[2]s, %[3]s",
		all, unit, rankColumn, rowsColumn, scan, t.Stored())
	return sealRun(ctx, conn,
		"RESET threads",
		"SET preserve_insertion_order = true",
		"COPY ("+ranked+") TO "+text(file)+" (FORMAT parquet, COMPRESSION zstd, USE_TMP_FILE false)",
	)
}

// sealScan returns SQL that reads one Parquet file. The path is taken literally: it is not matched as a pattern,
// and its folders do not become columns.
func sealScan(file string) (string, error) {
	pattern, err := sealLiteralPath(file)
	if err != nil {
		return "", err
	}
	return "read_parquet(" + text(pattern) + ", hive_partitioning = false, union_by_name = false)", nil
}

// sealLiteralPath returns a DuckDB pattern that matches path and nothing else. A path without wildcards is such a
// pattern. If a path has both a wildcard and a backslash, sealLiteralPath returns an error, because a pattern
// cannot express the backslash.
func sealLiteralPath(path string) (string, error) {
	if !strings.ContainsAny(path, "*?[") {
		return path, nil
	}
	if strings.Contains(path, `\`) {
		return "", errors.New(`a path cannot contain both a backslash and one of "*?[": rename it`)
	}
	return strings.NewReplacer("[", "[[]", "*", "[*]", "?", "[?]").Replace(path), nil
}

// sealNames returns an error if two column names differ only in case: DuckDB cannot distinguish them.
func sealNames(t *policy.Table) error {
	seen := make(map[string]string)
	for _, c := range t.Columns {
		folded := strings.ToLower(c.Name)
		if other, ok := seen[folded]; ok {
			return fmt.Errorf("the columns %q and %q differ only in case", other, c.Name)
		}
		seen[folded] = c.Name
	}
	return nil
}
