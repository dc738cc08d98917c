package enginetest

import (
	"slices"
	"strings"

	"pgregory.net/rapid"

	"dither/internal/bounded"
)

// UnitRows returns the rows of b that count, for a statement that plan.BuildRows planned. The result has an entry
// for each unit, with the measures of each of its rows as integers. If each row is a unit, every entry has one row.
func UnitRows(b *bounded.Statement, rows []Row) [][][]int64 {
	return UnitRowsOf(b, Tables{b.Table: rows})
}

// UnitRowsOf is [UnitRows] for the rows of a table or of a bounded.Source.
func UnitRowsOf(b *bounded.Statement, tables Tables) (units [][][]int64) {
	place := map[string]int{}
	for _, p := range piecesOf(b, tables) {
		row := make([]int64, len(p.sums))
		for i, s := range p.sums {
			row[i] = s.Int64()
		}
		at, known := place[p.unit.String()]
		if b.Unit == nil || !known {
			at = len(units)
			place[p.unit.String()] = at
			units = append(units, nil)
		}
		units[at] = append(units[at], row)
	}
	for _, u := range units {
		slices.SortFunc(u, slices.Compare[[]int64])
	}
	return units
}

// RowQuestion draws a question for rows as vectors. The planner accepts most of these questions.
func RowQuestion(t *rapid.T, table string) string {
	g := generator{t}
	items := []string{g.number(2)}
	for range rapid.IntRange(0, 2).Draw(t, "coordinates") {
		items = append(items, g.number(2))
	}
	if g.chance(3) {
		items = append(items, g.condition(2))
	}
	return g.from(strings.Join(items, ", "), table)
}

// RowQuestionOver draws a question for rows as vectors over a relation.
func RowQuestionOver(t *rapid.T) string {
	g := generator{t}
	r := g.relation(2)
	items := []string{g.pick(r.numbers...)}
	for range rapid.IntRange(0, 2).Draw(t, "coordinates") {
		items = append(items, g.pick(append([]string{"1", g.where(r)}, r.numbers...)...))
	}
	sql := "SELECT " + strings.Join(items, ", ") + " FROM " + r.from
	if r.where != "" {
		sql += " WHERE " + r.where
	}
	return sql
}
