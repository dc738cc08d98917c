package duckdb

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"dither/internal/engine"
	"dither/internal/plan"
	"dither/internal/value"
)

// sealedFiles are the tables that a Source reads, and those of which it was recorded that no unit has more than one row.
type sealedFiles struct {
	scans      map[string]string
	oneRowEach map[string]bool
}

// single holds where no unit has more than one row: by construction, or by what was recorded of the files.
func (f sealedFiles) single(s *plan.Source) bool {
	switch {
	case s.Single:
		return true
	case s.Op == plan.Scan:
		return s.Unit != nil && f.oneRowEach[s.Table]
	case s.Op == plan.Select, s.Op == plan.Join && s.Most == 1:
		return s.Units && f.single(s.Inputs[0])
	}
	return false
}

// renderSource is render where the rows are a Source's. Each node is a SELECT that gives its columns c0, c1, … as they are
// cleaned, and the unit u where there is one. Where no unit has more than one row no cap can cut anything off.
func renderSource(b *plan.Bounded, files sealedFiles) string {
	rows := evaluatedSource(b, files)
	if b.Unit != nil && (!files.single(b.Source) || b.CellsClamped()) {
		least := b.Caps.Rows // units with no more rows need no order: all their rows and groups count
		if b.Caps.Groups > 0 && (least == 0 || b.Caps.Groups < least) {
			least = b.Caps.Groups
		}
		if b.Ordered && b.Caps.Groups > 0 { // then the rows in a group are counted too
			least = min(least, b.Caps.RowsPerGroup)
		}
		if b.Caps.Rows > 0 || len(b.Keys) > 0 || b.Ordered {
			rows = ranked("("+rows+")", []string{"u"}, contents(b), least)
		}
		if b.Caps.Rows > 0 {
			rows = fmt.Sprintf("SELECT * FROM (%s) WHERE q <= %d", rows, b.Caps.Rows)
		}
		if b.Ordered && b.Caps.Groups > 0 {
			return orderedRows(b, cappedCells(b, rows))
		}
		if b.Caps.Groups > 0 {
			return sumUp(b, cellsOfUnits(b, rows))
		}
	}
	return addedUp(b, rows)
}

// evaluatedSource gives the kept rows: the unit u where there is one, the keys, and the gridded values.
func evaluatedSource(b *plan.Bounded, files sealedFiles) string {
	var row []string
	if b.Unit != nil {
		row = append(row, "u")
	}
	for i, k := range b.Keys {
		row = append(row, fmt.Sprintf("%s AS k%d", expression(k.Expr), i))
	}
	for i, m := range b.Measures {
		row = append(row, fmt.Sprintf("%s AS v%d", gridded(m), i))
	}
	if len(row) == 0 {
		row = []string{"1"}
	}
	sql := "SELECT " + strings.Join(row, ", ") + " FROM (" + source(b.Source, files) + ")"
	if b.Where != nil {
		sql += " WHERE " + expression(b.Where)
	}
	return relabelled(b, "SELECT * FROM ("+sql+")"+engine.Kept(b, nil))
}

// contents are a row's keys and values, by which a unit's rows are put in order: rows that are equal in all of them add the
// same, whichever of them count.
func contents(b *plan.Bounded) (out []typed) {
	for i, k := range b.Keys {
		out = append(out, typed{fmt.Sprintf("k%d", i), k.Expr.Type})
	}
	if b.Other {
		out = append(out, typed{"o", value.Boolean})
	}
	for i, m := range b.Measures {
		of := value.Integer // on a grid
		if m.Kind == plan.CountDistinct {
			of = m.X.Type
		}
		out = append(out, typed{fmt.Sprintf("v%d", i), of})
	}
	return out
}

// typed is a column of a statement.
type typed struct {
	name string
	of   value.Type
}

// rankedBy numbers the rows of each part by a hash of their unit and their contents, and then by the contents: an order that depends on that
// part's own rows, and that favours neither small values nor large ones; nor, since the unit is hashed too, the same values for all units, of
// which sums and quantiles would be far off however many units there are. Reals are left out of the hash, since each engine writes them in its
// own way.
func rankedBy(part []string, contents []typed) string {
	var hashed, order []string
	if slices.Contains(part, "u") {
		hashed = append(hashed, "CAST(u AS VARCHAR)")
	}
	for _, c := range contents {
		if c.of != value.Real {
			hashed = append(hashed, "coalesce(CAST("+c.name+" AS VARCHAR), '~')")
		}
		order = append(order, c.name+" ASC NULLS LAST")
	}
	if len(hashed) > 0 {
		order = append([]string{"sha256(" + strings.Join(hashed, " || '|' || ") + ")"}, order...)
	}
	window := "PARTITION BY " + strings.Join(part, ", ")
	if len(order) > 0 {
		window += " ORDER BY " + strings.Join(order, ", ")
	}
	return "row_number() OVER (" + window + ")"
}

// ranked adds the rank q of each row within its part, by its contents. It is 0 in parts of no more rows than enough, of which all
// are taken: so that what is sorted are the few parts that have more. (Where a column of the part is NULL, it is 0 too: such rows
// meet none.)
func ranked(rows string, part []string, contents []typed, enough int64) string {
	on := make([]string, len(part))
	for i, c := range part {
		on[i] = "a." + c + " = m." + c
	}
	names, same := strings.Join(part, ", "), strings.Join(on, " AND ")
	return fmt.Sprintf("WITH a AS MATERIALIZED (SELECT * FROM %s), m AS (SELECT %s FROM a GROUP BY %s HAVING count(*) > %d) "+
		"SELECT a.*, CAST(0 AS BIGINT) AS q FROM a ANTI JOIN m ON %s "+
		"UNION ALL SELECT *, %s AS q FROM (SELECT a.* FROM a SEMI JOIN m ON %s)", rows, names, names, enough, same, rankedBy(part, contents), same)
}

// source writes a Source over the scans of its tables.
func source(s *plan.Source, files sealedFiles) string {
	var inputs []string
	for _, in := range s.Inputs {
		inputs = append(inputs, "("+source(in, files)+")")
	}
	switch s.Op {
	case plan.Scan:
		return scanned(s, files.scans[s.Table])
	case plan.Owned:
		return fmt.Sprintf("SELECT a.*, b.u FROM %s AS a JOIN (SELECT DISTINCT c%d AS k, u FROM %s) AS b ON a.c%d = b.k",
			inputs[0], s.ParentKey, inputs[1], s.ChildKey)
	case plan.Select:
		sql := "SELECT " + outputs(s, 0) + " FROM " + inputs[0]
		if s.Where != nil {
			sql += " WHERE " + expression(s.Where)
		}
		return sql
	case plan.Join:
		return joined(s, inputs[0], inputs[1], files.single(s.Inputs[1]))
	case plan.Union:
		var all []string
		for _, in := range inputs {
			all = append(all, "SELECT "+names(s, 0)+" FROM "+in)
		}
		return strings.Join(all, " UNION ALL ")
	case plan.PerUnit:
		return perUnit(s, inputs[0])
	}
	panic("duckdb: no source " + string(s.Op))
}

// names are the unit, where there is one, and the columns from the n-th on.
func names(s *plan.Source, n int) string {
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

// outputs are the unit, and the source's expressions as columns.
func outputs(s *plan.Source, n int) string {
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

// scanned gives a table's cleaned columns, and the unit as it is sealed: cleaning must not make one unit of two.
func scanned(s *plan.Source, scan string) string {
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

// joined puts the second input's rows, at most Most of one part, beside the first's.
func joined(s *plan.Source, left, right string, single bool) string {
	n, second := len(s.Inputs[0].Columns), s.Inputs[1]
	var part, contents, row, on []string
	if second.Units {
		part, row, on = append(part, "u"), append(row, "u AS ru"), append(on, "a.u = b.ru")
	}
	for _, i := range s.Within {
		part = append(part, column(i))
	}
	var of []typed
	for i, c := range second.Columns {
		contents = append(contents, column(i))
		of = append(of, typed{column(i), c.Type})
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
	out := make([]string, 0, n+len(contents)+1)
	if s.Units {
		out = append(out, "a.u AS u")
	}
	for i := range s.Columns {
		out = append(out, column(i))
	}
	return fmt.Sprintf("SELECT %s FROM %s AS a %s (SELECT %s FROM %s) AS b ON %s", strings.Join(out, ", "), left, word, strings.Join(row, ", "), right, strings.Join(on, " AND "))
}

// perUnit gives one row for each unit and value of the keys.
func perUnit(s *plan.Source, input string) string {
	row, group, out := []string{"u"}, []string{"u"}, []string{"u"}
	for i, e := range s.Exprs {
		row, group, out = append(row, expression(e)+" AS "+column(i)), append(group, column(i)), append(out, column(i))
	}
	for i, a := range s.Aggregates {
		x := fmt.Sprintf("x%d", i)
		if a.X != nil {
			row = append(row, innerValue(a)+" AS "+x)
		}
		out = append(out, inner(a, x)+" AS "+column(len(s.Exprs)+i))
	}
	return "SELECT " + strings.Join(out, ", ") + " FROM (SELECT " + strings.Join(row, ", ") + " FROM " + input + ") GROUP BY " + strings.Join(group, ", ")
}

// innerValue is what an aggregate inside a unit reads of a row.
func innerValue(a plan.Inner) string {
	x := expression(a.X)
	if a.Gridded() {
		return "CAST((" + x + " * " + double(math.Ldexp(1, -a.Grid)) + ") AS BIGINT)"
	}
	return x
}

// inner is an aggregate over x: sums are of HUGEINTs, and exact.
func inner(a plan.Inner, x string) string {
	lo, hi := integer(a.Lo), integer(a.Hi)
	clamped := func(n string) string { return fmt.Sprintf("CAST(least(greatest(%s, %s), %s) AS BIGINT)", n, lo, hi) }
	switch a.Func {
	case plan.InnerRows:
		return clamped("count(*)")
	case plan.InnerCount:
		return clamped("count(" + x + ")")
	case plan.InnerDistinct:
		return clamped("count(DISTINCT " + x + ")")
	case plan.InnerMin, plan.InnerMax:
		return string(a.Func) + "(" + x + ")"
	case plan.InnerAny:
		return "bool_or(" + x + ")"
	case plan.InnerAll:
		return "bool_and(" + x + ")"
	case plan.InnerSum:
		if !a.Gridded() { // least and greatest pass over NULL, which stays one
			return "CASE WHEN count(" + x + ") > 0 THEN " + clamped("sum("+x+")") + " END"
		}
		return "CASE WHEN count(" + x + ") > 0 THEN (CAST(" + clamped("sum("+x+")") + " AS DOUBLE) * " + double(math.Ldexp(1, a.Grid)) + ") END"
	case plan.InnerAverage: // what is divided is not negative: x is nowhere below Lo
		above := fmt.Sprintf("(sum(%s) - CAST(%s AS HUGEINT) * count(%s))", x, lo, x)
		nearest := fmt.Sprintf("((2 * %s + count(%s)) // (2 * count(%s)) + %s)", above, x, x, lo)
		return "CASE WHEN count(" + x + ") > 0 THEN (CAST(" + clamped(nearest) + " AS DOUBLE) * " + double(math.Ldexp(1, a.Grid)) + ") END"
	}
	panic("duckdb: no aggregate " + string(a.Func))
}
