package curator

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"

	"dither/internal/plan"
)

// replay answers from the newest release of the same question, or gives nil.
func (c *Curator) replay(a *asked) (*Release, error) {
	answer, ok, err := c.ledger.Find(a.key)
	if err != nil {
		return nil, public(err)
	}
	if !ok {
		return nil, nil
	}
	sums, err := decode(answer.Values, a.plan)
	if err != nil {
		return nil, public(err)
	}
	return c.release(a, answer.Reserved, sums, true)
}

// encode writes released numbers for the ledger: by cell and measure, in decimal.
func encode(sums [][]*big.Int) json.RawMessage {
	b := []byte{'['}
	for i, cell := range sums {
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

// decode reads what encode wrote, of the plan's shape.
func decode(values json.RawMessage, p *plan.Plan) ([][]*big.Int, error) {
	var texts [][]string
	if err := json.Unmarshal(values, &texts); err != nil {
		return nil, fmt.Errorf("a recorded release is unreadable: %w", err)
	}
	wrong := errors.New("a recorded release has another shape than its question")
	if len(texts) != p.Cells() {
		return nil, wrong
	}
	out := make([][]*big.Int, len(texts))
	for i, cell := range texts {
		if len(cell) != len(p.Measures) {
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
