package post

import (
	"math"
	"slices"

	"dither/internal/bind"
	"dither/internal/query"
	"dither/internal/text"
	"dither/internal/value"
)

var timeFunctions = map[string]builder{
	"extract":    {2, 2, datePart},
	"date_part":  {2, 2, datePart},
	"date_trunc": {2, 2, dateTrunc},
	"age":        {2, 2, age},

	"to_char":      {2, 2, toChar},
	"to_date":      {2, 2, toTime(value.Date)},
	"to_timestamp": {1, 2, toTime(value.Timestamp)},
	"make_date":    {3, 3, makeDate},
	"date":         {1, 1, func(a []*node, at query.Pos) (*node, error) { return cast(a[0], "date", at) }},
}

// word returns the constant text of an argument, such as 'month'.
func word(n *node) string {
	if n.fixed == nil || n.typ != value.Text {
		return ""
	}
	return n.fixed.Text
}

// datePart binds EXTRACT(field FROM x) of dates, timestamps, times and intervals.
func datePart(args []*node, at query.Pos) (*node, error) {
	field, x := value.Unit(word(args[0])), args[1]
	typ, of := timePart(field, x.typ)
	if x.typ == value.Interval {
		typ, of = spanPart(field)
	}
	if of == nil {
		return nil, bind.Refuse(at, "the fields are year, quarter, month, week, day, dow, isodow, doy, hour, minute, second and epoch",
			"%q cannot be extracted from a value of type %s", field, x.typ)
	}
	out := function(typ, whyProduct, func(vs []value.Value) value.Value { return of(vs[0]) }, x)
	if x.typ == value.Interval {
		out.work = capped(out.work + workOfSpans)
	}
	return out, nil
}

// timePart returns a part of a date, a timestamp or a time, and the type of the part. A date is the start of its day. The
// function is nil if there is no such part.
func timePart(field string, of value.Type) (value.Type, func(value.Value) value.Value) {
	whole := func(f func(micro int64) int64) (value.Type, func(value.Value) value.Value) {
		return value.Integer, func(v value.Value) value.Value { return value.OfInt(f(micros(v))) }
	}
	seconds := func(units float64) (value.Type, func(value.Value) value.Value) {
		return value.Real, func(v value.Value) value.Value {
			return value.OfReal(float64(value.TimePart("second", value.TimeOf(micros(v)))) / units)
		}
	}
	pattern := map[string]string{"week": "IW", "isoyear": "IYYY", "century": "CC"}[field]
	day := of == value.Date || of == value.Timestamp
	switch {
	case !day && of != value.Time:
	case field == "epoch" && of == value.Date:
		return whole(func(n int64) int64 { return n / 1_000_000 })
	case field == "epoch":
		return value.Real, func(v value.Value) value.Value { return value.OfReal(float64(v.Int) / 1e6) }
	case field == "second":
		return seconds(1e6)
	case field == "millisecond":
		return seconds(1e3)
	case field == "microsecond":
		return whole(func(n int64) int64 { return value.TimePart("second", value.TimeOf(n)) })
	case slices.Contains(value.ClockUnits, field):
		return whole(func(n int64) int64 { return value.TimePart(field, value.TimeOf(n)) })
	case !day:
	case slices.Contains(value.DateFields, field):
		return whole(func(n int64) int64 { return value.DatePart(field, value.DayOf(n)) })
	case pattern != "":
		return whole(func(n int64) int64 { return value.FormatNumber(pattern, n) })
	case field == "decade":
		return whole(func(n int64) int64 { return value.DatePart("year", value.DayOf(n)) / 10 })
	case field == "millennium":
		return whole(func(n int64) int64 { return (value.DatePart("year", value.DayOf(n)) + 999) / 1000 })
	}
	return 0, nil
}

// dateTrunc binds date_trunc. A date stays a date, unless the unit is shorter than a day.
func dateTrunc(args []*node, at query.Pos) (*node, error) {
	unit, x := value.Unit(word(args[0])), args[1]
	day, clock := slices.Contains(value.DateUnits, unit), slices.Contains(value.ClockUnits, unit)
	if !day && !clock || x.typ != value.Date && x.typ != value.Timestamp {
		return nil, bind.Refuse(at, "the units are year, quarter, month, week, day, hour, minute and second",
			"a value of type %s cannot be truncated to %q", x.typ, unit)
	}
	typ := x.typ
	if clock {
		typ = value.Timestamp
	}
	return function(typ, whyProduct, func(vs []value.Value) value.Value {
		switch n := micros(vs[0]); {
		case typ == value.Date:
			return value.OfDay(value.DateTrunc(unit, vs[0].Int))
		case day:
			return value.OfMicro(value.DateTrunc(unit, value.DayOf(n)) * value.DayMicros)
		default:
			return value.OfMicro(value.TimeTrunc(unit, n))
		}
	}, x), nil
}

// cast binds CAST. A text that does not spell a value of the type gives NULL, because no value may raise an error.
func cast(x *node, name string, at query.Pos) (*node, error) {
	typ, ok := value.ParseType(name)
	if !ok {
		return nil, bind.Refuse(at, "", "there is no type %q", name)
	}
	numbers := bind.IsNumber(typ) && bind.IsNumber(x.typ)
	switch {
	case x.typ == 0:
		return exactly(value.NullOf(typ)), nil
	case x.typ == typ:
		return x, nil
	case numbers && typ == value.Real:
		return toReal(x), nil
	case numbers:
		return monotone(typ, x, false, func(v value.Value) value.Value { return wholeOf(math.RoundToEven(v.Real)) }, math.RoundToEven), nil
	case typ == value.Text && x.typ == value.Interval:
		return spanText(x), nil
	case typ == value.Text:
		out := function(typ, whyText, func(vs []value.Value) value.Value { return value.OfText(text.Of(vs[0])) }, x)
		out.width = longestNumber
		return out, nil
	case x.typ == value.Text:
		return function(typ, whyText, func(vs []value.Value) value.Value {
			v, ok := text.Read(vs[0].Text, typ)
			if !ok {
				return value.NullOf(typ)
			}
			return v
		}, x), nil
	case x.typ == value.Boolean && typ == value.Integer:
		return function(typ, whyCondition, func(vs []value.Value) value.Value {
			if vs[0].Bool {
				return value.OfInt(1)
			}
			return value.OfInt(0)
		}, x), nil
	case x.typ == value.Date && typ == value.Timestamp:
		return function(typ, whyProduct, func(vs []value.Value) value.Value {
			return value.OfMicro(vs[0].Int * value.DayMicros)
		}, x), nil
	case x.typ == value.Timestamp && typ == value.Date:
		return function(typ, whyProduct, func(vs []value.Value) value.Value { return value.OfDay(value.DayOf(vs[0].Int)) }, x), nil
	case x.typ == value.Timestamp && typ == value.Time:
		return function(typ, whyProduct, func(vs []value.Value) value.Value {
			return value.Value{Type: typ, Int: value.TimeOf(vs[0].Int)}
		}, x), nil
	}
	return nil, bind.Refuse(at, "", "a value of type %s cannot be cast to %s", x.typ, typ)
}
