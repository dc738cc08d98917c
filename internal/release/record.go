package release

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"

	"dither/internal/ledger"
	"dither/internal/plan"
)

// NumbersOf decodes the released numbers of an answer to plan p.
func NumbersOf(answer ledger.Answer, p *plan.Plan) ([][]*big.Int, error) {
	values, err := answer.Values()
	if err == nil && p.Truncation != nil {
		_, values, err = decodeTruncation(values, p.Truncation)
	}
	if err != nil {
		return nil, err
	}
	return Decode(values, [2]int{p.Released(), p.Numbers()})
}

// encode writes released numbers for the ledger in decimal, by row and column.
func encode(numbers [][]*big.Int) json.RawMessage {
	b := []byte{'['}
	for i, cell := range numbers {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '[')
		for j, n := range cell {
			if j > 0 {
				b = append(b, ',')
			}
			b = append(b, '"')
			b = n.Append(b, 10)
			b = append(b, '"')
		}
		b = append(b, ']')
	}
	return append(b, ']')
}

// Decode reads numbers of the given shape in the form of encode. It returns an error that wraps ErrUnreadable if
// the text has another shape.
func Decode(values json.RawMessage, shape [2]int) ([][]*big.Int, error) {
	if out, ok := asEncoded(values, shape); ok {
		return out, nil
	}
	var texts [][]string
	if err := json.Unmarshal(values, &texts); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	wrong := fmt.Errorf("%w: its shape is not that of its question", ErrUnreadable)
	if len(texts) != shape[0] {
		return nil, wrong
	}
	out := make([][]*big.Int, len(texts))
	for i, cell := range texts {
		if len(cell) != shape[1] {
			return nil, wrong
		}
		for _, text := range cell {
			n, ok := new(big.Int).SetString(text, 10)
			if !ok {
				return nil, wrong
			}
			out[i] = append(out[i], n)
		}
	}
	return out, nil
}

// asEncoded decodes text in exactly the form of encode, without the general JSON parser. ok is false for any other
// text.
func asEncoded(values []byte, shape [2]int) (out [][]*big.Int, ok bool) {
	take := func(sign byte) bool {
		if len(values) == 0 || values[0] != sign {
			return false
		}
		values = values[1:]
		return true
	}
	if !take('[') {
		return nil, false
	}
	out = make([][]*big.Int, shape[0])
	for i := range out {
		if i > 0 && !take(',') || !take('[') {
			return nil, false
		}
		cell := make([]big.Int, shape[1])
		out[i] = make([]*big.Int, shape[1])
		for j := range cell {
			if j > 0 && !take(',') || !take('"') {
				return nil, false
			}
			end := bytes.IndexByte(values, '"')
			if end < 0 || !whole(&cell[j], values[:end]) {
				return nil, false
			}
			out[i][j], values = &cell[j], values[end+1:]
		}
		if !take(']') {
			return nil, false
		}
	}
	return out, take(']') && len(values) == 0
}

// whole parses a decimal integer, and reports whether text is one.
func whole(into *big.Int, text []byte) bool {
	digits := bytes.TrimPrefix(text, []byte("-"))
	for _, d := range digits {
		if d < '0' || d > '9' {
			return false
		}
	}
	if len(digits) == 0 {
		return false
	}
	if len(digits) > 18 {
		_, ok := into.SetString(string(text), 10)
		return ok
	}
	n := int64(0)
	for _, d := range digits {
		n = 10*n + int64(d-'0')
	}
	if len(digits) < len(text) {
		n = -n
	}
	into.SetInt64(n)
	return true
}
