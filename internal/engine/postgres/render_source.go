package postgres

import (
	"fmt"
	"slices"
	"strings"

	"dither/internal/bounded"
	"dither/internal/engine"
	"dither/internal/value"
)

// renderSource is render for the rows of a Source. Each operation of the Source becomes a SELECT with the columns
// c0, c1, … and, if its rows have units, the unit u. An operation that computes expressions is a fence, like a
// stage of render. A join computes only the expressions that it compares.
//
// Claim: every choice among rows of a unit depends on that unit's rows alone, and is the same on every engine.
// (That rows of two units never meet is proved at bounded.Source.) Proof. Let R be the multiset of the rows of a
// part, where a row consists of its contents. A part is the rows of a unit, or, in a join, the rows with one unit
// or one value of the columns Within. ranked compares contents only: a digest of the unit and the contents, and
// then the contents. Each column has a total order: bigint, boolean, double without NaN, or text by its bytes; NULL
// comes last. So rows that the order does not distinguish are equal in all contents, except for −0 and 0, which no
// expression distinguishes. The multiset of the first n rows is therefore a function of R and n, in whatever order
// the rows arrive. A unit's cells are in the order of the least place of their rows, and no two cells have the same
// least place. If a unit has so few rows that no cap can leave out a row or a cell, all its places are 0, and all
// its rows and cells count (engine.Enough).
//
// Only one kind of recorded fact is used, for copies: how many rows a unit has, and how many rows refer to one row
// (engine.OwnedFit has the proof). If by construction no unit has more than one row, no cap can exclude anything. ∎
func renderSource(b *bounded.Statement, in *rows) string {
	rows := evaluatedSource(b, in)
	if b.Unit != nil && (!b.Source.Single || b.CellsClamped()) {
		if b.Caps.Rows > 0 || b.GroupsCapped() || b.Ordered && b.Caps.Groups > 0 {
			rows = ranked(rows, part{unit: unitType(b.Source)}, engine.Contents(b), engine.Enough(b))
		}
		if b.Caps.Rows > 0 {
			rows = fmt.Sprintf("SELECT * FROM (%s) AS p WHERE q <= %d", rows, b.Caps.Rows)
		}
		switch {
		case b.Ordered && b.Caps.Groups > 0:
			rows = cappedCells(b, rows)
		case b.Caps.Groups > 0:
			return dialect.SumUp(b, cellsOfSource(b, rows))
		}
	}
	return addedUp(b, rows)
}

// unitType returns the type of the unit of s, or 0 if its rows have no units.
func unitType(s *bounded.Source) (of value.Type) {
	s.Walk(func(s *bounded.Source) {
		if s.Op == bounded.Scan && s.Unit != nil {
			of = s.Unit.Type
		}
	})
	return of
}

// evaluatedSource returns a SELECT of the rows that pass WHERE and have known keys, with the unit u if rows have
// units, the keys, and the gridded values.
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

// part describes the sets of rows within which rows are numbered. All rows of a part have the same unit, of type unit,
// unless unit is 0. They also have the same values in the columns that the field within lists.
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

// ranked adds the place q to rows: a row's number within its part (see the type part). The order is by a digest of the
// unit and the contents, and then by the contents. In parts with at most `enough` rows, q is 0, so only the few larger
// parts are sorted. All rows of a smaller part are used: engine.Enough proves that this is correct for everything that
// reads q. No column of p is NULL in any row.
func ranked(rows string, p part, contents []engine.Content, enough int64) string {
	var columns, order []string
	unit := ""
	if p.unit != 0 {
		columns, unit = []string{"u"}, unitText(p.unit)
	}
	if sum := digest(unit, contents); sum != "" {
		order = append(order, sum)
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
			"SELECT %[4]s, CAST(0 AS bigint) AS q FROM a WHERE NOT %[5]s UNION ALL SELECT %[4]s, "+
			"row_number() OVER (%[6]s) AS q FROM a WHERE %[5]s",
		rows, of, enough, list(columns), meets, window)
}

// digest returns the SQL of the digest of a row's unit and contents (see engine.Digested), or "".
func digest(unit string, contents []engine.Content) string {
	text := engine.Digested(unit, contents)
	if text == "" {
		return ""
	}
	return "sha256(convert_to(" + text + ", 'UTF8'))"
}

// unitText returns the SQL of the unit as a text, for the digest. The form of a date is 2000-12-31.
func unitText(of value.Type) string {
	if of == value.Date {
		return "CAST(DATE '1970-01-01' + CAST(u AS integer) AS text)"
	}
	return "CAST(u AS text)"
}

// node returns a SELECT of the rows of s.
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
			return rows // a table that is read in place keeps all rows
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
	case bounded.Window:
		return engine.Windowed(s, inputs[0], digest(unitText(unitType(s)), contentsOf(s.Inputs[0])))
	}
	panic("postgres: no source " + string(s.Op)) // unreachable: refuse excludes other operations
}

// contentsOf returns all columns of s.
func contentsOf(s *bounded.Source) (out []engine.Content) {
	for i, c := range s.Columns {
		out = append(out, engine.Content{Name: column(i), Type: c.Type})
	}
	return out
}

// unitOfRows returns the column of the unit, or nil if the rows of s have no units.
func unitOfRows(s *bounded.Source) []string {
	if s.Units {
		return []string{"u"}
	}
	return nil
}

// outputs returns a list of output columns: the unit u if the rows of s have units, and the expressions of s.
func outputs(s *bounded.Source) string {
	out := unitOfRows(s)
	for i, e := range s.Exprs {
		out = append(out, expression(e)+" AS "+column(i))
	}
	return list(out)
}

// scanned returns a SELECT of a table's cleaned columns. The unit u is not cleaned. Its column has neither bounds
// nor values, so its cleaned value would be the same.
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
	if !asItIs { // without a fence, the planner would repeat the conversions
		from += " OFFSET 0"
	}
	return "SELECT " + list(cleaned) + " FROM (" + from + ") AS x" + where + " OFFSET 0"
}

// joined returns the SELECT of a Join. It uses at most Most rows of each part of the second input: the rows with one
// unit, or one value of the columns Within. Rows of the second input with NULL in a column of Within are left out,
// because they match no row.
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
		first := ranked("SELECT * FROM "+right+" AS t", within, of, s.Most)
		right = fmt.Sprintf("(SELECT * FROM (%s) AS p WHERE q <= %d)", first, s.Most)
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

// cellsOfSource returns a SELECT with one row for each unit and each of its cells (groups) that count: the first
// Caps.Groups cells in the order of their first rows, or all if a unit has no more (GroupsCapped).
func cellsOfSource(b *bounded.Statement, rows string) string {
	keys := engine.KeyNames(b)
	cell := append([]string{"u"}, keys...)
	of, sums, out := slices.Clone(cell), slices.Clone(cell), slices.Clone(keys)
	for i, m := range b.Measures {
		name := fmt.Sprintf("m%d", i)
		sum := "sum"
		if m.OfUnits() {
			sum = "max" // once per cell, however many rows the unit has there
		}
		sums = append(sums, fmt.Sprintf("%s(%s) AS %[2]s", sum, name))
		out = append(out, cellBounded(b, m, name)+" AS "+name)
	}
	capped := b.GroupsCapped()
	if capped {
		of, sums = append(of, "q"), append(sums, "row_number() OVER (PARTITION BY u ORDER BY min(q)) AS r")
	}
	cells := "SELECT " + list(sums) + " FROM (SELECT " + list(of, contributions(b)) + " FROM (" + rows +
		") AS r) AS m" + engine.GroupBy(cell)
	if capped && b.Caps.Rows == 0 {
		cells = fmt.Sprintf("SELECT * FROM (%s) AS g WHERE r <= %d", cells, b.Caps.Groups)
	}
	return "SELECT " + list(out) + " FROM (" + cells + ") AS f"
}
