package engine_test

// place is where a bound on what one unit adds is applied, or relied on: the text is found once in its file, and in it what is right, once. Each wrong
// expression is planted by itself. Why says what the replay audit cannot show of an error: then it is not planted.
type place struct {
	file, text, right string
	wrong             []string

	why string
}

const (
	inEngine   = "internal/engine/"
	inDuckDB   = "internal/engine/duckdb/"
	inPostgres = "internal/engine/postgres/"
	inPlan     = "internal/plan/"
	onDuckDB   = "duckdb"
	onPostgres = "postgres"
)

const (
	idle = "a second belt: the expression's proved range, whose own clamps stand in X, lies within Lo and Hi (sumMeasure, Search), so that no value " +
		"reaches it; TestAnythingAgreesWithReference compares what X gives"
	never = "no row is longer than Most (plan.Block has the proof): the filter is a second belt to the scaling, whose errors it catches in turn"
)

// places are all of them.
var places = []place{
	// DuckDB, one table
	{file: inDuckDB + "render.go", text: "if b.Unit != nil && (!known.OneRowEach || b.CellsClamped()) {", right: "(!known.OneRowEach || b.CellsClamped())", wrong: []string{"false", "!known.OneRowEach"}},
	{file: inDuckDB + "render.go", text: "lo, hi := integer(m.Lo), integer(m.Hi)", right: "integer(m.Hi)", why: idle},
	{file: inDuckDB + "render.go", text: "lo, hi := integer(m.Lo), integer(m.Hi)", right: "integer(m.Lo)", why: idle},
	{file: inDuckDB + "render.go", text: `rankColumn, b.Caps.Rows))`, right: "b.Caps.Rows", wrong: []string{"b.Caps.Rows + 1", "1 << 40"}},
	{file: inDuckDB + "render.go", text: `few := filtered(fmt.Sprintf("%s <= %d", rowsColumn, b.Caps.Rows))`, right: "b.Caps.Rows", wrong: []string{"b.Caps.Rows + 1", "1 << 40"}},
	{file: inDuckDB + "render.go", text: `many := filtered(fmt.Sprintf("%s > %d", rowsColumn, b.Caps.Rows))`, right: "b.Caps.Rows", wrong: []string{"b.Caps.Rows - 1"}},
	{file: inDuckDB + "render.go", text: "few, many, b.Caps.Rows)", right: "b.Caps.Rows", wrong: []string{"b.Caps.Rows + 1", "1 << 40"}},
	{file: inDuckDB + "render.go", text: `"%s UNION ALL SELECT * EXCLUDE (r) FROM (SELECT *, row_number() OVER (PARTITION BY u ORDER BY q) AS r FROM (%s)) WHERE r <= %d"`, right: `"%s UNION ALL SELECT * EXCLUDE (r) FROM (SELECT *, row_number() OVER (PARTITION BY u ORDER BY q) AS r FROM (%s)) WHERE r <= %d"`, wrong: []string{
		`"%s UNION ALL SELECT * EXCLUDE (r) FROM (SELECT *, row_number() OVER (ORDER BY q, u) AS r FROM (%s)) WHERE r <= %d"`,
	}},
	{file: inDuckDB + "render.go", text: `sum = "max" // once a cell`, right: `"max"`, wrong: []string{`"sum"`}},
	{file: inDuckDB + "render.go", text: "cells, b.Caps.Groups)", right: "b.Caps.Groups", wrong: []string{"b.Caps.Groups + 1", "1 << 40"}},
	{file: inDuckDB + "render.go", text: `"SELECT *, row_number() OVER (PARTITION BY u ORDER BY q) AS r FROM (%s)", cells)`, right: `"SELECT *, row_number() OVER (PARTITION BY u ORDER BY q) AS r FROM (%s)"`, wrong: []string{
		`"SELECT *, row_number() OVER (ORDER BY q, u) AS r FROM (%s)"`,
	}},
	{file: inDuckDB + "render.go", text: "return len(b.Keys) > 0 && (b.Caps.Rows == 0 || b.Caps.Rows > b.Caps.Groups)", right: "(b.Caps.Rows == 0 || b.Caps.Rows > b.Caps.Groups)", wrong: []string{"false", "b.Caps.Rows == 0"}},
	{file: inDuckDB + "render.go", text: `ELSE CAST(0 AS BIGINT) END", b.Caps.Groups, name)`, right: "b.Caps.Groups", wrong: []string{"b.Caps.Groups + 1", "1 << 40"}},
	{file: inDuckDB + "render.go", text: "sealHugeint(lo), sealHugeint(hi))", right: "sealHugeint(hi)", wrong: []string{"sealHugeint(plantedMore(hi))", `"CAST('1152921504606846976' AS HUGEINT)"`}},
	{file: inDuckDB + "render.go", text: "sealHugeint(lo), sealHugeint(hi))", right: "sealHugeint(lo)", wrong: []string{"sealHugeint(plantedLess(lo))", `"CAST('-1152921504606846976' AS HUGEINT)"`}},
	// DuckDB, parts
	{file: inDuckDB + "parts.go", text: "if b.Part == nil || b.Unit == nil || known.OneRowEach {", right: "known.OneRowEach", wrong: []string{"true"}},
	{file: inDuckDB + "parts.go", text: "rows, unit, partColumn, parts, b.Part.PerUnit)", right: "b.Part.PerUnit", wrong: []string{"b.Part.PerUnit + 1"}},
	{file: inDuckDB + "parts.go", text: "row_number() OVER (PARTITION BY %[1]s ORDER BY min(%[3]s)) AS r", right: "PARTITION BY %[1]s ORDER BY min(%[3]s)", wrong: []string{"ORDER BY min(%[3]s), %[1]s"}},
	// DuckDB, rows in order
	{file: inDuckDB + "order_cells.go", text: "placed, b.Caps.RowsPerGroup)", right: "b.Caps.RowsPerGroup", wrong: []string{"b.Caps.RowsPerGroup + 1", "1 << 40"}},
	{file: inDuckDB + "order_cells.go", text: "few, b.Caps.Groups)", right: "b.Caps.Groups", wrong: []string{"b.Caps.Groups + 1", "1 << 40"}},
	{file: inDuckDB + "order_cells.go", text: "integer(m.Lo), integer(m.Hi), rows)", right: "integer(m.Hi)", wrong: []string{"integer(m.Hi + 1)"}},
	{file: inDuckDB + "order_cells.go", text: `"SELECT *, dense_rank() OVER (PARTITION BY u ORDER BY f) AS c FROM (%s) WHERE r <= %d"`, right: `"SELECT *, dense_rank() OVER (PARTITION BY u ORDER BY f) AS c FROM (%s) WHERE r <= %d"`, wrong: []string{`"SELECT *, dense_rank() OVER (ORDER BY f, u) AS c FROM (%s) WHERE r <= %d"`}},
	// DuckDB, rows for a training
	{file: inDuckDB + "rows.go", text: "if b.Unit == nil || known.OneRowEach {", right: "known.OneRowEach", wrong: []string{"true"}},
	{file: inDuckDB + "rows_source.go", text: `engine.Contents(b), b.Caps.Rows)`, right: "b.Caps.Rows", wrong: []string{"b.Caps.Rows + 1"}},
	{file: inDuckDB + "rows_source.go", text: `fmt.Sprintf("q <= %d", b.Caps.Rows)`, right: "b.Caps.Rows", wrong: []string{"b.Caps.Rows + 1", "1 << 40"}},
	// DuckDB, relations
	{file: inDuckDB + "render_source.go", text: "if b.Unit != nil && (!files.single(b.Source) || b.CellsClamped()) {", right: "(!files.single(b.Source) || b.CellsClamped())", wrong: []string{"false"}},
	{file: inDuckDB + "render_source.go", text: "return s.Unit != nil && f.oneRowEach[s.Table]", right: "f.oneRowEach[s.Table]", wrong: []string{"true"}},
	{file: inDuckDB + "render_source.go", text: "case s.Op == plan.Select, s.Op == plan.Join && s.Most == 1:", right: "s.Most == 1", wrong: []string{"true"}},
	{file: inDuckDB + "render_source.go", text: `WHERE q <= %d", rows, b.Caps.Rows)`, right: "b.Caps.Rows", wrong: []string{"b.Caps.Rows + 1", "1 << 40"}},
	{file: inDuckDB + "render_source.go", text: `right = fmt.Sprintf("(SELECT * FROM (%s) WHERE q <= %d)", ranked(right, part, of, s.Most), s.Most)`, right: `fmt.Sprintf("(SELECT * FROM (%s) WHERE q <= %d)", ranked(right, part, of, s.Most), s.Most)`, wrong: []string{
		`fmt.Sprintf("(SELECT * FROM (%s) WHERE q <= %d)", ranked(right, part, of, s.Most+1), s.Most)`, `fmt.Sprintf("(SELECT * FROM (%s) WHERE q <= %d)", ranked(right, part, of, s.Most), s.Most+1)`, `right`,
	}},
	{file: inDuckDB + "render_source.go", text: `window := "PARTITION BY " + strings.Join(part, ", ")`, right: `"PARTITION BY " + strings.Join(part, ", ")`, wrong: []string{`"PARTITION BY 1"`}},
	// DuckDB, sealing
	{file: inDuckDB + "seal.go", text: `row_number() OVER (PARTITION BY %[2]s ORDER BY hash(%[1]s), %[1]s) AS %[3]s, "`, right: `PARTITION BY %[2]s ORDER BY hash(%[1]s), %[1]s`, wrong: []string{
		`PARTITION BY %[2]s`, `ORDER BY hash(%[1]s), %[1]s`,
	}},
	{file: inDuckDB + "seal.go", text: `"count(*) OVER (PARTITION BY %[2]s) AS %[4]s FROM`, right: `count(*) OVER (PARTITION BY %[2]s)`, wrong: []string{`count(*) OVER (PARTITION BY %[2]s) - 1`}},
	{file: inDuckDB + "known.go", text: "v.Facts.MaxRowsPerUnit <= 1", right: "v.Facts.MaxRowsPerUnit <= 1", wrong: []string{"v.Facts.MaxRowsPerUnit <= 2", "true"}},
	// what both engines say alike
	{file: inEngine + "relation.go", text: "\treturn least\n", right: "least", wrong: []string{"least + 1", "1 << 40"}},
	{file: inEngine + "relation.go", text: "least = min(least, b.Caps.RowsPerGroup)", right: "min(least, b.Caps.RowsPerGroup)", why: "without it a cell's rows are numbered among ties, and no more than RowsPerGroup are kept all the same; which, TestAnythingAgreesWithReference compares"},
	{file: inEngine + "relation.go", text: "least = b.Caps.Groups\n", right: "b.Caps.Groups", wrong: []string{"1 << 40"}},
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
	{file: inPostgres + "cells.go", text: "case exactInDoubles(b, m):", right: "exactInDoubles(b, m)", wrong: []string{"true"}},
	{file: inPostgres + "cells.go", text: "name, lo, hi, t.as)", right: "hi", wrong: []string{"plantedMore(hi)"}},
	{file: inPostgres + "cells.go", text: "name, lo, hi, t.as)", right: "lo", wrong: []string{"plantedLess(lo)"}},
	{file: inPostgres + "cells.go", text: "most.Mul(most, big.NewInt(b.Caps.Rows)).Cmp(integersOfDouble)", right: "big.NewInt(b.Caps.Rows)", why: "whether doubles are exact is planted as a whole, above; an error at its very edge needs sums of 2^53"},
	// PostgreSQL, copies
	{file: inPostgres + "render_copy.go", text: `some.where = fmt.Sprintf("%s %s %d", column, op, b.Caps.Rows)`, right: "b.Caps.Rows", wrong: []string{"b.Caps.Rows + 1"}},
	{file: inPostgres + "render_copy.go", text: `filtered(rowsColumn, ">"), b.Caps.Rows)`, right: "b.Caps.Rows", wrong: []string{"b.Caps.Rows + 1", "1 << 40"}},
	{file: inPostgres + "render_copy.go", text: "row_number() OVER (PARTITION BY u ORDER BY q) AS r FROM (%[3]s)", right: "PARTITION BY u ORDER BY q", wrong: []string{"ORDER BY q, u"}},
	{file: inPostgres + "copy.go", text: "CAST(count(*) OVER (PARTITION BY %[3]s) AS integer) AS", right: "count(*) OVER (PARTITION BY %[3]s)", why: "the copy's CHECK refuses a rank above the number of rows, so that nothing is sealed"},
	{file: inPostgres + "copy.go", text: `WINDOW w AS (PARTITION BY %[3]s ORDER BY %[6]s, %[7]s)`, right: "PARTITION BY %[3]s ORDER BY %[6]s, %[7]s", wrong: []string{"PARTITION BY %[3]s ORDER BY %[6]s * 0, ROW(%[7]s) IS NULL"}},
	{file: inPostgres + "parts.go", text: "placeColumn, b.Part.PerUnit)", right: "b.Part.PerUnit", wrong: []string{"b.Part.PerUnit + 1"}},
	{file: inPostgres + "parts.go", text: `dense_rank() OVER (PARTITION BY %s ORDER BY %s) AS %s FROM (%s)`, right: "PARTITION BY %s ORDER BY %s) AS %s FROM (%s)", wrong: []string{"ORDER BY %[2]s, %[1]s) AS %[3]s FROM (%[4]s)"}},
	{file: inPostgres + "parts.go", text: `"SELECT *, min(%s) OVER (PARTITION BY %s, %s) AS %s`, right: "PARTITION BY %s, %s", why: "whatever the order of a unit's parts is, no more than PerUnit are its own; that it is the same in all questions TestLooksAgreeWithReference compares"},
	// PostgreSQL, rows in order and for a training
	{file: inPostgres + "order.go", text: "placed, b.Caps.RowsPerGroup)", right: "b.Caps.RowsPerGroup", wrong: []string{"b.Caps.RowsPerGroup + 1", "1 << 40"}},
	{file: inPostgres + "order.go", text: "few, b.Caps.Groups)", right: "b.Caps.Groups", wrong: []string{"b.Caps.Groups + 1", "1 << 40"}},
	{file: inPostgres + "order.go", text: "integer(m.Lo), integer(m.Hi), rows)", right: "integer(m.Hi)", wrong: []string{"integer(m.Hi + 1)"}},
	{file: inPostgres + "order.go", text: `dense_rank() OVER (PARTITION BY u ORDER BY f) AS c`, right: "PARTITION BY u ORDER BY f", wrong: []string{"ORDER BY f, u"}},
	{file: inPostgres + "rows.go", text: "engine.Contents(b), engine.Enough(b))", right: "engine.Enough(b)", wrong: []string{"engine.Enough(b) + 1"}},
	{file: inPostgres + "rows.go", text: `WHERE q <= %d", rows, b.Caps.Rows)`, right: "b.Caps.Rows", wrong: []string{"b.Caps.Rows + 1", "1 << 40"}},
	// PostgreSQL, relations
	{file: inPostgres + "render_source.go", text: "if b.Unit != nil && (!b.Source.Single || b.CellsClamped()) {", right: "(!b.Source.Single || b.CellsClamped())", wrong: []string{"false"}},
	{file: inPostgres + "render_source.go", text: `WHERE q <= %d", rows, b.Caps.Rows)`, right: "b.Caps.Rows", wrong: []string{"b.Caps.Rows + 1", "1 << 40"}},
	{file: inPostgres + "render_source.go", text: `window := "PARTITION BY " + of`, right: `"PARTITION BY " + of`, wrong: []string{`"PARTITION BY 1"`}},
	{file: inPostgres + "render_source.go", text: `right = fmt.Sprintf("(SELECT * FROM (%s) AS p WHERE q <= %d)", ranked("SELECT * FROM "+right+" AS t", within, of, s.Most), s.Most)`, right: `fmt.Sprintf("(SELECT * FROM (%s) AS p WHERE q <= %d)", ranked("SELECT * FROM "+right+" AS t", within, of, s.Most), s.Most)`, wrong: []string{
		`fmt.Sprintf("(SELECT * FROM (%s) AS p WHERE q <= %d)", ranked("SELECT * FROM "+right+" AS t", within, of, s.Most+1), s.Most)`, `fmt.Sprintf("(SELECT * FROM (%s) AS p WHERE q <= %d)", ranked("SELECT * FROM "+right+" AS t", within, of, s.Most), s.Most+1)`, `right`,
	}},
	{file: inPostgres + "render_source.go", text: `sum = "max" // once a cell`, right: `"max"`, wrong: []string{`"sum"`}},
	{file: inPostgres + "render_source.go", text: `"row_number() OVER (PARTITION BY u ORDER BY min(q)) AS r"`, right: `"row_number() OVER (PARTITION BY u ORDER BY min(q)) AS r"`, wrong: []string{`"row_number() OVER (ORDER BY min(q), u) AS r"`}},
	{file: inPostgres + "render_source.go", text: "cells, b.Caps.Groups)", right: "b.Caps.Groups", wrong: []string{"b.Caps.Groups + 1", "1 << 40"}},
	// what the plan says that all this bounds: too little of it
	{file: inPlan + "caps.go", text: "rows := big.NewInt(caps.Rows)", right: "big.NewInt(caps.Rows)", wrong: []string{"big.NewInt(caps.Rows - 1)"}},
	{file: inPlan + "caps.go", text: "case m.Kind == CountUnits:\n\t\tcells = caps.Groups", right: "caps.Groups", wrong: []string{"max(caps.Groups-1, 1)"}},
	{file: inPlan + "caps.go", text: "default:\n\t\tcells = caps.Groups", right: "caps.Groups", wrong: []string{"max(caps.Groups-1, 1)"}},
	{file: inPlan + "caps.go", text: "case n == privacy.ChangeOne && !grouped:", right: "n == privacy.ChangeOne && !grouped", wrong: []string{"false"}},
	{file: inPlan + "caps.go", text: "case cell.Cmp(hi) < 0:", right: "cell.Cmp(hi) < 0", wrong: []string{"false"}},
	{file: inPlan + "caps.go", text: "if n == privacy.ChangeOne && grouped {", right: "n == privacy.ChangeOne && grouped", wrong: []string{"false"}},
	{file: inPlan + "caps.go", text: "if lo.Sign() < 0 && hi.Sign() > 0 {", right: "lo.Sign() < 0 && hi.Sign() > 0", wrong: []string{"false"}},
	{file: inPlan + "distinct.go", text: "k := m.Values\n", right: "m.Values", wrong: []string{"max(m.Values-1, 1)"}},
	{file: inPlan + "distinct.go", text: "l1 = 2 * most\n", right: "2 * most", wrong: []string{"most"}},
	{file: inPlan + "distinct.go", text: "return x/k*k*k + x%k*(x%k)", right: "x%k*(x%k)", wrong: []string{"0"}},
	{file: inPlan + "sets.go", text: "k := min(caps.Groups, parts)", right: "min(caps.Groups, parts)", wrong: []string{"1"}},
	{file: inPlan + "order.go", text: "m.Rows = p.RowCaps.Rows", right: "p.RowCaps.Rows", wrong: []string{"p.RowCaps.Rows - 1"}},
	{file: inPlan + "order.go", text: "return c.Groups * c.RowsPerGroup", right: "c.Groups * c.RowsPerGroup", wrong: []string{"c.Groups*c.RowsPerGroup - 1"}},
	{file: inPlan + "quantile.go", text: "q.Sensitivity = new(big.Rat).SetInt64(rows)", right: "rows", wrong: []string{"rows - 1"}},
	{file: inPlan + "open_select.go", text: "if n == privacy.ChangeOne {\n\t\tdiffer *= 2", right: "n == privacy.ChangeOne", wrong: []string{"false"}},
	{file: inPlan + "open_select.go", text: "s.Groups, s.Loss = max(b.plan.Caps.Groups, 1)", right: "max(b.plan.Caps.Groups, 1)", wrong: []string{"max(b.plan.Caps.Groups-1, 1)"}},
	{file: inPlan + "auto.go", text: "m := big.NewInt(s.Look.Caps.Rows)", right: "s.Look.Caps.Rows", wrong: []string{"s.Look.Caps.Rows - 1"}},
	{file: inPlan + "vectors_bound.go", text: "rows := big.NewInt(b.Caps.Rows)", right: "b.Caps.Rows", wrong: []string{"max(b.Caps.Rows-1, 1)"}},
	{file: inPlan + "vectors_bound.go", text: "if n == privacy.ChangeOne {", right: "n == privacy.ChangeOne", wrong: []string{"false"}},
	{file: inPlan + "target.go", text: "m, k := t.Measures[0], t.Caps.Rows\n", right: "t.Caps.Rows", wrong: []string{"max(t.Caps.Rows-1, 0)"}},
	{file: inPlan + "target.go", text: "k = t.Caps.RowsPerGroup\n", right: "t.Caps.RowsPerGroup", wrong: []string{"max(t.Caps.RowsPerGroup-1, 1)"}},
	{file: inPlan + "target.go", text: "if t.Neighbours == privacy.AddRemove {", right: "t.Neighbours == privacy.AddRemove", wrong: []string{"true"}},
	{file: inPlan + "parts.go", text: "left[i] = left[i] && of[i]", right: "left[i] && of[i]", why: "a part too many is charged where it is left out: dearer, and no less private"},
	{file: inPlan + "parts.go", text: "left[i] = left[i] || of[i]", right: "left[i] || of[i]", wrong: []string{"of[i]"}},
	{file: inPlan + "parts.go", text: "left[i] = holds(v) != negative", right: "holds(v) != negative", wrong: []string{"holds(v) && !negative"}},
}

// unseen are errors that the audit tries to catch, and that no run has been seen to catch yet: of DuckDB's and the plan's within some 25 worlds, of PostgreSQL's within
// some 10. A run reports those that it does not catch, and requires none of them. Take out what a run catches.
var unseen = []string{
	"(!known.OneRowEach || b.CellsClamped()) → !known.OneRowEach",                                              // nobody may have two rows, and the bounds of a group must be narrower than a row's
	"duckdb/render_source.go: case s.Op == plan.Select, s.Op == plan.Join && s.Most == 1:: s.Most == 1 → true", // the plan's caps admit Most rows, but where a question asks for fewer
	"ranked(right, part, of, s.Most+1), s.Most)",                                                               // a part of exactly Most + 1 public rows, for rows that are units
	"least = b.Caps.Groups : b.Caps.Groups → 1",                                                                // a relation with a cap on groups below that on rows, and a unit beyond it
	"k := m.Values : m.Values → max(m.Values-1, 1)",                                                            // one unit has every value there can be, and all alone
	"left[i] = holds(v) != negative",                                                                           // a part named by NOT alone is a unit's only one
	"left[i] = left[i] || of[i]",                                                                               // likewise, by the first of two
	"k := min(caps.Groups, parts)",                                                                             // the coarser cells of a grouping set hold as many of a unit's cells as there are
	"if t.Neighbours == privacy.AddRemove {",                                                                   // scores of both signs, of two persons at opposite ends
	"k = t.Caps.RowsPerGroup",                                                                                  // a score that is bounded by groups, by as many rows as count
	"postgres/cells.go: case exactInDoubles",                                                                   // sums above 2^53, rounded upward
	"postgres/cells.go: name, lo, hi, t.as): lo",
	"postgres/copy.go: WINDOW",
	"postgres/parts.go: placeColumn",
	"postgres/render.go: CAST('%s' AS numeric))\", name, lo, hi): hi → plantedMore(hi)",
	"postgres/render.go: CAST('%s' AS numeric))\", name, lo, hi): lo",
	"postgres/render_copy.go: row_number() OVER (PARTITION BY u ORDER BY q)",
	`postgres/render_source.go: "row_number() OVER (PARTITION BY u ORDER BY min(q))`,
	`postgres/render_source.go: right = fmt.Sprintf(`,
	"postgres/rows.go: engine.Contents(b), engine.Enough(b))",
}
