package bind

import (
	"slices"
	"strings"

	"dither/internal/bounded"
	"dither/internal/policy"
	"dither/internal/query"
	"dither/internal/value"
)

// clockCall builds EXTRACT or date_trunc of a timestamp, a time or an interval. A field or unit of days and more is
// taken from the day, so dates and timestamps share one calendar.
func clockCall(x *query.Call, op bounded.Op, field string, e *bounded.Expr) (*bounded.Expr, error) {
	switch {
	case op == bounded.OpDateTrunc:
		return clockTrunc(x, field, e)
	case field == "epoch":
		return epoch(e, x.At)
	case e.Type == value.Timestamp && slices.Contains(value.DateFields, field):
		return folded(calendarOf(op, field, dayOf(e))), nil
	case e.Type == value.Timestamp && slices.Contains(derivedFields, field):
		return derivedField(field, dayOf(e), x.At)
	case e.Type != value.Interval && slices.Contains(value.ClockUnits, field):
		return clockPart(field, e, x.At)
	case e.Type != value.Interval && (field == "millisecond" || field == "microsecond"):
		return clockFraction(field, e, x.At)
	case e.Type == value.Interval:
		return spanPart(x, field, e)
	}
	have := value.ClockUnits
	if e.Type == value.Timestamp {
		have = slices.Concat(value.DateFields, derivedFields, have)
	}
	return nil, Refuse(x.At, "there is "+strings.Join(have, ", ")+", epoch", "%s of a %s has no %q", x.Name, e.Type, field)
}

// spanPart builds the days, hours, minutes or seconds of the difference of two timestamps. As in PostgreSQL, the hours
// are those beside whole days, and all parts have the sign of the difference.
func spanPart(x *query.Call, field string, e *bounded.Expr) (*bounded.Expr, error) {
	out := microsOf(e)
	longer := map[string]int64{
		"hour": value.DayMicros, "minute": value.ClockMicros("hour"), "second": value.ClockMicros("minute"),
	}[field]
	length := map[string]int64{
		"day": value.DayMicros, "hour": value.ClockMicros("hour"), "minute": value.ClockMicros("minute"), "second": 1,
	}[field]
	if length == 0 {
		return nil, Refuse(x.At, "write EXTRACT(epoch FROM a - b) / 86400 for days, or EXTRACT(epoch FROM a - b) / 3600 for hours",
			"EXTRACT of an interval has day, hour, minute, second and epoch, and not %q", field)
	}
	var err error
	if longer != 0 {
		if out, err = compute(bounded.OpMod, out, Constant(value.OfInt(longer)), x.At); err != nil {
			return nil, err
		}
	}
	if field == "second" {
		return perSecond(out, x.At)
	}
	return compute(bounded.OpQuo, out, Constant(value.OfInt(length)), x.At)
}

// clockFraction builds the seconds of a timestamp or a time, with their fraction, in milliseconds or microseconds.
func clockFraction(field string, e *bounded.Expr, at query.Pos) (*bounded.Expr, error) {
	if e.Type == value.Timestamp {
		e = timeOf(e)
	}
	out := timePart("second", e)
	if field == "microsecond" {
		return out, nil
	}
	return compute(bounded.OpDiv, out, Constant(value.OfReal(1000)), at)
}

func clockTrunc(x *query.Call, unit string, e *bounded.Expr) (*bounded.Expr, error) {
	switch {
	case e.Type == value.Interval:
		return nil, Refuse(x.At, "write FLOOR(EXTRACT(epoch FROM a - b) / 3600)", "date_trunc does not take an interval")
	case slices.Contains(value.ClockUnits, unit):
		r := bounded.Range{IntLo: value.TimeTrunc(unit, e.Range.IntLo), IntHi: value.TimeTrunc(unit, e.Range.IntHi)}
		return folded(&bounded.Expr{
			Op: bounded.OpTimeTrunc, Type: e.Type, Args: []*bounded.Expr{e}, Text: unit, Range: r, Nullable: e.Nullable,
		}), nil
	case e.Type == value.Timestamp && unit == "day":
		return folded(startOf(dayOf(e))), nil
	case e.Type == value.Timestamp && slices.Contains(value.DateUnits, unit):
		return folded(startOf(calendarOf(bounded.OpDateTrunc, unit, dayOf(e)))), nil
	}
	have := value.ClockUnits
	if e.Type == value.Timestamp {
		have = append(slices.Clone(value.DateUnits), have...)
	}
	return nil, Refuse(x.At, "there is "+strings.Join(have, ", "), "date_trunc of a %s has no %q", e.Type, unit)
}

// clockPart builds the hour, the minute or the seconds of a timestamp or a time. The seconds have a fraction, as in
// PostgreSQL, so they are a real number.
func clockPart(field string, e *bounded.Expr, at query.Pos) (*bounded.Expr, error) {
	if e.Type == value.Timestamp {
		e = timeOf(e)
	}
	out := timePart(field, e)
	if field != "second" {
		return out, nil
	}
	return perSecond(out, at)
}

// timePart builds the hour or the minute of a time, or the microseconds of its minute.
func timePart(field string, e *bounded.Expr) *bounded.Expr {
	most := map[string]int64{"hour": 23, "minute": 59, "second": value.ClockMicros("minute") - 1}[field]
	r := bounded.Range{IntHi: most}
	if field == "hour" {
		r = bounded.Range{IntLo: value.TimePart("hour", e.Range.IntLo), IntHi: value.TimePart("hour", e.Range.IntHi)}
	}
	return folded(&bounded.Expr{
		Op: bounded.OpTimePart, Type: value.Integer, Args: []*bounded.Expr{e}, Text: field, Range: r, Nullable: e.Nullable,
	})
}

// epoch builds EXTRACT(epoch FROM e): the seconds since 1970-01-01 00:00:00, as clocks in the policy's zone show the
// time, or the seconds of a time or an interval.
func epoch(e *bounded.Expr, at query.Pos) (*bounded.Expr, error) {
	count := microsOf(e)
	if e.Type == value.Date {
		return compute(bounded.OpMul, count, Constant(value.OfInt(value.DayMicros/1_000_000)), at)
	}
	return perSecond(count, at)
}

// microsOf builds the number of days of a date, or of microseconds of another type of time, as an integer.
func microsOf(e *bounded.Expr) *bounded.Expr {
	zero := Constant(value.Value{Type: e.Type})
	return folded(&bounded.Expr{
		Op: bounded.OpSub, Type: value.Integer, Args: []*bounded.Expr{e, zero}, Range: e.Range, Nullable: e.Nullable,
	})
}

// perSecond converts microseconds to seconds.
func perSecond(micros *bounded.Expr, at query.Pos) (*bounded.Expr, error) {
	return compute(bounded.OpDiv, micros, Constant(value.OfReal(1_000_000)), at)
}

func dayOf(e *bounded.Expr) *bounded.Expr {
	if e.Op == bounded.OpStartOf && shiftedDay(e.Args[0]) {
		return e.Args[0]
	}
	r := bounded.Range{IntLo: value.DayOf(e.Range.IntLo), IntHi: value.DayOf(e.Range.IntHi)}
	return folded(&bounded.Expr{
		Op: bounded.OpDayOf, Type: value.Date, Args: []*bounded.Expr{e}, Range: r, Nullable: e.Nullable,
	})
}

// shiftedDay reports whether a date is computed from another one by adding to it. Older releases have no such dates, so
// their canonical texts may be simplified.
func shiftedDay(e *bounded.Expr) bool {
	found := false
	e.Walk(func(x *bounded.Expr) {
		found = found || x.Op == bounded.OpAddMonths || x.Type == value.Date && (x.Op == bounded.OpAdd || x.Op == bounded.OpSub)
	})
	return found
}

func startOf(e *bounded.Expr) *bounded.Expr {
	r := bounded.Range{IntLo: e.Range.IntLo * value.DayMicros, IntHi: e.Range.IntHi * value.DayMicros}
	return folded(&bounded.Expr{
		Op: bounded.OpStartOf, Type: value.Timestamp, Args: []*bounded.Expr{e}, Range: r, Nullable: e.Nullable,
	})
}

func timeOf(e *bounded.Expr) *bounded.Expr {
	r := bounded.Range{IntHi: value.DayMicros - 1}
	if value.DayOf(e.Range.IntLo) == value.DayOf(e.Range.IntHi) {
		r = bounded.Range{IntLo: value.TimeOf(e.Range.IntLo), IntHi: value.TimeOf(e.Range.IntHi)}
	}
	return folded(&bounded.Expr{
		Op: bounded.OpTimeOf, Type: value.Time, Args: []*bounded.Expr{e}, Range: r, Nullable: e.Nullable,
	})
}

// folded returns the constant that e computes if its arguments are constants, and e otherwise. All engines compute the
// same constant, because e's operation is [bounded.Op.Agreed]. A constant is also the form from which the plan can see
// which groups a condition leaves.
func folded(e *bounded.Expr) *bounded.Expr {
	v, ok := constantOf(e)
	if !ok || v.Null {
		return e
	}
	return Constant(v)
}

// constantOf evaluates an expression without columns. The boolean is false for any other expression.
func constantOf(e *bounded.Expr) (value.Value, bool) {
	if e.Op == bounded.OpColumn || !e.Op.Agreed() {
		return value.Value{}, false
	}
	args := make([]value.Value, len(e.Args))
	for i, a := range e.Args {
		v, ok := constantOf(a)
		if !ok {
			return v, false
		}
		args[i] = v
	}
	return e.Apply(args...), true
}

// stepped lists all possible results of a truncation of a date or a time, which are the beginnings of units within its
// range. found is false if e is no truncation, and few is false if there are more than policy.MaxKeys.
func stepped(e *bounded.Expr) (values []value.Value, found, few bool) {
	switch e.Op {
	case bounded.OpDateTrunc:
		values, few = truncated(e)
		return values, true, few
	case bounded.OpTimeTrunc:
		length := value.ClockMicros(e.Text)
		if (e.Range.IntHi-e.Range.IntLo)/length >= policy.MaxKeys {
			return nil, true, false
		}
		for n := e.Range.IntLo; n <= e.Range.IntHi; n += length {
			values = append(values, value.Value{Type: e.Type, Int: n})
		}
		return values, true, true
	}
	return nil, false, false
}

// ConstantTime reads the text of a constant of a type of time. The text of a date may have a time of day of midnight.
func ConstantTime(t value.Type, text string, at query.Pos) (*bounded.Expr, error) {
	v, err := value.Parse(t, text)
	switch {
	case err == nil:
	case t == value.Interval:
		var span value.Span
		span, err = value.ParseSpan(text, "")
		v = value.OfSpan(span)
	case t == value.Date:
		if v, err = value.Parse(value.Timestamp, text); value.TimeOf(v.Int) != 0 {
			err = value.ErrSyntax
		}
		v = value.OfDay(value.DayOf(v.Int))
	}
	if err != nil {
		hint := map[value.Type]string{
			value.Date: "'2026-01-31'", value.Timestamp: "'2026-01-31 18:30:00'", value.Time: "'18:30:00'",
			value.Interval: "INTERVAL '1 day'",
		}[t]
		order := ""
		if t == value.Date {
			order = yearFirst(text)
		}
		return nil, Refuse(at, "write "+hint, "%q is not %s%s", text, withArticle(t), order)
	}
	return Constant(v), nil
}

// hasClock reports whether e is a text constant that spells a timestamp with a time of day other than midnight.
func hasClock(e *bounded.Expr) bool {
	if e.Op != bounded.OpConst || e.Const.Null || e.Type != value.Text {
		return false
	}
	text := e.Const.Text
	if e.Text != "" {
		text = e.Text
	}
	v, err := value.Parse(value.Timestamp, text)
	return err == nil && value.TimeOf(v.Int) != 0
}

// yearFirst returns what a message says of a text that is not a date, and may be one in another order.
func yearFirst(text string) string {
	if !strings.ContainsAny(text, "0123456789") {
		return ""
	}
	return ": the year comes first"
}
