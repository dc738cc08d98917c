package postgres

import (
	"fmt"

	"dither/internal/engine"
)

// inside is PostgreSQL's dialect for aggregates inside a unit. Sums are exact numerics.
var inside = engine.Inside{
	Dialect: dialect, Expression: expression,
	Clamped: func(whole string, lo, hi int64) string {
		return fmt.Sprintf("CAST(least(greatest(%s, CAST('%d' AS numeric)), CAST('%d' AS numeric)) AS bigint)",
			whole, lo, hi)
	},
	Average: func(x string, lo int64) string { // rounds down, because the dividend is not negative
		n := "CAST(nullif(count(" + x + "), 0) AS numeric)"
		above := fmt.Sprintf("(sum(%s) - CAST('%d' AS numeric) * %s)", x, lo, n)
		return fmt.Sprintf("(div(2 * %s + %s, 2 * %[2]s) + CAST('%d' AS numeric))", above, n, lo)
	},
}
