package duckdb

import (
	"context"
	"fmt"
	"strings"

	"dither/internal/bounded"
	"dither/internal/engine"
)

// sourcePages are the statements where the rows are a Source's: one, where its tables are so small that it cannot have
// more rows than a page, or it is counted and has not. Of several each computes all of it, and gives the units whose
// hash is its own; or, where rows are units, the rows.
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

// mostRows bounds how many rows a Source has, whose tables have so many.
func mostRows(s *bounded.Source, tables map[string]int64) int64 {
	const enough = 1 << 40 // for several pages, and far from overflowing
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

// rowsOfSource is rowsOf where the rows are a Source's, of which those are given that a condition holds of: "" for all.
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
