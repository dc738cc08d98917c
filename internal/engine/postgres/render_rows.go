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

// rowsAreAddedUp reports whether each row is a unit and the statement only adds up contributions of rows.
func rowsAreAddedUp(b *bounded.Statement) bool {
	return b.Unit == nil && !b.Ordered && b.RowVectors == nil && !b.Other &&
		!slices.ContainsFunc(b.Measures, func(m *bounded.Measure) bool { return !m.Additive() && !m.OfUnits() })
}

// sumOfRows returns a statement for rows that are units, close to the server's own GROUP BY. It groups rows by the
// values read of a key's column, and cleans the keys of the groups in place of those of each row. If cleaning makes
// several groups equal, they are added up once more. Groups whose key is NULL are dropped then, unless NULL is a
// group. Cleaning is a function of the value read, so all rows of a group have one cleaned key. Sums are exact in
// any order.
//
// A stage (one SELECT of the statement) ends with a fence, OFFSET 0, only if the next stage names one of its
// expressions several times.
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
		case c.Type == value.Integer: // groups by the server's own type, and casts to bigint afterwards
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
		out = dialect.SumUp(b, out+" OFFSET 0")
	}
	return "SELECT * FROM (" + out + ") AS s" + engine.Kept(b, nil)
}

// isOne reports whether every row contributes 1 to m.
func isOne(m *bounded.Measure) bool {
	return (m.Kind == bounded.CountRows || m.Kind == bounded.CountUnits) && m.Lo <= 1 && 1 <= m.Hi
}

// clampIsIdle reports whether clamping cannot change a gridded value of m: a row's value in grid units. This is so for
// a count. It is also so for a column whose cleaned range lies within the measure's bounds.
//
// Claim: if it returns true, coalesce(v, 0) equals the clamped value in every row, so a row adds no more than the
// sensitivity assumes. Proof. A NULL adds 0 in both. The only other value of a count is 1, which is between Lo and
// Hi. For a sum, X is a column of a table, with bounds and without a list of values. Its cleaned value is in
// c.Range: clean clamps the value, and c.Range contains the 0 that replaces tiny magnitudes, or its clamped value.
// Dialect.Gridded converts the value to the grid. For a real, it multiplies by a power of two, which is exact at
// these magnitudes, and rounds half to even. For an integer, it multiplies by 1 or 2. Then it subtracts a constant.
// Each step keeps the order of numbers, and none overflows, because magnitudes are below the constant most. So v
// lies between the results for the two ends of c.Range. They are computed here by the same IEEE 754 operations that
// the server uses, and the last line compares them with m.Lo and m.Hi. Bounds that a search found or a question
// gave may be narrower than c.Range. Then the result is false, and the clamp is written. ∎
func clampIsIdle(b *bounded.Statement, m *bounded.Measure) bool {
	if m.Kind == bounded.CountRows || m.OfUnits() || m.Kind == bounded.CountValue {
		return m.Lo <= 1 && 1 <= m.Hi
	}
	if !m.Sums() || b.Source != nil || m.X.Op != bounded.OpColumn || b.Columns[m.X.Column].Values != nil {
		// A relation's columns are computed, so their values are not cleaned.
		return false
	}
	const most = 1 << 61 // differences of integers below it do not overflow
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

// fenceOf returns " OFFSET 0" if the following stage, whose text is the parameter `after`, names a computed column
// several times. Otherwise it returns "". Without this fence, the planner would copy the column's expression to each
// place that names it. Each column has the form "… AS name".
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
