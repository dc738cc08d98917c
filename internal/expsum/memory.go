package expsum

import "fmt"

// Memory parses texts as Parse does, and caches the values of expressions in parentheses, because the denominators
// of a matrix often repeat. The zero value is an empty cache.
type Memory struct {
	known map[string]*Number
	work  *Work // nil: no limit on the total work
}

// NewMemory returns a Memory that charges the work for all its texts to w.
func NewMemory(w *Work) Memory { return Memory{work: w} }

// Limits on the cache: the least length of a cached text, the most entries, and the deepest nesting.
const (
	leastKnown = 16
	mostKnown  = 1 << 12
	remembered = 3 // levels of nesting; deeper expressions are parts of cached ones
)

// parseCost is the work to read and store a number, without its arithmetic.
const parseCost = 10

// Parse parses a number. See the function Parse for the syntax and the errors.
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
