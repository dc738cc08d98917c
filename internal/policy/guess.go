package policy

import (
	"math"

	"dither/internal/value"
)

// guessRecords is the largest number of records that GuessTypes reads.
const guessRecords = 1000

// GuessTypes proposes a type for each column of a header. It calls the function next for records, until that returns an
// error or after 1,000 records. It ignores empty fields. A column gets the first type that fits all its other fields:
//
//   - integer
//   - real, which includes NaN and infinities if some number is finite
//   - date
//   - timestamp
//   - time
//   - boolean, the words true and false in any case
//   - text, also for a column without any value
//
// A number with a leading zero or a plus sign (01234) is a code, so its column becomes text. As numbers, different
// codes would become equal.
//
// The owner corrects the proposal, and sealing then checks every field.
func GuessTypes(header []string, next func() ([]string, error)) []value.Type {
	guesses := make([]guess, len(header))
	for range guessRecords {
		record, err := next()
		if err != nil {
			break
		}
		for i := range min(len(record), len(guesses)) {
			guesses[i].see(record[i])
		}
	}
	types := make([]value.Type, len(header))
	for i, g := range guesses {
		types[i] = g.best()
	}
	return types
}

// guess records which types the fields of a column rule out.
type guess struct {
	seen, finite                             bool
	notInteger, notReal, notDate, notBoolean bool
	notTimestamp, notTime                    bool
}

func (g *guess) see(field string) {
	if field == "" {
		return
	}
	g.seen = true
	g.notInteger = g.notInteger || isCode(field) || !spells(value.Integer, field)
	x, err := value.Parse(value.Real, field)
	g.notReal = g.notReal || isCode(field) || err != nil
	g.finite = g.finite || err == nil && !math.IsNaN(x.Real) && !math.IsInf(x.Real, 0)
	g.notTimestamp = g.notTimestamp || !spells(value.Timestamp, field)
	g.notTime = g.notTime || !spells(value.Time, field)
	g.notDate = g.notDate || !spells(value.Date, field)
	g.notBoolean = g.notBoolean || len(field) < len("true") || !spells(value.Boolean, field)
}

func (g *guess) best() value.Type {
	switch {
	case !g.seen:
		return value.Text
	case !g.notInteger:
		return value.Integer
	case !g.notReal && g.finite:
		return value.Real
	case !g.notDate:
		return value.Date
	case !g.notTimestamp:
		return value.Timestamp
	case !g.notTime:
		return value.Time
	case !g.notBoolean:
		return value.Boolean
	}
	return value.Text
}

func spells(t value.Type, field string) bool {
	_, err := value.ParseIn(t, field, nil)
	return err == nil
}

// isCode reports whether a field begins with a plus sign or with a zero before a digit, such as +5 or 05, but not
// 0, 0.5 or -5. The field must not be empty.
func isCode(field string) bool {
	return field[0] == '+' || len(field) > 1 && field[0] == '0' && '0' <= field[1] && field[1] <= '9'
}
