package postgres

import (
	"fmt"
	"math"

	"dither/internal/plan"
)

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
	return "SELECT " + list(out) + " FROM (SELECT " + list(row) + " FROM " + input + " AS a OFFSET 0) AS g GROUP BY " + list(group)
}

// innerValue is what an aggregate inside a unit reads of a row: on its grid, a whole number below 2^63 in size, half to even.
func innerValue(a plan.Inner) string {
	x := expression(a.X)
	if a.Gridded() {
		return "CAST((" + x + " * " + double(math.Ldexp(1, -a.Grid)) + ") AS bigint)"
	}
	return x
}

// inner is an aggregate over x: sums are numerics, and exact. What is clamped and then multiplied by a power of two is a whole number that a double holds
// (plan.Inner), and the product is 0 only for 0, since powers are above 2^-1000: it neither rounds nor raises.
func inner(a plan.Inner, x string) string {
	clamped := func(n string) string {
		return fmt.Sprintf("CAST(least(greatest(%s, CAST('%d' AS numeric)), CAST('%d' AS numeric)) AS bigint)", n, a.Lo, a.Hi)
	}
	some := func(what string) string { return "CASE WHEN count(" + x + ") > 0 THEN " + what + " END" }
	scaled := func(n string) string {
		return "(CAST(" + clamped(n) + " AS double precision) * " + double(math.Ldexp(1, a.Grid)) + ")"
	}
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
			return some(clamped("sum(" + x + ")"))
		}
		return some(scaled("sum(" + x + ")"))
	case plan.InnerAverage: // what is divided is not negative: x is nowhere below Lo
		n := "CAST(nullif(count(" + x + "), 0) AS numeric)"
		above := fmt.Sprintf("(sum(%s) - CAST('%d' AS numeric) * %s)", x, a.Lo, n)
		return some(scaled(fmt.Sprintf("(div(2 * %s + %s, 2 * %[2]s) + CAST('%d' AS numeric))", above, n, a.Lo)))
	}
	panic("postgres: no aggregate " + string(a.Func)) // refuse knows them all
}
