package audit

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// output is the output of one run: as a text, and as a list of fields.
type output struct {
	text   string
	fields []field // the first mostFields fields
	count  int     // the number of all fields
	rest   uint64  // a hash of the fields after the first mostFields
	// the number of bytes of text that come from the output: all, unless the output was too long to keep
	begin int
}

// field is a part of an output: a number or a word.
type field struct {
	text   string
	number float64 // finite; 0 unless the field is numeric
	is     kind
}

type kind byte

const (
	absent kind = iota // the output has no such field
	word
	numeric
	outside // the feature is not defined for this output, so the output is in no event of the feature
)

// The limits on what is kept of one output. For a longer output, the text ends in a hash of the whole output. count
// includes the fields that are not kept.
const (
	mostFields = 256
	mostText   = 4096
)

// separators are the characters that end a field. They include brackets and quotes, so that JSON arrays and objects
// are split into their parts.
const separators = " \t\r\n,;:=|[](){}\"'"

var separates = func() (is [256]bool) {
	for _, c := range []byte(separators) {
		is[c] = true
	}
	return is
}()

// parse splits an output into fields. It trims white space at both ends. For an output longer than mostText it
// copies the parts that it keeps, so that the rest can be freed.
func parse(text []byte) output {
	var o output
	whole := strings.TrimSpace(string(text))
	o.text, o.begin = whole, len(whole)
	long := len(whole) > mostText
	if long {
		hash := fnv.New64a()
		_, _ = hash.Write([]byte(whole)) // writing to a hash returns no error
		begin := strings.ToValidUTF8(whole[:mostText], "")
		o.text, o.begin = fmt.Sprintf("%s… (%d bytes, hash %x)", begin, len(whole), hash.Sum64()), len(begin)
	}
	rest := fnv.New64a()
	for i := 0; i < len(whole); {
		if separates[whole[i]] {
			i++
			continue
		}
		begin := i
		for i < len(whole) && !separates[whole[i]] {
			i++
		}
		if o.count++; o.count > mostFields {
			_, _ = rest.Write([]byte(whole[begin:i] + " ")) // writing to a hash returns no error
			continue
		}
		if o.fields == nil && i < len(whole) {
			o.fields = make([]field, 0, 8)
		}
		f := fieldOf(whole[begin:i])
		if long {
			f.text = strings.Clone(f.text)
		}
		o.fields = append(o.fields, f)
	}
	if o.count > mostFields {
		o.rest = rest.Sum64()
	}
	return o
}

// size returns about how many bytes of memory the texts of an output take.
func (o *output) size() int {
	n := len(o.text) + 1
	if o.begin < len(o.text) { // the fields have texts of their own
		for _, f := range o.fields {
			n += len(f.text)
		}
	}
	return n
}

// fieldOf returns the field with a given text. NaN and infinities are words: NaN has no order, and an infinity
// should be an event of its own.
func fieldOf(text string) field {
	if len(text) > mostText {
		return field{text: text[:mostText], is: word}
	}
	if c := text[0]; c >= '0' && c <= '9' || c == '-' || c == '+' || c == '.' {
		if x, err := strconv.ParseFloat(text, 64); err == nil && !math.IsInf(x, 0) && !math.IsNaN(x) {
			return field{text, x + 0, numeric} // adding 0 turns −0 into 0
		}
	}
	return field{text: text, is: word}
}

// numberField returns a computed number as a field without text. For NaN and infinities it returns a field of the
// kind outside.
func numberField(x float64) field {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return field{is: outside}
	}
	return field{number: x + 0, is: numeric} // adding 0 turns −0 into 0
}

// key returns the text under which a field is counted as a token. It is "" for an absent field.
func (f field) key() string {
	if f.is == numeric && f.text == "" {
		return strconv.FormatFloat(f.number, 'g', -1, 64)
	}
	return f.text
}

// granularity returns the position of the lowest bit of x ≠ 0: the integer g such that x is an odd multiple of 2^g.
func granularity(x float64) int {
	fraction, exponent := math.Frexp(x)
	return exponent - 53 + bits.TrailingZeros64(uint64(math.Abs(fraction)*(1<<53)))
}

// magnitude returns the least integer k with |x| < 2^k, for x ≠ 0.
func magnitude(x float64) int {
	_, exponent := math.Frexp(x)
	return exponent
}

// noDecimals is returned by decimals for 0, which is a multiple of every power of ten.
const noDecimals = -1000

// decimals returns the least integer n such that the number in the field's text is a multiple of 10^−n. For 300 it
// is −2. For a field that is not a number, ok is false.
func decimals(f field) (places int, ok bool) {
	switch {
	case f.is != numeric:
		return 0, false
	case f.number == 0:
		return noDecimals, true
	}
	text := f.key()
	if strings.ContainsAny(text, "xX") {
		text = strconv.FormatFloat(f.number, 'f', max(0, -granularity(f.number)), 64) // with all digits
	}
	mantissa, exponent, scientific := strings.Cut(strings.ToLower(text), "e")
	if scientific {
		power, err := strconv.Atoi(exponent)
		if err != nil {
			return 0, false
		}
		places = -power
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	if fraction = strings.TrimRight(fraction, "0"); fraction != "" {
		return places + len(fraction), true
	}
	return places - (len(whole) - len(strings.TrimRight(whole, "0"))), true
}
