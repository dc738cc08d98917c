package postgres

import (
	"fmt"
	"math"
	"math/big"

	"dither/internal/bounded"
	"dither/internal/value"
)

// kind is the object identifier (OID) of a type on the server. Built-in types have fixed identifiers. A column with
// a domain as its type has the kind of the domain's base type.
type kind uint32

const (
	boolean   kind = 16
	bigint    kind = 20
	smallint  kind = 21
	integer4  kind = 23
	plainText kind = 25
	real4     kind = 700
	real8     kind = 701
	bpchar    kind = 1042
	varchar   kind = 1043
	dateKind  kind = 1082
	timeKind  kind = 1083
	localTime kind = 1114 // timestamp without time zone
	moment    kind = 1184 // timestamp with time zone
	numeric   kind = 1700
	uuid      kind = 2950
	enum      kind = 3500 // any type that CREATE TYPE … AS ENUM made; the number is the server's for "anyenum"
)

// kinds lists the server's types that a column of each declared type may have. A timestamp cannot be a date,
// because the end of its day depends on a time zone.
var kinds = map[value.Type][]kind{
	value.Integer: {smallint, integer4, bigint},
	value.Real:    {real4, real8, numeric, smallint, integer4, bigint},
	value.Text:    {plainText, varchar, bpchar, uuid, enum},
	value.Boolean: {boolean},
	value.Date:    {dateKind},

	value.Timestamp: {localTime, moment}, value.Time: {timeKind},
}

// overflow is the least number that rounds to an infinite double.
var overflow = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 1024), new(big.Int).Lsh(big.NewInt(1), 970))

// read returns the SQL of a column's value as its declared type. The value is NULL if it is a text of more than
// 4096 bytes, a day outside the years 1 to 9999, a moment outside the years that the zone's table has
// (value.Shifts), the time 24:00:00, or a numeric beyond the range of doubles. A char(n) is read
// without its padding, and a uuid and an enum's label as the server writes them. No value raises an error.
func read(c bounded.Column, of kind) string {
	x := identifier(c.Name)
	switch {
	case c.Type == value.Integer:
		return "CAST(" + x + " AS bigint)"
	case c.Type == value.Text:
		return fmt.Sprintf(
			`CASE WHEN octet_length(CAST(%[1]s AS text)) <= %[2]d THEN CAST(%[1]s AS text) COLLATE "C" END`, x,
			value.MaxTextBytes)
	case c.Type == value.Date:
		return fmt.Sprintf(
			"CASE WHEN %[1]s BETWEEN DATE '0001-01-01' AND DATE '9999-12-31' THEN CAST(%[1]s - DATE '1970-01-01' "+
				"AS bigint) END",
			x,
		)
	case c.Type == value.Timestamp || c.Type == value.Time:
		return readClock(c, of)
	case c.Type == value.Real && of == numeric:
		// The cast of a numeric raises an error if the double would be infinite, or if it would be 0 for a numeric
		// other than 0. The comparisons exclude these values, and NaN too, which the server orders above every
		// number.
		return fmt.Sprintf(
			"CASE WHEN abs(%[1]s) < CAST('1e-30' AS numeric) THEN %[2]s "+
				"WHEN abs(%[1]s) < CAST('%[3]s' AS numeric) THEN CAST(%[1]s AS double precision) END",
			x, double(0), overflow)
	case c.Type == value.Real:
		return "CAST(" + x + " AS double precision)"
	}
	return x
}

// readAsItIs reports whether read leaves the column as it is, or almost so, and is cheap to repeat.
func readAsItIs(c bounded.Column, of kind) bool {
	return c.Type == value.Integer || c.Type == value.Boolean || of == real8
}

// clean returns the SQL of a column's cleaned value, given the SQL x of the value that read returns. No value
// raises an error.
func clean(c bounded.Column, x string) string {
	switch {
	case c.Values != nil:
		return fmt.Sprintf("CASE WHEN %[1]s IN (%[2]s) THEN %[1]s END", x, constants(c.Values))
	case c.Type == value.Real:
		return cleanReal(x, c.Range.Lo, c.Range.Hi)
	case c.Type.Whole() && c.Lower != nil:
		return fmt.Sprintf(
			"CASE WHEN %[1]s IS NOT NULL THEN least(greatest(%[1]s, %[2]s), %[3]s) END",
			x, integer(c.Range.IntLo), integer(c.Range.IntHi))
	}
	return x
}

// cleanReal returns SQL that maps NaN and ±Inf to NULL, and magnitudes below 2^-60 and −0 to 0, and clamps the
// result to [lo, hi]. The first test is quick and passes clean values. NaN fails the tests because the server
// orders it above every number.
func cleanReal(x string, lo, hi float64) string {
	const least = 0x1p-60
	from, to := math.Max(lo, least), hi
	if hi < least {
		from, to = lo, math.Min(hi, -least)
	}
	zero := math.Min(math.Max(0, lo), hi)
	return fmt.Sprintf(
		"CASE WHEN %[1]s BETWEEN %[2]s AND %[3]s THEN %[1]s WHEN %[1]s > CAST('-Infinity' AS double precision) AND "+
			"%[1]s < CAST('Infinity' AS double precision) THEN CASE WHEN abs(%[1]s) < %[4]s THEN %[5]s "+
			"ELSE least(greatest(%[1]s, %[6]s), %[7]s) END END",
		x, double(from), double(to), double(least), double(zero), double(lo), double(hi))
}
