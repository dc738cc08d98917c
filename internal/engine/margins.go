package engine

import (
	"math"
	"math/big"

	"dither/internal/bounded"
	"dither/internal/parallel"
	"dither/internal/value"
	"dither/mechanism"
)

// Margins adds up an engine's result rows, each a group of a statement with known keys, to several histograms by some of
// the keys: see [Engine.Margins]. The statement may have more cells than fit into memory, because only groups with rows
// are added.
type Margins struct {
	b  *bounded.Statement
	of []margin
	// the groups of a batch: by key, the indices of their values, and their sums
	codes [][]int32
	words []int64
	most  uint64 // the sum of the magnitudes of all words so far; math.MaxUint64 if it is larger
}

// batch is the number of groups that Margins adds to a histogram together. Their indices stay in a processor's cache.
const batch = 2048

// margin is one histogram.
type margin struct {
	keys, steps []int // the indices of its keys, and the distance of two cells whose values of a key follow each other
	sums        []int64
	over        map[int]*big.Int // what does not fit into sums, by cell
}

// NewMargins returns histograms of b by these lists of its keys, with a 0 for every cell.
func NewMargins(b *bounded.Statement, keys [][]int) *Margins {
	m := &Margins{b: b, of: make([]margin, len(keys)), codes: make([][]int32, len(b.Keys)), words: make([]int64, 0, batch)}
	for i := range m.codes {
		m.codes[i] = make([]int32, batch)
	}
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
	at := len(m.words)
	for i, v := range keys {
		index := m.b.Keys[i].Index(v)
		if index < 0 {
			return
		}
		m.codes[i][at] = int32(index) // a list of values in memory is shorter than 2³¹
	}
	if !sums[0].IsInt64() {
		for i := range m.of {
			m.of[i].add(m.of[i].cell(m.codes, at), sums[0])
		}
		return
	}
	word := sums[0].Int64()
	m.words = append(m.words, word)
	if m.most += magnitude(word); m.most < magnitude(word) {
		m.most = math.MaxUint64
	}
	if len(m.words) == batch {
		m.flush()
	}
}

// magnitude returns |v|, which is 2⁶³ for the least v.
func magnitude(v int64) uint64 {
	if v < 0 {
		return -uint64(v)
	}
	return uint64(v)
}

// flush adds the batch to all histograms. No cell can overflow while all magnitudes together fit into a word.
func (m *Margins) flush() {
	parallel.Each(len(m.of), func(i int) {
		h := &m.of[i]
		if m.most > math.MaxInt64 {
			h.addWide(m.codes, m.words)
			return
		}
		h.addWords(m.codes, m.words)
	})
	m.words = m.words[:0]
}

// cell returns the cell of a group of the batch.
func (h *margin) cell(codes [][]int32, at int) (cell int) {
	for j, k := range h.keys {
		cell += int(codes[k][at]) * h.steps[j]
	}
	return cell
}

// addWords adds groups whose sums overflow no cell.
func (h *margin) addWords(codes [][]int32, words []int64) {
	n := len(words)
	switch len(h.keys) {
	case 2: // most histograms have two or three keys, and a table of people has many rows
		a, b, step := codes[h.keys[0]][:n], codes[h.keys[1]][:n], h.steps[0]
		for at, word := range words {
			h.sums[int(a[at])*step+int(b[at])] += word
		}
	case 3:
		a, b, c := codes[h.keys[0]][:n], codes[h.keys[1]][:n], codes[h.keys[2]][:n]
		first, second := h.steps[0], h.steps[1]
		for at, word := range words {
			h.sums[int(a[at])*first+int(b[at])*second+int(c[at])] += word
		}
	default:
		for at, word := range words {
			h.sums[h.cell(codes, at)] += word
		}
	}
}

// addWide adds groups whose sums may overflow cells.
func (h *margin) addWide(codes [][]int32, words []int64) {
	for at, word := range words {
		cell := h.cell(codes, at)
		sum := h.sums[cell] + word
		if overflows := (sum > h.sums[cell]) != (word > 0) && word != 0; overflows {
			h.add(cell, big.NewInt(word))
			continue
		}
		h.sums[cell] = sum
	}
}

// add adds a number of any size.
func (h *margin) add(cell int, sum *big.Int) {
	if h.over == nil {
		h.over = map[int]*big.Int{}
	}
	if h.over[cell] == nil {
		h.over[cell] = new(big.Int)
	}
	h.over[cell].Add(h.over[cell], sum)
}

// Exact returns the histograms as opaque values.
func (m *Margins) Exact() [][]mechanism.Exact {
	m.flush()
	out := make([][]mechanism.Exact, len(m.of))
	for i, h := range m.of {
		out[i] = mechanism.NewExacts(h.sums)
		for cell, more := range h.over {
			out[i][cell] = out[i][cell].Plus(mechanism.NewExact(more))
		}
	}
	return out
}
