package query

import (
	"maps"
	"slices"
	"strings"
)

// Functions of other databases that have another name or another order of arguments here. Functions that differ between
// databases are left out: DAYOFWEEK, because databases count from different days; LEN, which drops spaces at the end in
// some; and STD, which is STDDEV_POP in some. The reference states two exceptions: DATEDIFF with a unit, and CONTAINS.

// otherNames maps functions to those that take the same arguments and mean the same. args is the number of arguments. An
// aggregate may have DISTINCT, FILTER and the like.
var otherNames = map[string]struct {
	args      int
	name      string
	aggregate bool
}{
	"ifnull": {2, "coalesce", false}, "nvl": {2, "coalesce", false}, "isnull": {2, "coalesce", false},
	"ucase": {1, "upper", false}, "lcase": {1, "lower", false},
	"truncate": {2, "trunc", false}, "instr": {2, "strpos", false}, "startswith": {2, "starts_with", false},
	"regexp_contains":     {2, "regexp_like", false},
	"time_bucket_gapfill": {2, "time_bucket", false}, // an answer has every bucket that the question's times allow

	"mean": {1, "avg", true}, "average": {1, "avg", true},
	"approx_distinct": {1, "approx_count_distinct", true}, "quantile_cont": {2, "percentile_cont", true},
	"percentile": {2, "percentile_cont", true}, "approx_quantile": {2, "percentile_cont", true},
	"approx_percentile": {2, "percentile_cont", true}, "quantile_disc": {2, "percentile_disc", true},
}

// parts maps functions of one time to the field of EXTRACT that they return.
var parts = map[string]string{
	"year": "year", "quarter": "quarter", "month": "month", "day": "day", "dayofmonth": "day", "dayofyear": "doy",
	"hour": "hour", "minute": "minute",
}

// OtherNames returns the names of other databases' functions that are accepted, in order.
func OtherNames() []string { return slices.Sorted(maps.Keys(otherNames)) }

// foreign returns what a call of a function of another database means here, or nil.
func foreign(x *Call) Expr {
	plain := !x.Distinct && len(x.Named) == 0 && x.Filter == nil && x.Over == nil
	if to, ok := otherNames[x.Name]; ok && len(x.Args) == to.args && !x.Star && x.Within == nil && (plain || to.aggregate) {
		out := *x
		out.Name = to.name
		if x.Name == "approx_percentile" { // TimescaleDB's APPROX_PERCENTILE(0.9, PERCENTILE_AGG(x))
			if of, ok := x.Args[1].(*Call); ok && of.Name == "percentile_agg" && len(of.Args) == 1 {
				out.Args = []Expr{of.Args[0], x.Args[0]}
			}
		}
		return &out
	}
	switch {
	case x.Star || x.Distinct || x.Within != nil:
		return nil
	case x.Name == "sumif" || x.Name == "sum_if" || x.Name == "avgif" || x.Name == "avg_if":
		return sumsIf(x)
	case !plain:
		return nil
	}
	if field, ok := parts[x.Name]; ok && len(x.Args) == 1 {
		return part(x.At, field, x.Args[0])
	}
	switch n := len(x.Args); {
	case x.Name == "zeroifnull" && n == 1:
		return &Call{At: x.At, Name: "coalesce", Args: []Expr{x.Args[0], whole(x.At, "0")}}
	case x.Name == "nullifzero" && n == 1:
		return &Call{At: x.At, Name: "nullif", Args: []Expr{x.Args[0], whole(x.At, "0")}}
	case x.Name == "time_bucket_gapfill" && n == 4: // the last two limit the times, as WHERE does
		return bucketed(x)
	case x.Name == "mid" && n == 3 && fromStart(x.Args[1]):
		return &Call{At: x.At, Name: "substring", Args: x.Args}
	case x.Name == "regexp_extract" && n == 2 && wholeMatch(x.Args[1]):
		return &Call{At: x.At, Name: "regexp_substr", Args: x.Args}
	case x.Name == "safe_divide" && n == 2: // a quotient by 0 is NULL here too
		one := &Literal{At: x.At, Kind: DecimalLiteral, Text: "1.0"}
		return &Binary{At: x.At, Op: Div, L: &Binary{At: x.At, Op: Mul, L: x.Args[0], R: one}, R: x.Args[1]}
	case x.Name == "contains" && n == 2:
		return &Binary{At: x.At, Op: Gt, L: &Call{At: x.At, Name: "strpos", Args: x.Args}, R: whole(x.At, "0")}
	case (x.Name == "date_trunc" || x.Name == "datetrunc") && n == 2:
		return truncated(x)
	case (x.Name == "datediff" || x.Name == "date_diff") && n == 3:
		return datediff(x)
	case x.Name == "datediff" && n == 2:
		return days(x.At, x.Args[0], x.Args[1])
	case x.Name == "dateadd" && n == 3:
		return dateadd(x)
	case (x.Name == "date_add" || x.Name == "date_sub") && n == 2:
		if span, ok := x.Args[1].(*Literal); ok && span.Kind == IntervalLiteral {
			return &Binary{At: x.At, Op: map[string]BinaryOp{"date_add": Add, "date_sub": Sub}[x.Name], L: x.Args[0], R: span}
		}
	case n == 2:
		return formatted(x)
	}
	return nil
}

// foreignDepth bounds how much deeper the arguments of a call are in what foreign makes of it.
const foreignDepth = 4

// isForeign reports whether foreign may read a call of the name, so that its arguments become deeper. A name of
// otherNames keeps its depth.
func isForeign(name string) bool { return parts[name] != "" || deeper[name] }

var deeper = map[string]bool{
	"sumif": true, "sum_if": true, "avgif": true, "avg_if": true, "contains": true, "datediff": true, "date_diff": true, "dateadd": true,
	"safe_divide": true,
}

func whole(at Pos, n string) Expr { return &Literal{At: at, Kind: IntegerLiteral, Text: n} }

func part(at Pos, field string, x Expr) Expr {
	return &Call{At: at, Name: "extract", Args: []Expr{&Literal{At: at, Kind: StringLiteral, Text: field}, x}}
}

// fromStart reports whether a constant counts places from the start of a text. Some databases count from the end below 1.
func fromStart(x Expr) bool {
	n, ok := x.(*Literal)
	return ok && n.Kind == IntegerLiteral && strings.Trim(n.Text, "0123456789") == "" && strings.Trim(n.Text, "0") != ""
}

// wholeMatch reports whether a constant pattern has no group in parentheses. With a group, some databases return the group
// alone, and others the whole match.
func wholeMatch(x Expr) bool {
	p, ok := x.(*Literal)
	return ok && p.Kind == StringLiteral && !strings.Contains(strings.ReplaceAll(p.Text, "(?:", ""), "(")
}

// sumsIf converts SUMIF(x, c) to SUM(CASE WHEN c THEN x END), and AVGIF likewise.
func sumsIf(x *Call) Expr {
	if len(x.Args) != 2 {
		return nil
	}
	out := *x
	out.Name = x.Name[:3]
	out.Args = []Expr{&Case{At: x.At, Whens: []When{{Cond: x.Args[1], Result: x.Args[0]}}}}
	return &out
}

// bucketed converts TIME_BUCKET_GAPFILL(stride, t, start, finish) with constant times to TIME_BUCKET(stride, t).
func bucketed(x *Call) Expr {
	for _, a := range x.Args[2:] {
		if c, cast := a.(*Cast); cast {
			a = c.X
		}
		if _, constant := a.(*Literal); !constant {
			return nil
		}
	}
	return &Call{At: x.At, Name: "time_bucket", Args: x.Args[:2]}
}

// unitNames maps the names of units of time in other databases to those here.
var unitNames = map[string]string{
	"year": "year", "yyyy": "year", "yy": "year", "quarter": "quarter", "qq": "quarter", "month": "month", "week": "week",
	"isoweek": "week", "day": "day", "dd": "day", "hour": "hour", "hh": "hour", "minute": "minute",
}

// unitOf returns the unit that a text or a bare word names; "" for any other expression.
func unitOf(x Expr) string {
	switch x := x.(type) {
	case *Column:
		if x.Table == "" {
			return unitNames[strings.ToLower(x.Name)]
		}
	case *Literal:
		if x.Kind == StringLiteral {
			return unitNames[strings.ToLower(x.Text)]
		}
	}
	return ""
}

// truncated converts DATE_TRUNC(t, MONTH) and DATETRUNC(month, t) to date_trunc('month', t). It returns nil where a
// constant stands first in date_trunc, which is PostgreSQL's order. Weeks are left out: some databases begin them on a Sunday.
func truncated(x *Call) Expr {
	of, word := x.Args[0], x.Args[1]
	if _, constant := of.(*Literal); constant && x.Name == "date_trunc" {
		return nil
	}
	if x.Name == "datetrunc" {
		of, word = word, of
	}
	unit := unitOf(word)
	if c, ok := word.(*Column); unit == "" || unit == "week" && (!ok || !strings.EqualFold(c.Name, "isoweek")) {
		return nil
	}
	return &Call{At: x.At, Name: "date_trunc", Args: []Expr{&Literal{At: x.At, Kind: StringLiteral, Text: unit}, of}}
}

// datediff converts DATEDIFF(unit, a, b) and DATE_DIFF(b, a, unit), the number of boundaries of years, quarters, months or days between a and b. It
// returns nil for other units, whose boundaries differ between databases, and for long expressions, which it would repeat.
func datediff(x *Call) Expr {
	unit, a, b := unitOf(x.Args[0]), x.Args[1], x.Args[2]
	if _, bare := x.Args[0].(*Column); x.Name == "date_diff" && (bare || unit == "") { // GoogleSQL's DATE_DIFF(b, a, unit)
		unit, a, b = unitOf(x.Args[2]), x.Args[1], x.Args[0]
	}
	if unit == "day" {
		return days(x.At, b, a)
	}
	each := map[string]string{"year": "1", "quarter": "4", "month": "12"}[unit]
	if each == "" || !small(a) || !small(b) {
		return nil
	}
	minus := func(field string) Expr {
		return &Binary{At: x.At, Op: Sub, L: part(x.At, field, b), R: part(x.At, field, a)}
	}
	if unit == "year" {
		return minus("year")
	}
	years := &Binary{At: x.At, Op: Mul, L: minus("year"), R: whole(x.At, each)}
	return &Binary{At: x.At, Op: Add, L: years, R: minus(unit)}
}

// dateadd converts DATEADD(unit, n, t) with a constant n to t plus an interval.
func dateadd(x *Call) Expr {
	n, ok := x.Args[1].(*Literal)
	unit := unitOf(x.Args[0])
	if !ok || n.Kind != IntegerLiteral || unit == "" {
		return nil
	}
	text, negative := strings.CutPrefix(n.Text, "-")
	op := Add
	if negative {
		op = Sub
	}
	times := &Literal{At: x.At, Kind: IntervalLiteral, Text: text + " " + unit}
	if unit == "quarter" {
		times.Text = "3 months"
		return &Binary{At: x.At, Op: op, L: x.Args[2], R: &Binary{At: x.At, Op: Mul, L: whole(n.At, text), R: times}}
	}
	span, err := interval(times, "")
	if err != nil {
		return nil
	}
	return &Binary{At: x.At, Op: op, L: x.Args[2], R: span}
}

// days is the number of midnights between two times or dates.
func days(at Pos, to, from Expr) Expr {
	date := func(x Expr) Expr { return &Cast{At: at, X: x, Type: "date"} }
	return &Binary{At: at, Op: Sub, L: date(to), R: date(from)}
}
