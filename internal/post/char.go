package post

import (
	"strconv"

	"dither/internal/bind"
	"dither/internal/query"
	"dither/internal/value"
)

// Texts of times and of numbers, and times that are read from texts.

// widestChar is more than the bytes of a text that to_char makes: a format has at most 64 bytes.
const widestChar = 256

// toChar binds to_char(x, format) of dates, timestamps, times and numbers. The format is a constant.
func toChar(args []*node, at query.Pos) (*node, error) {
	x, format := args[0], word(args[1])
	var of func(value.Value) string
	switch x.typ {
	case 0:
		return exactly(value.NullOf(value.Text)), nil
	case value.Integer, value.Real:
		f, ok := parseNumberFormat(format)
		if !ok {
			return nil, bind.Refuse(at, "write a constant of 9, 0, a point, commas, FM and MI, such as 'FM999,999.00'",
				"this format of numbers is not supported")
		}
		of = f.char
	case value.Date, value.Timestamp, value.Time:
		f, ok := value.ParseFormat(format)
		for _, p := range f {
			ok = ok && (x.typ != value.Time || p.Field == "" || p.Clock())
		}
		if !ok {
			return nil, bind.Refuse(at,
				"write a constant of YYYY, MM, DD, Mon, Month, Dy, Day, Q, IW, IYYY, DDD, HH24, HH12, AM, MI, SS, and signs between them, such as 'YYYY-MM'",
				"this format of a %s is not supported", x.typ)
		}
		of = func(v value.Value) string { return f.Char(micros(v)) }
	default:
		return nil, bind.Refuse(at, "write CAST(x AS text)", "to_char takes a number, a date or a timestamp, and this is of type %s", x.typ)
	}
	out := function(value.Text, whyText, func(vs []value.Value) value.Value { return value.OfText(of(vs[0])) }, x)
	if out.fixed == nil {
		out.width, out.work = widestChar, capped(out.work+workOfSpans)
	}
	return out, nil
}

// toTime returns a builder for to_date and to_timestamp of a text. A text that does not have the format gives NULL.
func toTime(typ value.Type) func([]*node, query.Pos) (*node, error) {
	return func(args []*node, at query.Pos) (*node, error) {
		if len(args) == 1 && typ == value.Timestamp {
			return ofEpoch(args[0], at)
		}
		const hint = "write DATE '2026-01-31', or TIMESTAMP '2026-01-31 18:30:00'"
		if len(args) != 2 {
			return nil, bind.Refuse(at, hint, "to_%s takes a text and a format", typ)
		}
		format, ok := value.ParseFormat(word(args[1]))
		if !ok || args[0].typ != value.Text && args[0].typ != 0 {
			return nil, bind.Refuse(at, hint, "to_%s takes a text and a constant format, such as 'YYYY-MM-DD'", typ)
		}
		if c := args[0].fixed; c != nil && !c.Null {
			if _, ok := format.Read(c.Text); !ok {
				return nil, bind.Refuse(at, hint, "%s does not have the format %s", strconv.Quote(c.Text), strconv.Quote(word(args[1])))
			}
		}
		return function(typ, whyText, func(vs []value.Value) value.Value {
			v, ok := format.Read(vs[0].Text)
			switch {
			case !ok:
				return value.NullOf(typ)
			case typ == value.Date:
				return value.OfDay(value.DayOf(v.Int))
			}
			return v
		}, args[0]), nil
	}
}

// makeDate binds make_date(year, month, day). It is NULL if there is no such day.
func makeDate(args []*node, at query.Pos) (*node, error) {
	for _, a := range args {
		if a.typ != value.Integer && a.typ != 0 {
			return nil, bind.Refuse(at, "write CAST(x AS integer)", "make_date takes whole numbers, and this is of type %s", a.typ)
		}
	}
	return function(value.Date, whyProduct, func(vs []value.Value) value.Value {
		year, month, day := vs[0].Int, vs[1].Int, vs[2].Int
		if year < 1 || year > 9999 || month < 1 || month > 12 || day < 1 || day > 31 {
			return value.NullOf(value.Date)
		}
		first, err := value.Parse(value.Date, "0001-01-01")
		n := value.AddMonths(first.Int, (year-1)*12+month-1) + day - 1
		if err != nil || value.DatePart("month", n) != month {
			return value.NullOf(value.Date)
		}
		return value.OfDay(n)
	}, args...), nil
}
