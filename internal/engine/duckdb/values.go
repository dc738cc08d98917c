package duckdb

import (
	"context"
	"database/sql/driver"
	"fmt"
	"slices"
	"strings"

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

// PublicRows implements [engine.Engine]. The kernel calls it for public tables only.
func (e *Engine) PublicRows(ctx context.Context, columns []bounded.Column, from engine.Sealed, most int) ([][]value.Value, error) {
	scan, err := sealScan(from.File)
	if err != nil {
		return nil, err
	}
	list := make([]string, len(columns))
	for i, c := range columns {
		list[i] = clean(c)
	}
	var out [][]value.Value
	err = e.run(ctx, fmt.Sprintf("SELECT %s FROM %s LIMIT %d", strings.Join(list, ", "), scan, most), func(row []driver.Value) error {
		values := make([]value.Value, len(columns))
		for i, c := range columns {
			if x, real := row[i].(float64); real {
				values[i] = value.OfReal(x)
				continue
			}
			if values[i], err = scalar(c.Type, row[i]); err != nil {
				return err
			}
		}
		out = append(out, values)
		return nil
	})
	return out, err
}
