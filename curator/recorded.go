package curator

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
)

// replay is the newest release of the same look, or nil.
func (c *Curator) replay(l *look) (*seen, error) {
	answer, ok, err := c.ledger.Find(l.key)
	if err != nil {
		return nil, public(err)
	}
	if !ok {
		return nil, nil
	}
	numbers, err := l.decode(answer.Values)
	if err != nil {
		return nil, public(err)
	}
	return &seen{id: answer.Reserved, numbers: numbers, replayed: true}, nil
}

// encode writes released numbers for the ledger, by row and column, in decimal.
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

// decode reads what encode wrote, of so many rows and columns.
func decode(values json.RawMessage, shape [2]int) ([][]*big.Int, error) {
	var texts [][]string
	if err := json.Unmarshal(values, &texts); err != nil {
		return nil, fmt.Errorf("a recorded release is unreadable: %w", err)
	}
	wrong := errors.New("a recorded release has another shape than its question")
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
