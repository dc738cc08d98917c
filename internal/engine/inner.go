package engine

import (
	"fmt"
	"math"
	"strings"

	"dither/internal/bounded"
)

// Inside is how an engine writes aggregates inside a unit, in addition to its Dialect.
type Inside struct {
	Dialect
	Expression func(*bounded.Expr) string
	Clamped    func(whole string, lo, hi int64) string // an integer of any size, clamped to lo and hi
	// the integer nearest to the average of x, with no value below lo; NULL or anything if there is no row
	Average func(x string, lo int64) string
}

// PerUnit writes a SELECT with one row for each unit and each value of the keys of s, over rows with the unit u.
func (d Inside) PerUnit(s *bounded.Source, input string) string {
	row, group, out := []string{"u"}, []string{"u"}, []string{"u"}
	for i, e := range s.Exprs {
		c := fmt.Sprintf("c%d", i)
		row, group, out = append(row, d.Expression(e)+" AS "+c), append(group, c), append(out, c)
	}
	for i, a := range s.Aggregates {
		x := fmt.Sprintf("x%d", i)
		if a.X != nil {
			row = append(row, d.value(a)+" AS "+x)
		}
		out = append(out, fmt.Sprintf("%s AS c%d", d.aggregate(a, x), len(s.Exprs)+i))
	}
	return "SELECT " + strings.Join(out, ", ") + " FROM (SELECT " + strings.Join(row, ", ") + " FROM " + input +
		" AS a" + d.Fence + ") AS g" + GroupBy(group)
}

// value is what an aggregate inside a unit reads of a row: on its grid, an integer below 2^63 in size, rounded half to
// even.
func (d Inside) value(a bounded.Inner) string {
	x := d.Expression(a.X)
	if a.Gridded() {
		return "CAST((" + x + " * " + d.Double(math.Ldexp(1, -a.Grid)) + ") AS " + d.BigInt + ")"
	}
	return x
}

// aggregate writes one aggregate over x. Sums are exact integers of any size. A clamped integer that is multiplied by a
// power of two fits a double (plan.Inner), and the product is 0 only for 0, since powers are above 2^-1000: it neither
// rounds nor raises an error.
func (d Inside) aggregate(a bounded.Inner, x string) string {
	clamped := func(n string) string { return d.Clamped(n, a.Lo, a.Hi) }
	some := func(what string) string { return "CASE WHEN count(" + x + ") > 0 THEN " + what + " END" }
	scaled := func(n string) string {
		return "(CAST(" + clamped(n) + " AS " + d.Real + ") * " + d.Double(math.Ldexp(1, a.Grid)) + ")"
	}
	switch a.Func {
	case bounded.InnerRows:
		return clamped("count(*)")
	case bounded.InnerCount:
		return clamped("count(" + x + ")")
	case bounded.InnerDistinct:
		return clamped("count(DISTINCT " + x + ")")
	case bounded.InnerMin, bounded.InnerMax:
		return string(a.Func) + "(" + x + ")"
	case bounded.InnerAny:
		return "bool_or(" + x + ")"
	case bounded.InnerAll:
		return "bool_and(" + x + ")"
	case bounded.InnerSum:
		if !a.Gridded() { // least and greatest skip NULL, which must stay NULL
			return some(clamped("sum(" + x + ")"))
		}
		return some(scaled("sum(" + x + ")"))
	case bounded.InnerAverage:
		return some(scaled(d.Average(x, a.Lo)))
	}
	panic("engine: no aggregate " + string(a.Func)) // the plan has no other
}
