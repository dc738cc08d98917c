package engine_test

// place is where a bound on what one unit adds is applied, or relied on: the text is found once in its file, and in it what is right, once. Each wrong
// expression is planted by itself. Why says what the replay audit cannot show of an error: then it is not planted.
type place struct {
	file, text, right string
	wrong             []string

	refused bool // sealing refuses with the error, or reading does what was sealed, and no look is reached
	live    bool // it shows only where rows come in any order, as of tables that are read where they are
	why     string
}

const (
	inEngine      = "internal/engine/"
	inDuckDB      = "internal/engine/duckdb/"
	inPostgres    = "internal/engine/postgres/"
	inPlan        = "internal/plan/"
	inSensitivity = "internal/sensitivity/"
	inBind        = "internal/bind/"
	inBounded     = "internal/bounded/"
	inQuantile    = "mechanism/quantile/"
	inSeal        = "internal/seal/"
	onDuckDB      = "duckdb"
	onPostgres    = "postgres"
)

const (
	idle = "a second belt: the expression's proved range, whose own clamps stand in X, lies within Lo and Hi (sumMeasure, Search), so that no value " +
		"reaches it; TestAnythingAgreesWithReference compares what X gives"
	kept   = "what is sealed beyond the bound is left out where it is read, since sealing records how many rows a unit has (seal.Version.Bounds): errors of that are planted"
	ownRow = "with the error, the statement seeks rows in the place of dropped ones in more units, where it finds none, or in fewer units, which then " +
		"have fewer rows: a unit's own number of rows decides (TestAgreesWithReference compares answers)"
	unshown = "a group that cannot have rows is measured and not shown, or not a key of the plan, whatever the rows are: no exact value " +
		"moves (TestGroupsLeftOutAreEmpty compares with rows)"
	public = "the time is a constant of the question before it is planned, and the same over both databases: no exact value moves " +
		"(TestTheCurrentTimeIsAConstantOfAQuestion counts what is charged)"
	oneOfEqual = "RANK then has one of the rows that are equal in the order, as ROW_NUMBER has: oneRow keeps one row of each unit by what it joins, " +
		"whatever asks for it, and the plan bounds a unit by that row. The answer is another one, but moves by what is planned at most (TestFirstRows compares answers)"
	never = "no row is longer than Most (bounded.Block has the proof): the filter is a second belt to the scaling, whose errors it catches in turn"
)

// places are all of them.
var places = []place{
	// DuckDB, one table
	{file: inDuckDB + "render.go", text: "if b.Unit != nil && (!known.OneRowEach || b.CellsClamped()) {", right: "(!known.OneRowEach || b.CellsClamped())", wrong: []string{"false", "!known.OneRowEach"}},
	{file: inDuckDB + "render.go", text: "lo, hi := integer(m.Lo), integer(m.Hi)", right: "integer(m.Hi)", why: idle},
	{file: inDuckDB + "render.go", text: "lo, hi := integer(m.Lo), integer(m.Hi)", right: "integer(m.Lo)", why: idle},
	{file: inDuckDB + "render.go", text: `rankColumn, b.Caps.Rows)), known), ""`, right: "b.Caps.Rows", wrong: []string{"b.Caps.Rows + 1", "1 << 40"}},
	{file: inDuckDB + "render.go", text: `few = evaluated(raw, filtered(fmt.Sprintf("%s <= %d", rowsColumn, b.Caps.Rows)), known)`, right: "b.Caps.Rows", wrong: []string{"b.Caps.Rows + 1", "1 << 40"}},
	{file: inDuckDB + "render.go", text: `many = keptOf(b, filtered(fmt.Sprintf("%s > %d", rowsColumn, b.Caps.Rows)), kept)`, right: "b.Caps.Rows", wrong: []string{"b.Caps.Rows - 1"}},
	{file: inDuckDB + "render.go", text: "\t\tmany, b.Caps.Rows)", right: "b.Caps.Rows", wrong: []string{"b.Caps.Rows + 1", "1 << 40"}},
	{file: inDuckDB + "render.go", text: `"SELECT * EXCLUDE (r) FROM (SELECT *, row_number() OVER (PARTITION BY u ORDER BY q) AS r FROM (%s)) WHERE r <= %d"`, right: `"SELECT * EXCLUDE (r) FROM (SELECT *, row_number() OVER (PARTITION BY u ORDER BY q) AS r FROM (%s)) WHERE r <= %d"`, wrong: []string{
		`"SELECT * EXCLUDE (r) FROM (SELECT *, row_number() OVER (ORDER BY q, u) AS r FROM (%s)) WHERE r <= %d"`,
	}},
	{file: inDuckDB + "render.go", text: `"(SELECT * FROM %s WHERE %s = 1)"`, right: `"(SELECT * FROM %s WHERE %s = 1)"`, wrong: []string{`"(SELECT * FROM %s WHERE %s >= 1)"`}},
	{file: inDuckDB + "render.go", text: `"CAST(1 AS BIGINT) AS "+name`, right: `"CAST(1 AS BIGINT) AS "`, wrong: []string{`"count(*) AS "`}},
	{file: inDuckDB + "render.go", text: `"max(%[1]s) AS %[1]s"`, right: `"max(%[1]s) AS %[1]s"`, wrong: []string{`"sum(%[1]s) AS %[1]s"`}},
	{file: inDuckDB + "render.go", text: "cells, b.Caps.Groups)", right: "b.Caps.Groups", wrong: []string{"b.Caps.Groups + 1", "1 << 40"}},
	{file: inDuckDB + "render.go", text: `"SELECT *, row_number() OVER (PARTITION BY u ORDER BY q) AS r FROM (%s)", cells)`, right: `"SELECT *, row_number() OVER (PARTITION BY u ORDER BY q) AS r FROM (%s)"`, wrong: []string{
		`"SELECT *, row_number() OVER (ORDER BY q, u) AS r FROM (%s)"`,
	}},
	{file: inDuckDB + "render.go", text: `ELSE CAST(0 AS BIGINT) END", b.Caps.Groups, name)`, right: "b.Caps.Groups", wrong: []string{"b.Caps.Groups + 1", "1 << 40"}},
	{file: inDuckDB + "render.go", text: "sealHugeint(lo), sealHugeint(hi))", right: "sealHugeint(hi)", wrong: []string{"sealHugeint(plantedMore(hi))", `"CAST('1152921504606846976' AS HUGEINT)"`}},
	{file: inDuckDB + "render.go", text: "sealHugeint(lo), sealHugeint(hi))", right: "sealHugeint(lo)", wrong: []string{"sealHugeint(plantedLess(lo))", `"CAST('-1152921504606846976' AS HUGEINT)"`}},
	{file: inDuckDB + "render.go", text: "return known.MostRows > 0 && known.MostRows <= b.Caps.Rows", right: "known.MostRows <= b.Caps.Rows", wrong: []string{"known.MostRows <= b.Caps.Rows + 1", "true"}},
	// DuckDB, rows in the place of those that keys drop
	{file: inDuckDB + "marks.go", text: "b.Caps.Groups == 0 || b.GroupsCapped() || b.Open() || b.Other", right: "b.GroupsCapped()", wrong: []string{"false"}},
	{file: inDuckDB + "marks.go", text: "(SELECT bit_or(bit) AS bits FROM (%s) GROUP BY u)", right: "bit_or(bit) AS bits FROM (%s) GROUP BY u", wrong: []string{"bit AS bits FROM (%s)"}},
	{file: inDuckDB + "refill.go", text: "return b.Unit != nil && !known.OneRowEach && b.Caps.Rows > 0 && b.Where == nil", right: "!known.OneRowEach", why: ownRow},
	{file: inDuckDB + "refill.go", text: `first := fmt.Sprintf("%s <= %d", rankColumn, b.Caps.Rows)`, right: "b.Caps.Rows", wrong: []string{"b.Caps.Rows + 1", "1 << 40"}},
	{file: inDuckDB + "refill.go", text: `more := fmt.Sprintf("%s > %d", rowsColumn, b.Caps.Rows)`, right: "b.Caps.Rows", why: ownRow},
	{file: inDuckDB + "refill.go", text: `"WHERE r <= %[2]d AND q > %[2]d", rows, b.Caps.Rows)`, right: "b.Caps.Rows", wrong: []string{"b.Caps.Rows + 1"}},
	{file: inDuckDB + "refill.go", text: `"WHERE r <= %[2]d AND q > %[2]d", rows, b.Caps.Rows)`, right: "r <= %[2]d AND q > %[2]d", wrong: []string{"q > %[2]d", "r <= %[2]d"}},
	{file: inDuckDB + "refill.go", text: "row_number() OVER (PARTITION BY u ORDER BY q) AS r", right: "PARTITION BY u ORDER BY q", wrong: []string{"ORDER BY q, u"}},
	// DuckDB, parts
	{file: inDuckDB + "parts.go", text: "if b.Part == nil || b.Unit == nil || known.OneRowEach {", right: "known.OneRowEach", wrong: []string{"true"}},
	{file: inDuckDB + "parts.go", text: "rows, unit, partColumn, parts, b.Part.PerUnit)", right: "b.Part.PerUnit", wrong: []string{"b.Part.PerUnit + 1"}},
	{file: inDuckDB + "parts.go", text: "row_number() OVER (PARTITION BY %[1]s ORDER BY min(%[3]s)) AS r", right: "PARTITION BY %[1]s ORDER BY min(%[3]s)", wrong: []string{"ORDER BY min(%[3]s), %[1]s"}},
	// DuckDB, rows in order
	{file: inDuckDB + "order_cells.go", text: "placed, b.Caps.RowsPerGroup)", right: "b.Caps.RowsPerGroup", wrong: []string{"b.Caps.RowsPerGroup + 1", "1 << 40"}},
	{file: inDuckDB + "order_cells.go", text: "few, b.Caps.Groups)", right: "b.Caps.Groups", wrong: []string{"b.Caps.Groups + 1", "1 << 40"}},
	{file: inDuckDB + "order_cells.go", text: `"SELECT *, row_number() OVER (PARTITION BY %[1]s ORDER BY q) AS r, min(q)`, right: "PARTITION BY %[1]s ORDER BY q", wrong: []string{"ORDER BY q, u"}},
	{file: inDuckDB + "order_cells.go", text: "integer(m.Lo), integer(m.Hi), rows)", right: "integer(m.Hi)", wrong: []string{"integer(m.Hi + 1)"}},
	{file: inDuckDB + "order_cells.go", text: `"SELECT *, dense_rank() OVER (PARTITION BY u ORDER BY f) AS c FROM (%s) WHERE r <= %d"`, right: `"SELECT *, dense_rank() OVER (PARTITION BY u ORDER BY f) AS c FROM (%s) WHERE r <= %d"`, wrong: []string{`"SELECT *, dense_rank() OVER (ORDER BY f, u) AS c FROM (%s) WHERE r <= %d"`}},
	// DuckDB, rows for a training
	{file: inDuckDB + "rows.go", text: "if b.Unit == nil || known.OneRowEach {", right: "known.OneRowEach", wrong: []string{"true"}},
	{file: inDuckDB + "rows_source.go", text: `engine.Contents(b), b.Caps.Rows)`, right: "b.Caps.Rows", wrong: []string{"b.Caps.Rows + 1"}},
	{file: inDuckDB + "rows_source.go", text: `fmt.Sprintf("q <= %d", b.Caps.Rows)`, right: "b.Caps.Rows", wrong: []string{"b.Caps.Rows + 1", "1 << 40"}},
	// DuckDB, rows of a training as they are read
	{file: inDuckDB + "rows.go", text: "first = unit != values[0]", right: "unit != values[0]", wrong: []string{"true"}},
	{file: inDuckDB + "rows.go", text: "case b.Unit != nil:\n\t\t\tpage", right: "b.Unit != nil", wrong: []string{"false"}},
	{file: inDuckDB + "rows_source.go", text: "if b.Unit != nil {\n\t\tpart = ", right: "b.Unit != nil", wrong: []string{"false"}},
	{file: inDuckDB + "rows_source.go", text: "if b.Unit == nil || files.single(b.Source) {", right: "files.single(b.Source)", wrong: []string{"true"}},
	// DuckDB, cleaning: the bounds of a column, and the values that it can have
	{file: inDuckDB + "expr.go", text: `"CASE WHEN (%s) IN (%s) THEN (%s) END", name, constants(c.Values), name)`, right: `"CASE WHEN (%s) IN (%s) THEN (%s) END"`, wrong: []string{`"CASE WHEN (%s) IN (%s) OR TRUE THEN (%s) END"`}},
	{file: inDuckDB + "expr.go", text: "lo, hi := integer(c.Range.IntLo), integer(c.Range.IntHi)", right: "integer(c.Range.IntHi)", wrong: []string{"integer(c.Range.IntHi + 1)"}},
	{file: inDuckDB + "expr.go", text: "lo, hi := integer(c.Range.IntLo), integer(c.Range.IntHi)", right: "integer(c.Range.IntLo)", wrong: []string{"integer(c.Range.IntLo - 1)"}},
	{file: inDuckDB + "expr.go", text: "name, double(lo), double(hi), inside,", right: "double(hi)", wrong: []string{"double(hi + 1)"}},
	{file: inDuckDB + "expr.go", text: "name, double(lo), double(hi), inside,", right: "double(lo)", wrong: []string{"double(lo - 1)"}},
	// DuckDB, relations
	{file: inDuckDB + "render_source.go", text: "if b.Unit != nil && (!files.single(b.Source) || b.CellsClamped()) {", right: "(!files.single(b.Source) || b.CellsClamped())", wrong: []string{"false"}},
	{file: inDuckDB + "render_source.go", text: "return s.Unit != nil && f.oneRowEach[s.Table]", right: "f.oneRowEach[s.Table]", wrong: []string{"true"}},
	{file: inDuckDB + "render_source.go", text: "case s.Op == bounded.Select, s.Op == bounded.Window, s.Op == bounded.Join && s.Most == 1:", right: "s.Most == 1", wrong: []string{"true"}},
	{file: inDuckDB + "render_source.go", text: `WHERE q <= %d", rows, b.Caps.Rows)`, right: "b.Caps.Rows", wrong: []string{"b.Caps.Rows + 1", "1 << 40"}},
	{file: inDuckDB + "render_source.go", text: `right = fmt.Sprintf("(SELECT * FROM (%s) WHERE q <= %d)", ranked(right, part, of, s.Most), s.Most)`, right: `fmt.Sprintf("(SELECT * FROM (%s) WHERE q <= %d)", ranked(right, part, of, s.Most), s.Most)`, wrong: []string{
		`fmt.Sprintf("(SELECT * FROM (%s) WHERE q <= %d)", ranked(right, part, of, s.Most+1), s.Most)`, `fmt.Sprintf("(SELECT * FROM (%s) WHERE q <= %d)", ranked(right, part, of, s.Most), s.Most+1)`, `right`,
	}},
	{file: inDuckDB + "render_source.go", text: `window := "PARTITION BY " + strings.Join(part, ", ")`, right: `"PARTITION BY " + strings.Join(part, ", ")`, wrong: []string{`"PARTITION BY 1"`}},
	{file: inDuckDB + "render_source.go", text: `return fmt.Sprintf("SELECT * EXCLUDE (q) FROM (%s) WHERE q <= %d", ranked("("+rows+")", []string{"u"}, contentsOf(s), s.Stored), s.Stored)`, right: `fmt.Sprintf("SELECT * EXCLUDE (q) FROM (%s) WHERE q <= %d", ranked("("+rows+")", []string{"u"}, contentsOf(s), s.Stored), s.Stored)`, wrong: []string{
		`fmt.Sprintf("SELECT * EXCLUDE (q) FROM (%s) WHERE q <= %d", ranked("("+rows+")", []string{"u"}, contentsOf(s), s.Stored+1), s.Stored)`,
		`fmt.Sprintf("SELECT * EXCLUDE (q) FROM (%s) WHERE q <= %d", ranked("("+rows+")", []string{"u"}, contentsOf(s), s.Stored), s.Stored+1)`, `rows`,
	}},
	{file: inDuckDB + "render_source.go", text: "return s.Units && f.single(s.Inputs[0])", right: "f.single(s.Inputs[0])", wrong: []string{"true"}},
	{file: inDuckDB + "render_source.go", text: "return joined(s, inputs[0], inputs[1], files.single(s.Inputs[1]))", right: "files.single(s.Inputs[1])", wrong: []string{"true"}},
	// DuckDB, sealing
	{file: inDuckDB + "seal.go", text: `row_number() OVER (PARTITION BY %[2]s ORDER BY hash(%[1]s), %[1]s) AS %[3]s, "`, right: `PARTITION BY %[2]s ORDER BY hash(%[1]s), %[1]s`, wrong: []string{
		`PARTITION BY %[2]s`, `ORDER BY hash(%[1]s), %[1]s`,
	}},
	{file: inDuckDB + "seal.go", text: `"count(*) OVER (PARTITION BY %[2]s) AS %[4]s FROM`, right: `count(*) OVER (PARTITION BY %[2]s)`, wrong: []string{`count(*) OVER (PARTITION BY %[2]s) - 1`}},
	{file: inDuckDB + "known.go", text: "v.Facts.MaxRowsPerUnit <= 1", right: "v.Facts.MaxRowsPerUnit <= 1", wrong: []string{"v.Facts.MaxRowsPerUnit <= 2", "true"}},
	{file: inDuckDB + "seal.go", text: "rankColumn, rowsColumn, scan, t.Stored())", right: "t.Stored()", why: kept},
	{file: inDuckDB + "seal_inspect.go", text: `"SELECT count(*), coalesce(max(n), 0), "`, right: "max(n)", wrong: []string{"max(n) - 1"}},
	{file: inDuckDB + "seal_inspect.go", text: `"SELECT coalesce(max(n), 0) FROM (SELECT count(*) AS n FROM "+from+" WHERE "+key+`, right: "max(n)", wrong: []string{"max(n) - 1"}},
	{file: inDuckDB + "run.go", text: "scan, rankColumn, known.Stored)", right: "known.Stored", wrong: []string{"known.Stored + 1", "1 << 40"}},
	{file: inSeal + "manifest.go", text: "v.Facts.MaxRowsPerUnit > t.Stored()", right: "v.Facts.MaxRowsPerUnit > t.Stored()", wrong: []string{"v.Facts.MaxRowsPerUnit > t.Stored()+1", "false"}},
	{file: inSeal + "manifest.go", text: "v.Facts.MaxRowsPerKey, t.Stored()", right: "t.Stored()", wrong: []string{"t.Stored() + 1"}},
	{file: inEngine + "stored.go", text: "return owned(s, known) <= s.Stored", right: "s.Stored", wrong: []string{"s.Stored + 1", "1 << 40"}},
	{file: inEngine + "stored.go", text: "min(owned(parent, known), parent.Stored)", right: "parent.Stored", wrong: []string{"parent.Stored - 1"}},
	{file: inEngine + "stored.go", text: "rows = one.MostRows", right: "one.MostRows", wrong: []string{"max(one.MostRows-1, 1)"}},
	{file: inEngine + "stored.go", text: "return each * rows", right: "each * rows", wrong: []string{"rows", "each"}},
	// what both engines say alike
	{file: inEngine + "relation.go", text: "\treturn least\n", right: "least", wrong: []string{"least + 1", "1 << 40"}},
	{file: inEngine + "relation.go", text: "least = min(least, b.Caps.RowsPerGroup)", right: "min(least, b.Caps.RowsPerGroup)", wrong: []string{"least"}, live: true},
	{file: inEngine + "relation.go", text: "least = b.Caps.Groups\n", right: "b.Caps.Groups", wrong: []string{"1 << 40"}},
	{file: inEngine + "inner.go", text: "return d.Clamped(n, a.Lo, a.Hi)", right: "a.Hi", why: "a second belt: what is added up of it is clamped to the same range (m.Hi), and a group by it has declared values alone"},
	{file: inEngine + "row.go", text: `row_number() OVER (PARTITION BY %s) = 1 THEN`, right: `= 1 THEN`, wrong: []string{`<= 2 THEN`}},
	{file: inEngine + "vectors.go", text: "WHEN %[1]s < %[2]s THEN %[2]s ELSE %[3]s END\", v, w.d.Integer(m.Lo), w.d.Integer(m.Hi))", right: "w.d.Integer(m.Hi)", why: "a second belt: the ranges that m.Hi is made of prove that no coordinate is above it, and TestVectorsAgreeWithReference compares the coordinates"},
	{file: inEngine + "vectors.go", text: "w.d.Double(float64(k.Most) * float64(k.Most))", right: "w.d.Double(float64(k.Most) * float64(k.Most))", why: never},
	{file: inEngine + "vectors.go", text: `added(k, "abs("+x+")"), w.d.Double(float64(k.Most))`, right: "w.d.Double(float64(k.Most))", why: never},
	{file: inEngine + "vectors.go", text: "scale := w.d.Double(float64(k.Scale))", right: "w.d.Double(float64(k.Scale))", why: "a vector that is scaled too little is longer than Most, and left out: fewer rows count, never longer ones"},
	// PostgreSQL, one table
	{file: inPostgres + "render.go", text: "integer(0), integer(m.Lo), integer(m.Hi))", right: "integer(m.Hi)", why: idle},
	{file: inPostgres + "render.go", text: "integer(0), integer(m.Lo), integer(m.Hi))", right: "integer(m.Lo)", why: idle},
	{file: inPostgres + "render.go", text: "case clampIsIdle(b, m):", right: "clampIsIdle(b, m)", why: idle},
	{file: inPostgres + "render.go", text: "evaluated(b, in), b.Caps.Rows)", right: "b.Caps.Rows", wrong: []string{"b.Caps.Rows + 1", "1 << 40"}},
	{file: inPostgres + "render.go", text: `", row_number() OVER (PARTITION BY u ORDER BY " + list([]string{"h"}, columns[1:])`, right: `", row_number() OVER (PARTITION BY u ORDER BY "`, wrong: []string{`", row_number() OVER (ORDER BY "`}},
	{file: inPostgres + "render.go", text: `", row_number() OVER (PARTITION BY u ORDER BY " + list([]string{"h"}, columns[1:])`, right: `list([]string{"h"}, columns[1:])`, wrong: []string{`"1"`}},
	{file: inPostgres + "render.go", text: `ELSE %s END", b.Caps.Groups, name, integer(0))`, right: "b.Caps.Groups", wrong: []string{"b.Caps.Groups + 1", "1 << 40"}},
	{file: inPostgres + "render.go", text: `CAST('%s' AS numeric))", name, lo, hi)`, right: "hi", wrong: []string{"plantedMore(hi)", "plantedMore(plantedMore(hi))"}},
	{file: inPostgres + "render.go", text: `CAST('%s' AS numeric))", name, lo, hi)`, right: "lo", wrong: []string{"plantedLess(lo)"}},
	// PostgreSQL, cells
	{file: inPostgres + "cells.go", text: "AS g WHERE r <= %d\", cells, b.Caps.Groups)", right: "b.Caps.Groups", wrong: []string{"b.Caps.Groups + 1", "1 << 40"}},
	{file: inPostgres + "cells.go", text: `"row_number() OVER (PARTITION BY u ORDER BY "+list([]string{first}, keys)`, right: `"row_number() OVER (PARTITION BY u ORDER BY "`, wrong: []string{`"row_number() OVER (ORDER BY "`}},
	{file: inPostgres + "cells.go", text: `return tally{"", integer(1), asInteger}`, right: "integer(1)", wrong: []string{`"count(*)"`}},
	{file: inPostgres + "cells.go", text: `return tally{contribution, "max(" + name + ")", asInteger}`, right: `"max("`, wrong: []string{`"sum("`}},
	{file: inPostgres + "cells.go", text: "case exactInDoubles(b, m):", right: "exactInDoubles(b, m)", wrong: []string{"true"}},
	{file: inPostgres + "cells.go", text: "name, lo, hi, t.as)", right: "hi", wrong: []string{"plantedMore(hi)"}},
	{file: inPostgres + "cells.go", text: "name, lo, hi, t.as)", right: "lo", why: "what is added up so is not negative, nor is lo below 0 (TestLowerBoundOfCountsAndDoubles): with less, a unit still adds from 0 to hi, which is what the sensitivity is of"},
	{file: inPostgres + "cells.go", text: "most.Mul(most, big.NewInt(b.Caps.Rows)).Cmp(integersOfDouble)", right: "big.NewInt(b.Caps.Rows)", wrong: []string{"big.NewInt(b.Caps.Rows - 1)"}},
	// PostgreSQL, copies
	{file: inPostgres + "render_copy.go", text: `some.where = fmt.Sprintf("%s %s %d", column, op, b.Caps.Rows)`, right: "b.Caps.Rows", wrong: []string{"b.Caps.Rows + 1"}},
	{file: inPostgres + "render_copy.go", text: `filtered(rowsColumn, ">"), b.Caps.Rows)`, right: "b.Caps.Rows", wrong: []string{"b.Caps.Rows + 1", "1 << 40"}},
	{file: inPostgres + "render_copy.go", text: "row_number() OVER (PARTITION BY u ORDER BY q) AS r FROM (%[3]s)", right: "PARTITION BY u ORDER BY q", wrong: []string{"ORDER BY q, u"}},
	{file: inPostgres + "copy.go", text: "CAST(count(*) OVER (PARTITION BY %[3]s) AS integer) AS", right: "count(*) OVER (PARTITION BY %[3]s)", wrong: []string{"count(*) OVER (PARTITION BY %[3]s) - 1"}, refused: true},
	{file: inPostgres + "copy.go", text: `WINDOW w AS (PARTITION BY %[3]s ORDER BY %[6]s, %[7]s)`, right: "PARTITION BY %[3]s ORDER BY %[6]s, %[7]s", wrong: []string{"PARTITION BY %[3]s ORDER BY %[6]s * 0, ROW(%[7]s) IS NULL"}},
	{file: inPostgres + "parts.go", text: "placeColumn, b.Part.PerUnit)", right: "b.Part.PerUnit", wrong: []string{"b.Part.PerUnit + 1"}},
	{file: inPostgres + "parts.go", text: `dense_rank() OVER (PARTITION BY %s ORDER BY %s) AS %s FROM (%s)`, right: "PARTITION BY %s ORDER BY %s) AS %s FROM (%s)", wrong: []string{"ORDER BY %[2]s, %[1]s) AS %[3]s FROM (%[4]s)"}},
	{file: inPostgres + "parts.go", text: `"SELECT *, min(%s) OVER (PARTITION BY %s, %s) AS %s`, right: "PARTITION BY %s, %s", why: "whatever the order of a unit's parts is, no more than PerUnit are its own; that it is the same in all questions TestLooksAgreeWithReference compares"},
	// PostgreSQL, rows in order and for a training
	{file: inPostgres + "order.go", text: "placed, b.Caps.RowsPerGroup)", right: "b.Caps.RowsPerGroup", wrong: []string{"b.Caps.RowsPerGroup + 1", "1 << 40"}},
	{file: inPostgres + "order.go", text: "few, b.Caps.Groups)", right: "b.Caps.Groups", wrong: []string{"b.Caps.Groups + 1", "1 << 40"}},
	{file: inPostgres + "order.go", text: `"SELECT *, row_number() OVER (PARTITION BY %[1]s ORDER BY q) AS r, min(q)`, right: "PARTITION BY %[1]s ORDER BY q", wrong: []string{"ORDER BY q, u"}},
	{file: inPostgres + "order.go", text: "integer(m.Lo), integer(m.Hi), rows)", right: "integer(m.Hi)", wrong: []string{"integer(m.Hi + 1)"}},
	{file: inPostgres + "order.go", text: `dense_rank() OVER (PARTITION BY u ORDER BY f) AS c`, right: "PARTITION BY u ORDER BY f", wrong: []string{"ORDER BY f, u"}},
	{file: inPostgres + "rows.go", text: "engine.Contents(b), engine.Enough(b))", right: "engine.Enough(b)", wrong: []string{"engine.Enough(b) + 1"}},
	{file: inPostgres + "rows.go", text: `WHERE q <= %d", rows, b.Caps.Rows)`, right: "b.Caps.Rows", wrong: []string{"b.Caps.Rows + 1", "1 << 40"}},
	// PostgreSQL, rows of a training as they are read
	{file: inPostgres + "rows.go", text: "first = !begun || !slices.Equal(unit, values[0])", right: "!begun || !slices.Equal(unit, values[0])", wrong: []string{"true"}},
	{file: inPostgres + "rows.go", text: "if b.Unit == nil || b.Source.Single {", right: "b.Source.Single", wrong: []string{"true"}},
	// PostgreSQL, cleaning
	{file: inPostgres + "clean.go", text: `"CASE WHEN %[1]s IN (%[2]s) THEN %[1]s END"`, right: `"CASE WHEN %[1]s IN (%[2]s) THEN %[1]s END"`, wrong: []string{`"CASE WHEN %[1]s IN (%[2]s) OR TRUE THEN %[1]s END"`}},
	{file: inPostgres + "clean.go", text: "x, integer(c.Range.IntLo), integer(c.Range.IntHi))", right: "integer(c.Range.IntHi)", wrong: []string{"integer(c.Range.IntHi + 1)"}},
	{file: inPostgres + "clean.go", text: "x, integer(c.Range.IntLo), integer(c.Range.IntHi))", right: "integer(c.Range.IntLo)", wrong: []string{"integer(c.Range.IntLo - 1)"}},
	{file: inPostgres + "clean.go", text: "double(zero), double(lo), double(hi))", right: "double(hi)", wrong: []string{"double(hi + 1)"}},
	{file: inPostgres + "clean.go", text: "double(zero), double(lo), double(hi))", right: "double(lo)", wrong: []string{"double(lo - 1)"}},
	// PostgreSQL, what is stored
	{file: inPostgres + "copy.go", text: "ranked, rankColumn, l.stored,", right: "l.stored", wrong: []string{"l.stored + 1", "1 << 40"}, refused: true},
	{file: inPostgres + "engine.go", text: "in.scan, rankColumn, stored)", right: "stored", wrong: []string{"stored + 1", "1 << 40"}},
	{file: inPostgres + "seal.go", text: `"SELECT count(*), coalesce(max(n), 0), count(*)`, right: "max(n)", wrong: []string{"max(n) - 1"}},
	{file: inPostgres + "seal.go", text: `fmt.Sprintf("SELECT coalesce(max(n), 0) FROM (SELECT count(*) AS n FROM (SELECT %s AS k`, right: "max(n)", wrong: []string{"max(n) - 1"}},
	{file: inPostgres + "seal.go", text: `kept = fmt.Sprintf("least(count(*), %d)", l.stored)`, right: "l.stored", wrong: []string{"l.stored - 1"}, refused: true},
	{file: inPostgres + "render_source.go", text: "ranked(rows, part{unit: unitType(s)}, contentsOf(s), s.Stored)", right: "s.Stored", wrong: []string{"s.Stored + 1"}},
	{file: inPostgres + "render_source.go", text: "), s.Stored)\n\tcase", right: "s.Stored", wrong: []string{"s.Stored + 1", "1 << 40"}},
	// PostgreSQL, relations
	{file: inPostgres + "render_source.go", text: "if b.Unit != nil && (!b.Source.Single || b.CellsClamped()) {", right: "(!b.Source.Single || b.CellsClamped())", wrong: []string{"false"}},
	{file: inPostgres + "render_source.go", text: `WHERE q <= %d", rows, b.Caps.Rows)`, right: "b.Caps.Rows", wrong: []string{"b.Caps.Rows + 1", "1 << 40"}},
	{file: inPostgres + "render_source.go", text: `window := "PARTITION BY " + of`, right: `"PARTITION BY " + of`, wrong: []string{`"PARTITION BY 1"`}},
	{
		file: inPostgres + "render_source.go", text: `first := ranked("SELECT * FROM "+right+" AS t", within, of, s.Most)`,
		right: "s.Most", wrong: []string{"s.Most + 1"},
	},
	{
		file:  inPostgres + "render_source.go",
		text:  `right = fmt.Sprintf("(SELECT * FROM (%s) AS p WHERE q <= %d)", first, s.Most)`,
		right: `fmt.Sprintf("(SELECT * FROM (%s) AS p WHERE q <= %d)", first, s.Most)`,
		wrong: []string{`fmt.Sprintf("(SELECT * FROM (%s) AS p WHERE q <= %d)", first, s.Most+1)`, "right"},
	},
	{file: inPostgres + "render_source.go", text: `sum = "max" // once per cell`, right: `"max"`, wrong: []string{`"sum"`}},
	{file: inPostgres + "render_source.go", text: `"row_number() OVER (PARTITION BY u ORDER BY min(q)) AS r"`, right: `"row_number() OVER (PARTITION BY u ORDER BY min(q)) AS r"`, wrong: []string{`"row_number() OVER (ORDER BY min(q), u) AS r"`}},
	{file: inPostgres + "render_source.go", text: "cells, b.Caps.Groups)", right: "b.Caps.Groups", wrong: []string{"b.Caps.Groups + 1", "1 << 40"}},
	{file: inPostgres + "render_source.go", text: "if !second.Single {", right: "!second.Single", wrong: []string{"false"}},
	// what the plan says that all this bounds: too little of it
	{file: inSensitivity + "measure.go", text: "rows := big.NewInt(caps.Rows)", right: "big.NewInt(caps.Rows)", wrong: []string{"big.NewInt(caps.Rows - 1)"}},
	{file: inSensitivity + "measure.go", text: "case m.OfUnits():\n\t\tcells = caps.Groups", right: "caps.Groups", wrong: []string{"max(caps.Groups-1, 1)"}},
	{file: inSensitivity + "measure.go", text: "default:\n\t\tcells = caps.Groups", right: "caps.Groups", wrong: []string{"max(caps.Groups-1, 1)"}},
	{file: inSensitivity + "measure.go", text: "case n == privacy.ChangeOne && !grouped:", right: "n == privacy.ChangeOne && !grouped", wrong: []string{"false"}},
	{file: inSensitivity + "measure.go", text: "case cell.Cmp(hi) < 0:", right: "cell.Cmp(hi) < 0", wrong: []string{"false"}},
	{file: inSensitivity + "measure.go", text: "if n == privacy.ChangeOne && grouped {", right: "n == privacy.ChangeOne && grouped", wrong: []string{"false"}},
	{file: inSensitivity + "measure.go", text: "if lo.Sign() < 0 && hi.Sign() > 0 {", right: "lo.Sign() < 0 && hi.Sign() > 0", wrong: []string{"false"}},
	{file: inSensitivity + "measure.go", text: "return spread(m.Size, lo, hi)", right: "m.Size", wrong: []string{"m.Size - 1"}},
	{file: inSensitivity + "spread.go", text: "width := new(big.Int).Sub(hi, lo)", right: "new(big.Int).Sub(hi, lo)", wrong: []string{"new(big.Int).Set(hi)"}},
	{file: inSensitivity + "spread.go", text: "squared := new(big.Int).Mul(width, width)", right: "new(big.Int).Mul(width, width)", wrong: []string{"width", "new(big.Int).Rsh(new(big.Int).Mul(width, width), 2)"}},
	{file: inSensitivity + "spread.go", text: "big.NewInt(size-1)", right: "size-1", wrong: []string{"1", "size/2"}},
	{file: inPlan + "spread.go", text: "\tm.Size = n\n", right: " n", wrong: []string{" n-1"}},
	{file: inSensitivity + "distinct.go", text: "k := m.Values\n", right: "m.Values", wrong: []string{"max(m.Values-1, 1)"}},
	{file: inSensitivity + "distinct.go", text: "if n == privacy.ChangeOne && cells != 1 {", right: "n == privacy.ChangeOne && cells != 1", wrong: []string{"false"}},
	{file: inPlan + "rows.go", text: "t.Sensitivity = big.NewInt(c.caps.Rows)", right: "c.caps.Rows", wrong: []string{"c.caps.Rows - 1"}},
	{file: inEngine + "row.go", text: "x, d.Integer(m.Lo), d.Integer(m.Hi))", right: "d.Integer(m.Hi)", why: idle},
	{file: inSensitivity + "distinct.go", text: "return b.withDistinct(m, n, caps.Rows, cells)", right: "caps.Rows", wrong: []string{"max(caps.Rows-1, 1)"}},
	{file: inSensitivity + "distinct.go", text: "if n == privacy.ChangeOne {\n\t\tl1, squares", right: "n == privacy.ChangeOne", wrong: []string{"false"}},
	{file: inSensitivity + "distinct.go", text: "if a.Sign() > 0 && neg.Sign() > 0 {\n\t\t\tsquares.Lsh(squares, 1)", right: "a.Sign() > 0 && neg.Sign() > 0", wrong: []string{"false"}},
	{file: inSensitivity + "distinct.go", text: "a, neg := largest(max(m.Lo, 1), m.Hi, rows),", right: "rows", wrong: []string{"rows - 1"}},
	{file: inSensitivity + "distinct.go", text: "largest(max(-m.Hi, 1), -m.Lo, rows)\n", right: "rows", wrong: []string{"rows - 1"}},
	{file: inSensitivity + "distinct.go", text: "l1 := new(big.Int).Mul(big.NewInt(rows),", right: "big.NewInt(rows)", wrong: []string{"big.NewInt(rows - 1)"}},
	{file: inSensitivity + "distinct.go", text: "l1 = 2 * most\n", right: "2 * most", wrong: []string{"most"}},
	{file: inSensitivity + "distinct.go", text: "return x/k*k*k + x%k*(x%k)", right: "x%k*(x%k)", wrong: []string{"0"}},
	{file: inSensitivity + "measure.go", text: "k := min(caps.Groups, parts)", right: "min(caps.Groups, parts)", wrong: []string{"1"}},
	{file: inPlan + "order_noise.go", text: "m.Rows = of.rowCaps.Rows", right: "of.rowCaps.Rows", wrong: []string{"of.rowCaps.Rows - 1"}},
	{
		file: inPlan + "quantile.go", text: "q.Sensitivity = m.Sensitivity(q.Rank)", right: "m.Sensitivity(q.Rank)",
		wrong: []string{"new(big.Rat).Quo(m.Sensitivity(q.Rank), big.NewRat(2, 1))"},
	},
	{file: inQuantile + "cells.go", text: "rows := new(big.Rat).SetInt64(m.MaxRows)", right: "m.MaxRows", wrong: []string{"m.MaxRows - 1"}},
	{
		file: inQuantile + "cells.go", text: "if m.Neighbours == privacy.ChangeOne && m.Cells == 1 {",
		right: "m.Neighbours == privacy.ChangeOne && m.Cells == 1", wrong: []string{"m.Neighbours == privacy.ChangeOne"},
	},
	{file: inQuantile + "cells.go", text: "if w.Cmp(rank) < 0 {", right: "w.Cmp(rank) < 0", wrong: []string{"false"}},
	{file: inQuantile + "cells.go", text: "if m.Neighbours == privacy.ChangeOne {\n\t\tw.Add(w, w)", right: "m.Neighbours == privacy.ChangeOne", wrong: []string{"false"}},
	{
		file: inBounded + "statement.go", text: "return len(b.Keys) > 0 && !few && (b.Open() || int64(b.Cells()) > b.Caps.Groups)",
		right: "!few && (b.Open() || int64(b.Cells()) > b.Caps.Groups)", wrong: []string{"false", "b.Caps.Rows == 0", "int64(b.Cells()) > b.Caps.Groups"},
	},
	{file: inBounded + "caps.go", text: "return c.Groups * c.RowsPerGroup", right: "c.Groups * c.RowsPerGroup", wrong: []string{"c.Groups*c.RowsPerGroup - 1"}},
	{file: inPlan + "open_select.go", text: "if n == privacy.ChangeOne {\n\t\tdiffer *= 2", right: "n == privacy.ChangeOne", wrong: []string{"false"}},
	{file: inPlan + "open_select.go", text: "s.Groups, s.Loss = max(b.caps.Groups, 1)", right: "max(b.caps.Groups, 1)", wrong: []string{"max(b.caps.Groups-1, 1)"}},
	{file: inPlan + "noisy.go", text: "m := big.NewInt(s.Look.Caps.Rows)", right: "s.Look.Caps.Rows", wrong: []string{"s.Look.Caps.Rows - 1"}},
	{file: inSensitivity + "vectors.go", text: "rows := big.NewInt(b.Caps.Rows)", right: "b.Caps.Rows", wrong: []string{"max(b.Caps.Rows-1, 1)"}},
	{file: inSensitivity + "vectors.go", text: "if n == privacy.ChangeOne {", right: "n == privacy.ChangeOne", wrong: []string{"false"}},
	{file: inSensitivity + "score.go", text: "k := caps.Rows\n", right: "caps.Rows", wrong: []string{"max(caps.Rows-1, 0)"}},
	{file: inSensitivity + "score.go", text: "k = caps.RowsPerGroup\n", right: "caps.RowsPerGroup", wrong: []string{"max(caps.RowsPerGroup-1, 1)"}},
	{file: inSensitivity + "score.go", text: "if n == privacy.AddRemove {", right: "n == privacy.AddRemove", wrong: []string{"true"}},
	{file: inSensitivity + "measure.go", text: "lo, hi := big.NewInt(min(m.Lo, 0)), big.NewInt(max(m.Hi, 0)) // what", right: "min(m.Lo, 0)", wrong: []string{"m.Lo"}},
	{file: inSensitivity + "measure.go", text: "lo, hi = exact.Smaller(lo, zero), exact.Larger(hi, zero)", right: "exact.Smaller(lo, zero)", wrong: []string{"lo"}},
	{file: inSensitivity + "measure.go", text: "cells.Add(cells, new(big.Int).Mul(big.NewInt(r), big.NewInt(r)))", right: "new(big.Int).Mul(big.NewInt(r), big.NewInt(r))", wrong: []string{"new(big.Int)"}},
	{file: inPlan + "truncation.go", text: "sensitivity.OfMeasure(m, b.neighbours(), u.look.Caps, false)", right: "sensitivity.OfMeasure(m, b.neighbours(), u.look.Caps, false)", wrong: []string{"sensitivity.OfMeasure(u.look.Measures[0], b.neighbours(), u.look.Caps, false)"}},
	{file: inPlan + "unit_rows.go", text: "s.sensitivity.Cmp(s.rank) < 0", right: "s.sensitivity.Cmp(s.rank) < 0", wrong: []string{"false"}},
	{file: inPlan + "unit_rows.go", text: "if b.neighbours() == privacy.AddRemove {", right: "b.neighbours() == privacy.AddRemove", wrong: []string{"true"}},
	{file: inPlan + "noisy.go", text: "if b.neighbours() == privacy.ChangeOne {\n\t\t\th.L1", right: "b.neighbours() == privacy.ChangeOne", wrong: []string{"false"}},
	{file: inPlan + "open_select.go", text: "Gaussian:  mechanism.Gaussian{L2Squared: big.NewInt(differ),", right: "differ", wrong: []string{"s.Groups"}},
	{file: inPlan + "open_select.go", text: "MaxPerCell: big.NewInt(1), Keys: s.Groups,", right: "s.Groups", wrong: []string{"max(s.Groups-1, 1)"}},
	{file: inSensitivity + "score.go", text: "monotonic = lo.Sign() == 0 || hi.Sign() == 0", right: "lo.Sign() == 0 || hi.Sign() == 0", wrong: []string{"true"}},
	{file: inPlan + "target.go", text: "t.Sensitivity = big.NewInt(c.caps.Rows)", right: "c.caps.Rows", wrong: []string{"c.caps.Rows - 1"}},
	{file: inSensitivity + "vectors.go", text: "new(big.Int).Mul(l2squared, rows.Mul(rows, rows))", right: "rows.Mul(rows, rows)", wrong: []string{"big.NewInt(b.Caps.Rows)"}},
	{file: inSensitivity + "vectors.go", text: "e.weight = 2", right: "2", wrong: []string{"int64(1)"}},
	{file: inSensitivity + "vectors.go", text: "if !signed && (!s.Symmetric() || !doubled) {", right: "!signed && (!s.Symmetric() || !doubled)", wrong: []string{"false"}},
	{file: inSensitivity + "vectors.go", text: "if b.Cells() == 1 {", right: "b.Cells() == 1", wrong: []string{"true"}},
	{file: inPlan + "linear_parts.go", text: "m.moves(sensitivity.OfStrategy(part.Strategy, &m.Measure, c.neighbours(), c.caps.Rows))", right: "c.caps.Rows", wrong: []string{"max(c.caps.Rows-1, 1)"}},
	{
		file: inPlan + "rounds.go", text: "out.Sensitivity = sensitivity.OfDistance(distances, moves)",
		right: "sensitivity.OfDistance(distances, moves)", wrong: []string{"plantedLess(sensitivity.OfDistance(distances, moves))"},
	},
	{file: inSensitivity + "distance.go", text: "big.NewInt(d.Weight), big.NewInt(d.Scale)", right: "big.NewInt(d.Scale)", wrong: []string{"big.NewInt(1)"}},
	{file: inSensitivity + "distance.go", text: "by.Mul(by, moves[i])", right: "moves[i]", wrong: []string{"plantedLess(moves[i])"}},
	{file: inSensitivity + "linear.go", text: "if n == privacy.ChangeOne {", right: "n == privacy.ChangeOne", wrong: []string{"false"}},
	{file: inSensitivity + "linear.go", text: "l2squared.Mul(l2squared, square(most))", right: "square(most)", wrong: []string{"most"}},
	{file: inSensitivity + "linear.go", text: "if signed || !s.Signless() {", right: "signed || !s.Signless()", wrong: []string{"false"}},
	{file: inBind + "join_bound.go", text: "join.Single = s.l.Source.Single && join.Most == 1", right: "join.Most == 1", wrong: []string{"true"}},
	{
		file: inBind + "nested_join.go", text: "\t\tMost:   1,\n\t\tSingle: l.Source.Single,", right: "1",
		wrong: []string{"int64(2)"},
	},
	{
		file: inBind + "nested_join.go", text: "Most:   1,\n\t\tSingle: l.Source.Single,", right: "l.Source.Single",
		wrong: []string{"true"},
	},
	{file: inBind + "nested_join.go", text: "Single: base.Single,", right: "base.Single", wrong: []string{"true"}},
	{file: inBind + "least.go", text: "Units: true, Most: 1, Single: in.Single,", right: "in.Single", wrong: []string{"true"}},
	{
		file: inBind + "least.go", text: `if call.Name == "row_number" && r.unit.RowsPerUnit > 1 {`,
		right: `call.Name == "row_number"`, why: oneOfEqual,
	},
	{file: inBind + "least.go", text: "Units: true, Most: 1, Single: true,", right: "1", wrong: []string{"int64(2)"}},
	{file: inBind + "first.go", text: "in.Single = in.Single || parts == 1 && n == 1", right: "parts == 1 && n == 1", wrong: []string{"n == 1", "true"}},
	{file: inBind + "first.go", text: `if first.Call.Name != "row_number" {`, right: `first.Call.Name != "row_number"`, wrong: []string{"false"}},
	{file: inBind + "window.go", text: "[]*bounded.Source{in}, in.Single, slices", right: "in.Single", wrong: []string{"true"}},
	{file: inBind + "window.go", text: "Most: 1, Single: in.Single,", right: "in.Single", wrong: []string{"true"}},
	{file: inEngine + "window.go", text: `out := "PARTITION BY " + strings.Join(part, ", ")`, right: `strings.Join(part, ", ")`, wrong: []string{`"1"`}},
	{file: inEngine + "placed.go", text: `part := "PARTITION BY " + strings.Join(group, ", ")`, right: `strings.Join(group, ", ")`, wrong: []string{`"1"`}},
	{file: inBind + "perunit.go", text: "in.per.Single = len(in.keys) == 1", right: "len(in.keys) == 1", wrong: []string{"true"}},
	{file: inBind + "source.go", text: "= u.RowsPerUnit*n,", right: "u.RowsPerUnit*n", wrong: []string{"u.RowsPerUnit*max(n-1, 1)"}},
	{file: inBind + "source.go", text: "u.RowsPerUnit += v.RowsPerUnit", right: "v.RowsPerUnit", wrong: []string{"v.RowsPerUnit - 1"}},
	{file: "internal/prune/groups.go", text: "if is.has(v) {", right: "is.has(v)", why: unshown},
	{
		file: inPlan + "possible.go", text: "return prune.Where(p.Where, p.Columns).Groups(p.Keys)", right: "p.Where",
		why: unshown,
	},
	{file: "internal/policy/clock.go", text: "return value.TimeTrunc(c.Grain, local)", right: "c.Grain", why: public},
	{file: "internal/query/instant.go", text: "at := now()", right: "now()", why: public},
	{file: inPlan + "parts.go", text: "left[i] = left[i] && of[i]", right: "left[i] && of[i]", why: "a part too many is charged where it is left out: dearer, and no less private"},
	{file: inPlan + "parts.go", text: "left[i] = left[i] || of[i]", right: "left[i] || of[i]", wrong: []string{"of[i]"}},
	{file: inPlan + "parts.go", text: "left[i] = holds(v) != negative", right: "holds(v) != negative", wrong: []string{"holds(v) && !negative"}},
}
