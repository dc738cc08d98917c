package duckdb

import (
	"context"
	"database/sql/driver"
	"fmt"
	"strings"

	"dither/internal/bounded"
	"dither/internal/engine"
	"dither/mechanism"
)

// defaultRowPage is roughly how many rows one statement returns. The driver holds a whole result in memory.
const defaultRowPage = 1 << 21

// Rows implements [engine.Engine]. It runs one statement for each page of rows. All rows of a unit are in one page,
// and follow each other.
func (e *Engine) Rows(ctx context.Context, b *bounded.Statement, from engine.Sealed, into *mechanism.Rows) error {
	if err := e.eachRow(ctx, b, from, into.Add); err != nil {
		return err
	}
	return into.Seal()
}

// eachRow passes the integers of each row to add. The argument first reports whether the row is the first of its
// unit.
func (e *Engine) eachRow(
	ctx context.Context, b *bounded.Statement, from engine.Sealed, add func(first bool, row []int64) error,
) error {
	statements, err := e.rowPages(ctx, b, from)
	if err != nil {
		return err
	}
	row := make([]int64, len(b.Measures))
	for _, statement := range statements {
		var unit driver.Value // unit of the previous row; units are never NULL
		grouped := strings.HasPrefix(statement, groupedRows)
		err := e.run(ctx, statement, func(values []driver.Value) error {
			first := true
			if grouped {
				first = unit != values[0]
				unit, values = values[0], values[1:]
			}
			for i, v := range values {
				n, ok := v.(int64)
				if !ok {
					return fmt.Errorf("duckdb: a coordinate of Go type %T", v)
				}
				row[i] = n
			}
			return add(first, row)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// groupedRows is the beginning of a statement whose units may have several rows. The first column of its result is
// the unit.
const groupedRows = "SELECT u, "

// rowPages returns the statements for the rows of b, one for each page.
func (e *Engine) rowPages(ctx context.Context, b *bounded.Statement, from engine.Sealed) ([]string, error) {
	if b.Source != nil {
		return e.sourcePages(ctx, b, from)
	}
	scan, err := storedScan(from)
	if err != nil {
		return nil, err
	}
	rows, err := e.count(ctx, scan)
	if err != nil {
		return nil, err
	}
	pages := e.pages(rows)
	var out []string
	for i := range pages {
		page := scan
		switch {
		case pages == 1:
		case b.Unit != nil:
			page = fmt.Sprintf("(SELECT * FROM %s WHERE hash(%s) %% %d = %d)", scan, identifier(b.Unit.Name), pages, i)
		default:
			numbered := strings.TrimSuffix(scan, ")") + ", file_row_number = true)"
			page = fmt.Sprintf("(SELECT * EXCLUDE (file_row_number) FROM %s WHERE file_row_number %% %d = %d)",
				numbered, pages, i)
		}
		out = append(out, rowsOf(b, page, from))
	}
	return out, nil
}

func (e *Engine) count(ctx context.Context, from string) (rows int64, err error) {
	err = e.run(ctx, "SELECT count(*) FROM "+from, func(values []driver.Value) error {
		rows, _ = values[0].(int64)
		return nil
	})
	return rows, err
}

func (e *Engine) pages(rows int64) int64 {
	return max((rows+int64(e.rowPage)-1)/int64(e.rowPage), 1)
}

// rowsOf returns a SELECT of the contributions m0, m1, … of each row that counts. If units may have several rows,
// the unit u comes first, and the rows are sorted by it.
func rowsOf(b *bounded.Statement, scan string, known engine.Sealed) string {
	scan = owned(b, scan, known)
	if b.Unit == nil || known.OneRowEach {
		return rowsIn(b, evaluated(b, scan, known), false)
	}
	return rowsIn(b, cappedRows(b, scan, known), true)
}

func rowsIn(b *bounded.Statement, rows string, grouped bool) string {
	added := strings.Join(contributions(b), ", ")
	if !grouped {
		return "SELECT " + added + " FROM (" + rows + ")"
	}
	return groupedRows + added + " FROM (" + rows + ") ORDER BY u"
}
