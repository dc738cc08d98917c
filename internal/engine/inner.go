package engine

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"dither/internal/bounded"
)

// Inside is the part of an engine's dialect that aggregates inside a unit need, in addition to Dialect.
type Inside struct {
	Dialect
	Expression func(*bounded.Expr) string
	Clamped    func(whole string, lo, hi int64) string // SQL of the integer whole, of any size, clamped to [lo, hi]
	// Average returns the SQL of the integer nearest to the average of x, whose values are at least lo. Its result
	// over no rows is never used.
	Average func(x string, lo int64) string
}

// PerUnit returns a SELECT with one row for each unit and each value of the keys of s. The rows of input have their
// unit in column u.
func (d Inside) PerUnit(s *bounded.Source, input string) string {
	row, group, out := []string{"u"}, []string{"u"}, []string{"u"}
	ordered := placing{firsts: map[string]int{}}
	for i, e := range s.Exprs {
		c := fmt.Sprintf("c%d", i)
		row, group, out = append(row, d.Expression(e)+" AS "+c), append(group, c), append(out, c)
	}
	for i, a := range s.Aggregates {
		x := strconv.Itoa(i)
		if a.Ordered() {
			x = ordered.name(a, i)
		}
		if a.X != nil && x == strconv.Itoa(i) {
			row = append(row, d.value(a)+" AS x"+x)
		}
		out = append(out, fmt.Sprintf("%s AS c%d", d.aggregate(a, x), len(s.Exprs)+i))
	}
	rows := "SELECT " + strings.Join(row, ", ") + " FROM " + input + " AS a" + d.Fence
	return "SELECT " + strings.Join(out, ", ") + " FROM (" + ordered.numbered(rows, group) + ") AS g" + GroupBy(group)
}

// value returns the SQL of the value that aggregate a reads in a row. If a is gridded, the value is an integer in
// grid units, rounded half to even, of magnitude below 2^63.
func (d Inside) value(a bounded.Inner) string {
	x := d.Expression(a.X)
	if a.Gridded() {
		return "CAST((" + x + " * " + d.Double(math.Ldexp(1, -a.Grid)) + ") AS " + d.BigInt + ")"
	}
	return x
}

// aggregate returns the SQL of aggregate a over the column x followed by name. Sums are exact integers of any size. A
// clamped integer times its power of two fits a double (plan.Inner). Since the powers are above 2^-1000, the product is
// 0 only if the integer is 0. So the multiplication neither rounds nor raises an error.
func (d Inside) aggregate(a bounded.Inner, name string) string {
	x := "x" + name
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
		// some(…) returns NULL if there is no value; clamped alone would not, because least and greatest skip NULL
		if !a.Gridded() {
			return some(clamped("sum(" + x + ")"))
		}
		return some(scaled("sum(" + x + ")"))
	case bounded.InnerPlaced:
		return placed(a, a.Offset, name)
	case bounded.InnerBetween:
		return d.between(a, name)
	case bounded.InnerAverage:
		return some(scaled(d.Average(x, a.Lo)))
	}
	panic("engine: no aggregate " + string(a.Func)) // unreachable: plans contain no other function
}
