package channel

import (
	"encoding/binary"

	"dither/internal/expsum"
)

// weight holds the probabilities p and q of an event under two inputs.
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

// over returns p − c·q, where a nil c is infinite. It returns expsum.ErrSize if the numbers become too large.
func (of weight) over(w *expsum.Work, c *expsum.Number) (*expsum.Number, error) {
	if c == nil { // c is infinite, and q is 0
		return of.p, nil
	}
	x, err := w.Mul(c, of.q)
	if err != nil {
		return nil, err
	}
	return w.Sub(of.p, x)
}

// bounds returns floats below and above p − c·q, for numbers that are too large for [weight.over]. The true value
// must be at least 0.
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

// packed returns a list of numbers as a map key.
func packed(numbers []int64) string {
	out := make([]byte, 0, 8*len(numbers))
	for _, n := range numbers {
		out = binary.LittleEndian.AppendUint64(out, uint64(n))
	}
	return string(out)
}

// floats returns, row by row, the floats just below the entries.
func (m *Matrix) floats() []float64 {
	out := make([]float64, len(m.cells))
	for i, id := range m.cells {
		out[i] = m.values[id].lower
	}
	return out
}
