package bind

import (
	"strconv"

	"dither/internal/bounded"
	"dither/internal/query"
	"dither/internal/value"
)

// Arithmetic with dates, timestamps and intervals. All of it is integer arithmetic with days and microseconds, whose
// ranges prove that every result is a date or a timestamp. Months differ in length, so a constant interval keeps its
// months apart until it is added (value.Span).

// SpanOf returns the constant interval that an expression spells, such as 3 * INTERVAL '1 day'. The boolean is false for
// any other expression.
func SpanOf(x query.Expr) (value.Span, bool) {
	switch x := x.(type) {
	case *query.Literal:
		if x.Kind == query.IntervalLiteral {
			s, err := value.ParseSpan(x.Text, "")
			return s, err == nil
		}
	case *query.Unary:
		if x.Op == query.Negate {
			return timesSpan(-1, x.X)
		}
	case *query.Binary:
		return spanOfBinary(x)
	case *query.Cast:
		if text, ok := constantText(x.X); ok && x.Type == "interval" { // as in ('30' || ' days')::interval
			s, err := value.ParseSpan(text, "")
			return s, err == nil
		}
		if x.Type == "interval" {
			return SpanOf(x.X)
		}
	case *query.Call:
		if x.Name == "make_interval" {
			return madeSpan(x)
		}
	}
	return value.Span{}, false
}

func spanOfBinary(x *query.Binary) (value.Span, bool) {
	switch x.Op {
	case query.Mul:
		if n, ok := integerOf(x.L); ok {
			return timesSpan(n, x.R)
		}
		if n, ok := integerOf(x.R); ok {
			return timesSpan(n, x.L)
		}
	case query.Add, query.Sub:
		r, ok := SpanOf(x.R)
		if x.Op == query.Sub && ok {
			r, ok = r.Times(-1)
		}
		if !ok {
			break
		}
		if l, ok := SpanOf(x.L); ok {
			return l.Plus(r)
		}
	}
	return value.Span{}, false
}

func timesSpan(n int64, x query.Expr) (value.Span, bool) {
	s, ok := SpanOf(x)
	if !ok {
		return s, false
	}
	return s.Times(n)
}

func integerOf(x query.Expr) (int64, bool) {
	l, ok := x.(*query.Literal)
	if !ok || l.Kind != query.IntegerLiteral {
		return 0, false
	}
	n, err := strconv.ParseInt(l.Text, 10, 64)
	return n, err == nil
}

// constantText returns the text of constants that || joins.
func constantText(x query.Expr) (string, bool) {
	switch x := x.(type) {
	case *query.Literal:
		return x.Text, x.Kind == query.StringLiteral || x.Kind == query.IntegerLiteral
	case *query.Binary:
		l, ok := constantText(x.L)
		r, also := constantText(x.R)
		return l + r, x.Op == query.Concat && ok && also
	}
	return "", false
}

// madeSpan reads make_interval(days => 7), or the same arguments in order.
func madeSpan(x *query.Call) (out value.Span, ok bool) {
	parts := []struct{ name, unit string }{
		{"years", "year"},
		{"months", "month"},
		{"weeks", "week"},
		{"days", "day"},
		{"hours", "hour"},
		{"mins", "minute"},
		{"secs", "second"},
	}
	add := func(number query.Expr, unit string) bool {
		n, whole := integerOf(number)
		one, err := value.ParseSpan("1", unit)
		if !whole || err != nil {
			return false
		}
		if one, ok = one.Times(n); ok {
			out, ok = out.Plus(one)
		}
		return ok
	}
	if len(x.Args) > len(parts) || len(x.Args)+len(x.Named) == 0 || x.Star || x.Distinct || x.Filter != nil {
		return out, false
	}
	for i, a := range x.Args {
		if !add(a, parts[i].unit) {
			return out, false
		}
	}
	for _, a := range x.Named {
		known := false
		for _, p := range parts {
			known = known || p.name == a.Name && len(a.Values) == 1 && add(a.Values[0], p.unit)
		}
		if !known {
			return out, false
		}
	}
	return out, true
}

// shifts builds x ± a constant interval, or ± a number of constant intervals without months. found is false for any other
// sum.
func (l *Scope) shifts(x *query.Binary) (e *bounded.Expr, found bool, err error) {
	sign := int64(1)
	if x.Op == query.Sub {
		sign = -1
	}
	base, by := x.L, x.R
	if x.Op == query.Add {
		if _, ok := SpanOf(by); !ok {
			if _, _, ok := multiple(by); !ok {
				base, by = by, base
			}
		}
	}
	if span, ok := SpanOf(by); ok {
		if span, ok = span.Times(sign); !ok {
			return nil, true, Refuse(by.Pos(), "", "this interval is too long")
		}
		if e, err = l.Row(base); err == nil {
			e, err = later(e, span, x.At)
		}
		return e, true, err
	}
	number, span, ok := multiple(by)
	if !ok {
		return nil, false, nil
	}
	both, err := l.rows([]query.Expr{base, number})
	if err != nil {
		return nil, true, err
	}
	micros, err := compute(bounded.OpMul, both[1], Constant(value.OfInt(sign*value.OfSpan(span).Int)), x.At)
	if err == nil && micros.Type != value.Integer {
		err = Refuse(x.At, "round it: FLOOR(x) * INTERVAL '1 hour'", "an interval is multiplied by whole numbers only")
	}
	if err != nil {
		return nil, true, err
	}
	if e = both[0]; e.Type == value.Date {
		e = startOf(e)
	}
	if e.Type != value.Timestamp {
		return nil, true, unshiftable(e, x.At)
	}
	e, err = moved(e, micros, x.At)
	return e, true, err
}

// multiple returns the factors of n * INTERVAL '…' or INTERVAL '…' * n, where n is an expression and the interval has no
// months.
func multiple(x query.Expr) (number query.Expr, of value.Span, ok bool) {
	b, ok := x.(*query.Binary)
	if !ok || b.Op != query.Mul {
		return nil, of, false
	}
	if of, ok = SpanOf(b.L); ok {
		return b.R, of, of.Months == 0
	}
	of, ok = SpanOf(b.R)
	return b.L, of, ok && of.Months == 0
}

// later builds e plus a constant interval. As in PostgreSQL, the sum with a date is a timestamp, months are added first,
// and the last day of a month stands for days that the month does not have.
func later(e *bounded.Expr, by value.Span, at query.Pos) (*bounded.Expr, error) {
	var err error
	micros := by.Micros
	switch e.Type {
	case value.Interval:
		return moved(e, Constant(value.OfSpan(by)), at)
	case value.Date:
		e = startOf(e)
	case value.Timestamp:
	default:
		return nil, unshiftable(e, at)
	}
	switch {
	case e.Op == bounded.OpStartOf || e.Op == bounded.OpConst && value.TimeOf(e.Const.Int) == 0:
		day := dayOf(e)
		if e.Op == bounded.OpStartOf {
			day = e.Args[0]
		}
		if day, err = laterDay(day, by, at); err != nil {
			return nil, err
		}
		e = startOf(day)
	case by.Months != 0:
		clock := timeOf(e)
		day, err := laterDay(dayOf(e), by, at)
		if err != nil {
			return nil, err
		}
		if e, err = moved(startOf(day), clock, at); err != nil {
			return nil, err
		}
	default:
		micros += by.Days * value.DayMicros
	}
	if micros == 0 {
		return e, nil
	}
	return moved(e, Constant(value.Value{Type: value.Interval, Int: micros}), at)
}

// laterDay adds the months and then the days of an interval to a date.
func laterDay(e *bounded.Expr, by value.Span, at query.Pos) (*bounded.Expr, error) {
	if by.Months != 0 {
		r := bounded.Range{
			IntLo: value.AddMonths(e.Range.IntLo, by.Months), IntHi: value.AddMonths(e.Range.IntHi, by.Months),
		}
		e = &bounded.Expr{
			Op: bounded.OpAddMonths, Type: value.Date, Args: []*bounded.Expr{e}, Text: strconv.FormatInt(by.Months, 10), Range: r,
			Nullable: e.Nullable,
		}
		if err := inYears(e, at); err != nil {
			return nil, err
		}
		e = folded(e)
	}
	if by.Days == 0 {
		return e, nil
	}
	return moved(e, Constant(value.OfInt(by.Days)), at)
}

// moved builds e + by, of e's type: a date and a number of days, or a timestamp or an interval and a number of
// microseconds, which are an Integer, a Time or an Interval.
func moved(e, by *bounded.Expr, at query.Pos) (*bounded.Expr, error) {
	return offset(bounded.OpAdd, e, by, at)
}

// offset builds e + by or e − by, of e's type.
func offset(op bounded.Op, e, by *bounded.Expr, at query.Pos) (*bounded.Expr, error) {
	r, ok := addRange(value.Integer, e.Range, by.Range, op == bounded.OpSub)
	if !ok {
		return nil, tooWide(by, at)
	}
	out := &bounded.Expr{
		Op: op, Type: e.Type, Args: []*bounded.Expr{e, by}, Range: r, Nullable: e.Nullable || by.Nullable,
	}
	if err := inYears(out, at); err != nil {
		return nil, err
	}
	return folded(out), nil
}

// inYears refuses a date or a timestamp that could lie outside the years 1 to 9999.
func inYears(e *bounded.Expr, at query.Pos) error {
	lo, hi := int64(value.MinDay), int64(value.MaxDay)
	if e.Type == value.Timestamp {
		lo, hi = value.MinMicro, value.MaxMicro
	}
	if e.Type == value.Interval || e.Range.IntLo >= lo && e.Range.IntHi <= hi {
		return nil
	}
	return Refuse(
		at,
		"the owner can declare bounds in the policy; or bound it here: LEAST(GREATEST(day, DATE '1900-01-01'), DATE '2100-01-01')",
		"this could leave the years 1 to 9999, given the declared bounds",
	)
}

func unshiftable(e *bounded.Expr, at query.Pos) error {
	return Refuse(at, "add it to a date or a timestamp; write DATE '2026-01-31' for a constant",
		"an interval cannot be added to a value of type %s", e.Type)
}

// temporal builds a sum or a difference of dates and times without a constant interval. found is false for other types.
func temporal(op bounded.Op, a, b *bounded.Expr, at query.Pos) (e *bounded.Expr, found bool, err error) {
	if op != bounded.OpAdd && op != bounded.OpSub {
		return nil, false, nil
	}
	clock := func(t value.Type) bool { return ReadsText(t) }
	text := func(e *bounded.Expr) bool { return e.Op == bounded.OpConst && e.Type == value.Text }
	switch {
	case a.Type == value.Date && b.Type == value.Integer:
		e, err = offset(op, a, b, at)
	case op == bounded.OpAdd && a.Type == value.Integer && b.Type == value.Date:
		e, err = offset(op, b, a, at)
	case a.Type == value.Interval && b.Type == value.Interval:
		e, err = offset(op, a, b, at)
	case op == bounded.OpSub && clock(a.Type) && (clock(b.Type) || text(b)), op == bounded.OpSub && text(a) && clock(b.Type):
		both := []*bounded.Expr{a, b}
		t, err := unify(both, at)
		if err != nil {
			return nil, true, err
		}
		e, err = difference(both[0], both[1], t, at)
		return e, true, err
	default:
		return nil, false, nil
	}
	return e, true, err
}

// difference builds a − b of two values of a type: a number of days for dates, and otherwise an interval.
func difference(a, b *bounded.Expr, t value.Type, at query.Pos) (*bounded.Expr, error) {
	r, ok := addRange(value.Integer, a.Range, b.Range, true)
	if !ok {
		return nil, tooWide(a, at)
	}
	of := value.Interval
	if t == value.Date {
		of = value.Integer
	}
	return folded(&bounded.Expr{
		Op: bounded.OpSub, Type: of, Args: []*bounded.Expr{a, b}, Range: r, Nullable: a.Nullable || b.Nullable,
	}), nil
}
