package audit

import (
	"fmt"
	"slices"
	"strings"
)

// overall are the features of all numbers together.
var overall = []feature{
	{"the sum of the coordinates", ofFigure, func(o *output) field {
		sum := 0.0
		for _, f := range o.fields {
			sum += f.number
		}
		return numberField(sum)
	}},
	{"the largest coordinate", ofFigure, func(o *output) field { _, f := extreme(o, 1); return f }},
	{"the smallest coordinate", ofFigure, func(o *output) field { _, f := extreme(o, -1); return f }},
	{"the place of the largest coordinate", ofFigure, func(o *output) field { i, _ := extreme(o, 1); return place(i) }},
}

// place is the number of a coordinate, from 1.
func place(i int) field {
	if i < 0 {
		return field{text: "none", is: word}
	}
	return numberField(float64(i + 1))
}

// extreme is the largest number of an output, times a sign, and where it first stands.
func extreme(o *output, sign float64) (at int, best field) {
	at, best = -1, field{is: outside}
	for i, f := range o.fields {
		if f.is == numeric && (at < 0 || sign*f.number > sign*best.number) {
			at, best = i, numberField(f.number)
		}
	}
	return at, best
}

var firstUnlike = feature{"the place of the first coordinate unlike coordinate 1", ofFigure, func(o *output) field {
	return place(slices.IndexFunc(o.fields, func(f field) bool { return f.text != o.fields[0].text }))
}}

// distinct detects ties.
var distinct = feature{"the number of distinct coordinates", ofFigure, func(o *output) field {
	texts := make([]string, len(o.fields))
	for i, f := range o.fields {
		texts[i] = f.text
	}
	slices.Sort(texts)
	return numberField(float64(len(slices.Compact(texts))))
}}

// mostSigns is up to how many fields the signs of all are one token.
const mostSigns = 12

var signs = feature{"the row of signs of the coordinates", ofText, func(o *output) field {
	var b strings.Builder
	for _, f := range o.fields {
		switch {
		case f.is != numeric:
			b.WriteByte('.')
		case f.number > 0:
			b.WriteByte('+')
		case f.number < 0:
			b.WriteByte('-')
		default:
			b.WriteByte('0')
		}
	}
	return field{text: b.String(), is: word}
}}

// beyond describes the fields that are not kept.
var beyond = feature{fmt.Sprintf("the hash of the fields after number %d", mostFields), ofText, func(o *output) field {
	return field{text: fmt.Sprintf("%016x", o.rest), is: word}
}}

// shapes describe how an output is written, whatever its numbers are: separators, brackets, signs, exponents, trailing
// zeros.
var shapes = []feature{
	{
		"the output, with 9 for each digit,", ofText,
		func(o *output) field { return field{text: shape(o, false), is: word} },
	},
	{
		"the output, with 9 for each row of digits,", ofText,
		func(o *output) field { return field{text: shape(o, true), is: word} },
	},
}

// shape is an output with every digit, or run of digits, replaced by the same character.
func shape(o *output, rows bool) string {
	text := o.text[:o.begin]
	b := make([]byte, 0, len(text))
	for i := range len(text) {
		c := text[i]
		if c >= '0' && c <= '9' {
			if c = '9'; rows && len(b) > 0 && b[len(b)-1] == '9' {
				continue
			}
		}
		b = append(b, c)
	}
	return string(b)
}
