package channel

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"

	"dither/internal/expsum"
)

// builder collects the entries of a matrix. Equal entries are one value: a matrix of thousands of cells has a handful,
// as a rule.
type builder struct {
	m      Matrix
	work   *expsum.Work
	memory expsum.Memory
	byText map[string]int32 // as it was written
	byForm map[string]int32 // as the number writes itself, if that is short
}

// newBuilder is one for so many entries, whose arithmetic w does.
func newBuilder(w *expsum.Work, inputs, outputs []string, rows, columns int) (*builder, error) {
	switch {
	case rows == 0:
		return nil, wrong("it has no rows")
	case columns == 0:
		return nil, wrong("its first row is empty")
	case rows > maxSide || columns > maxSide || rows*columns > maxCells:
		return nil, wrong("%d × %d entries; at most %d are read", rows, columns, maxCells)
	case inputs != nil && len(inputs) != rows:
		return nil, wrong("%d names for %d rows", len(inputs), rows)
	case outputs != nil && len(outputs) != columns:
		return nil, wrong("%d names for %d columns", len(outputs), columns)
	}
	b := &builder{work: w, memory: expsum.NewMemory(w), byText: map[string]int32{}, byForm: map[string]int32{}}
	b.m.inputs, b.m.outputs = numbered(inputs, rows), numbered(outputs, columns)
	for what, names := range map[string][]string{"rows": b.m.inputs, "columns": b.m.outputs} {
		if name, twice := repeated(names); twice {
			return nil, wrong("two %s are named %s", what, cut(name))
		}
	}
	b.m.cells = make([]int32, 0, rows*columns)
	return b, nil
}

// repeated is a name that occurs twice.
func repeated(names []string) (name string, twice bool) {
	seen := map[string]bool{}
	for _, name := range names {
		if seen[name] {
			return name, true
		}
		seen[name] = true
	}
	return "", false
}

// row adds the entries of row i.
func (b *builder) row(texts []string, i int) error {
	if len(texts) != len(b.m.outputs) {
		return wrong("row %s has %d entries and the first has %d", b.m.inputs[i], len(texts), len(b.m.outputs))
	}
	for j, text := range texts {
		id, ok := b.byText[text]
		if !ok {
			x, err := b.memory.Parse(text)
			if err == nil {
				id, err = b.id(x)
			}
			switch {
			case errors.Is(err, errNegative):
				return wrong("row %s, column %s: %s is negative, and no probability",
					b.m.inputs[i], b.m.outputs[j], cut(text))
			case err != nil:
				return wrong("row %s, column %s: %s: %w", b.m.inputs[i], b.m.outputs[j], strconv.Quote(cut(text)), err)
			}
			b.byText[text] = id
		}
		b.m.cells = append(b.m.cells, id)
	}
	return nil
}

// errNegative reports a number below 0.
var errNegative = errors.New("it is negative")

// id is the place of a number among the values. There are floats next to each; where finding them takes too long,
// because its digits cancel, it is expsum.ErrSize.
func (b *builder) id(x *expsum.Number) (int32, error) {
	form := ""
	if x.Terms() <= fewTerms && x.Words() <= fewWords {
		form = x.String()
		if id, ok := b.byForm[form]; ok {
			return id, nil
		}
	}
	work := b.work.Part()
	switch sign, err := work.Sign(x); {
	case err != nil:
		return 0, err
	case sign < 0:
		return 0, errNegative
	}
	lower, upper, err := work.Floats(x)
	if err != nil {
		return 0, err
	}
	id := int32(len(b.m.values))
	b.m.values = append(b.m.values, value{x, max(lower, 0), upper})
	if form != "" {
		b.byForm[form] = id
	}
	return id, nil
}

// Up to how many powers of e, and how long fractions, a number is written out to compare it with others.
const (
	fewTerms = 8
	fewWords = 64
)

// matrix is what was collected, its rows checked to sum to 1, or divided by their sums. Rows that are permutations of
// each other are summed once.
func (b *builder) matrix(normalize bool) (*Matrix, error) {
	columns := len(b.m.outputs)
	known := map[string]map[int32]int32{}
	for i, name := range b.m.inputs {
		row := b.m.cells[i*columns:][:columns]
		form := sorted(row)
		quotients, ok := known[form]
		if !ok {
			var err error
			if quotients, err = b.divided(name, row, normalize); err != nil {
				return nil, err
			}
			known[form] = quotients
		}
		for j, id := range row {
			if to, ok := quotients[id]; ok {
				row[j] = to
			}
		}
	}
	m := b.m
	return &m, nil
}

// sorted is a key of a map for some numbers in any order.
func sorted(ids []int32) string {
	numbers := make([]int64, len(ids))
	for i, id := range ids {
		numbers[i] = int64(id)
	}
	slices.Sort(numbers)
	return packed(numbers)
}

// divided are the values of a row divided by its sum; nil if that is 1.
func (b *builder) divided(name string, row []int32, normalize bool) (map[int32]int32, error) {
	sum, err := b.m.sum(b.work, row)
	if err != nil {
		return nil, wrong("row %s: %w: write its entries over a common denominator", name, err)
	}
	order, err := b.work.Cmp(sum, one())
	switch {
	case err != nil:
		return nil, wrong("row %s: %w", name, err)
	case order == 0:
		return nil, nil
	case !normalize:
		return nil, offBy(b.work.Part(), name, sum, order)
	case sum.IsZero():
		return nil, wrong("row %s is of zeros alone: it cannot be divided by its sum", name)
	}
	inverse, err := b.work.Quo(one(), sum) // once: the row's entries then share its denominator
	if err != nil {
		return nil, wrong("row %s, divided by its sum: %w", name, err)
	}
	quotients := map[int32]int32{}
	for _, id := range row {
		if _, ok := quotients[id]; ok {
			continue
		}
		x, err := b.work.Mul(b.m.values[id].number, inverse)
		if err == nil {
			quotients[id], err = b.id(x)
		}
		if err != nil {
			return nil, wrong("row %s, divided by its sum: %w", name, err)
		}
	}
	return quotients, nil
}

// sum adds up entries, each value times how often it occurs.
func (m *Matrix) sum(w *expsum.Work, ids []int32) (*expsum.Number, error) {
	counts := map[int32]int64{}
	var order []int32
	for _, id := range ids {
		if counts[id] == 0 {
			order = append(order, id)
		}
		counts[id]++
	}
	all := make([]*expsum.Number, len(order))
	for i, id := range order {
		all[i] = m.values[id].number
		if n := counts[id]; n > 1 {
			var err error
			if all[i], err = w.Mul(all[i], expsum.Rat(big.NewRat(n, 1))); err != nil {
				return nil, err
			}
		}
	}
	return w.Sum(all)
}

// offBy says by how much a row's sum is not 1.
func offBy(w *expsum.Work, row string, sum *expsum.Number, order int) error {
	more := "more"
	off, err := w.Sub(sum, one())
	if err != nil {
		return wrong("row %s does not sum to 1", row)
	}
	if order < 0 {
		more, off = "less", off.Neg()
	}
	_, size, err := w.Floats(off)
	if err != nil {
		return wrong("row %s sums to %s than 1", row, more)
	}
	about := fmt.Sprintf("%.3g", size)
	if exactly := short(off); exactly == "" {
		about = "about " + about
	} else if exactly != about {
		about = exactly + ", about " + about
	}
	return wrong("row %s sums to %s than 1, by %s", row, more, about)
}

// shown is the length up to which an exact number is shown.
const shown = 60

func cut(text string) string {
	if r := []rune(text); len(r) > shown {
		return fmt.Sprintf("%s… (%d characters)", string(r[:shown]), len(r))
	}
	return text
}
