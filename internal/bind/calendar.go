package bind

import (
	"slices"
	"strings"

	"dither/internal/bounded"
	"dither/internal/policy"
	"dither/internal/query"
	"dither/internal/value"
)

// calendar translates EXTRACT(field FROM x), date_part('field', x), which means the same, and date_trunc('unit', x). x
// is a date, a timestamp, a time or an interval.
func (l *Scope) calendar(x *query.Call) (*bounded.Expr, error) {
	op, words := bounded.OpDatePart, value.DateFields
	if x.Name == "date_trunc" {
		op, words = bounded.OpDateTrunc, value.DateUnits
	}
	if x.Star || x.Distinct || x.Filter != nil || len(x.Args) != 2 {
		return nil, Refuse(x.At, "", "%s takes a field and a date", x.Name)
	}
	word, ok := x.Args[0].(*query.Literal)
	if !ok || word.Kind != query.StringLiteral {
		return nil, Refuse(
			x.At,
			"write EXTRACT(year FROM day), or date_trunc('month', day)",
			"%s takes a field in quotes, and then a date",
			x.Name,
		)
	}
	field := value.Unit(word.Text)
	if of, ok := x.Args[1].(*query.Call); ok && of.Name == "age" && op == bounded.OpDatePart {
		return l.agePart(of, field)
	}
	e, err := l.Row(x.Args[1])
	if err != nil {
		return nil, err
	}
	clocked := slices.Contains(value.ClockUnits, field) || field == "millisecond" || field == "microsecond"
	switch {
	case e.Op == bounded.OpConst && e.Const.Null:
		return nil, Refuse(x.At, "", "%s needs a date", x.Name)
	case e.Type == value.Timestamp || e.Type == value.Time || e.Type == value.Interval:
		return clockCall(x, op, field, e)
	case e.Type != value.Date:
		hint := ""
		if e.Type == value.Integer && field == "epoch" {
			hint = "the difference of two dates is a number of days, which is " + query.Print(x.Args[1]) + " itself; for seconds, write (" +
				query.Print(x.Args[1]) + ") * 86400"
		}
		return nil, Refuse(x.At, hint, "%s needs a date", x.Name)
	case op == bounded.OpDatePart && field == "epoch":
		return epoch(e, x.At)
	case op == bounded.OpDatePart && slices.Contains(derivedFields, field):
		return derivedField(field, e, x.At)
	case op == bounded.OpDatePart && clocked: // a date is the start of its day
		start := startOf(e)
		if start.Op != bounded.OpConst {
			clock := *timeOf(start)
			clock.Range = bounded.Range{}
			start = &clock
		}
		return clockCall(x, op, field, start)
	case op == bounded.OpDateTrunc && clocked:
		return startOf(e), nil
	case !slices.Contains(words, field):
		if op == bounded.OpDatePart {
			words = slices.Concat(words, derivedFields)
		}
		return nil, Refuse(x.At, "there is "+strings.Join(words, ", "), "%s of a date has no %q", x.Name, word.Text)
	}
	return calendarOf(op, field, e), nil // not folded, because canonical texts of older releases are not
}

// derivedFields are the parts of a date that are computed from its other parts.
var derivedFields = []string{"week", "isoyear", "decade", "century", "millennium"}

// derivedField builds one of derivedFields of a date. The ISO week of a date and its year are those of the Thursday in
// the same week.
func derivedField(field string, e *bounded.Expr, at query.Pos) (*bounded.Expr, error) {
	number := func(n int64) *bounded.Expr { return Constant(value.OfInt(n)) }
	quotientOf := func(e *bounded.Expr, plus, by, then int64) (*bounded.Expr, error) {
		sum, err := compute(bounded.OpAdd, e, number(plus), at)
		if err != nil {
			return nil, err
		}
		out, err := compute(bounded.OpQuo, sum, number(by), at)
		if err != nil || then == 0 {
			return out, err
		}
		return compute(bounded.OpAdd, out, number(then), at)
	}
	if field == "week" || field == "isoyear" {
		week := calendarOf(bounded.OpDateTrunc, "week", e)
		r := bounded.Range{IntLo: week.Range.IntLo + 3, IntHi: week.Range.IntHi + 3}
		thursday := folded(&bounded.Expr{
			Op: bounded.OpAdd, Type: value.Date, Args: []*bounded.Expr{folded(week), number(3)}, Range: r, Nullable: e.Nullable,
		})
		if field == "isoyear" {
			return folded(calendarOf(bounded.OpDatePart, "year", thursday)), nil
		}
		return quotientOf(folded(calendarOf(bounded.OpDatePart, "doy", thursday)), -1, 7, 1)
	}
	year := folded(calendarOf(bounded.OpDatePart, "year", e))
	switch field {
	case "decade":
		return quotientOf(year, 0, 10, 0)
	case "century":
		return quotientOf(year, 99, 100, 0)
	}
	return quotientOf(year, 999, 1000, 0)
}

// calendarOf builds a date function of a date. field is one of value.DateFields or value.DateUnits.
func calendarOf(op bounded.Op, field string, e *bounded.Expr) *bounded.Expr {
	out := &bounded.Expr{Op: op, Type: value.Integer, Args: []*bounded.Expr{e}, Text: field, Nullable: e.Nullable}
	if op == bounded.OpDateTrunc {
		out.Type = value.Date
	}
	out.Range = calendarRange(out, e.Range)
	return out
}

// calendarRange returns the range of a date function e over a date whose range is the parameter `of`. A truncation and
// the year are monotone in the date, and the other fields have few values.
func calendarRange(e *bounded.Expr, of bounded.Range) bounded.Range {
	if e.Op == bounded.OpDateTrunc {
		return bounded.Range{IntLo: value.DateTrunc(e.Text, of.IntLo), IntHi: value.DateTrunc(e.Text, of.IntHi)}
	}
	switch e.Text {
	case "year":
		return bounded.Range{IntLo: value.DatePart("year", of.IntLo), IntHi: value.DatePart("year", of.IntHi)}
	case "dow":
		return bounded.Range{IntLo: 0, IntHi: 6}
	}
	most := map[string]int64{"quarter": 4, "month": 12, "day": 31, "isodow": 7, "doy": 366}
	return bounded.Range{IntLo: 1, IntHi: most[e.Text]}
}

// truncated lists all possible results of a date_trunc, which are the first days of units within its range. The
// boolean is false if there are more than policy.MaxKeys.
func truncated(e *bounded.Expr) ([]value.Value, bool) {
	longest := map[string]int64{"year": 366, "quarter": 92, "month": 31, "week": 7, "day": 1}[e.Text]
	var out []value.Value
	for day := e.Range.IntLo; day <= e.Range.IntHi; day = value.DateTrunc(e.Text, day+longest) {
		if len(out) == policy.MaxKeys {
			return nil, false
		}
		out = append(out, value.OfDay(day))
	}
	return out, true
}
