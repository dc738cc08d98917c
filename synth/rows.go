package synth

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"math/big"
	"strconv"

	"dither/internal/splitmix"
	"dither/synth/model"
)

// Each calls yield for each row, with its values as texts in the order of Plan.Columns. null says which are NULL. yield must
// not keep the slices. The same result has the same rows. A binned column has random numbers within its bins, evenly
// distributed. Each returns the first error of yield.
func (r *Result) Each(yield func(row []string, null []bool) error) error {
	row, null := make([]string, len(r.Plan.Columns)), make([]bool, len(r.Plan.Columns))
	writers := make([]*cells, len(row))
	for i, c := range r.Plan.Columns {
		writers[i] = newCells(c)
	}
	h := fnv.New64a()
	_, _ = fmt.Fprint(h, r.Release, r.Plan.SQL) // a hash accepts every write
	if r.draw > 0 {
		_, _ = fmt.Fprint(h, " draw ", r.draw)
	}
	words := splitmix.At(splitmix.Mix(h.Sum64()))
	return r.model.Sample(r.Rows, model.Rounded, &words, func(columns [][]int32) error {
		for at := range columns[0] {
			for i, c := range columns {
				row[i], null[i] = writers[i].text(int(c[at]), &words), writers[i].null[c[at]]
			}
			if err := yield(row, null); err != nil {
				return err
			}
		}
		return nil
	})
}

// WriteCSV writes the rows as CSV, with a line of names. NULL is an empty field.
func (r *Result) WriteCSV(to io.Writer) error {
	buffer := bufio.NewWriterSize(to, 1<<16)
	w := csv.NewWriter(buffer)
	var header []string
	for _, c := range r.Plan.Columns {
		header = append(header, c.Name)
	}
	if err := w.Write(header); err != nil {
		return err
	}
	err := r.Each(func(row []string, _ []bool) error {
		if len(row) > 1 || row[0] != "" {
			return w.Write(row)
		}
		w.Flush() // an empty line would be no row
		_, err := buffer.WriteString("\"\"\n")
		return err
	})
	if err != nil {
		return err
	}
	if w.Flush(); w.Error() != nil {
		return w.Error()
	}
	return buffer.Flush()
}

// cells writes the values of a column.
type cells struct {
	of    *Column
	texts []string     // by cell, unless its numbers are drawn
	ends  [][2]float64 // by cell: the bin
	whole [][2]int64   // by cell, for columns of whole numbers: the bin, whose upper end is included
	null  []bool
}

func newCells(c *Column) *cells {
	n := len(c.values)
	out := &cells{of: c, ends: make([][2]float64, n), whole: make([][2]int64, n), null: make([]bool, n)}
	for i, v := range c.values {
		text := fmt.Sprint(v)
		if v == nil {
			text, out.null[i] = "", true
		}
		out.texts = append(out.texts, text)
		if c.Binned && v != nil {
			out.ends[i], out.whole[i] = c.bin(text)
		}
	}
	return out
}

// bin returns the ends of the bin with an index, within the bounds of the column.
func (c *Column) bin(index string) (ends [2]float64, whole [2]int64) {
	n, ok := new(big.Rat).SetString(index)
	if !ok {
		n = new(big.Rat)
	}
	low := new(big.Rat).Add(c.origin, new(big.Rat).Mul(n, c.width))
	high := new(big.Rat).Add(low, c.width)
	if c.whole {
		high.Sub(high, big.NewRat(1, 1))
	}
	if low.Cmp(c.lower) < 0 {
		low = c.lower
	}
	if high.Cmp(c.upper) > 0 {
		high = c.upper
	}
	a, _ := low.Float64()
	b, _ := high.Float64()
	if c.whole { // 64 bits have all digits of a microsecond, and a float64 has not
		first, last := low.Num().Int64(), high.Num().Int64()
		whole = [2]int64{first, max(first, last)}
	}
	return [2]float64{a, max(a, b)}, whole
}

// text returns a value of a cell.
func (c *cells) text(cell int, words *splitmix.Stream) string {
	if !c.of.Binned || c.null[cell] {
		return c.texts[cell]
	}
	u := float64(words.Word()>>11) / (1 << 53)
	if c.of.whole {
		low, high := c.whole[cell][0], c.whole[cell][1]
		return c.of.written(min(low+int64(math.Floor(u*(float64(high-low)+1))), high), low)
	}
	low, high := c.ends[cell][0], c.ends[cell][1]
	return strconv.FormatFloat(min(max(low, round(low+u*(high-low), high-low)), high), 'g', -1, 64)
}

// round rounds x to a power of ten that is at most a hundredth of the width of its bin.
func round(x, width float64) float64 {
	if !(width > 0) {
		return x
	}
	unit := math.Floor(math.Log10(width)) - 2
	if unit < 0 {
		scale := math.Pow(10, -unit)
		return math.Round(x*scale) / scale
	}
	scale := math.Pow(10, unit)
	return math.Round(x/scale) * scale
}
