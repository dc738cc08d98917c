package duckdb

import (
	"fmt"
	"strings"

	"dither/internal/bounded"
	"dither/internal/engine"
)

// If only keys drop rows, most units lose none, and their first rows under Caps.Rows are those of the lowest ranks. Few
// units need the numbers of their remaining rows.
//
// Claim: refilled keeps the rows of cappedRows. Proof. Let v be a unit, and call a row of v good if its keys have a cell.
// The kept rows are the good ones whose number r among v's good rows is at most the cap. A row's rank q is its number
// among all rows of v, because nothing but keys drops rows. So r ≤ q. A good row with q up to the cap is kept: these rows
// are added up in the first groups. The others are kept if r is at most the cap and q above it. There are none if v has
// no more rows than the cap, and none if all rows with q up to the cap are good, since they are as many as the cap. So
// they are sought only in the units with more rows than the cap and with a row, of a rank up to the cap, in a first group
// without a cell. The rows of v alone decide all of this: the first groups of v's rows have a cell or not by these rows'
// keys. ∎

// refills reports whether b, for which dropsLate is true, is rendered by refilled: it has a cap on rows, and nothing but
// keys and missing units drops rows.
func refills(b *bounded.Statement, known engine.Sealed) bool {
	return b.Unit != nil && !known.OneRowEach && b.Caps.Rows > 0 && b.Where == nil && b.Part == nil && hasCell(b) != ""
}

// refilled returns the statement that adds up the rows of b that count. raw and scan are those of withRaw.
func refilled(b, raw *bounded.Statement, late []int, scan string, known engine.Sealed) string {
	where := func(condition string) string { return "(SELECT * FROM " + scan + " WHERE " + condition + ")" }
	first := fmt.Sprintf("%s <= %d", rankColumn, b.Caps.Rows)
	more := fmt.Sprintf("%s > %d", rowsColumn, b.Caps.Rows)
	var outside, same []string
	for i, name := range engine.KeyNames(b) {
		outside = append(outside, firstKey(i))
		same = append(same, "a."+name+" IS NOT DISTINCT FROM w."+firstKey(i))
	}
	rows := keptOf(b, fmt.Sprintf("(SELECT a.* FROM %s AS a SEMI JOIN lacking AS l ON a.%s = l.u)", where(more),
		identifier(b.Unit.Name)), engine.Kept(b, known.Complete))
	later := fmt.Sprintf("SELECT * EXCLUDE (r) FROM (SELECT *, row_number() OVER (PARTITION BY u ORDER BY q) AS r FROM (%s)) "+
		"WHERE r <= %[2]d AND q > %[2]d", rows, b.Caps.Rows)
	return fmt.Sprintf("WITH g AS MATERIALIZED (%s), w AS (SELECT %s FROM g WHERE NOT (%s)), "+
		"lacking AS (SELECT DISTINCT a.u FROM (%s) AS a SEMI JOIN w ON %s) ",
		firstGroups(b, raw, late, evaluated(raw, where(first), known)), strings.Join(outside, ", "), hasCell(b),
		evaluated(raw, where(first+" AND "+more), known), strings.Join(same, " AND ")) +
		dialect.SumUp(b, inCells(b, "g")+" UNION ALL "+contributed(b, later))
}
