package postgres

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"

	"dither/internal/bounded"
	"dither/internal/engine"
	"dither/internal/value"
)

// rowsAreAddedUp reports whether each row is a unit, and contributions are added up as they are.
func rowsAreAddedUp(b *bounded.Statement) bool {
	return b.Unit == nil && !b.Ordered && b.RowVectors == nil && !b.Other &&
		!slices.ContainsFunc(b.Measures, func(m *bounded.Measure) bool { return m.Kind == bounded.CountDistinct })
}

// sumOfRows writes, for row units, what the server's own GROUP BY would do, as far as possible. It groups rows by the
// values read for a key's column, and cleans the groups' keys instead of each row's. Groups that become equal are added
// up once more, and groups whose key is no group are left out then. Cleaning is a function of the value read, so rows
// of one group have one key, and sums are exact in any order.
//
// A stage is a fence only if the next one names an expression of it several times.
func sumOfRows(b *bounded.Statement, in *rows) string {
	var stored, found, keys, values, contributed, sums, cleanKeys []string
	fence, again := "", false
	for i, k := range b.Keys {
		key, at := "k"+strconv.Itoa(i), k.Expr.Column
		if k.Expr.Op != bounded.OpColumn || k.Expr.Type == value.Real {
			keys, cleanKeys = append(keys, expression(k.Expr)+" AS "+key), append(cleanKeys, key)
			continue
		}
		c, from, x := b.Columns[at], "x"+strconv.Itoa(at), key
		switch {
		case in.copied:
			from = identifier(c.Name)
		case c.Type == value.Integer: // whose type becomes bigint for groups, too
			from, x = fmt.Sprintf("z%d", i), "CAST("+key+" AS bigint)"
			stored = append(stored, identifier(c.Name)+" AS "+from)
		}
		found, keys = append(found, fmt.Sprintf("%s AS y%d", from, i)), append(keys, fmt.Sprintf("y%d AS %s", i, key))
		cleanKeys = append(cleanKeys, clean(c, x)+" AS "+key)
		again = again || clean(c, x) != x
	}
	from, raw := columnsRead(b, in, stored...)
	columns := append(cleanColumns(b, raw), found...)
	for i, m := range b.Measures {
		name := "m" + strconv.Itoa(i)
		cleanKeys = append(cleanKeys, name)
		if isOne(m) {
			sums = append(sums, "count(*) AS "+name)
			continue
		}
		if !clampIsIdle(b, m) {
			fence = " OFFSET 0"
		}
		values = append(values, fmt.Sprintf("%s AS v%d", gridded(m), i))
		contributed = append(contributed, contribution(b, i)+" AS "+name)
		sums = append(sums, "sum("+name+") AS "+name)
	}
	where := ""
	if b.Where != nil {
		where = " WHERE " + expression(b.Where)
	}
	row, names := list(keys, values), engine.KeyNames(b)
	rows := "SELECT " + row + " FROM (SELECT " + list(columns) + " FROM " + from + fenceOf(columns, row+where) +
		") AS c" + where + fence
	rows = "SELECT " + list(names, contributed) + " FROM (" + rows + ") AS e"
	out := "SELECT " + list(names, sums) + " FROM (" + rows + ") AS r" + engine.GroupBy(names)
	if len(names) == 0 {
		return out
	}
	out = "SELECT " + list(cleanKeys) + " FROM (" + out + " OFFSET 0) AS g"
	if again {
		out = engine.SumUp(b, out+" OFFSET 0")
	}
	return "SELECT * FROM (" + out + ") AS s" + engine.Kept(b, nil)
}

// isOne reports whether every row contributes 1.
func isOne(m *bounded.Measure) bool {
	return (m.Kind == bounded.CountRows || m.Kind == bounded.CountUnits) && m.Lo <= 1 && 1 <= m.Hi
}

// clampIsIdle reports that no gridded value of the measure lies outside its bounds: those of a count, or of a column
// whose cleaned range lies within them.
//
// Claim: if it returns true, coalesce(v, 0) equals the clamped value for every row, so a row adds no more than the
// sensitivity assumes. A NULL adds 0 in both. A count's only other value is 1, which is between Lo and Hi. For a sum, X
// is a column of a table, with bounds and without a list of values. Its cleaned value is in c.Range: clean clamps it,
// and c.Range holds the 0 that tiny magnitudes become. Dialect.Gridded takes it to the grid. For a real it multiplies
// by a power of two, which is exact at these magnitudes, and rounds half to even; for an integer it multiplies by 1 or
// 2. Then it subtracts a constant. Each step keeps the order of numbers, and none overflows, by most. So v lies between
// the results for the ends of c.Range. They are computed here by the same operations of IEEE 754 that the server uses.
// The last line compares them with m.Lo and m.Hi. Bounds that a search found, or a question gave, may be narrower than
// c.Range: then it is false, and the clamp is written. ∎
func clampIsIdle(b *bounded.Statement, m *bounded.Measure) bool {
	if m.Kind == bounded.CountRows || m.Kind == bounded.CountUnits || m.Kind == bounded.CountValue {
		return m.Lo <= 1 && 1 <= m.Hi
	}
	if m.Kind != bounded.Sum || b.Source != nil || m.X.Op != bounded.OpColumn || b.Columns[m.X.Column].Values != nil {
		// a relation's columns are computed, and not cleaned
		return false
	}
	const most = 1 << 61 // whose differences do not overflow
	var lo, hi int64
	switch c := b.Columns[m.X.Column]; {
	case m.Rounds():
		unit := math.Ldexp(1, -m.Grid)
		from, to := math.RoundToEven(c.Range.Lo*unit), math.RoundToEven(c.Range.Hi*unit)
		if from <= -most || to >= most { // neither is NaN
			return false
		}
		lo, hi = int64(from), int64(to)
	case c.Lower == nil || m.Grid > 0 || m.Grid < -1 || c.Range.IntLo <= -most/2 || c.Range.IntHi >= most/2:
		return false
	default:
		lo, hi = c.Range.IntLo<<-m.Grid, c.Range.IntHi<<-m.Grid
	}
	return m.Centre > -most && m.Centre < most && lo-m.Centre >= m.Lo && hi-m.Centre <= m.Hi
}

// fenceOf keeps the planner from copying columns, each "… AS name", into the following stage as often as they are
// named there. It is empty if no computed column is named twice.
func fenceOf(columns []string, after string) string {
	for _, c := range columns {
		if parts := aliased.FindStringSubmatch(c); parts == nil ||
			len(regexp.MustCompile(`\b`+parts[2]+`\b`).FindAllStringIndex(after, 2)) > 1 &&
				!bare.MatchString(parts[1]) {
			return " OFFSET 0"
		}
	}
	return ""
}

var (
	aliased = regexp.MustCompile(`(?s)^(.*) AS ([a-z]+[0-9]*)$`)
	bare    = regexp.MustCompile(`^([a-z]+[0-9]*|"[^"]*")$`)
)
