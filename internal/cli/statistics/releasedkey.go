package statistics

import (
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"dither/internal/cli/render"
)

// parted matches the notation of plans for LEAST(WIDTH_BUCKET(column, low, high, n), n), by which an orderedKey groups the
// parts of a column.
var parted = func() *regexp.Regexp {
	const column, number = `("(?:[^"\\]|\\.)*")`, `(?:integer|real):"([^"]+)"`
	return regexp.MustCompile(`^\(least \(case \(ge ` + column + ` (integer|real):"([^"]+)"\) integer:"[0-9]+" \(add \(add \(least ` +
		`\(greatest \(floor \(div (?:\(to_real )?\(mul \(sub ` + column + ` ` + number + `\) ` + number +
		`\).*\) integer:"([0-9]+)"\)$`)
}()

// longestKey is the length at which the notation of an expression is cut.
const longestKey = 40

// releasedKey returns the name of an expression by which a release is grouped, and its key if it is parts of a column. An
// expression that is neither a column nor parts of one has the name that plans have for it.
func releasedKey(notation string) (name string, k orderedKey) {
	if name, err := strconv.Unquote(notation); err == nil {
		return name, k
	}
	m := parted.FindStringSubmatch(notation)
	if m == nil || m[1] != m[4] || m[6] != m[7] {
		if cut := []rune(notation); len(cut) > longestKey {
			notation = string(cut[:longestKey]) + "…"
		}
		return notation, k
	}
	name, err := strconv.Unquote(m[1])
	high, okHigh := new(big.Rat).SetString(m[3])
	low, okLow := new(big.Rat).SetString(m[5])
	parts, tooMany := strconv.Atoi(m[7])
	if err != nil || tooMany != nil || parts < 1 || !okLow || !okHigh || low.Cmp(high) >= 0 {
		return notation, k
	}
	step := new(big.Rat).Sub(high, low)
	return name, orderedKey{
		low: low, high: high, step: step.Quo(step, big.NewRat(int64(parts), 1)), groups: parts, numeric: true,
		whole: m[2] == "integer", // a column of reals is compared with a real
	}
}

// groupedBy returns the name of the expression at a place of GROUP BY, and its key if it is parts of a column.
func (r *released) groupedBy(place int) (string, orderedKey) {
	return releasedKey(r.Keys[r.Grouped[place]])
}

// alphabetical returns a note that values are ranked in alphabetical order, if they are texts other than dates, and so have
// no order of their own.
func (r *released) alphabetical(place int) []string {
	name, _ := r.groupedBy(place)
	var values []string
	undated, group := false, r.groups()
	for i, cell := range r.Cells {
		text, ok := cell[r.Grouped[place]].(string)
		if !ok || !group[i] {
			continue
		}
		_, err := time.Parse(time.DateOnly, text)
		undated = undated || err != nil
		if !slices.Contains(values, text) {
			values = append(values, text)
		}
	}
	if !undated {
		return nil
	}
	order := strings.Join(values, " < ")
	if len(values) > fewTexts {
		order = fmt.Sprintf("%s < … (%s)", strings.Join(values[:fewTexts], " < "), render.Plural(len(values), "value"))
	}
	return []string{"the values of " + name + " are texts, ranked in alphabetical order: " + order +
		". If they have another order, the result is about the wrong one"}
}

// fewTexts is the largest number of texts whose order is printed.
const fewTexts = 8
