package post

import (
	"math"
	"slices"

	"dither/internal/bind"
	"dither/internal/query"
	"dither/internal/value"
)

// Intervals over an answer. The value of an interval has the microseconds by which PostgreSQL compares intervals, and the
// text of its months, days and microseconds, because months differ in length.

// workOfSpans is the work of an operation on an interval, whose text is read.
const workOfSpans = 20

func ofSpan(s value.Span) value.Value {
	v := value.OfSpan(s)
	v.Text = s.Text()
	return v
}

func spanOf(v value.Value) value.Span {
	s, err := value.ParseSpan(v.Text, "")
	if err != nil { // the value was made without a text
		return value.Span{Days: v.Int / value.DayMicros, Micros: v.Int % value.DayMicros}
	}
	return s
}

// spans binds arithmetic with intervals, and differences of timestamps, which are intervals.
func spans(op query.BinaryOp, a, b *node) (*node, bool) {
	moment := func(t value.Type) bool { return t == value.Date || t == value.Timestamp }
	span := func(n *node) bool { return n.typ == value.Interval }
	sign := int64(1)
	if op == query.Sub {
		sign = -1
	}
	var out *node
	switch {
	case op == query.Sub && moment(a.typ) && moment(b.typ) && (a.typ == value.Timestamp || b.typ == value.Timestamp):
		out = function(value.Interval, whyProduct, func(vs []value.Value) value.Value {
			n := micros(vs[0]) - micros(vs[1])
			return ofSpan(value.Span{Days: n / value.DayMicros, Micros: n % value.DayMicros})
		}, a, b)
	case (op == query.Add || op == query.Sub) && moment(a.typ) && span(b):
		out = function(value.Timestamp, whyProduct, func(vs []value.Value) value.Value {
			s, ok := spanOf(vs[1]).Times(sign)
			return shifted(micros(vs[0]), s, ok)
		}, a, b)
	case op == query.Add && span(a) && moment(b.typ):
		return spans(op, b, a)
	case (op == query.Add || op == query.Sub) && span(a) && span(b):
		out = function(value.Interval, whyProduct, func(vs []value.Value) value.Value {
			s, ok := spanOf(vs[1]).Times(sign)
			if ok {
				s, ok = spanOf(vs[0]).Plus(s)
			}
			return orNull(s, ok)
		}, a, b)
	case op == query.Mul && span(a) && b.typ == value.Integer:
		out = function(value.Interval, whyProduct, func(vs []value.Value) value.Value {
			return orNull(spanOf(vs[0]).Times(vs[1].Int))
		}, a, b)
	case op == query.Mul && a.typ == value.Integer && span(b):
		return spans(op, b, a)
	default:
		return nil, false
	}
	out.work = capped(out.work + workOfSpans)
	return out, true
}

func orNull(s value.Span, ok bool) value.Value {
	if !ok {
		return value.NullOf(value.Interval)
	}
	return ofSpan(s)
}

// micros returns a date or a timestamp as a timestamp.
func micros(v value.Value) int64 {
	if v.Type == value.Date {
		return v.Int * value.DayMicros
	}
	return v.Int
}

// shifted returns the timestamp that is an interval later: its months are added first, then its days, then its time. It is
// NULL beyond the years 1 to 9999.
func shifted(micro int64, s value.Span, ok bool) value.Value {
	if !ok {
		return value.NullOf(value.Timestamp)
	}
	inside := func() bool { return micro >= value.MinMicro && micro <= value.MaxMicro }
	if s.Months != 0 {
		micro = value.AddMonths(value.DayOf(micro), s.Months)*value.DayMicros + value.TimeOf(micro)
	}
	if inside() {
		micro += s.Days*value.DayMicros + s.Micros
	}
	if !inside() {
		return value.NullOf(value.Timestamp)
	}
	return value.OfMicro(micro)
}

// age binds AGE(a, b), which counts years, months, days and time on the calendar.
func age(args []*node, at query.Pos) (*node, error) {
	both := slices.Clone(args)
	for i, n := range both {
		if n.typ != value.Date && n.typ != value.Timestamp && (n.typ != value.Text || n.fixed == nil) {
			return nil, bind.Refuse(at, "write EXTRACT(year FROM AGE(CURRENT_DATE, day))", "AGE takes dates, and this is of type %s", n.typ)
		}
		var err error
		if n.typ != value.Timestamp {
			if both[i], err = cast(n, "timestamp", at); err != nil {
				return nil, err
			}
		}
	}
	out := function(value.Interval, whyProduct, func(vs []value.Value) value.Value {
		return ofSpan(ageOf(vs[0].Int, vs[1].Int))
	}, both...)
	out.work = capped(out.work + workOfSpans)
	return out, nil
}

// ageOf returns PostgreSQL's age(a, b): the differences of the parts, each carried from the next longer one. A month that
// is carried has the length of the earlier timestamp's month.
func ageOf(a, b int64) value.Span {
	if a < b {
		s, _ := ageOf(b, a).Times(-1)
		return s
	}
	part := func(field string, micro int64) int64 { return value.DatePart(field, value.DayOf(micro)) }
	months := 12*(part("year", a)-part("year", b)) + part("month", a) - part("month", b)
	days := part("day", a) - part("day", b)
	clock := value.TimeOf(a) - value.TimeOf(b)
	if clock < 0 {
		clock += value.DayMicros
		days--
	}
	if days < 0 {
		first := value.DateTrunc("month", value.DayOf(b))
		days += value.AddMonths(first, 1) - first
		months--
	}
	return value.Span{Months: months, Days: days, Micros: clock}
}

// spanPart returns a part of an interval, as PostgreSQL's EXTRACT does, and the type of the part.
func spanPart(field string) (value.Type, func(value.Value) value.Value) {
	whole := func(f func(value.Span) int64) (value.Type, func(value.Value) value.Value) {
		return value.Integer, func(v value.Value) value.Value { return value.OfInt(f(spanOf(v))) }
	}
	realOf := func(f func(value.Span) float64) (value.Type, func(value.Value) value.Value) {
		return value.Real, func(v value.Value) value.Value { return ofReal(f(spanOf(v))) }
	}
	minute := value.ClockMicros("minute")
	switch field {
	case "year":
		return whole(func(s value.Span) int64 { return s.Months / 12 })
	case "quarter":
		return whole(func(s value.Span) int64 { return s.Months%12/3 + 1 })
	case "month":
		return whole(func(s value.Span) int64 { return s.Months % 12 })
	case "day":
		return whole(func(s value.Span) int64 { return s.Days })
	case "hour":
		return whole(func(s value.Span) int64 { return s.Micros / value.ClockMicros("hour") })
	case "minute":
		return whole(func(s value.Span) int64 { return s.Micros % value.ClockMicros("hour") / minute })
	case "second":
		return realOf(func(s value.Span) float64 { return float64(s.Micros%minute) / 1e6 })
	case "epoch":
		return realOf(func(s value.Span) float64 {
			const year = 365.25 // days
			days := float64(s.Months/12)*year + float64(s.Months%12*30+s.Days)
			return days*86400 + float64(s.Micros)/1e6
		})
	}
	return 0, nil
}

// readable makes intervals of an answer texts, as PostgreSQL writes them.
func readable(t *stage) {
	for i, n := range t.items {
		if n.typ == value.Interval {
			t.items[i] = spanText(n)
			t.columns[i].Type, t.columns[i].Width = value.Text, 3*longestNumber
			if n.noisy && t.columns[i].Why == "" {
				t.columns[i].Why = whyText
			}
		}
	}
}

func spanText(n *node) *node {
	out := function(value.Text, whyText, func(vs []value.Value) value.Value { return value.OfText(spanOf(vs[0]).Text()) }, n)
	out.width = 3 * longestNumber
	return out
}

// ofEpoch binds to_timestamp(seconds since 1970).
func ofEpoch(x *node, at query.Pos) (*node, error) {
	if err := asNumber(at, x); err != nil {
		return nil, err
	}
	return function(value.Timestamp, whyProduct, func(vs []value.Value) value.Value {
		n := math.Round(number(vs[0]) * 1e6)
		return shifted(0, value.Span{Micros: int64(n)}, math.Abs(n) < 1<<62)
	}, x), nil
}
