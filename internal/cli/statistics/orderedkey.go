package statistics

import (
	"math/big"
	"strconv"
	"strings"

	"dither/curator"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
)

// orderedKey is a key of a question whose groups are in order: the values of a column, or equal parts of its bounds.
type orderedKey struct {
	sql string
	// of the parts: the bounds, and the width of a part; nil if each value is a group
	low, high, step *big.Rat
	groups          int  // their number without the one of NULL, or 0 if the policy does not tell
	numeric         bool // the groups are numbers, or parts of their bounds
	coarse          bool // some groups have several values
	whole           bool // the values are integers
}

// Limits of equal parts.
const (
	defaultParts = 10
	mostParts    = 1000
	ownValues    = 50 // an integer column with at most as many values is not divided, unless parts are asked for
)

// orderedKeyOf makes a key of a column. parts is the number of equal parts into which the column's bounds are divided;
// 0 leaves the choice to orderedKeyOf.
func orderedKeyOf(s *console.Console, table, name string, parts int) (k orderedKey, err error) {
	column, err := columnOf(s, table, name)
	if err != nil {
		return k, err
	}
	k.sql, k.groups = curator.SQLName(column.Name), len(column.Values)
	if column.Type == "boolean" {
		k.groups = 2
	}
	low, okLow := new(big.Rat).SetString(column.Lower)
	high, okHigh := new(big.Rat).SetString(column.Upper)
	numeric := okLow && okHigh && low.Cmp(high) < 0 && (column.Type == "integer" || column.Type == "real")
	if !numeric {
		if parts > 0 {
			return k, console.Usage("%s has no numeric bounds that could be divided into parts", name)
		}
		return k, nil
	}
	k.numeric = true
	width := new(big.Rat).Sub(high, low)
	if column.Type == "integer" && parts == 0 && width.Cmp(big.NewRat(ownValues, 1)) < 0 {
		k.groups = int(width.Num().Int64()) + 1
		return k, nil
	}
	if parts == 0 {
		parts = defaultParts
	}
	k.low, k.groups, k.step = low, parts, width.Quo(width, big.NewRat(int64(parts), 1))
	// the highest value belongs to the last part
	k.high, k.whole = high, column.Type == "integer"
	k.coarse = !k.whole || k.step.Cmp(big.NewRat(1, 1)) > 0
	k.sql = k.of(k.sql)
	return k, nil
}

// of returns the SQL expression of the key for a value with the column's bounds.
func (k orderedKey) of(value string) string {
	if k.step == nil {
		return value
	}
	parts := strconv.Itoa(k.groups)
	return "LEAST(WIDTH_BUCKET(" + value + ", " + exact10(k.low) + ", " + exact10(k.high) + ", " + parts + "), " + parts + ")"
}

// ends returns the ends of the part with a number, counted from 1. A part has its lower end and not its upper end, but the
// last part has both. The ends of integers are the first one and the last one in the part, which are equal if it has only
// one.
func (k orderedKey) ends(part int64) (low, high *big.Rat) {
	at := func(i int64) *big.Rat {
		x := new(big.Rat).Mul(k.step, big.NewRat(i, 1))
		return x.Add(x, k.low)
	}
	low, high = at(part-1), at(part)
	if !k.whole {
		return low, high
	}
	first, last := ceiling(low), ceiling(high)
	if part < int64(k.groups) {
		last.Sub(last, big.NewInt(1))
	}
	if first.Cmp(last) > 0 { // no integer is in the part
		return low, high
	}
	return new(big.Rat).SetInt(first), new(big.Rat).SetInt(last)
}

// ceiling returns the least integer that is at least x.
func ceiling(x *big.Rat) *big.Int {
	up := new(big.Int).Add(x.Num(), x.Denom())
	up.Sub(up, big.NewInt(1))
	return up.Div(up, x.Denom()) // rounds down, because the denominator is positive
}

// name returns the text for a group of the key.
func (k orderedKey) name(group string) string {
	part, err := strconv.ParseInt(group, 10, 64)
	if k.step == nil || err != nil {
		return group
	}
	low, high := k.ends(part)
	text := rational
	if k.whole && low.IsInt() && high.IsInt() {
		text = (*big.Rat).RatString // all digits: the first integer of a part differs from the last one of the part before by 1
	}
	if low.Cmp(high) == 0 {
		return text(low)
	}
	return text(low) + "–" + text(high)
}

// span returns the name of neighbouring groups together, from their names.
func (k orderedKey) span(first, last string) string {
	switch {
	case first == last:
		return first
	case k.step != nil:
		first, _, _ = strings.Cut(first, "–")
		if _, end, several := strings.Cut(last, "–"); several {
			last = end
		}
	}
	return first + "–" + last
}

func rational(r *big.Rat) string {
	f, _ := r.Float64()
	return render.Number6(f)
}

// partsOf parses the number of parts of a flag, or returns 0.
func partsOf(flag, text string) (int, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 2 || n > mostParts {
		return 0, console.Usage("--%s must be a whole number from 2 to %d", flag, mostParts)
	}
	return n, nil
}

// valuesOf returns how many values a column has, at most about a billion, or 0 if the policy does not tell.
func valuesOf(column curator.TableColumn) int {
	low, okLow := new(big.Rat).SetString(column.Lower)
	high, okHigh := new(big.Rat).SetString(column.Upper)
	switch {
	case len(column.Values) > 0:
		return len(column.Values)
	case column.Type == "boolean":
		return 2
	case column.Type == "integer" && okLow && okHigh:
		width, _ := high.Sub(high, low).Float64()
		return int(min(width, 1e9)) + 1
	}
	return 0
}
