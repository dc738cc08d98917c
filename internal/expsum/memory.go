package expsum

import "fmt"

// Memory parses texts as Parse does, and remembers what stands in parentheses: in a matrix most denominators are met again and again. The zero
// value remembers nothing yet.
type Memory struct{ known map[string]*Number }

// Limits of what is remembered: texts that take a while to read, and so many of them.
const (
	leastKnown = 16
	mostKnown  = 1 << 12
	remembered = 3 // levels of nesting: deeper ones are within what is remembered
)

// Parse reads a number.
func (m *Memory) Parse(text string) (*Number, error) {
	if len(text) > maxText {
		return nil, fmt.Errorf("%w: a text of more than %d bytes", ErrSize, maxText)
	}
	p := parser{text: text, memory: m}
	x, err := p.sum()
	if err == nil && p.next() != 0 {
		err = p.unexpected()
	}
	if err != nil {
		return nil, err
	}
	return x, nil
}
