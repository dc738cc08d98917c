package audit

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// output is one run's output as events see it: as a text, and as fields.
type output struct {
	text   string
	fields []field // the first mostFields of them
	count  int     // how many there are
	rest   uint64  // a hash of those beyond
	begin  int     // so many bytes of text are the output's begin: all of it, unless it is long
}

// field is a part of an output: a number, or a word that is none.
type field struct {
	text   string
	number float64 // where numeric: finite
	is     kind
}

type kind byte

const (
	absent kind = iota // there is no such part
	word
	numeric
	outside // the feature has no meaning here: no event about it happens
)

// The limits on what is kept of one output. The rest still counts, in the text's hash and in the number of fields.
const (
	mostFields = 256
	mostText   = 4096
)

// separators end a field. Brackets and quotes are among them, so that JSON's arrays and objects fall into their parts.
const separators = " \t\r\n,;:=|[](){}\"'"

var separates = func() (is [256]bool) {
	for _, c := range []byte(separators) {
		is[c] = true
	}
	return is
}()

// parse reads an output. Of a long one it keeps copies of parts, and not the whole.
func parse(text []byte) output {
	var o output
	whole := strings.TrimSpace(string(text))
	o.text, o.begin = whole, len(whole)
	long := len(whole) > mostText
	if long {
		hash := fnv.New64a()
		_, _ = hash.Write([]byte(whole)) // it never fails
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
			_, _ = rest.Write([]byte(whole[begin:i] + " ")) // it never fails
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

// size is about how many bytes are kept of an output, beside its fields' numbers.
func (o *output) size() int {
	n := len(o.text) + 1
	if o.begin < len(o.text) { // the fields are copies
		for _, f := range o.fields {
			n += len(f.text)
		}
	}
	return n
}

// fieldOf reads a field. A number that is not finite is a word: NaN has no place among numbers, and an infinity is an
// event of its own.
func fieldOf(text string) field {
	if len(text) > mostText {
		return field{text: text[:mostText], is: word}
	}
	if c := text[0]; c >= '0' && c <= '9' || c == '-' || c == '+' || c == '.' {
		if x, err := strconv.ParseFloat(text, 64); err == nil && !math.IsInf(x, 0) && !math.IsNaN(x) {
			return field{text, x + 0, numeric} // −0 + 0 is 0
		}
	}
	return field{text: text, is: word}
}

// numberField is a computed number, without a text of its own.
func numberField(x float64) field {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return field{is: outside}
	}
	return field{number: x + 0, is: numeric} // −0 + 0 is 0
}

// key is what a field is counted under as a token: "" if there is none, or nothing in it.
func (f field) key() string {
	if f.is == numeric && f.text == "" {
		return strconv.FormatFloat(f.number, 'g', -1, 64)
	}
	return f.text
}

// granularity is the least power of two that divides x ≠ 0 with an odd quotient: the place of its lowest bit. Each
// float64 has one.
func granularity(x float64) int {
	fraction, exponent := math.Frexp(x)
	return exponent - 53 + bits.TrailingZeros64(uint64(math.Abs(fraction)*(1<<53)))
}

// magnitude is the least k with |x| < 2^k, for x ≠ 0.
func magnitude(x float64) int {
	_, exponent := math.Frexp(x)
	return exponent
}

// noDecimals is the number of decimals of 0: it is a multiple of every power of ten.
const noDecimals = -1000

// decimals is the number of digits after the point that a field needs in decimal, by its own text. It is negative where
// zeros end it before the point: −2 for 300. Only numbers have it.
func decimals(f field) (places int, ok bool) {
	switch {
	case f.is != numeric:
		return 0, false
	case f.number == 0:
		return noDecimals, true
	}
	text := f.key()
	if strings.ContainsAny(text, "xX") {
		text = strconv.FormatFloat(f.number, 'f', max(0, -granularity(f.number)), 64) // all its digits
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
