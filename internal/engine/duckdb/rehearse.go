package duckdb

import (
	"context"
	"database/sql/driver"
	"strings"

	"dither/internal/engine"
	"dither/internal/plan"
	"dither/internal/value"
)

// Rehearse runs b's statement over made-up rows of extreme values. A statement that fails here would let a row decide
// whether a question fails, which noise does not hide: it must not be asked. The proof that there is none is the plan's
// (every expression is total); this is a second belt, and a failure here a defect there. It reads no sealed file.
func (e *Engine) Rehearse(ctx context.Context, b *plan.Bounded, _ engine.Sealed) error {
	return e.run(ctx, render(b, madeUp(b), engine.Sealed{}), func([]driver.Value) error { return nil })
}

// madeUp writes rows of the sealed columns that b reads.
func madeUp(b *plan.Bounded) string {
	columns := make([][]string, len(b.Columns))
	names := make([]string, len(b.Columns))
	for i, c := range b.Columns {
		for _, v := range engine.Corners(b, c.Type) {
			columns[i] = append(columns[i], sealedConstant(v))
		}
		names[i] = identifier(c.Name)
	}
	if b.Unit != nil {
		columns = append(columns, []string{"1", "2", "3", "4", "5"}, []string{"1", "9", "1000000"})
		names = append(names, rankColumn, rowsColumn)
	}
	if len(columns) == 0 {
		return "(SELECT 1)"
	}
	var rows []string
	for _, row := range engine.Mixed(columns) {
		rows = append(rows, "("+strings.Join(row, ", ")+")")
	}
	return "(SELECT * FROM (VALUES " + strings.Join(rows, ", ") + ") AS made_up(" + strings.Join(names, ", ") + "))"
}

// sealedConstant writes a value as a sealed file holds it, where a date is a DATE.
func sealedConstant(v value.Value) string {
	switch {
	case v.Type == value.Date && v.Null:
		return "CAST(NULL AS DATE)"
	case v.Type == value.Date:
		return "DATE '" + v.String() + "'"
	}
	return constant(v)
}
