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

// Sealer writes, imports and inspects sealed files for the owner. Each call uses a DuckDB of its own, in memory, with
// bounded memory, a private folder to spill into, and only built-in extensions. Its errors name rows and columns, never
// a cell's content.
type Sealer struct {
	tmp string
}

var _ seal.Backend = (*Sealer)(nil)

// NewSealer returns a sealer. Each of its calls creates a folder of mode 0700 in tmp to spill into, and removes it.
func NewSealer(tmp string) *Sealer { return &Sealer{tmp: tmp} }

// sealMemory is the most that DuckDB may hold before it spills or fails.
const sealMemory = "2GB"

// sealRowGroup ends a row group early if its rows are long: then writing from one thread takes a few times this much
// memory, whatever the rows are. DuckDB offers the setting only if it need not keep the order of rows; one thread keeps
// it anyway.
const sealRowGroup = "128MB"

// sealSettings are the first statements, in this order.
func sealSettings(folder string) []string {
	return []string{
		"SET temp_directory = " + text(folder),
		"SET memory_limit = '" + sealMemory + "'",
		"SET autoinstall_known_extensions = false",
		"SET autoload_known_extensions = false",
		"SET allow_community_extensions = false",
	}
}

// with runs f on a fresh database and removes what it spilled.
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

// sealError keeps DuckDB's text about files, names and memory. Of its other errors, which may quote a cell, it keeps
// the kind alone. Other errors pass unchanged.
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
		return errors.New("a text is not valid UTF-8")
	}
	if strings.Contains(e.Msg, "No magic bytes") || strings.Contains(e.Msg, "too small to be a Parquet file") {
		return errors.New("the file is not Parquet, or is cut off")
	}
	kind, _, _ := strings.Cut(e.Msg, ":")
	return errors.New("DuckDB could not read the file (" + sealFirstLine(kind) + ")")
}

func sealFirstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line[:min(len(line), 400)]
}

// sealTypes are the types of a sealed file's columns.
var sealTypes = map[value.Type]string{
	value.Integer: "BIGINT", value.Real: "DOUBLE", value.Text: "VARCHAR", value.Boolean: "BOOLEAN", value.Date: "DATE",
}

// sealCopy writes the rows of a SELECT, in their order, to a file that exists and keeps its mode.
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

// Columns that sealing adds to the files of tables whose units are persons: the rank of a row among its unit's rows,
// from 1, and how many rows the unit has.
const (
	rankColumn = "__dither_rank"
	rowsColumn = "__dither_rows"
)

// sealTable writes the rows of a SELECT as a table's sealed file. If a column identifies the unit, the file is
// clustered by it, and each unit's rows are ranked, so that a cap on them is a filter. The rank of a row depends on
// that unit's rows alone, and on their content: a hash, then the values themselves. Rows that are equal in all of them
// are interchangeable.
//
// Claim: leaving rows out at sealing is safe, whatever they say: two tables that differ in one unit's rows are sealed
// as two that differ in that unit's rows. sealTable keeps the first t.Stored() rows of a unit, in the order of ranks.
// Proof: which rows of a unit are kept, as a multiset, is a function of that unit's rows, as a multiset, and of the
// policy's bound; no other unit's row, no order and no name of a file affects it. So removing a unit removes its kept
// rows and no others, and replacing it replaces them. The file's fact about a unit's rows (rowsColumn, how many the
// source has) also depends on that unit alone. ∎ Rows whose unit is NULL all stay, because no question reads them.
func sealTable(ctx context.Context, conn *sql.Conn, t *policy.Table, from, file string) (err error) {
	if !filepath.IsAbs(file) { // DuckDB would expand ~/x
		return fmt.Errorf("%s is not an absolute path", file)
	}
	if t.Public || t.Unit.Column == "" {
		return sealCopy(ctx, conn, from, file)
	}
	raw := file + ".raw" // beside it, so that cleaning up after a killed sealing removes it
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
			"count(*) OVER (PARTITION BY %[2]s) AS %[4]s FROM %[5]s) WHERE %[2]s IS NULL OR %[3]s <= %[6]d ORDER BY %[2]s, %[3]s",
		all,
		unit,
		rankColumn,
		rowsColumn,
		scan,
		t.Stored(),
	)
	return sealRun(ctx, conn,
		"RESET threads",
		"SET preserve_insertion_order = true",
		"COPY ("+ranked+") TO "+text(file)+" (FORMAT parquet, COMPRESSION zstd, USE_TMP_FILE false)",
	)
}

// sealScan reads one Parquet file, whatever its path looks like: it matches no pattern, and derives no column from
// folders.
func sealScan(file string) (string, error) {
	pattern, err := sealLiteralPath(file)
	if err != nil {
		return "", err
	}
	return "read_parquet(" + text(pattern) + ", hive_partitioning = false, union_by_name = false)", nil
}

// sealLiteralPath writes a path as a DuckDB pattern that matches it alone. A path without wildcards stays as it is; a
// pattern cannot express a backslash.
func sealLiteralPath(path string) (string, error) {
	if !strings.ContainsAny(path, "*?[") {
		return path, nil
	}
	if strings.Contains(path, `\`) {
		return "", errors.New(`a path with a backslash and one of "*?[" cannot be read: rename it`)
	}
	return strings.NewReplacer("[", "[[]", "*", "[*]", "?", "[?]").Replace(path), nil
}

// sealNames refuses columns that DuckDB cannot tell apart.
func sealNames(t *policy.Table) error {
	seen := make(map[string]string)
	for _, c := range t.Columns {
		folded := strings.ToLower(c.Name)
		if other, ok := seen[folded]; ok {
			return fmt.Errorf("the columns %q and %q differ in case alone", other, c.Name)
		}
		seen[folded] = c.Name
	}
	return nil
}
