package bind

import (
	"time"

	"dither/internal/bounded"
	"dither/internal/query"
	"dither/internal/value"
	"dither/internal/zone"
)

const (
	// maxOffsets bounds how often the clocks of a zone may change between the bounds of a time. It suffices for a century.
	maxOffsets = 220
	// maxZoned bounds the size of an expression that is converted, because the CASE repeats it.
	maxZoned = 8
)

// inZone builds timezone('Z', timezone('UTC', x)), which is x AT TIME ZONE 'UTC' AT TIME ZONE 'Z': the time that clocks in
// Z show when those of UTC show x. It is a CASE over the moments between x's bounds at which the clocks of Z change. The
// rules are those of package zone, so every engine computes the same, and the canonical text has the moments.
func (l *Scope) inZone(x *query.Call) (*bounded.Expr, error) {
	if err := takes(x, 2); err != nil {
		return nil, err
	}
	name, ok := textOf(x.Args[0])
	inner, nested := x.Args[1].(*query.Call)
	if !ok || !nested || inner.Name != "timezone" || len(inner.Args) != 2 {
		return nil, Refuse(x.At, "", "timezone takes the name of a zone, and a time in UTC")
	}
	rules, err := zone.Load(name)
	if err != nil {
		return nil, Refuse(x.Args[0].Pos(), "use a name of the IANA time zone database, such as 'Europe/Berlin'",
			"there is no time zone %q", name)
	}
	e, err := l.Row(inner.Args[1])
	if err != nil {
		return nil, err
	}
	size := 0
	e.Walk(func(*bounded.Expr) { size++ })
	switch {
	case e.Type != value.Timestamp:
		return nil, Refuse(x.At, "", "AT TIME ZONE takes a timestamp, and this is of type %s", e.Type)
	case size > maxZoned:
		return nil, Refuse(x.At, "convert the column first, and compute with the result",
			"AT TIME ZONE of another zone does not take so long an expression")
	}
	return clocksOf(rules, e, x.At)
}

// clocksOf builds the time that clocks of a zone show when those of UTC show e.
func clocksOf(rules *time.Location, e *bounded.Expr, at query.Pos) (*bounded.Expr, error) {
	var conditions, results []*bounded.Expr
	changes, ok := offsets(rules, e.Range.IntLo, e.Range.IntHi)
	if !ok {
		return nil, Refuse(at, "the owner can declare bounds in the policy; or bound it here: "+
			"LEAST(GREATEST(t, TIMESTAMP '2000-01-01'), TIMESTAMP '2050-01-01')",
			"the clocks of %s change more than %d times between the bounds of this time", rules, maxOffsets)
	}
	for i, c := range changes {
		if i > 0 {
			before, err := compare(bounded.OpLt, e, Constant(value.OfMicro(c.from)), at)
			if err != nil {
				return nil, err
			}
			conditions = append(conditions, before)
		}
		shown, err := later(e, value.Span{Micros: c.seconds * 1_000_000}, at)
		if err != nil {
			return nil, err
		}
		results = append(results, shown)
	}
	if len(conditions) == 0 {
		return results[0], nil
	}
	return Choose(conditions, results, at)
}

// change is how far the clocks of a zone are ahead of those of UTC, from a moment on.
type change struct{ from, seconds int64 }

// offsets returns the offsets of a zone between two moments, in microseconds, in their order. The boolean is false if there
// are more than maxOffsets changes.
func offsets(rules *time.Location, lo, hi int64) (out []change, ok bool) {
	for from := time.UnixMicro(lo); ; {
		_, seconds := from.In(rules).Zone()
		if n := len(out); n == 0 || out[n-1].seconds != int64(seconds) {
			out = append(out, change{from.UnixMicro(), int64(seconds)})
		}
		_, end := from.In(rules).ZoneBounds()
		if !end.IsZero() && !end.After(from) {
			end = from.AddDate(0, 0, 1) // on 31 December of a leap year, ZoneBounds ends too early
		}
		if end.IsZero() || end.UnixMicro() > hi {
			return out, true
		}
		if len(out) > maxOffsets {
			return nil, false
		}
		from = end
	}
}
