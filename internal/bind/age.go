package bind

import (
	"dither/internal/bounded"
	"dither/internal/query"
	"dither/internal/value"
)

// age has the parts of AGE(a, b) of two dates or timestamps: whole months and the microseconds beside them, both with
// the sign of a − b. A day of the month that the earlier date's month lacks counts from the end of that month, as in
// PostgreSQL. For dates, days has the days, and micros is nil.
type age struct{ months, days, micros *bounded.Expr }

// ageOf builds AGE(a, b).
func (l *Scope) ageOf(x *query.Call) (out age, err error) {
	if len(x.Args) != 2 || x.Star || x.Distinct || x.Filter != nil {
		return out, Refuse(x.At, "write EXTRACT(year FROM AGE(CURRENT_DATE, day))", "AGE takes two dates")
	}
	args, err := l.rows(x.Args)
	if err != nil {
		return out, err
	}
	t, err := unify(args, x.At)
	if err != nil {
		return out, err
	}
	if t == value.Text {
		t = value.Timestamp
		for i := range args {
			if args[i], err = convert(args[i], t, x.At); err != nil {
				return out, err
			}
		}
	}
	if t != value.Date && t != value.Timestamp {
		return out, Refuse(x.At, "", "AGE needs dates, and these are of type %s", t)
	}
	b := builder{at: x.At}
	later, earlier := args[0], args[1]
	monthsOf := func(e *bounded.Expr) *bounded.Expr {
		year := b.compute(bounded.OpMul, b.part("year", e), Constant(value.OfInt(12)))
		return b.compute(bounded.OpAdd, year, b.part("month", e))
	}
	between := b.compute(bounded.OpSub, monthsOf(later), monthsOf(earlier))
	x1, x2 := b.within(later), b.within(earlier)
	inOrder := b.compare(bounded.OpGe, later, earlier)
	short, long := b.compare(bounded.OpLt, x1, x2), b.compare(bounded.OpGt, x1, x2)
	one := Constant(value.OfInt(1))
	out.months = b.choose(
		[]*bounded.Expr{Logical(bounded.OpAnd, inOrder, short), Logical(bounded.OpAnd, Logical(bounded.OpNot, inOrder), long)},
		b.compute(bounded.OpSub, between, one), b.compute(bounded.OpAdd, between, one), between,
	)
	if b.err != nil {
		return out, b.err
	}
	day := Constant(value.OfInt(value.DayMicros))
	rest := b.compute(bounded.OpSub, x1, x2) // days, or for timestamps microseconds
	month := func(e *bounded.Expr) *bounded.Expr {
		if t == value.Date {
			return b.monthDays(e)
		}
		return b.compute(bounded.OpMul, b.monthDays(dayOf(e)), day)
	}
	rest = b.choose(
		[]*bounded.Expr{Logical(bounded.OpAnd, inOrder, short), Logical(bounded.OpAnd, Logical(bounded.OpNot, inOrder), long)},
		b.compute(bounded.OpAdd, rest, month(earlier)), b.compute(bounded.OpSub, rest, month(later)), rest,
	)
	if t == value.Date {
		out.days = rest
	} else {
		out.micros = rest
	}
	return out, b.err
}

// agePart builds EXTRACT(year, month or day FROM AGE(a, b)).
func (l *Scope) agePart(x *query.Call, field string) (*bounded.Expr, error) {
	of, err := l.ageOf(x)
	if err != nil {
		return nil, err
	}
	twelve := Constant(value.OfInt(12))
	switch {
	case field == "year":
		return compute(bounded.OpQuo, of.months, twelve, x.At)
	case field == "month":
		return compute(bounded.OpMod, of.months, twelve, x.At)
	case field == "day" && of.days != nil:
		return of.days, nil
	case field == "day":
		return compute(bounded.OpQuo, of.micros, Constant(value.OfInt(value.DayMicros)), x.At)
	}
	if of.days != nil {
		return nil, Refuse(x.At, "write a - b for days", "AGE of dates has year, month and day, and not %q", field)
	}
	return nil, Refuse(x.At, "write EXTRACT(epoch FROM a - b) / 86400 for days", "AGE of these has no %q: there is year, month and day", field)
}

// ageSpan builds AGE(a, b) as an interval in which a month has 30 days, as it has where PostgreSQL compares
// intervals.
func (l *Scope) ageSpan(x *query.Call) (*bounded.Expr, error) {
	of, err := l.ageOf(x)
	if err != nil {
		return nil, err
	}
	b := builder{at: x.At}
	thirty, day := Constant(value.OfInt(30)), Constant(value.OfInt(value.DayMicros))
	var micros *bounded.Expr
	if of.days != nil {
		micros = b.compute(bounded.OpMul, b.compute(bounded.OpAdd, b.compute(bounded.OpMul, of.months, thirty), of.days), day)
	} else {
		days := b.compute(bounded.OpMul, of.months, thirty)
		micros = b.compute(bounded.OpAdd, b.compute(bounded.OpMul, days, day), of.micros)
	}
	if b.err != nil {
		return nil, b.err
	}
	return moved(Constant(value.Value{Type: value.Interval}), micros, x.At)
}

// builder builds expressions and keeps the first error. After an error its methods return their first argument.
type builder struct {
	at  query.Pos
	err error
}

func (b *builder) kept(of, e *bounded.Expr, err error) *bounded.Expr {
	if err != nil {
		b.err = err
		return of
	}
	return e
}

func (b *builder) compute(op bounded.Op, x, y *bounded.Expr) *bounded.Expr {
	if b.err != nil {
		return x
	}
	e, err := compute(op, x, y, b.at)
	return b.kept(x, e, err)
}

func (b *builder) compare(op bounded.Op, x, y *bounded.Expr) *bounded.Expr {
	if b.err != nil {
		return x
	}
	e, err := compare(op, x, y, b.at)
	return b.kept(x, e, err)
}

func (b *builder) choose(conditions []*bounded.Expr, results ...*bounded.Expr) *bounded.Expr {
	if b.err != nil {
		return results[0]
	}
	e, err := Choose(conditions, results, b.at)
	return b.kept(results[0], e, err)
}

// part builds a field of the day of a date or a timestamp.
func (b *builder) part(field string, e *bounded.Expr) *bounded.Expr {
	if e.Type == value.Timestamp {
		e = dayOf(e)
	}
	return folded(calendarOf(bounded.OpDatePart, field, e))
}

// within builds the place of a date within its month: the day, or for a timestamp the microseconds.
func (b *builder) within(e *bounded.Expr) *bounded.Expr {
	day := b.part("day", e)
	if e.Type != value.Timestamp {
		return day
	}
	return b.compute(bounded.OpAdd, b.compute(bounded.OpMul, day, Constant(value.OfInt(value.DayMicros))), microsOf(timeOf(e)))
}

// monthDays builds the number of days of the month of a date.
func (b *builder) monthDays(e *bounded.Expr) *bounded.Expr {
	if b.err != nil {
		return e
	}
	first := folded(calendarOf(bounded.OpDateTrunc, "month", e))
	last, err := laterDay(first, value.Span{Months: 1, Days: -1}, b.at)
	if err != nil {
		b.err = err
		return e
	}
	return b.part("day", last)
}
