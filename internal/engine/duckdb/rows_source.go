package duckdb

import (
	"context"
	"fmt"
	"strings"

	"dither/internal/bounded"
	"dither/internal/engine"
)

// sourcePages returns the statements for the rows of a Source, one for each page. One page suffices if the sizes of
// the tables or a count of the rows show that all rows fit it. Otherwise each statement computes the whole Source,
// and returns the units whose hash belongs to its page. If each row is a unit, it does the same with the rows.
func (e *Engine) sourcePages(ctx context.Context, b *bounded.Statement, from engine.Sealed) ([]string, error) {
	page := func(condition string) (string, error) {
		return statementOf(b, from,
			func(b *bounded.Statement, files sealedFiles) string { return rowsOfSource(b, files, condition) })
	}
	whole, err := page("")
	if err != nil {
		return nil, err
	}
	tables := map[string]int64{}
	for name, known := range from.Tables {
		scan, err := storedScan(known)
		if err != nil {
			return nil, err
		}
		if tables[name], err = e.count(ctx, scan); err != nil {
			return nil, err
		}
	}
	if mostRows(b.Source, tables) <= int64(e.rowPage) {
		return []string{whole}, nil
	}
	rows, err := e.count(ctx, "("+whole+")")
	if err != nil {
		return nil, err
	}
	pages := e.pages(rows)
	if pages == 1 {
		return []string{whole}, nil
	}
	var values []string
	for i := range b.Measures {
		values = append(values, fmt.Sprintf("v%d", i))
	}
	part := strings.Join(values, ", ")
	if b.Unit != nil {
		part = "u"
	}
	var out []string
	for i := range pages {
		statement, err := page(fmt.Sprintf("hash(%s) %% %d = %d", part, pages, i))
		if err != nil {
			return nil, err
		}
		out = append(out, statement)
	}
	return out, nil
}

// mostRows returns an upper bound on the number of rows of a Source, given the numbers of rows of its tables.
// Bounds above 2^40 are returned as 2^40.
func mostRows(s *bounded.Source, tables map[string]int64) int64 {
	const enough = 1 << 40 // more than any page, and far from overflow
	if s.Op == bounded.Scan {
		return tables[s.Table]
	}
	rows, times := mostRows(s.Inputs[0], tables), int64(1)
	switch s.Op {
	case bounded.Union:
		for _, input := range s.Inputs[1:] {
			rows += mostRows(input, tables)
		}
	case bounded.Join:
		times = max(s.Most, 1)
	case bounded.Owned:
		times = max(mostRows(s.Inputs[1], tables), 1)
	}
	if rows >= enough/times {
		return enough
	}
	return rows * times
}

// rowsOfSource is like rowsOf, for the rows of a Source that satisfy a condition. The condition "" selects all
// rows.
func rowsOfSource(b *bounded.Statement, files sealedFiles, condition string) string {
	rows := evaluatedSource(b, files)
	kept := func(rows string, conditions ...string) string {
		if condition != "" {
			conditions = append(conditions, condition)
		}
		if len(conditions) == 0 {
			return rows
		}
		return "SELECT * FROM (" + rows + ") WHERE " + strings.Join(conditions, " AND ")
	}
	if b.Unit == nil || files.single(b.Source) {
		return rowsIn(b, kept(rows), false)
	}
	rows = ranked("("+rows+")", []string{"u"}, engine.Contents(b), b.Caps.Rows)
	return rowsIn(b, kept(rows, fmt.Sprintf("q <= %d", b.Caps.Rows)), true)
}
