package postgres

import (
	"fmt"
	"math"
	"math/big"

	"dither/internal/bounded"
	"dither/internal/value"
)

// kind is the number (OID) of a type on the server. Those of built-in types are fixed. A domain counts as its base
// type.
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
	numeric   kind = 1700
)

// kinds are the server's types that may stand for a declared one. A timestamp is no date, because the end of its day
// depends on a time zone.
var kinds = map[value.Type][]kind{
	value.Integer: {smallint, integer4, bigint},
	value.Real:    {real4, real8, numeric, smallint, integer4, bigint},
	value.Text:    {plainText, varchar, bpchar},
	value.Boolean: {boolean},
	value.Date:    {dateKind},
}

// overflow is the least number that rounds to an infinite double.
var overflow = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 1024), new(big.Int).Lsh(big.NewInt(1), 970))

// read writes the value of the declared type that the server's column holds, or NULL if it holds none: a text of more
// than 4096 bytes, a day outside the years 1 to 9999, a numeric beyond the doubles. It raises an error for no value. It
// reads a char(n) without its padding.
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
			"CASE WHEN %[1]s BETWEEN DATE '0001-01-01' AND DATE '9999-12-31' THEN CAST(%[1]s - DATE '1970-01-01' AS bigint) END",
			x,
		)
	case c.Type == value.Real && of == numeric:
		// A cast of a numeric raises an error if the double would be infinite, or 0 for a numeric that is not. NaN is
		// above every number.
		return fmt.Sprintf(
			"CASE WHEN abs(%[1]s) < CAST('1e-30' AS numeric) THEN %[2]s WHEN abs(%[1]s) < CAST('%[3]s' AS numeric) THEN CAST(%[1]s AS double precision) END",
			x,
			double(0),
			overflow,
		)
	case c.Type == value.Real:
		return "CAST(" + x + " AS double precision)"
	}
	return x
}

// readAsItIs reports that read does nothing to the column, or next to nothing.
func readAsItIs(c bounded.Column, of kind) bool {
	return c.Type == value.Integer || c.Type == value.Boolean || of == real8
}

// clean writes a column's cleaned value over its read value. It is total.
func clean(c bounded.Column, x string) string {
	switch {
	case c.Values != nil:
		return fmt.Sprintf("CASE WHEN %[1]s IN (%[2]s) THEN %[1]s END", x, constants(c.Values))
	case c.Type == value.Real:
		return cleanReal(x, c.Range.Lo, c.Range.Hi)
	case (c.Type == value.Date || c.Type == value.Integer) && c.Lower != nil:
		return fmt.Sprintf(
			"CASE WHEN %[1]s IS NOT NULL THEN least(greatest(%[1]s, %[2]s), %[3]s) END",
			x,
			integer(c.Range.IntLo),
			integer(c.Range.IntHi),
		)
	}
	return x
}

// cleanReal maps NaN, which is above every number here, and ±Inf to NULL and magnitudes below 2^-60 to 0 (and −0 to
// 0), and clamps the rest. The first test, which is quick, passes clean values on.
func cleanReal(x string, lo, hi float64) string {
	const least = 0x1p-60
	from, to := math.Max(lo, least), hi
	if hi < least {
		from, to = lo, math.Min(hi, -least)
	}
	zero := math.Min(math.Max(0, lo), hi)
	return fmt.Sprintf(
		"CASE WHEN %[1]s BETWEEN %[2]s AND %[3]s THEN %[1]s WHEN %[1]s > CAST('-Infinity' AS double precision) AND "+
			"%[1]s < CAST('Infinity' AS double precision) THEN CASE WHEN abs(%[1]s) < %[4]s THEN %[5]s ELSE least(greatest(%[1]s, %[6]s), %[7]s) END END",
		x, double(from), double(to), double(least), double(zero), double(lo), double(hi))
}
