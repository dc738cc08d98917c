package audit

import (
	"fmt"
	"slices"
	"strings"
)

// overall lists the features that are computed from all numbers of an output.
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

// place returns position i, counted from 1, as a field. For i < 0 it returns the word "none".
func place(i int) field {
	if i < 0 {
		return field{text: "none", is: word}
	}
	return numberField(float64(i + 1))
}

// extreme returns the largest number of an output if sign is 1, and the smallest if sign is −1, with the index
// where it first occurs. If the output has no number, the index is −1.
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

// distinct counts the different coordinates of an output, so that an event can detect equal ones.
var distinct = feature{"the number of distinct coordinates", ofFigure, func(o *output) field {
	texts := make([]string, len(o.fields))
	for i, f := range o.fields {
		texts[i] = f.text
	}
	slices.Sort(texts)
	return numberField(float64(len(slices.Compact(texts))))
}}

// mostSigns is the largest number of fields for which the feature [signs] is used.
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

// beyond is a feature of long outputs: a hash of the fields that are not kept.
var beyond = feature{fmt.Sprintf("the hash of the fields after number %d", mostFields), ofText, func(o *output) field {
	return field{text: fmt.Sprintf("%016x", o.rest), is: word}
}}

// shapes describe the format of an output apart from its digits: separators, brackets, signs, exponents, and in the
// first form also the number of digits.
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

// shape returns the output's text with every digit replaced by 9. If rows is true, every run of digits becomes a
// single 9.
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
