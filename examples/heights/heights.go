// Package heights contains four example mechanisms as matrices of probabilities. Their input is a person's height,
// in whole centimetres from 50 to 250. A first lecture on differential privacy can ask which of them are private.
// The matrices are computed, not stored, because most of their entries are equal.
package heights

import (
	"errors"
	"fmt"
	"strings"
)

// Example describes a mechanism.
type Example struct {
	Name  string
	About string // description of what it does
	Cost  string // ε of the mechanism, or "no ε"
}

// Least and greatest height, in centimetres.
const (
	lowest  = 50
	highest = 250
)

// Examples returns the names and descriptions of the mechanisms.
func Examples() []Example {
	return []Example{
		{"truth", "reports the height", "no ε"},
		{"constant", "reports 150 for every height", "ε = 0"},
		{"threshold", "reports 100 below 150 cm, and 200 otherwise", "no ε"},
		{"blurred", "reports the height with probability e/(200 + e), each other height with 1/(200 + e)", "ε = 1"},
	}
}

// ErrName is the error for a name that belongs to no example.
var ErrName = errors.New("the example does not exist")

// CSV returns the matrix of an example as CSV: a first line with the outputs, then a line for each height. The
// error is [ErrName] if there is no such example.
func CSV(name string) ([]byte, error) {
	switch name {
	case "truth":
		return matrix(heights(), func(height, output int) string { return bit(height == output) }), nil
	case "constant":
		return matrix([]int{150}, func(int, int) string { return "1" }), nil
	case "threshold":
		return matrix(
			[]int{100, 200},
			func(height, output int) string { return bit((height < 150) == (output == 100)) },
		), nil
	case "blurred":
		return matrix(heights(), func(height, output int) string {
			if height == output {
				return "exp(1)/(200 + exp(1))"
			}
			return "1/(200 + exp(1))"
		}), nil
	}
	return nil, fmt.Errorf("%w: %q", ErrName, name)
}

func heights() []int {
	out := make([]int, 0, highest-lowest+1)
	for h := lowest; h <= highest; h++ {
		out = append(out, h)
	}
	return out
}

func matrix(outputs []int, entry func(height, output int) string) []byte {
	var b strings.Builder
	b.WriteString("input")
	for _, y := range outputs {
		fmt.Fprintf(&b, ",%d", y)
	}
	b.WriteByte('\n')
	for _, h := range heights() {
		fmt.Fprintf(&b, "%d", h)
		for _, y := range outputs {
			b.WriteString("," + entry(h, y))
		}
		b.WriteByte('\n')
	}
	return []byte(b.String())
}

func bit(set bool) string {
	if set {
		return "1"
	}
	return "0"
}
