package duckdb

import (
	"context"
	"database/sql/driver"
	"fmt"
	"slices"

	"dither/internal/bounded"
	"dither/internal/engine"
	"dither/internal/value"
)

// Values implements [engine.Engine]. The kernel calls it for public tables only.
func (e *Engine) Values(ctx context.Context, c bounded.Column, from engine.Sealed, most int) ([]value.Value, error) {
	scan, err := sealScan(from.File)
	if err != nil {
		return nil, err
	}
	var out []value.Value
	statement := fmt.Sprintf("SELECT DISTINCT k FROM (SELECT %s AS k FROM %s) WHERE k IS NOT NULL ORDER BY k LIMIT %d",
		clean(c), scan, most)
	err = e.run(ctx, statement, func(row []driver.Value) error {
		v, err := scalar(c.Type, row[0])
		out = append(out, v)
		return err
	})
	slices.SortFunc(out, value.Compare)
	return out, err
}
