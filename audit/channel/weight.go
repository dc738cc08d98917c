package channel

import (
	"encoding/binary"

	"dither/internal/expsum"
)

// weight is how probable an event is under two inputs.
type weight struct{ p, q *expsum.Number }

func (m *Matrix) weigh(e event) (w weight, err error) {
	ids := func(row int) []int32 {
		out := make([]int32, len(e.outputs))
		for i, y := range e.outputs {
			out[i] = m.id(row, y)
		}
		return out
	}
	if w.p, err = m.sum(ids(e.row)); err != nil {
		return w, err
	}
	w.q, err = m.sum(ids(e.beside))
	return w, err
}

// over is p − c·q; or expsum.ErrSize.
func (w weight) over(c *expsum.Number) (*expsum.Number, error) {
	if c == nil { // larger than any, and q is 0
		return w.p, nil
	}
	x, err := c.Mul(w.q)
	if err != nil {
		return nil, err
	}
	return w.p.Sub(x)
}

// bounds are floats around p − c·q, where that is too large to compute with.
func (w weight) bounds(c *expsum.Number) (lower, upper float64) {
	const bits = 512
	return w.p.Interval(bits).Sub(c.Interval(bits).Mul(w.q.Interval(bits))).Floats()
}

// packed is a key of a map for some numbers.
func packed(numbers []int64) string {
	out := make([]byte, 0, 8*len(numbers))
	for _, n := range numbers {
		out = binary.LittleEndian.AppendUint64(out, uint64(n))
	}
	return string(out)
}

// floats are the entries as floats, row by row, none above its entry.
func (m *Matrix) floats() []float64 {
	out := make([]float64, len(m.cells))
	for i, id := range m.cells {
		out[i] = m.values[id].lower
	}
	return out
}
