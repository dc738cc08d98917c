package survey

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"dither/internal/cli/console"
	"dither/internal/nearest"
	"dither/local"
)

// domain is the set of values of a question.
type domain struct {
	k      uint64
	names  []string // of the values in order; nil for the numbers 0 … k − 1
	index  map[string]uint64
	digest string // of the names
}

// longestValue is the largest number of bytes of a value.
const longestValue = 1 << 10

// domainOf parses --domain: a number of values, or the name of a file of values.
func domainOf(text string) (d domain, err error) {
	if text == "" {
		return d, console.Usage("--domain is missing: a file with one value on each line, or the number of values")
	}
	if text == "-" {
		return d, console.Usage("--domain is a file or a number of values, not -")
	}
	if strings.Trim(text, "0123456789") == "" {
		k, err := console.WholeFlag("domain", text, 2, local.MaxHashedValues)
		return domain{k: uint64(k)}, err
	}
	d.index = map[string]uint64{}
	hash := sha256.New()
	err = eachLine(text, nil, func(number int, line string) error {
		if _, twice := d.index[line]; twice {
			return console.Usage("%s: line %d: the value %q is there already", text, number, line)
		}
		if len(d.names) == local.MaxValues {
			return console.Usage("%s has more than %d values", text, local.MaxValues)
		}
		d.index[line] = uint64(len(d.names))
		d.names = append(d.names, line)
		_, _ = io.WriteString(hash, line+"\n") // a hash never fails
		return nil
	})
	if err != nil {
		return d, err
	}
	if d.k = uint64(len(d.names)); d.k < 2 {
		return d, console.Usage("%s has %d values: a domain has at least 2", text, d.k)
	}
	d.digest = hex.EncodeToString(hash.Sum(nil)[:16])
	return d, nil
}

// name returns the text of a value.
func (d domain) name(v uint64) string {
	if d.names == nil {
		return strconv.FormatUint(v, 10)
	}
	return d.names[v]
}

// value returns the value with a text, or an error without the name of the file.
func (d domain) value(text string) (uint64, error) {
	if d.names == nil {
		v, err := strconv.ParseUint(text, 10, 64)
		if err != nil || v >= d.k {
			return 0, console.Usage("%q is no number from 0 to %d", text, d.k-1)
		}
		return v, nil
	}
	v, ok := d.index[text]
	if !ok {
		hint := ""
		if d.k <= 1000 {
			hint = console.DidYouMean(nearest.Name(text, d.names))
		}
		return 0, console.Usage("%q is not in the domain%s", text, hint)
	}
	return v, nil
}

// eachLine calls f for each line of a file, without its end. "-" is standard input. Empty lines, long lines and
// lines that are not UTF-8 are errors.
func eachLine(name string, stdin io.Reader, f func(number int, line string) error) (err error) {
	in := stdin
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return console.Usage("%v", err)
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		in = file
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, longestValue+2)
	number := 0
	for lines.Scan() {
		number++
		line := strings.TrimSuffix(lines.Text(), "\r")
		if number == 1 {
			line = strings.TrimPrefix(line, "\ufeff")
		}
		switch {
		case line == "":
			return console.Usage("%s: line %d is empty", inputName(name), number)
		case !utf8.ValidString(line):
			return console.Usage("%s: line %d is not UTF-8", inputName(name), number)
		}
		if err := f(number, line); err != nil {
			return err
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return console.Usage("%s: line %d has more than %d bytes", inputName(name), number+1, longestValue)
	}
	return lines.Err()
}

// inputName names an input in messages.
func inputName(name string) string {
	if name == "-" {
		return "standard input"
	}
	return name
}
