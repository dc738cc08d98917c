package postgres

import (
	"fmt"

	"dither/internal/bounded"
	"dither/internal/engine"
	"dither/internal/value"
)

// readClock returns the SQL of the microseconds of a timestamp or a time.
//
// Claim: the result does not depend on the session's time zone or on the server's table of zones. Proof: the epoch of
// a timestamp without a zone, of a timestamp with a zone (a moment) and of a time is a function of the stored value. It
// is a numeric with six decimal digits, so the product is exact. Constants state their offset from UTC. The offset of
// the policy's zone at a moment is read from a table in the statement. ∎
func readClock(c bounded.Column, of kind) string {
	x := identifier(c.Name)
	micros := "CAST(EXTRACT(epoch FROM " + x + ") * 1000000 AS bigint)"
	switch of {
	case timeKind:
		return fmt.Sprintf("CASE WHEN %s < TIME '24:00:00' THEN %s END", x, micros)
	case localTime:
		return fmt.Sprintf("CASE WHEN %s BETWEEN %s AND %s THEN %s END", x,
			storedTime(value.MinMicro, localTime), storedTime(value.MaxMicro, localTime), micros)
	}
	if c.Zone == nil {
		return fmt.Sprintf("CASE WHEN %s BETWEEN %s AND %s THEN %s END", x,
			storedTime(value.MinMicro, moment), storedTime(value.MaxMicro, moment), micros)
	}
	offset := engine.Offset(c.Zone, func(n int64) string { return x + " < " + storedTime(n, moment) }, integer)
	return fmt.Sprintf("CASE WHEN %s >= %s AND %s < %s THEN %s + %s END", x,
		storedTime(value.FirstShift, moment), x, storedTime(value.LastShift, moment), micros, offset)
}

// storedTime returns the SQL of a timestamp as the server stores it: a moment is in UTC.
func storedTime(micro int64, of kind) string {
	text := value.OfMicro(micro).String()
	if of == moment {
		return "TIMESTAMP WITH TIME ZONE '" + text + "+00'"
	}
	return "TIMESTAMP '" + text + "'"
}
