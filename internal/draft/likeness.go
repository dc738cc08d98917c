package draft

import (
	"fmt"
	"slices"
	"strings"

	"dither/internal/policy"
	"dither/internal/spelling"
	"dither/internal/value"
)

// spellings are the common spellings of numbers and dates that a source must declare, each with the keys that declare it.
var spellings = [...]struct {
	t     value.Type
	keys  string
	reads *spelling.Spelling
}{
	{value.Real, "decimal: \",\"", spelt(policy.Spelling{Decimal: ","})},
	{value.Real, "decimal: \",\", thousands: \".\"", spelt(policy.Spelling{Decimal: ",", Thousands: "."})},
	{value.Real, "decimal: \",\", thousands: space", spelt(policy.Spelling{Decimal: ",", Thousands: " "})},
	{value.Real, "thousands: \",\"", spelt(policy.Spelling{Thousands: ","})},
	{value.Date, "dates: D.M.YYYY", spelt(policy.Spelling{Dates: []string{"D.M.YYYY"}})},
	{value.Date, "dates: D/M/YYYY", spelt(policy.Spelling{Dates: []string{"D/M/YYYY"}})},
	{value.Date, "dates: M/D/YYYY", spelt(policy.Spelling{Dates: []string{"M/D/YYYY"}})},
}

// blanks are common texts for NULL, which are no evidence about a column's spelling.
var blanks = []string{"", "NA", "N/A", "n/a", "NULL", "null", "NaN", "-", "?"}

func spelt(s policy.Spelling) *spelling.Spelling { return spelling.New(policy.Dialect{Spelling: &s}) }

// likeness records which spellings the fields of a text column rule out.
type likeness struct {
	seen bool
	not  [len(spellings)]bool
}

func (l *likeness) see(field string) {
	field = strings.TrimSpace(field)
	if slices.Contains(blanks, field) {
		return
	}
	l.seen = true
	for i, s := range spellings {
		if !l.not[i] {
			_, ok := s.reads.Value(&policy.Column{Type: s.t}, field, true)
			// 01234,5 is a code, as in policy.GuessTypes.
			code := s.t == value.Real && (field[0] == '+' || field[0] == '0' && len(field) > 1 && field[1] != ',')
			l.not[i] = !ok || code
		}
	}
}

// spellingNotes returns a note for each spelling that all fields of some text column fit. If several spellings fit a
// column, such as both orders of day and month, the note names them all: dither does not choose.
func spellingNotes(file string, header []string, columns []policy.SketchColumn, alike []likeness) (notes []string) {
	fields := map[string][]string{} // by the text about the spellings
	var order []string
	for i, l := range alike {
		if !l.seen || columns[i].Type != value.Text {
			continue
		}
		var keys []string
		var t value.Type
		for j, s := range spellings {
			if l.not[j] || len(keys) > 0 && strings.HasPrefix(s.keys, "decimal") { // the plainest that reads the same numbers
				continue
			}
			keys, t = append(keys, s.keys), s.t
		}
		if len(keys) == 0 {
			continue
		}
		text := fmt.Sprintf("the type %s with source: {%s}", t, strings.Join(keys, "} or {"))
		if fields[text] == nil {
			order = append(order, text)
		}
		fields[text] = append(fields[text], fmt.Sprintf("%q", header[i]))
	}
	for _, text := range order {
		notes = append(notes, fmt.Sprintf("%s: the first fields of %s look like %s", file, strings.Join(fields[text], ", "), text))
	}
	return notes
}
