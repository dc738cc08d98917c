package duckdb

import (
	"context"
	"io"
	"math/big"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"dither/internal/engine"
	"dither/internal/engine/enginetest"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/seal"
	"dither/internal/value"
)

// database is what sealing made of some rows, with what it recorded of them.
type database struct {
	*Engine
	policy *policy.Policy
	tables map[string]engine.Sealed
	memo   enginetest.Memo
}

var _ enginetest.Sealed = database{}

// sealed seals every table by itself, as seal.Seal does once a source is decoded: hostile rows are in files of types, and not in texts.
func (b *bench) sealedAs(_ int, w enginetest.World, tables enginetest.Tables, name string) (enginetest.Sealed, error) {
	out := database{b.Engine, w.Policy, map[string]engine.Sealed{}, enginetest.Memo{}}
	sealer := NewSealer(b.tmp)
	for table, rows := range tables {
		file, declared := filepath.Join(b.sealed, name+table+".parquet"), w.Policy.Table(table)
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			return nil, err
		}
		i := 0
		err := sealer.Write(context.Background(), file, declared, func(row []value.Value) error {
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
		facts, err := sealer.Inspect(context.Background(), file, declared)
		if err != nil {
			return nil, err
		}
		out.tables[table] = Known(seal.Version{Table: table, File: file, Facts: facts})
	}
	return out, nil
}

func (d database) from(b *plan.Bounded) engine.Sealed {
	if b.Source == nil {
		return d.tables[b.Table]
	}
	return engine.Sealed{Tables: d.tables}
}

func (d database) Sums(b *plan.Bounded, add func([]value.Value, []*big.Int)) error {
	sql, err := statement(b, d.from(b))
	if err != nil {
		return err
	}
	return d.memo.Sums(sql, add, func(add func([]value.Value, []*big.Int)) error {
		return d.run(context.Background(), sql, collect(b, add))
	})
}

func (d database) Order(b *plan.Bounded, add func(cell string, v, n int64)) error {
	sql, err := statement(b, d.from(b))
	if err != nil {
		return err
	}
	return d.memo.Order(sql, add, func(add func(cell string, v, n int64)) error {
		scan, err := d.scanCells(context.Background(), b, d.from(b))
		if err != nil {
			return err
		}
		return scan(func(cell int, v, n int64) bool { add(strconv.Itoa(cell), v, n); return true })
	})
}

func (d database) Rows(b *plan.Bounded, add func(first bool, row []int64) error) error {
	var sql string
	if from := d.from(b); b.Source == nil {
		sql = rowsOf(b, "FILE", from)
	} else {
		var err error
		if sql, err = statementOf(b, from, func(b *plan.Bounded, files sealedFiles) string { return rowsOfSource(b, files, "") }); err != nil {
			return err
		}
	}
	return d.memo.Rows(sql, add, func(add func(first bool, row []int64) error) error {
		return d.eachRow(context.Background(), b, d.from(b), add)
	})
}

func (d database) Known(o policy.Origin) ([]value.Value, error) {
	return d.Values(context.Background(), plan.PublicColumn(d.policy.Table(o.Table).Column(o.Column)), d.tables[o.Table], policy.MaxKeys+1)
}

// What DuckDB gives of two neighbouring databases, sealed each by itself, differs by what is planned at most.
func TestReplayAudit(t *testing.T) {
	audit := enginetest.Audit{Worlds: 12, Questions: 25, Parts: func(int) bool { return true }}
	if os.Getenv("DITHER_LONG") != "" {
		audit.Worlds, audit.Questions, audit.Least = 50, 40, 3
	}
	b := newBench(t)
	b.page, b.rowPage = 40, 40 // each page is a statement
	audit.Seal = b.sealedAs
	sealing := func(name string) bool {
		return strings.Contains(name, "/seal.go") || strings.Contains(name, "/known.go")
	}
	if !enginetest.Planted(t, audit, sealing) {
		audit.Run(t)
	}
}
