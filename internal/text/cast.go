package text

import (
	"math"
	"strconv"
	"strings"

	"dither/internal/value"
)

// Of returns the text that PostgreSQL's CAST(v AS text) has for a value that is not NULL. A real is written as a double
// precision number: with the fewest digits that identify it.
func Of(v value.Value) string {
	if v.Type != value.Real {
		return v.String()
	}
	x := v.Real
	if x == 0 {
		return "0" // -0 is 0 in every other place of a question
	}
	science := strconv.FormatFloat(x, 'e', -1, 64)
	exponent, _ := strconv.Atoi(science[strings.IndexByte(science, 'e')+1:])
	if exponent < -4 || exponent >= 15 {
		return science
	}
	return strconv.FormatFloat(x, 'f', -1, 64)
}

// Read returns the value that PostgreSQL's CAST of a text to a type has. The boolean is false if the text does not spell
// a value of the type. Blanks at both ends do not count.
func Read(s string, to value.Type) (value.Value, bool) {
	if to == value.Text {
		return value.OfText(s), true
	}
	s = strings.Trim(s, " \t\n\r\v\f")
	if to == value.Boolean {
		b, ok := truths[lower(s)]
		return value.OfBool(b), ok
	}
	v, err := value.Parse(to, s)
	if err != nil || to == value.Real && (math.IsNaN(v.Real) || math.IsInf(v.Real, 0)) {
		return value.Value{}, false
	}
	return v, true
}

// truths has PostgreSQL's words for booleans.
var truths = map[string]bool{
	"t": true, "tr": true, "tru": true, "true": true, "y": true, "ye": true, "yes": true, "on": true, "1": true,
	"f": false, "fa": false, "fal": false, "fals": false, "false": false, "n": false, "no": false, "of": false,
	"off": false, "0": false,
}
