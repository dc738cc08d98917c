package expsum

import "fmt"

// Memory parses texts as Parse does, and caches the contents of parentheses, because most denominators of a matrix
// occur repeatedly. The zero value is empty.
type Memory struct {
	known map[string]*Number
	work  *Work // nil: without a limit in all
}

// NewMemory makes a Memory that charges the work for all its texts to w.
func NewMemory(w *Work) Memory { return Memory{work: w} }

// Limits of what is remembered: texts that take a while to read, and so many of them.
const (
	leastKnown = 16
	mostKnown  = 1 << 12
	remembered = 3 // levels of nesting: deeper ones are within what is remembered
)

// parseCost is what it takes to read and keep a number apart from its arithmetic.
const parseCost = 10

// Parse reads a number.
func (m *Memory) Parse(text string) (*Number, error) {
	if len(text) > maxText {
		return nil, fmt.Errorf("%w: a text of more than %d bytes", ErrSize, maxText)
	}
	p := parser{text: text, memory: m, work: m.work.Part()}
	x, err := p.sum()
	if p.next(); err == nil && p.at < len(text) {
		err = p.unexpected()
	}
	if err == nil {
		err = p.work.spend(parseCost)
	}
	if err != nil {
		return nil, err
	}
	return x, nil
}
