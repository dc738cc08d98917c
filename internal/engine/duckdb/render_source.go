package duckdb

import (
	"fmt"
	"slices"
	"strings"

	"dither/internal/bounded"
	"dither/internal/engine"
)

// sealedFiles holds the tables that a Source reads, by name: the SQL that scans each, and the facts recorded about
// it.
type sealedFiles struct {
	scans      map[string]string
	oneRowEach map[string]bool
	known      map[string]engine.Sealed // all facts
}

// single reports whether no unit has more than one row in s, by the form of the relation or by the facts that sealing
// recorded.
func (f sealedFiles) single(s *bounded.Source) bool {
	switch {
	case s.Single:
		return true
	case s.Op == bounded.Scan:
		return s.Unit != nil && f.oneRowEach[s.Table]
	case s.Op == bounded.Select, s.Op == bounded.Window, s.Op == bounded.Join && s.Most == 1:
		return s.Units && f.single(s.Inputs[0])
	}
	return false
}

// renderSource is like render, for a statement over a Source. Each operation of the Source becomes a SELECT with
// the columns c0, c1, … and, if its rows have units, the unit u. If no unit has more than one row, no cap can
// exclude anything, and the stage of caps is omitted as in render.
func renderSource(b *bounded.Statement, files sealedFiles) string {
	rows := evaluatedSource(b, files)
	if b.Unit != nil && (!files.single(b.Source) || b.CellsClamped()) {
		if b.Caps.Rows > 0 || b.GroupsCapped() || b.Ordered && b.Caps.Groups > 0 {
			rows = ranked("("+rows+")", []string{"u"}, engine.Contents(b), engine.Enough(b))
		}
		if b.Caps.Rows > 0 {
			rows = fmt.Sprintf("SELECT * FROM (%s) WHERE q <= %d", rows, b.Caps.Rows)
		}
		if b.Ordered && b.Caps.Groups > 0 {
			return orderedRows(b, cappedCells(b, rows))
		}
		if b.Caps.Groups > 0 {
			return dialect.SumUp(b, cellsOfUnits(b, rows))
		}
	}
	return addedUp(b, rows)
}

// evaluatedSource returns a SELECT of the rows that pass WHERE and have known keys, with the unit u if rows have
// units, the keys, and the gridded values.
func evaluatedSource(b *bounded.Statement, files sealedFiles) string {
	var row []string
	if b.Unit != nil {
		row = append(row, "u")
	}
	row = append(row, engine.KeysAndValues(b, expression, gridded)...)
	if len(row) == 0 {
		row = []string{"1"}
	}
	sql := "SELECT " + strings.Join(row, ", ") + " FROM (" + source(b.Source, files) + ")"
	if b.Where != nil {
		sql += " WHERE " + expression(b.Where)
	}
	return relabelled(b, "SELECT * FROM ("+sql+")"+engine.Kept(b, nil))
}

// rankedBy returns SQL that numbers the rows of each part, from 1. The order is by a digest of the unit and the
// contents, and then by the contents. It depends on that part's own rows alone. A part is the set of rows with one
// value of the columns that the parameter part lists.
func rankedBy(part []string, contents []engine.Content) string {
	var order []string
	unit := ""
	if slices.Contains(part, "u") {
		unit = "CAST(u AS VARCHAR)"
	}
	if sum := digest(unit, contents); sum != "" {
		order = append(order, sum)
	}
	for _, c := range contents {
		order = append(order, c.Name+" ASC NULLS LAST")
	}
	window := "PARTITION BY " + strings.Join(part, ", ")
	if len(order) > 0 {
		window += " ORDER BY " + strings.Join(order, ", ")
	}
	return "row_number() OVER (" + window + ")"
}

// digest returns the SQL of the digest of a row's unit and contents (see engine.Digested), or "".
func digest(unit string, contents []engine.Content) string {
	text := engine.Digested(unit, contents)
	if text == "" {
		return ""
	}
	return "sha256(" + text + ")"
}

// ranked adds the column q to rows: the number of a row within its part, from rankedBy. The columns of part divide the
// rows into parts. In parts with at most `enough` rows, q is 0, so only the few larger parts are sorted. All rows of a
// smaller part are used: engine.Enough has the proof. If a column of part is NULL, q is 0 too, because such rows match
// no other row.
func ranked(rows string, part []string, contents []engine.Content, enough int64) string {
	on := make([]string, len(part))
	for i, c := range part {
		on[i] = "a." + c + " = m." + c
	}
	names, same := strings.Join(part, ", "), strings.Join(on, " AND ")
	return fmt.Sprintf(
		"WITH a AS MATERIALIZED (SELECT * FROM %s), m AS (SELECT %s FROM a GROUP BY %s HAVING count(*) > %d) "+
			"SELECT a.*, CAST(0 AS BIGINT) AS q FROM a ANTI JOIN m ON %s "+
			"UNION ALL SELECT *, %s AS q FROM (SELECT a.* FROM a SEMI JOIN m ON %s)", rows, names, names, enough, same,
		rankedBy(part, contents), same)
}

// source returns a SELECT of the rows of s.
func source(s *bounded.Source, files sealedFiles) string {
	var inputs []string
	for _, in := range s.Inputs {
		inputs = append(inputs, "("+source(in, files)+")")
	}
	switch s.Op {
	case bounded.Scan:
		return scanned(s, files.scans[s.Table])
	case bounded.Owned:
		rows := fmt.Sprintf(
			"SELECT a.*, b.u FROM %s AS a JOIN (SELECT DISTINCT c%d AS k, u FROM %s) AS b ON a.c%d = b.k",
			inputs[0], s.ParentKey, inputs[1], s.ChildKey)
		if engine.OwnedFit(s, func(table string) engine.Sealed { return files.known[table] }) {
			return rows
		}
		return fmt.Sprintf("SELECT * EXCLUDE (q) FROM (%s) WHERE q <= %d", ranked("("+rows+")", []string{"u"}, contentsOf(s), s.Stored), s.Stored)
	case bounded.Select:
		sql := "SELECT " + outputs(s, 0) + " FROM " + inputs[0]
		if s.Where != nil {
			sql += " WHERE " + expression(s.Where)
		}
		return sql
	case bounded.Join:
		return joined(s, inputs[0], inputs[1], files.single(s.Inputs[1]))
	case bounded.Union:
		var all []string
		for _, in := range inputs {
			all = append(all, "SELECT "+names(s, 0)+" FROM "+in)
		}
		return strings.Join(all, " UNION ALL ")
	case bounded.PerUnit:
		return inside.PerUnit(s, inputs[0])
	case bounded.Window:
		return engine.Windowed(s, inputs[0], digest("CAST(u AS VARCHAR)", contentsOf(s.Inputs[0])))
	}
	panic("duckdb: no source " + string(s.Op))
}

// contentsOf returns all columns of s.
func contentsOf(s *bounded.Source) (out []engine.Content) {
	for i, c := range s.Columns {
		out = append(out, engine.Content{Name: column(i), Type: c.Type})
	}
	return out
}

// names returns a list of columns of s: the unit u if its rows have units, and the columns from index n on.
func names(s *bounded.Source, n int) string {
	var out []string
	if s.Units {
		out = append(out, "u")
	}
	for i := range s.Columns[n:] {
		out = append(out, column(n+i))
	}
	if len(out) == 0 {
		return "1"
	}
	return strings.Join(out, ", ")
}

// outputs returns a list of output columns: the unit u if the rows of s have units, and the expressions of s, named
// from index n on.
func outputs(s *bounded.Source, n int) string {
	var out []string
	if s.Units {
		out = append(out, "u")
	}
	for i, e := range s.Exprs {
		out = append(out, expression(e)+" AS "+column(n+i))
	}
	if len(out) == 0 {
		return "1"
	}
	return strings.Join(out, ", ")
}

// scanned returns a SELECT of a table's cleaned columns. The unit u is not cleaned, because cleaning could merge
// two units.
func scanned(s *bounded.Source, scan string) string {
	var cleaned []string
	for i, c := range s.Columns {
		cleaned = append(cleaned, clean(c)+" AS "+column(i))
	}
	where := ""
	if s.Unit != nil {
		unit := identifier(s.Unit.Name)
		cleaned, where = append(cleaned, unit+" AS u"), " WHERE "+unit+" IS NOT NULL"
	}
	if len(cleaned) == 0 {
		cleaned = []string{"1"}
	}
	return "SELECT " + strings.Join(cleaned, ", ") + " FROM " + scan + where
}

// joined returns the SELECT of a Join. It uses at most Most rows of each part of the second input: the rows with one
// unit, or one value of the columns Within. If single is set, the second input has at most one row for each unit, and
// this cap is omitted.
func joined(s *bounded.Source, left, right string, single bool) string {
	n, second := len(s.Inputs[0].Columns), s.Inputs[1]
	var part, row, on []string
	if second.Units {
		part, row, on = append(part, "u"), append(row, "u AS ru"), append(on, "a.u = b.ru")
	}
	for _, i := range engine.WithinOnce(s) {
		part = append(part, column(i))
	}
	of := contentsOf(second)
	for i := range second.Columns {
		row = append(row, column(i)+" AS "+column(n+i))
	}
	if !single {
		right = fmt.Sprintf("(SELECT * FROM (%s) WHERE q <= %d)", ranked(right, part, of, s.Most), s.Most)
	}
	for _, p := range s.Pairs {
		on = append(on, expression(p.L)+" = b."+column(n+p.R))
	}
	word := "JOIN"
	if s.Left {
		word = "LEFT JOIN"
	}
	out := make([]string, 0, len(s.Columns)+1)
	if s.Units {
		out = append(out, "a.u AS u")
	}
	for i := range s.Columns {
		out = append(out, column(i))
	}
	return fmt.Sprintf("SELECT %s FROM %s AS a %s (SELECT %s FROM %s) AS b ON %s",
		strings.Join(out, ", "), left, word, strings.Join(row, ", "), right, strings.Join(on, " AND "))
}

// inside is DuckDB's dialect for aggregates inside a unit. Sums are exact HUGEINTs.
var inside = engine.Inside{
	Dialect: dialect, Expression: expression,
	Clamped: func(whole string, lo, hi int64) string {
		return fmt.Sprintf("CAST(least(greatest(%s, %s), %s) AS BIGINT)", whole, integer(lo), integer(hi))
	},
	Average: func(x string, lo int64) string { // rounds down, because the dividend is not negative
		above := fmt.Sprintf("(sum(%s) - CAST(%s AS HUGEINT) * count(%[1]s))", x, integer(lo))
		return fmt.Sprintf("((2 * %s + count(%s)) // (2 * count(%[2]s)) + %s)", above, x, integer(lo))
	},
}
