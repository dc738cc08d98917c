package duckdb

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"

	driverpkg "github.com/duckdb/duckdb-go/v2"

	"dither/internal/bounded"
	"dither/internal/engine"
	"dither/internal/value"
)

// Rehearse implements [engine.Engine]. It reads no sealed file. The planner makes every expression total, so no
// statement should fail. The rehearsal is a second check of this, and a failure is a defect of the plan.
//
// After it the database for the question itself is open. If it cannot open, nothing is charged.
func (e *Engine) Rehearse(ctx context.Context, b *bounded.Statement, _ engine.Sealed) error {
	var err error
	if b.Open() {
		err = e.rehearseOpen(ctx, b)
	} else {
		err = e.rehearse(ctx, rehearsed(b))
	}
	if err != nil {
		return err
	}
	_, err = e.questions.hold()
	if err == nil {
		e.questions.leave()
	}
	return err
}

// rehearse runs a statement in the database of rehearsals.
func (e *Engine) rehearse(ctx context.Context, statement string) error {
	err := e.rehearsals.run(ctx, statement, func([]driver.Value) error { return nil })
	var said *driverpkg.Error
	if errors.As(err, &said) && said.Type == driverpkg.ErrorTypeOutOfMemory {
		return fmt.Errorf("%w: %w", engine.ErrRehearsal, err)
	}
	return err
}

// rehearsed returns the statement of b over made-up rows.
func rehearsed(b *bounded.Statement) string {
	if b.Source == nil {
		return render(b, madeUp(b), engine.Sealed{})
	}
	return renderSource(b, sealedFiles{scans: madeUpTables(b)})
}

// madeUp returns made-up rows with the sealed columns that b reads.
func madeUp(b *bounded.Statement) string {
	columns := make([][]string, len(b.Columns))
	names := make([]string, len(b.Columns))
	for i, c := range b.Columns {
		columns[i], names[i] = corners(b, c.Type), identifier(c.Name)
	}
	if b.Unit != nil {
		columns = append(columns, []string{"1", "2", "3", "4", "5"}, []string{"1", "9", "1000000"})
		names = append(names, rankColumn, rowsColumn)
	}
	return madeUpOf(names, columns, engine.RehearsalRows)
}

// madeUpTables returns made-up rows for every table of a Source. It makes fewer rows for each table if there are
// more tables, because joins multiply them.
func madeUpTables(b *bounded.Statement) map[string]string {
	columns, names, scans := map[string][][]string{}, map[string][]string{}, 0
	add := func(table, column string, of value.Type) {
		name := identifier(column)
		if !slices.Contains(names[table], name) {
			names[table], columns[table] = append(names[table], name), append(columns[table], corners(b, of))
		}
	}
	b.Source.Walk(func(s *bounded.Source) {
		if s.Op != bounded.Scan {
			return
		}
		scans++
		for _, c := range s.Columns {
			add(s.Table, c.Name, c.Type)
		}
		if s.Unit != nil {
			add(s.Table, s.Unit.Name, s.Unit.Type)
		}
	})
	out := map[string]string{}
	for _, table := range b.Tables() {
		out[table] = madeUpOf(names[table], columns[table], max(engine.RehearsalRows/scans, 40))
	}
	return out
}

// madeUpOf returns n rows of the named columns, made of the given values of each column. DuckDB parses and plans each
// value once: a row has the numbers of its values, which it takes from a list for each column.
func madeUpOf(names []string, columns [][]string, n int) string {
	if len(columns) == 0 {
		return "(SELECT 1)"
	}
	numbers := make([][]int, len(columns))
	for i, values := range columns {
		for j := range values {
			numbers[i] = append(numbers[i], j+1)
		}
	}
	chosen := make([]strings.Builder, len(columns))
	for _, row := range engine.Mixed(numbers, n) {
		for i, number := range row {
			fmt.Fprintf(&chosen[i], ",%d", number)
		}
	}
	var taken, lists []string
	for i, values := range columns {
		taken = append(taken, fmt.Sprintf("[%s][x%d] AS %s", strings.Join(values, ", "), i, names[i]))
		lists = append(lists, fmt.Sprintf("unnest(CAST('[%s]' AS INTEGER[])) AS x%d", chosen[i].String()[1:], i))
	}
	return "(SELECT " + strings.Join(taken, ", ") + " FROM (SELECT " + strings.Join(lists, ", ") + "))"
}

// corners returns the SQL of engine.Corners, as values of a sealed file.
func corners(b *bounded.Statement, t value.Type) (out []string) {
	for _, v := range engine.Corners(b, t) {
		out = append(out, sealedConstant(v))
	}
	return out
}

// sealedConstant returns the SQL of a value as a sealed file holds it. There a date is a DATE.
func sealedConstant(v value.Value) string {
	switch {
	case v.Type == value.Date && v.Null:
		return "CAST(NULL AS DATE)"
	case v.Type == value.Date:
		return "DATE '" + v.String() + "'"
	}
	return constant(v)
}
