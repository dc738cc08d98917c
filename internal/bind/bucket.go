package bind

import (
	"math"

	"dither/internal/bounded"
	"dither/internal/query"
	"dither/internal/value"
)

// timeFunctions are the functions that make times, or texts of times. Some of their arguments are constants.
var timeFunctions = []string{
	"to_char", "date_bin", "time_bucket", "to_date", "to_timestamp", "make_date", "date", "age", "make_interval",
	"timezone",
}

// timeCall builds a call of one of timeFunctions.
func (l *Scope) timeCall(x *query.Call) (*bounded.Expr, error) {
	switch x.Name {
	case "to_char":
		return l.toChar(x)
	case "date_bin":
		return l.dateBin(x)
	case "time_bucket":
		return l.timeBucket(x)
	case "to_date", "to_timestamp":
		return l.toTime(x)
	case "make_date":
		return l.makeDate(x)
	case "date":
		return l.dateCall(x)
	case "age":
		return l.ageSpan(x)
	case "timezone":
		return l.inZone(x)
	}
	return l.makeInterval(x)
}

func (l *Scope) makeInterval(x *query.Call) (*bounded.Expr, error) {
	if span, ok := SpanOf(x); ok {
		return Constant(value.OfSpan(span)), nil
	}
	return nil, Refuse(x.At, "write INTERVAL '7 days', or n * INTERVAL '1 day'", "make_interval takes constant whole numbers")
}

// toChar builds to_char(x, format) of a date, a timestamp or a time. Its argument is truncated to the unit that the format
// shows, so that the possible texts of a column with bounds are known.
func (l *Scope) toChar(x *query.Call) (*bounded.Expr, error) {
	if err := takes(x, 2); err != nil {
		return nil, err
	}
	text, ok := textOf(x.Args[1])
	format, read := value.ParseFormat(text)
	clock, day := false, false
	for _, p := range format {
		clock, day = clock || p.Clock(), day || p.Field != "" && !p.Clock()
	}
	if !ok || !read || !clock && !day {
		return nil, Refuse(x.Args[1].Pos(),
			"write a constant of YYYY, MM, DD, Mon, Month, Dy, Day, Q, IW, IYYY, DDD, HH24, HH12, AM, MI, SS, and signs between them, such as 'YYYY-MM'",
			"this format of to_char is not supported")
	}
	e, err := l.Row(x.Args[0])
	if err != nil {
		return nil, err
	}
	switch {
	case e.Type == value.Time && day, e.Type != value.Date && e.Type != value.Timestamp && e.Type != value.Time:
		return nil, Refuse(x.At, "for numbers, show the number itself; ROUND(x, 2) keeps two decimal places",
			"to_char takes a date or a timestamp, and this is of type %s", e.Type)
	case e.Op == bounded.OpConst && e.Const.Null:
		return nil, Refuse(x.At, "", "to_char needs a date")
	case e.Type == value.Timestamp && !clock:
		e = dayOf(e)
	case e.Type == value.Timestamp && !day:
		e = timeOf(e)
	}
	switch unit := format.Finest(); {
	case unit == "day" || unit == "", e.Type == value.Date && clock:
	case e.Type == value.Date:
		e = folded(calendarOf(bounded.OpDateTrunc, unit, e))
	default:
		e = truncatedTo(unit, e)
	}
	return charOf(e, text), nil
}

func charOf(e *bounded.Expr, format string) *bounded.Expr {
	return folded(&bounded.Expr{
		Op: bounded.OpChar, Type: value.Text, Args: []*bounded.Expr{e}, Text: format, Nullable: e.Nullable,
	})
}

// truncatedTo builds the start of an hour, a minute or a second.
func truncatedTo(unit string, e *bounded.Expr) *bounded.Expr {
	r := bounded.Range{IntLo: value.TimeTrunc(unit, e.Range.IntLo), IntHi: value.TimeTrunc(unit, e.Range.IntHi)}
	return folded(&bounded.Expr{
		Op: bounded.OpTimeTrunc, Type: e.Type, Args: []*bounded.Expr{e}, Text: unit, Range: r, Nullable: e.Nullable,
	})
}

// dateBin builds date_bin(stride, t, origin).
func (l *Scope) dateBin(x *query.Call) (*bounded.Expr, error) {
	if err := takes(x, 3); err != nil {
		return nil, err
	}
	return l.bucket(x, x.Args[1], x.Args[2])
}

// timeBucket builds TimescaleDB's time_bucket(stride, t [, origin]). The default origin is a Monday for a stride of days or
// less. A stride of months must be a month, a quarter or a year.
func (l *Scope) timeBucket(x *query.Call) (*bounded.Expr, error) {
	if len(x.Args) == 3 {
		return l.dateBin(x)
	}
	if err := takes(x, 2); err != nil {
		return nil, err
	}
	if s, ok := strideOf(x.Args[0]); ok && s.Months != 0 && s.Days == 0 && s.Micros == 0 {
		unit, ok := map[int64]string{1: "month", 3: "quarter", 12: "year"}[s.Months]
		if !ok {
			return nil, Refuse(x.Args[0].Pos(), "write '1 month', '3 months' or '1 year'", "time_bucket takes no such number of months")
		}
		return l.calendar(&query.Call{At: x.At, Name: "date_trunc", Args: []query.Expr{
			&query.Literal{At: x.At, Kind: query.StringLiteral, Text: unit}, x.Args[1],
		}})
	}
	origin := &query.Literal{At: x.At, Kind: query.TimestampLiteral, Text: "2000-01-03 00:00:00"}
	return l.bucket(x, x.Args[1], origin)
}

// bucket builds origin + ⌊(t − origin) / stride⌋ · stride. The origin is first moved by whole strides to before all values
// of t, so that the quotient without its fraction is rounded down.
func (l *Scope) bucket(x *query.Call, of, from query.Expr) (*bounded.Expr, error) {
	span, ok := strideOf(x.Args[0])
	stride := value.OfSpan(span).Int
	if !ok || span.Months != 0 || stride <= 0 {
		return nil, Refuse(x.Args[0].Pos(), "write a constant such as '15 minutes'; for months, write date_trunc('month', t)",
			"%s takes a positive interval without months", x.Name)
	}
	args, err := l.rows([]query.Expr{of, from})
	if err != nil {
		return nil, err
	}
	for i, a := range args {
		if IsUntypedNull(a) {
			return nil, Refuse(x.At, "write a constant, such as TIMESTAMP '2000-01-01'", "%s of NULL is always NULL", x.Name)
		}
		if a.Type != value.Date && a.Type != value.Timestamp && (i != 1 || a.Type != value.Text) {
			return nil, Refuse(x.At, "", "%s needs a timestamp, and this is of type %s", x.Name, a.Type)
		}
		if args[i], err = convert(a, value.Timestamp, x.At); err != nil {
			return nil, err
		}
	}
	t, origin := args[0], args[1]
	if origin.Op != bounded.OpConst || origin.Const.Null {
		return nil, Refuse(x.At, "write a constant, such as TIMESTAMP '2000-01-01'", "the origin of %s is a constant", x.Name)
	}
	start := origin.Const.Int
	if lo := t.Range.IntLo; lo < start {
		start -= (start - lo + stride - 1) / stride * stride
	}
	base := Constant(value.OfMicro(start))
	if err := inYears(base, x.At); err != nil {
		return nil, err
	}
	since, err := difference(t, base, value.Timestamp, x.At)
	if err != nil {
		return nil, err
	}
	b := builder{at: x.At}
	number := b.compute(bounded.OpQuo, microsOf(since), Constant(value.OfInt(stride)))
	micros := b.compute(bounded.OpMul, number, Constant(value.OfInt(stride)))
	if b.err != nil {
		return nil, b.err
	}
	return moved(base, micros, x.At)
}

// strideOf returns the constant interval of an argument, which may be a text.
func strideOf(x query.Expr) (value.Span, bool) {
	if text, ok := textOf(x); ok {
		s, err := value.ParseSpan(text, "")
		return s, err == nil
	}
	return SpanOf(x)
}

// toTime builds to_date(text, format) and to_timestamp(text, format) of constants, and to_timestamp of a number of seconds
// since 1970-01-01 00:00:00.
func (l *Scope) toTime(x *query.Call) (*bounded.Expr, error) {
	if len(x.Args) == 1 && x.Name == "to_timestamp" {
		return l.ofEpoch(x)
	}
	if err := takes(x, 2); err != nil {
		return nil, err
	}
	text, ok := textOf(x.Args[0])
	pattern, also := textOf(x.Args[1])
	format, read := value.ParseFormat(pattern)
	if !ok || !also || !read {
		return nil, Refuse(x.At, "write DATE '2026-01-31', or TIMESTAMP '2026-01-31 18:30:00'",
			"%s takes a constant text and a constant format, such as 'YYYY-MM-DD'", x.Name)
	}
	v, ok := format.Read(text)
	if !ok {
		return nil, Refuse(x.Args[0].Pos(), "write DATE '2026-01-31', or TIMESTAMP '2026-01-31 18:30:00'",
			"%q does not have the format %q", text, pattern)
	}
	if x.Name == "to_date" {
		v = value.OfDay(value.DayOf(v.Int))
	}
	return Constant(v), nil
}

// ofEpoch builds the timestamp that is a number of seconds after 1970-01-01 00:00:00 on the same clocks. It is the inverse
// of EXTRACT(epoch FROM t). A fraction of a microsecond is rounded.
func (l *Scope) ofEpoch(x *query.Call) (*bounded.Expr, error) {
	if err := takes(x, 1); err != nil {
		return nil, err
	}
	e, err := l.Row(x.Args[0])
	if err != nil {
		return nil, err
	}
	if err := Numeric(e, x.At); err != nil {
		return nil, err
	}
	b := builder{at: x.At}
	million := Constant(value.OfInt(1_000_000))
	micros := b.compute(bounded.OpMul, e, million)
	if b.err == nil && micros.Type == value.Real {
		micros, b.err = rounding(bounded.OpRound, math.Round)(micros, x.At)
	}
	if b.err != nil {
		return nil, b.err
	}
	return moved(Constant(value.OfMicro(0)), folded(micros), x.At)
}

// dateCall builds date(x), which is CAST(x AS date).
func (l *Scope) dateCall(x *query.Call) (*bounded.Expr, error) {
	if err := takes(x, 1); err != nil {
		return nil, err
	}
	return l.cast(&query.Cast{At: x.At, X: x.Args[0], Type: "date"})
}

// takes refuses a call unless it has n plain arguments.
func takes(x *query.Call, n int) error {
	if x.Star || x.Distinct || x.Filter != nil || len(x.Args) != n {
		return Refuse(x.At, "", "%s takes %d arguments", x.Name, n)
	}
	return nil
}

// textOf returns the text of a text constant.
func textOf(x query.Expr) (string, bool) {
	l, ok := x.(*query.Literal)
	if !ok || l.Kind != query.StringLiteral {
		return "", false
	}
	return l.Text, true
}
