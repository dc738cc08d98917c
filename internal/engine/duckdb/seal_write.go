package duckdb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"strings"

	driverpkg "github.com/duckdb/duckdb-go/v2"

	"dither/internal/policy"
	"dither/internal/value"
)

// Write implements seal.Backend. The rows stream through a table function into the Parquet writer, in order and on
// one thread. Only the current row group is in memory. The same rows make the same file.
func (s *Sealer) Write(ctx context.Context, file string, t *policy.Table, next func(row []value.Value) error) error {
	if err := sealNames(t); err != nil {
		return err
	}
	rows := &sealRows{columns: t.Columns, next: next, row: make([]value.Value, len(t.Columns))}
	err := s.with(ctx, func(conn *sql.Conn) error {
		err := driverpkg.RegisterTableUDF(conn, "dither_rows", driverpkg.ChunkTableFunction{
			BindArguments: func(map[string]any, ...any) (driverpkg.ChunkTableSource, error) { return rows, nil },
		})
		if err != nil {
			return err
		}
		return sealTable(ctx, conn, t, "SELECT "+strings.Join(rows.selected(), ", ")+" FROM dither_rows()", file)
	})
	if rows.err != nil {
		return rows.err // more specific than DuckDB's error
	}
	return err
}

// sealRows is a DuckDB table function that reads its rows by calling the function next. DuckDB calls it from one thread
// at a time.
type sealRows struct {
	columns []*policy.Column
	next    func([]value.Value) error
	row     []value.Value
	ended   bool
	err     error
}

// errSealSource makes DuckDB stop. The cause is kept in sealRows.err, so that it does not become part of a DuckDB
// message.
var errSealSource = errors.New("the source failed")

var sealRowTypes = map[value.Type]driverpkg.Type{
	value.Integer: driverpkg.TYPE_BIGINT, value.Real: driverpkg.TYPE_DOUBLE, value.Text: driverpkg.TYPE_VARCHAR,
	value.Boolean: driverpkg.TYPE_BOOLEAN, value.Date: driverpkg.TYPE_INTEGER, // a date is the number of its day
	value.Timestamp: driverpkg.TYPE_BIGINT, value.Time: driverpkg.TYPE_BIGINT,
}

// selected returns the SQL of the columns of the table function, with their declared names and sealed types.
func (r *sealRows) selected() []string {
	out := make([]string, len(r.columns))
	for i, c := range r.columns {
		x := fmt.Sprintf("c%d", i)
		if c.Type == value.Date {
			x = "DATE '1970-01-01' + " + x
		}
		out[i] = x + " AS " + identifier(c.Name)
	}
	return out
}

// ColumnInfos implements driverpkg.ChunkTableSource.
func (r *sealRows) ColumnInfos() []driverpkg.ColumnInfo {
	out := make([]driverpkg.ColumnInfo, len(r.columns))
	for i, c := range r.columns {
		t, err := driverpkg.NewTypeInfo(sealRowTypes[c.Type])
		if err != nil {
			r.err = fmt.Errorf("column %q: %w", c.Name, err) // T stays nil, and DuckDB refuses such a column
		}
		out[i] = driverpkg.ColumnInfo{Name: fmt.Sprintf("c%d", i), T: t}
	}
	return out
}

// Cardinality implements driverpkg.ChunkTableSource. It returns nil: the number of rows is unknown.
func (r *sealRows) Cardinality() *driverpkg.CardinalityInfo { return nil }

// Init implements driverpkg.ChunkTableSource. It does nothing.
func (r *sealRows) Init() {}

// FillChunk implements driverpkg.ChunkTableSource. It fills a chunk with rows that it reads by r.next.
func (r *sealRows) FillChunk(chunk driverpkg.DataChunk) error {
	n := 0
	for capacity := driverpkg.GetDataChunkCapacity(); n < capacity && !r.ended; {
		err := r.next(r.row)
		if errors.Is(err, io.EOF) {
			r.ended = true
			break
		}
		if err == nil {
			err = r.put(chunk, n)
		}
		if err != nil {
			r.err, r.ended = err, true
			return errSealSource
		}
		n++
	}
	return chunk.SetSize(n)
}

func (r *sealRows) put(chunk driverpkg.DataChunk, n int) error {
	for i := range r.row {
		var err error
		switch v := &r.row[i]; {
		case v.Null:
			err = chunk.SetValue(i, n, nil)
		case v.Type.Whole() && v.Type != value.Date:
			err = driverpkg.SetChunkValue(chunk, i, n, v.Int)
		case v.Type == value.Real:
			err = driverpkg.SetChunkValue(chunk, i, n, v.Real)
		case v.Type == value.Text:
			err = driverpkg.SetChunkValue(chunk, i, n, v.Text)
		case v.Type == value.Boolean:
			err = driverpkg.SetChunkValue(chunk, i, n, v.Bool)
		case v.Type == value.Date:
			err = driverpkg.SetChunkValue(chunk, i, n, int32(v.Int)) // the day is within value.MinDay and value.MaxDay
		default:
			err = fmt.Errorf("column %q: no value", r.columns[i].Name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
