package engine

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"dither/internal/bounded"
)

// Gridded returns the SQL of a row's value for m, in grid units, before clamping: a pure function of the row. If m
// rounds, the value of m.X is 0 or of a magnitude far above 2^-1000. Then its product with a power of two is exact, and
// is 0 only if the value is 0.
func (d Dialect) Gridded(m *bounded.Measure, expression func(*bounded.Expr) string) string {
	switch m.Kind {
	case bounded.CountValue, bounded.CountUnitsWith:
		return "CASE WHEN " + expression(m.X) + " IS NOT NULL THEN " + d.Integer(1) + " END"
	case bounded.CountRows, bounded.CountUnits, bounded.UnitRows:
		return d.Integer(1)
	}
	x := expression(m.X)
	switch m.Kind {
	case bounded.CountDistinct:
		return x
	case bounded.SumDistinct: // clamped before repeated values are found
		return fmt.Sprintf("CASE WHEN %[1]s < %[2]s THEN %[2]s WHEN %[1]s > %[3]s THEN %[3]s ELSE %[1]s END",
			x, d.Integer(m.Lo), d.Integer(m.Hi))
	}
	if m.Rounds() { // the cast rounds half to even
		x = "CAST((" + x + " * " + d.Double(math.Ldexp(1, -m.Grid)) + ") AS " + d.BigInt + ")"
	} else if m.Grid < 0 {
		x = "(" + x + " * " + d.Integer(1<<-m.Grid) + ")"
	}
	if m.Centre != 0 {
		x = "(" + x + " - " + d.Integer(m.Centre) + ")"
	}
	return x
}

// FirstOfValue returns SQL that is not 0 in at most one row of each cell (group) for each distinct value of measure i: it
// is 1 there for a count, and the value for a sum.
func (d Dialect) FirstOfValue(b *bounded.Statement, i int) string {
	v := "v" + strconv.Itoa(i)
	then := d.Integer(1)
	if b.Measures[i].Kind == bounded.SumDistinct {
		then = v
	}
	return fmt.Sprintf("CASE WHEN %s IS NOT NULL AND row_number() OVER (PARTITION BY %s) = 1 THEN %s ELSE %s END",
		v, strings.Join(append(KeyNames(b), v), ", "), then, d.Integer(0))
}

// SumUp returns a SELECT that sums the contributions m0, m1, … by cell (group), or computes their spread. The parameter
// `from` is the SQL of the rows, or of each unit's sums. A spread needs the contribution of each unit: it is not the sum
// of the spreads, nor the spread of the sums, of several of them.
func (d Dialect) SumUp(b *bounded.Statement, from string) string {
	out := KeyNames(b)
	for i, m := range b.Measures {
		sum := fmt.Sprintf("sum(m%d)", i)
		if m.Kind == bounded.Spread {
			sum = fmt.Sprintf("CAST(%d AS %[3]s) * sum(CAST(m%[2]d AS %[3]s) * CAST(m%[2]d AS %[3]s)) - "+
				"CAST(sum(m%[2]d) AS %[3]s) * CAST(sum(m%[2]d) AS %[3]s)", m.Size, i, d.Wide)
		}
		out = append(out, sum)
	}
	if len(out) == 0 {
		out = []string{"1"}
	}
	return "SELECT " + strings.Join(out, ", ") + " FROM (" + from + ") AS m" + GroupBy(KeyNames(b))
}

// KeysAndValues returns the SQL of a row's keys k0, k1, … and gridded values v0, v1, …. A value is NULL if the row
// has none for that measure.
func KeysAndValues(
	b *bounded.Statement, expression func(*bounded.Expr) string, gridded func(*bounded.Measure) string,
) (out []string) {
	for i, k := range b.Keys {
		out = append(out, fmt.Sprintf("%s AS k%d", expression(k.Expr), i))
	}
	for i, m := range b.Measures {
		out = append(out, fmt.Sprintf("%s AS v%d", gridded(m), i))
	}
	return out
}
