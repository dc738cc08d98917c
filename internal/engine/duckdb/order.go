package duckdb

import (
	"context"
	"database/sql/driver"
	"fmt"
	"math"

	"dither/internal/bounded"
	"dither/internal/engine"
	"dither/mechanism"
)

// defaultPage is how many distinct values one statement of a pass returns. The driver holds a whole result in
// memory.
const defaultPage = 1 << 22

// Order implements [engine.Engine]. A pass runs one statement for each page of distinct values, in increasing
// order. DuckDB groups and sorts them, on disk if necessary.
func (e *Engine) Order(ctx context.Context, b *bounded.Statement, from engine.Sealed) (mechanism.Ordered, error) {
	scan, err := e.scan(ctx, b, from)
	if err != nil {
		return mechanism.Ordered{}, err
	}
	return mechanism.NewOrdered(scan), nil
}

// scan returns one pass over the values of b's one measure.
func (e *Engine) scan(
	ctx context.Context, b *bounded.Statement, from engine.Sealed,
) (func(yield func(value, count int64) bool) error, error) {
	counted, err := statement(b, from)
	if err != nil {
		return nil, err
	}
	return func(yield func(value, count int64) bool) error {
		after := int64(math.MinInt64) // the last value read; no value is as small as its initial value
		for {
			values, enough := 0, false
			statement := fmt.Sprintf("SELECT * FROM (%s) WHERE m0 > %s ORDER BY m0 LIMIT %d",
				counted, integer(after), e.page)
			err := e.run(ctx, statement, func(row []driver.Value) error {
				v, isValue := row[0].(int64)
				n, isCount := row[1].(int64)
				if !isValue || !isCount {
					return fmt.Errorf("duckdb: a value of Go type %T, a number of type %T", row[0], row[1])
				}
				if !enough {
					after, enough = v, !yield(v, n)
				}
				values++
				return nil
			})
			if err != nil || enough || values < e.page {
				return err
			}
		}
	}, nil
}
