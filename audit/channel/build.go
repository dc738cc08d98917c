package channel

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"

	"dither/internal/expsum"
)

// builder collects the entries of a matrix. Equal entries share one value, because a matrix with thousands of
// entries usually has few different ones.
type builder struct {
	m      Matrix
	work   *expsum.Work
	memory expsum.Memory
	byText map[string]int32 // indices of values, by the text of the entry
	byForm map[string]int32 // indices of values, by the canonical text of the number, for short numbers
}

// newBuilder returns a builder for a matrix of this size. w does its arithmetic and limits its work. It returns
// ErrMatrix if the size or the names are invalid.
func newBuilder(w *expsum.Work, inputs, outputs []string, rows, columns int) (*builder, error) {
	switch {
	case rows == 0:
		return nil, wrong("it has no rows")
	case columns == 0:
		return nil, wrong("its first row is empty")
	case rows > maxSide || columns > maxSide || rows*columns > maxCells:
		return nil, wrong("%d × %d entries are more than the limit, %d", rows, columns, maxCells)
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

// repeated returns the first name that occurs twice, if there is one.
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

// row appends the entries of row i.
func (b *builder) row(texts []string, i int) error {
	if len(texts) != len(b.m.outputs) {
		return wrong("row %s has %d entries, but the first row has %d", b.m.inputs[i], len(texts), len(b.m.outputs))
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
				return wrong("row %s, column %s: %s is negative, so it is not a probability",
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

var errNegative = errors.New("it is negative")

// id returns the index of a number among the values, and adds the number if it is new. Each value also gets floats
// just below and above it. It returns expsum.ErrSize if computing these takes too long, because leading digits
// cancel.
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

// A number is looked up by its canonical text if it has at most fewTerms powers of e, and at most fewWords words.
const (
	fewTerms = 8
	fewWords = 64
)

// matrix returns the collected matrix. It checks that each row sums to 1, or divides each row by its sum if
// normalize is set. The sum is computed once for all rows that are permutations of each other.
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

// sorted returns a map key that is equal for lists with the same numbers in any order.
func sorted(ids []int32) string {
	numbers := make([]int64, len(ids))
	for i, id := range ids {
		numbers[i] = int64(id)
	}
	slices.Sort(numbers)
	return packed(numbers)
}

// divided maps each value of a row to the value divided by the row's sum. It returns nil if the sum is 1. If the
// sum is not 1 and normalize is false, it returns an error.
func (b *builder) divided(name string, row []int32, normalize bool) (map[int32]int32, error) {
	sum, err := b.m.sum(b.work, row)
	if err != nil {
		return nil, wrong("row %s: %w; write its entries with a common denominator", name, err)
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
		return nil, wrong("row %s contains only zeros: it cannot be divided by its sum", name)
	}
	inverse, err := b.work.Quo(one(), sum) // one inverse for the whole row, so that its entries share a denominator
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

// sum returns the sum of the entries with the given ids. It multiplies each value by its count.
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

// offBy returns the error that states by how much a row's sum differs from 1. order is the sign of the difference.
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

// shown is the length, in characters, up to which an exact number is shown.
const shown = 60

func cut(text string) string {
	if r := []rune(text); len(r) > shown {
		return fmt.Sprintf("%s… (%d characters)", string(r[:shown]), len(r))
	}
	return text
}
