package duckdb

import (
	"context"
	"database/sql/driver"
	"math"
	"slices"
	"strings"

	"dither/internal/engine"
	"dither/internal/plan"
	"dither/internal/value"
)

// rehearsalRows is how many made-up rows a rehearsal runs over.
const rehearsalRows = 192

// Rehearse runs b's statement over made-up rows of extreme values. A statement that fails here would let a row decide
// whether a question fails, which noise does not hide: it must not be asked. The proof that there is none is the plan's
// (every expression is total); this is a second belt, and a failure here a defect there. It reads no sealed file.
func (e *Engine) Rehearse(ctx context.Context, b *plan.Bounded) error {
	if b.Open() {
		return e.rehearseOpen(ctx, b)
	}
	return e.run(ctx, rehearsed(b), func([]driver.Value) error { return nil })
}

// rehearsed is b's statement over made-up rows.
func rehearsed(b *plan.Bounded) string {
	if b.Source == nil {
		return render(b, madeUp(b), engine.Sealed{})
	}
	return renderSource(b, sealedFiles{scans: madeUpTables(b)})
}

// madeUp writes rows of the sealed columns that b reads: in each, every column holds some extreme value of its type or
// some constant of the question, so paired that across the rows columns meet in many ways.
func madeUp(b *plan.Bounded) string {
	columns := make([][]string, len(b.Columns))
	names := make([]string, len(b.Columns))
	for i, c := range b.Columns {
		columns[i], names[i] = corners(b, c.Type), identifier(c.Name)
	}
	if b.Unit != nil {
		columns = append(columns, []string{"1", "2", "3", "4", "5"}, []string{"1", "9", "1000000"})
		names = append(names, rankColumn, rowsColumn)
	}
	return madeUpOf(names, columns, rehearsalRows)
}

// madeUpTables writes rows for every table of a Source: of several tables fewer, since they meet.
func madeUpTables(b *plan.Bounded) map[string]string {
	columns, names, scans := map[string][][]string{}, map[string][]string{}, 0
	add := func(table, column string, of value.Type) {
		name := identifier(column)
		if !slices.Contains(names[table], name) {
			names[table], columns[table] = append(names[table], name), append(columns[table], corners(b, of))
		}
	}
	b.Source.Walk(func(s *plan.Source) {
		if s.Op != plan.Scan {
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
		out[table] = madeUpOf(names[table], columns[table], max(rehearsalRows/scans, 40))
	}
	return out
}

// madeUpOf writes so many rows of columns by name, each with its values.
func madeUpOf(names []string, columns [][]string, n int) string {
	if len(columns) == 0 {
		return "(SELECT 1)"
	}
	rows := make([]string, n)
	for r := range rows {
		row := make([]string, len(columns))
		step := uint64(r) // which may run over: there are questions of many columns
		for i, values := range columns {
			row[i] = values[step%uint64(len(values))]
			step = step*31 + uint64(r/(i+2)+i+7) // only to vary which values meet
		}
		rows[r] = "(" + strings.Join(row, ", ") + ")"
	}
	return "(SELECT * FROM (VALUES " + strings.Join(rows, ", ") + ") AS made_up(" + strings.Join(names, ", ") + "))"
}

// corners are extreme values of a type as a sealed file may hold them, and the question's constants with their neighbours.
func corners(b *plan.Bounded, t value.Type) []string {
	values := []value.Value{value.NullOf(t)}
	integers := []int64{0, 1, -1, 2, 1 << 31, 1 << 53, math.MaxInt64, math.MinInt64, math.MinInt64 + 1}
	reals := []float64{
		0, math.Copysign(0, -1), 1, -1, 0.5, 1.5, -2.5, 5e-324, -5e-324, 0x1p-60, 0x1p53, 0x1p63, -0x1p63, math.MaxFloat64,
		-math.MaxFloat64, math.NaN(), math.Inf(1), math.Inf(-1),
	}
	texts := []string{"", "a", "~", "%", "\\", "'", "|", "Straße", strings.Repeat("x", value.MaxTextBytes)}
	days := []int64{0, value.MinDay, value.MaxDay}
	for _, x := range plan.Constants(b) {
		switch x.Type {
		case value.Integer, value.Date:
			integers = append(integers, x.Int-1, x.Int, x.Int+1)
			days = append(days, clampDay(x.Int-1), clampDay(x.Int), clampDay(x.Int+1))
			reals = append(reals, float64(x.Int))
		case value.Real:
			reals = append(reals, x.Real, math.Nextafter(x.Real, math.Inf(1)), math.Nextafter(x.Real, math.Inf(-1)))
		case value.Text:
			texts = append(texts, x.Text)
		case value.Boolean:
		}
	}
	switch t {
	case value.Integer:
		values = appendValues(values, integers, value.OfInt)
	case value.Real:
		values = appendValues(values, reals, value.OfReal)
	case value.Text:
		values = appendValues(values, texts, value.OfText)
	case value.Date:
		values = appendValues(values, days, value.OfDay)
	case value.Boolean:
		values = append(values, value.OfBool(false), value.OfBool(true))
	}
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = sealedConstant(v)
	}
	return out
}

func appendValues[T any](values []value.Value, more []T, of func(T) value.Value) []value.Value {
	for _, x := range more {
		values = append(values, of(x))
	}
	return values
}

func clampDay(day int64) int64 { return min(max(day, value.MinDay), value.MaxDay) }

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
