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
}

// word returns the constant text of an argument, such as 'month'.
func word(n *node) string {
	if n.fixed == nil || n.typ != value.Text {
		return ""
	}
	return n.fixed.Text
}

// datePart binds EXTRACT(field FROM x) of dates, timestamps and times.
func datePart(args []*node, at query.Pos) (*node, error) {
	field, x := word(args[0]), args[1]
	day, clock := slices.Contains(value.DateFields, field), slices.Contains(value.ClockUnits, field)
	switch {
	case field == "epoch" && x.typ != value.Time, day && (x.typ == value.Date || x.typ == value.Timestamp),
		clock && (x.typ == value.Timestamp || x.typ == value.Time):
	default:
		return nil, bind.Refuse(at, "the fields are year, quarter, month, day, dow, isodow, doy, hour, minute, second and epoch",
			"%q cannot be extracted from a value of type %s", field, x.typ)
	}
	typ := value.Integer
	if field == "second" || field == "epoch" && x.typ == value.Timestamp {
		typ = value.Real
	}
	return function(typ, whyProduct, func(vs []value.Value) value.Value {
		n := vs[0].Int
		switch {
		case field == "epoch" && x.typ == value.Date:
			return value.OfInt(n * 86400)
		case field == "epoch":
			return value.OfReal(float64(n) / 1e6)
		case clock && field == "second":
			return value.OfReal(float64(value.TimePart(field, value.TimeOf(n))) / 1e6)
		case clock:
			return value.OfInt(value.TimePart(field, value.TimeOf(n)))
		case x.typ == value.Timestamp:
			n = value.DayOf(n)
		}
		return value.OfInt(value.DatePart(field, n))
	}, x), nil
}

// dateTrunc binds date_trunc. A date stays a date.
func dateTrunc(args []*node, at query.Pos) (*node, error) {
	unit, x := word(args[0]), args[1]
	day, clock := slices.Contains(value.DateUnits, unit), slices.Contains(value.ClockUnits, unit)
	fits := day && x.typ == value.Date || (day || clock) && x.typ == value.Timestamp
	if !fits {
		return nil, bind.Refuse(at, "the units are year, quarter, month, week and day, and of timestamps hour, minute and second",
			"a value of type %s cannot be truncated to %q", x.typ, unit)
	}
	return function(x.typ, whyProduct, func(vs []value.Value) value.Value {
		n := vs[0].Int
		switch {
		case x.typ == value.Date:
			return value.OfDay(value.DateTrunc(unit, n))
		case day:
			return value.OfMicro(value.DateTrunc(unit, value.DayOf(n)) * value.DayMicros)
		}
		return value.OfMicro(value.TimeTrunc(unit, n))
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
