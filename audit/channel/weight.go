package channel

import (
	"encoding/binary"

	"dither/internal/expsum"
)

// weight is how probable an event is under two inputs.
type weight struct{ p, q *expsum.Number }

func (m *Matrix) weigh(w *expsum.Work, e event) (of weight, err error) {
	ids := func(row int) []int32 {
		out := make([]int32, len(e.outputs))
		for i, y := range e.outputs {
			out[i] = m.id(row, y)
		}
		return out
	}
	if of.p, err = m.sum(w, ids(e.row)); err != nil {
		return of, err
	}
	of.q, err = m.sum(w, ids(e.beside))
	return of, err
}

// over is p − c·q; or expsum.ErrSize.
func (of weight) over(w *expsum.Work, c *expsum.Number) (*expsum.Number, error) {
	if c == nil { // larger than any, and q is 0
		return of.p, nil
	}
	x, err := w.Mul(c, of.q)
	if err != nil {
		return nil, err
	}
	return w.Sub(of.p, x)
}

// bounds are floats around p − c·q, which is at least 0, where that is too large to compute with.
func (of weight) bounds(w *expsum.Work, c *expsum.Number) (lower, upper float64, err error) {
	const digits = 512
	p, err := w.Interval(of.p, digits)
	if err != nil {
		return 0, 0, err
	}
	q, err := w.Interval(of.q, digits)
	if err != nil {
		return 0, 0, err
	}
	factor, err := w.Interval(c, digits)
	if err != nil {
		return 0, 0, err
	}
	lower, upper = p.Sub(factor.Mul(q)).Floats()
	return max(lower, 0), upper, nil
}

// packed is a map key for some numbers.
func packed(numbers []int64) string {
	out := make([]byte, 0, 8*len(numbers))
	for _, n := range numbers {
		out = binary.LittleEndian.AppendUint64(out, uint64(n))
	}
	return string(out)
}

// floats are the entries as floats, row by row, each at most its entry.
func (m *Matrix) floats() []float64 {
	out := make([]float64, len(m.cells))
	for i, id := range m.cells {
		out[i] = m.values[id].lower
	}
	return out
}
