package engine

import (
	"math/big"

	"dither/internal/bounded"
	"dither/internal/value"
	"dither/mechanism"
)

// Margins adds up an engine's result rows, each a group of a statement with known keys, to several histograms by some of
// the keys: see [Engine.Margins]. The statement may have more cells than fit into memory, because only groups with rows
// are added.
type Margins struct {
	b     *bounded.Statement
	of    []margin
	index []int // of the values of a group's keys
}

// margin is one histogram.
type margin struct {
	keys, steps []int // the indices of its keys, and the distance of two cells whose values of a key follow each other
	sums        []int64
	over        map[int]*big.Int // what does not fit into sums, by cell
}

// NewMargins returns histograms of b by these lists of its keys, with a 0 for every cell.
func NewMargins(b *bounded.Statement, keys [][]int) *Margins {
	m := &Margins{b: b, of: make([]margin, len(keys)), index: make([]int, len(b.Keys))}
	for i, list := range keys {
		cells, steps := 1, make([]int, len(list))
		for j := len(list) - 1; j >= 0; j-- {
			steps[j] = cells
			cells *= len(b.Keys[list[j]].Values)
		}
		m.of[i] = margin{keys: list, steps: steps, sums: make([]int64, cells)}
	}
	return m
}

// Add adds a result row of the statement. A nil sum counts as 0. A row with a key value that b does not list is ignored.
func (m *Margins) Add(keys []value.Value, sums []*big.Int) {
	if sums[0] == nil {
		return
	}
	for i, v := range keys {
		if m.index[i] = m.b.Keys[i].Index(v); m.index[i] < 0 {
			return
		}
	}
	word, small := sums[0].Int64(), sums[0].IsInt64()
	for i := range m.of {
		h, cell := &m.of[i], 0
		for j, k := range h.keys {
			cell += m.index[k] * h.steps[j]
		}
		sum := h.sums[cell] + word
		if overflows := (sum > h.sums[cell]) != (word > 0) && word != 0; small && !overflows {
			h.sums[cell] = sum
			continue
		}
		if h.over == nil {
			h.over = map[int]*big.Int{}
		}
		if h.over[cell] == nil {
			h.over[cell] = new(big.Int)
		}
		h.over[cell].Add(h.over[cell], sums[0])
	}
}

// Exact returns the histograms as opaque values.
func (m *Margins) Exact() [][]mechanism.Exact {
	out := make([][]mechanism.Exact, len(m.of))
	for i, h := range m.of {
		out[i] = mechanism.NewExacts(h.sums)
		for cell, more := range h.over {
			out[i][cell] = out[i][cell].Plus(mechanism.NewExact(more))
		}
	}
	return out
}
