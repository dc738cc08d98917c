package duckdb

import (
	"context"
	"database/sql/driver"
	"fmt"
	"io"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dither/internal/bounded"
	"dither/internal/engine"
	"dither/internal/engine/enginetest"
	"dither/internal/policy"
	"dither/internal/seal"
	"dither/internal/value"
)

// database is what sealing made of some rows, with what it recorded of them.
type database struct {
	*Engine
	policy *policy.Policy
	tables map[string]engine.Sealed
}

var _ enginetest.Reader = database{}

// sealedAs seals every table by itself, as seal.Seal does once a source is decoded: hostile rows are in files of types,
// and not in texts.
func (b *bench) sealedAs(
	world int, w enginetest.World, tables enginetest.Tables, name string,
) (enginetest.Sealed, error) {
	out := database{b.Engine, w.Policy, map[string]engine.Sealed{}}
	sealer := NewSealer(b.tmp)
	for table, rows := range tables {
		file, declared := filepath.Join(b.sealed, name+table+".parquet"), w.Policy.Table(table)
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			return nil, err
		}
		under := enginetest.SealedUnder(world, declared)
		i := 0
		err := sealer.Write(context.Background(), file, under, func(row []value.Value) error {
			if i == len(rows) {
				return io.EOF
			}
			for j, c := range declared.Columns {
				row[j] = rows[i][c.Name]
			}
			i++
			return nil
		})
		if err != nil {
			return nil, err
		}
		facts, err := sealer.Inspect(context.Background(), file, under)
		if err != nil {
			return nil, err
		}
		out.tables[table] = Known(seal.Version{Table: table, File: file, Facts: facts}, declared)
	}
	return enginetest.Replayed(out), nil
}

func (d database) from(b *bounded.Statement) engine.Sealed {
	if b.Source == nil {
		return d.tables[b.Table]
	}
	return engine.Sealed{Tables: d.tables}
}

func (d database) Statement(b *bounded.Statement) (string, error) { return statement(b, d.from(b)) }

func (d database) RowsStatement(b *bounded.Statement) (string, error) {
	pages, err := d.rowPages(context.Background(), b, d.from(b))
	return strings.Join(pages, "; "), err
}

func (d database) Add(b *bounded.Statement, add func([]value.Value, []*big.Int)) error {
	sql, err := d.Statement(b)
	if err != nil {
		return err
	}
	return d.run(context.Background(), sql, collect(b, add))
}

func (d database) Scan(b *bounded.Statement) (func(yield func(cell int, v, n int64) bool) error, error) {
	return d.scanCells(context.Background(), b, d.from(b))
}

func (d database) EachRow(b *bounded.Statement, add func(first bool, row []int64) error) error {
	return d.eachRow(context.Background(), b, d.from(b), add)
}

func (d database) MostRows(s *bounded.Source) (most int64, err error) {
	sql, err := statementOf(&bounded.Statement{Source: s}, engine.Sealed{Tables: d.tables},
		func(_ *bounded.Statement, files sealedFiles) string {
			return "SELECT coalesce(max(n), 0) FROM (SELECT count(*) AS n FROM (" + source(s, files) + ") GROUP BY u)"
		})
	if err != nil {
		return 0, err
	}
	return most, d.run(context.Background(), sql, func(row []driver.Value) error {
		n, ok := row[0].(int64)
		if most = n; !ok {
			return fmt.Errorf("a number of Go type %T", row[0])
		}
		return nil
	})
}

func (d database) Known(o policy.Origin) ([]value.Value, error) {
	return d.Values(context.Background(), bounded.PublicColumn(d.policy.Table(o.Table).Column(o.Column)),
		d.tables[o.Table], policy.MaxKeys+1)
}

// What DuckDB gives of two neighbouring databases, sealed each by itself, differs by what is planned at most.
func TestReplayAudit(t *testing.T) {
	b := newBench(t)
	b.page, b.rowPage = 40, 40 // each page is a statement
	audit := enginetest.Audit{Questions: 25, Ways: 1, Parts: func(int) bool { return true }, Seal: b.sealedAs}
	audit.Test(t, []string{"duckdb/seal", "duckdb/known.go", "internal/seal/", "rows.go: first"})
}
