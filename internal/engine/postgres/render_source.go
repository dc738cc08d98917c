package postgres

import (
	"fmt"
	"slices"
	"strings"

	"dither/internal/bounded"
	"dither/internal/engine"
	"dither/internal/value"
)

// renderSource is render for the rows of a Source. Each node is a SELECT with its cleaned columns c0, c1, …, and the
// unit u if there is one. A node that computes is a fence, like a stage of render; a join computes only what it
// compares.
//
// That no two units' rows meet is the plan's proof (bounded.Source); each node here gives the rows that it speaks of.
// It remains to show that a choice among a unit's rows depends on that unit alone, and is the same on every engine. Let
// R be the multiset of the rows of a part (a unit's, or in a join a unit's or value's of Within), a row being its
// contents. ranked compares nothing but contents: a digest of unit and contents, and then the contents, each in a total
// order (bigint, boolean, double without NaN, text by its bytes; NULL last). Rows of which the order is open are equal
// in all contents, but for −0 and 0, which no expression tells apart; so the multiset of the first n is a function of
// R and n, whatever order rows arrive in. A unit's cells are in the order of the least place of their rows, and no two
// have the same. (Where a unit has so few rows that no cap can leave out any of them, or any of their cells, all their
// places are 0, and all are taken.) Of what was recorded at sealing only how many rows refer to one is relied on, of
// copies (engine.OwnedFit has the proof); where no unit has more than one row by construction, no cap can cut anything
// off. ∎
func renderSource(b *bounded.Statement, in *rows) string {
	rows := evaluatedSource(b, in)
	if b.Unit != nil && (!b.Source.Single || b.CellsClamped()) {
		if b.Caps.Rows > 0 || len(b.Keys) > 0 || b.Ordered && b.Caps.Groups > 0 {
			rows = ranked(rows, part{unit: unitType(b.Source)}, engine.Contents(b), engine.Enough(b))
		}
		if b.Caps.Rows > 0 {
			rows = fmt.Sprintf("SELECT * FROM (%s) AS p WHERE q <= %d", rows, b.Caps.Rows)
		}
		switch {
		case b.Ordered && b.Caps.Groups > 0:
			rows = cappedCells(b, rows)
		case b.Caps.Groups > 0:
			return engine.SumUp(b, cellsOfSource(b, rows))
		}
	}
	return addedUp(b, rows)
}

// unitType is the type of a Source's unit, or 0.
func unitType(s *bounded.Source) (of value.Type) {
	s.Walk(func(s *bounded.Source) {
		if s.Op == bounded.Scan && s.Unit != nil {
			of = s.Unit.Type
		}
	})
	return of
}

// evaluatedSource writes the kept rows: the unit u if there is one, the keys, and the gridded values.
func evaluatedSource(b *bounded.Statement, in *rows) string {
	row := engine.KeysAndValues(b, expression, gridded)
	var unit []string
	if b.Unit != nil {
		unit = []string{"u"}
	}
	sql := "SELECT " + list(unit, row) + " FROM (" + node(b.Source, in) + ") AS s"
	if b.Where != nil {
		sql += " WHERE " + expression(b.Where)
	}
	return relabelledBeside(b, unit, "SELECT * FROM ("+sql+" OFFSET 0) AS e"+engine.Kept(b, nil))
}

// part is the group within which rows are numbered: those of one unit, with this type or 0, and of one value of each of
// some columns.
type part struct {
	unit   value.Type
	within []string
}

func (p part) columns() []string {
	if p.unit == 0 {
		return p.within
	}
	return append([]string{"u"}, p.within...)
}

// ranked adds to rows, which have their part's unit and their contents, the place q of each within its part: in the
// order of a digest of unit and contents, and then of the contents. In parts with at most enough rows, all of which are
// used, q is 0, so only the few larger parts are sorted; engine.Enough proves that this is correct for everything that
// reads q. No column of a part is NULL.
func ranked(rows string, p part, contents []engine.Content, enough int64) string {
	var columns, order []string
	unit := ""
	if p.unit != 0 {
		columns, unit = []string{"u"}, unitText(p.unit)
	}
	if text := engine.Digested(unit, contents); text != "" {
		order = append(order, "sha256(convert_to("+text+", 'UTF8'))")
	}
	for _, c := range contents {
		columns, order = append(columns, c.Name), append(order, c.Name)
	}
	same := make([]string, len(p.columns()))
	for i, c := range p.columns() {
		same[i] = "a." + c + " = m." + c
	}
	of, meets := list(p.columns()), "EXISTS (SELECT FROM m WHERE "+strings.Join(same, " AND ")+")"
	window := "PARTITION BY " + of
	if len(order) > 0 {
		window += " ORDER BY " + list(order)
	}
	return fmt.Sprintf(
		"WITH a AS MATERIALIZED (%s), m AS MATERIALIZED (SELECT %s FROM a GROUP BY %[2]s HAVING count(*) > %[3]d) "+
			"SELECT %[4]s, CAST(0 AS bigint) AS q FROM a WHERE NOT %[5]s UNION ALL SELECT %[4]s, row_number() OVER (%[6]s) AS q FROM a WHERE %[5]s",
		rows, of, enough, list(columns), meets, window)
}

// unitText writes the unit as the digest has it; a day is 2000-12-31.
func unitText(of value.Type) string {
	if of == value.Date {
		return "CAST(DATE '1970-01-01' + CAST(u AS integer) AS text)"
	}
	return "CAST(u AS text)"
}

// node writes a Source over its tables.
func node(s *bounded.Source, in *rows) string {
	inputs := make([]string, len(s.Inputs))
	for i, input := range s.Inputs {
		inputs[i] = "(" + node(input, in) + ")"
	}
	switch s.Op {
	case bounded.Scan:
		return scanned(s, in.tables[s.Table])
	case bounded.Owned:
		rows := fmt.Sprintf(
			"SELECT %s FROM %s AS a JOIN (SELECT DISTINCT c%d AS k, u FROM %s AS p) AS b ON a.c%d = b.k",
			list([]string{"b.u AS u"}, names("c", len(s.Columns))), inputs[0], s.ParentKey, inputs[1], s.ChildKey)
		if !in.tables[s.Inputs[0].Table].copied ||
			engine.OwnedFit(s, func(table string) engine.Sealed { return in.known[table] }) {
			return rows // all rows of a table that is read in place
		}
		return fmt.Sprintf("SELECT %s FROM (%s) AS p WHERE q <= %d", list([]string{"u"}, names("c", len(s.Columns))),
			ranked(rows, part{unit: unitType(s)}, contentsOf(s), s.Stored), s.Stored)
	case bounded.Select:
		sql := "SELECT " + outputs(s) + " FROM " + inputs[0] + " AS a"
		if s.Where != nil {
			sql += " WHERE " + expression(s.Where)
		}
		return sql + " OFFSET 0"
	case bounded.Join:
		return joined(s, inputs[0], inputs[1])
	case bounded.Union:
		all := make([]string, len(inputs))
		for i, input := range inputs {
			all[i] = "SELECT " + list(unitOfRows(s), names("c", len(s.Columns))) + " FROM " + input + " AS a"
		}
		return strings.Join(all, " UNION ALL ")
	case bounded.PerUnit:
		return inside.PerUnit(s, inputs[0])
	}
	panic("postgres: no source " + string(s.Op)) // refuse knows them all
}

// contentsOf are all columns of a source.
func contentsOf(s *bounded.Source) (out []engine.Content) {
	for i, c := range s.Columns {
		out = append(out, engine.Content{Name: column(i), Type: c.Type})
	}
	return out
}

// unitOfRows is the unit, if rows have one.
func unitOfRows(s *bounded.Source) []string {
	if s.Units {
		return []string{"u"}
	}
	return nil
}

// outputs are the unit, and the source's expressions as columns.
func outputs(s *bounded.Source) string {
	out := unitOfRows(s)
	for i, e := range s.Exprs {
		out = append(out, expression(e)+" AS "+column(i))
	}
	return list(out)
}

// scanned writes a table's cleaned columns, and the unit as it was read: it has neither bounds nor values, so cleaning
// does not merge two units.
func scanned(s *bounded.Source, in *rows) string {
	var raw, cleaned []string
	asItIs, where := true, ""
	for i, c := range s.Columns {
		x := fmt.Sprintf("x%d", i)
		raw = append(raw, in.readable(c)+" AS "+x)
		cleaned = append(cleaned, clean(c, x)+" AS "+column(i))
		asItIs = asItIs && (in.copied || readAsItIs(c, in.kindOf(c.Name)))
	}
	if s.Unit != nil {
		raw, cleaned = append(raw, in.readable(bounded.Column{Column: s.Unit})+" AS u"), append(cleaned, "u")
		where = " WHERE u IS NOT NULL"
	}
	from := "SELECT " + list(raw) + " FROM " + in.scan
	if !asItIs { // naming it several times has a cost
		from += " OFFSET 0"
	}
	return "SELECT " + list(cleaned) + " FROM (" + from + ") AS x" + where + " OFFSET 0"
}

// joined writes the second input's rows, at most Most of one part, beside the first's. Rows in which a column of Within
// is NULL meet none.
func joined(s *bounded.Source, left, right string) string {
	n, second := len(s.Inputs[0].Columns), s.Inputs[1]
	var row, on, out []string
	of := contentsOf(second)
	for i := range second.Columns {
		row = append(row, column(i)+" AS "+column(n+i))
	}
	within := part{}
	if second.Units {
		within.unit = unitType(second)
		row, on = append(row, "u AS ru"), append(on, "a.u = b.ru")
	}
	var there []string
	for _, i := range engine.WithinOnce(s) {
		within.within = append(within.within, column(i))
		there = append(there, column(i)+" IS NOT NULL")
	}
	if !second.Single {
		if len(there) > 0 {
			right = "(SELECT * FROM " + right + " AS t WHERE " + strings.Join(there, " AND ") + ")"
		}
		right = fmt.Sprintf(
			"(SELECT * FROM (%s) AS p WHERE q <= %d)",
			ranked("SELECT * FROM "+right+" AS t", within, of, s.Most),
			s.Most,
		)
	}
	for _, p := range s.Pairs {
		on = append(on, expression(p.L)+" = b."+column(n+p.R))
	}
	word := "JOIN"
	if s.Left {
		word = "LEFT JOIN"
	}
	if s.Units {
		out = append(out, "a.u AS u")
	}
	return fmt.Sprintf("SELECT %s FROM %s AS a %s (SELECT %s FROM %s AS r) AS b ON %s",
		list(out, names("c", len(s.Columns))), left, word, list(row), right, strings.Join(on, " AND "))
}

// cellsOfSource writes one row for each unit and each cell that it keeps: the first Caps.Groups cells by their first
// row.
func cellsOfSource(b *bounded.Statement, rows string) string {
	keys := engine.KeyNames(b)
	cell := append([]string{"u"}, keys...)
	of, sums, out := slices.Clone(cell), slices.Clone(cell), slices.Clone(keys)
	for i, m := range b.Measures {
		name := fmt.Sprintf("m%d", i)
		sum := "sum"
		if m.Kind == bounded.CountUnits {
			sum = "max" // once per cell, however many rows
		}
		sums = append(sums, fmt.Sprintf("%s(%s) AS %[2]s", sum, name))
		out = append(out, cellBounded(b, m, name)+" AS "+name)
	}
	if len(keys) > 0 {
		of, sums = append(of, "q"), append(sums, "row_number() OVER (PARTITION BY u ORDER BY min(q)) AS r")
	}
	cells := "SELECT " + list(sums) + " FROM (SELECT " + list(of, contributions(b)) + " FROM (" + rows +
		") AS r) AS m" + engine.GroupBy(cell)
	if len(keys) > 0 && b.Caps.Rows == 0 {
		cells = fmt.Sprintf("SELECT * FROM (%s) AS g WHERE r <= %d", cells, b.Caps.Groups)
	}
	return "SELECT " + list(out) + " FROM (" + cells + ") AS f"
}
