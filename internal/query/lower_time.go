package query

import (
	"strings"
	"time"

	pg "github.com/pganalyze/pg_query_go/v6"

	"dither/internal/value"
)

// local returns the time that clocks in the parse's zone show at a moment that a text spells with an offset from UTC. It
// returns "" for any other text.
func (l *lowering) local(text string) string {
	if len(text) < len("2006-01-02 15:04Z") || text[4] != '-' {
		return ""
	}
	if _, err := value.Parse(value.Timestamp, text); err == nil { // without an offset
		return ""
	}
	v, err := value.ParseTimestamp(text, l.zone)
	if err != nil {
		return ""
	}
	return v.String()
}

// date converts the constant of a date. A time of day after the date is dropped, as PostgreSQL does. PostgreSQL also
// accepts 'today', which changes every day, and '1/2/2020', whose meaning depends on the country.
func date(s *Literal) (Expr, error) {
	text := s.Text
	if len(text) > len(time.DateOnly) {
		if _, err := value.ParseTimestamp(text, nil); err == nil {
			text = text[:len(time.DateOnly)]
		}
	}
	if _, err := time.Parse(time.DateOnly, text); err != nil {
		return nil, &Error{Pos: s.At, Message: "this is not a date", Hint: "write DATE '2020-01-31'"}
	}
	return &Literal{At: s.At, Kind: DateLiteral, Text: text}, nil
}

// intervalUnits maps the fields after an interval constant, as in INTERVAL '1' DAY, to units. PostgreSQL's grammar
// represents a field as a bit.
var intervalUnits = map[int32]string{
	1 << 1: "month", 1 << 2: "year", 1 << 3: "day", 1 << 10: "hour", 1 << 11: "minute", 1 << 12: "second",
}

// ofInterval sets the unit of an interval from the field after its constant.
func (t *typed) ofInterval(mods []*pg.Node, at Pos) error {
	if len(mods) == 0 {
		return nil
	}
	t.unit = intervalUnits[mods[0].GetAConst().GetIval().GetIval()]
	if t.unit == "" || len(mods) > 1 {
		return &Error{Pos: at, Message: "this form of an interval is not supported", Hint: "write INTERVAL '1 day 02:00:00'"}
	}
	return nil
}

// interval converts the constant of an interval. A number alone has the parameter unit.
func interval(s *Literal, unit string) (Expr, error) {
	span, err := value.ParseSpan(s.Text, unit)
	if unit != "" && err == nil { // PostgreSQL drops what is shorter than the field, from a text that has units
		if _, plain := value.ParseSpan(s.Text, ""); plain == nil {
			err = value.ErrSyntax
		}
	}
	if unit == "" && err != nil { // PostgreSQL reads a number alone as seconds
		span, err = value.ParseSpan(s.Text, "second")
	}
	if err != nil {
		return nil, &Error{
			Pos: s.At, Message: "this is not an interval",
			Hint: "write INTERVAL '1 day', '3 months', '1 year 2 months' or '01:30:00'",
		}
	}
	return &Literal{At: s.At, Kind: IntervalLiteral, Text: span.String()}, nil
}

// zoned converts x AT TIME ZONE 'zone', which is timezone('zone', x). Times are those that clocks in the policy's zone
// show, so only this zone is allowed, and changes nothing. zoned returns nil for other calls.
func (l *lowering) zoned(name string, args []Expr, at Pos) (Expr, error) {
	if name != "timezone" {
		return nil, nil
	}
	zone := "UTC"
	if l.zone != nil {
		zone = l.zone.String()
	}
	if len(args) != 2 {
		return nil, &Error{Pos: at, Message: "timezone takes a zone and a time", Hint: "leave it out: times are in " + zone}
	}
	x, ok := args[0].(*Literal)
	switch {
	case !ok || x.Kind != StringLiteral:
		return nil, &Error{Pos: at, Message: "the zone must be a constant", Hint: "leave it out: times are in " + zone}
	case strings.EqualFold(x.Text, zone), zone == "UTC" && utc[strings.ToLower(x.Text)]:
		return args[1], nil
	}
	hint := "leave out AT TIME ZONE; the owner can choose the zone in the policy"
	if zone == "UTC" {
		hint = "leave out AT TIME ZONE; or write AT TIME ZONE 'UTC' AT TIME ZONE " + QuoteText(x.Text) +
			", for what clocks there show"
	}
	return nil, &Error{
		Pos: at, Message: "times are in the policy's zone, " + zone + ", and not in " + QuoteText(x.Text), Hint: hint,
	}
}

// otherZone keeps x AT TIME ZONE 'UTC' AT TIME ZONE 'zone', which is timezone('zone', timezone('UTC', x)), if times are in
// UTC. The binder converts it. otherZone returns nil for other calls. With one zone alone, PostgreSQL converts a timestamp
// without time zone from that zone, and one with time zone to it. Both are one type here, so zoned refuses that form.
func (l *lowering) otherZone(f *pg.FuncCall, name string, args []Expr, at Pos) Expr {
	if name != "timezone" || len(args) != 2 || l.zone != nil && l.zone.String() != "UTC" {
		return nil
	}
	to, ok := args[0].(*Literal)
	inner := f.GetArgs()[1].GetFuncCall()
	if names := inner.GetFuncname(); !ok || to.Kind != StringLiteral || inUTC(to.Text) || len(inner.GetArgs()) != 2 || len(names) == 0 ||
		names[len(names)-1].GetString_().GetSval() != "timezone" {
		return nil
	}
	if from := inner.GetArgs()[0].GetAConst().GetSval(); from == nil || !inUTC(from.GetSval()) {
		return nil
	}
	utc := &Literal{At: at, Kind: StringLiteral, Text: "UTC"}
	return &Call{At: at, Name: name, Args: []Expr{to, &Call{At: at, Name: name, Args: []Expr{utc, args[1]}}}}
}

// inUTC reports whether a text is a name of the zone UTC.
func inUTC(name string) bool { return strings.EqualFold(name, "UTC") || utc[strings.ToLower(name)] }

// shifted converts TIME_BUCKET(stride, t, x) where x is the name of a zone, or the interval by which the buckets start later.
// It returns nil where x is the start of a bucket.
func (l *lowering) shifted(args []Expr, at Pos) (Expr, error) {
	bucket := func(of Expr) Expr { return &Call{At: at, Name: "time_bucket", Args: []Expr{args[0], of}} }
	x, ok := args[2].(*Literal)
	switch {
	case !ok:
		return nil, nil
	case x.Kind == IntervalLiteral:
		of := &Binary{At: at, Op: Sub, L: args[1], R: x}
		return &Binary{At: at, Op: Add, L: bucket(of), R: x}, nil
	case x.Kind == StringLiteral && strings.Trim(x.Text, "0123456789") == x.Text: // a time has digits at its ends
		of, err := l.zoned("timezone", []Expr{x, args[1]}, at)
		return bucket(of), err
	}
	return nil, nil
}

// utc has further names of the zone UTC.
var utc = map[string]bool{"etc/utc": true, "gmt": true, "z": true, "zulu": true, "+00": true, "+00:00": true}
