package synth

import (
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"math/big"
	"sort"
	"strconv"

	"dither/internal/splitmix"
	"dither/synth/constraint"
	"dither/synth/model"
)

// Each calls yield for each row, with its values as texts in the order of Plan.Output. null says which are NULL. yield
// must not keep the slices. The same result has the same rows, and all of them satisfy the constraints. A binned column
// has random numbers within its bins, in the measured shape. Each returns the first error of yield.
func (r *Result) Each(yield func(row []string, null []bool) error) error {
	h := fnv.New64a()
	_, _ = fmt.Fprint(h, r.Release, r.Plan.SQL) // a hash accepts every write
	if r.draw > 0 {
		_, _ = fmt.Fprint(h, " draw ", r.draw)
	}
	words := splitmix.At(splitmix.Mix(h.Sum64()))
	w, o := newWriter(r, &words), newOutput(r.Plan)
	return r.model.Sample(r.Rows, model.Rounded, &words, func(columns [][]int32) error {
		for at := range columns[0] {
			for i, c := range columns {
				w.row[i] = int(c[at])
			}
			if err := w.draw(); err != nil {
				return err
			}
			if err := o.fill(w); err != nil {
				return err
			}
			if err := yield(o.texts, o.null); err != nil {
				return err
			}
		}
		return nil
	})
}

// WriteCSV writes the rows as CSV, as [Table.WriteCSV] does.
func (r *Result) WriteCSV(to io.Writer) error { return r.Table().WriteCSV(to) }

// cells writes the values of a column.
type cells struct {
	of    *Column
	texts []string     // by cell, unless its numbers are drawn
	ends  [][2]float64 // by cell: the bin
	whole [][2]int64   // by cell, for columns of whole numbers: the bin, whose upper end is included
	null  []bool
	// ranges has the values of each cell, as constraints take them
	ranges []constraint.Value
	shape  [][]segment // by cell; nil: the numbers are even
}

func newCells(c *Column) *cells {
	n := len(c.values)
	out := &cells{of: c, ends: make([][2]float64, n), whole: make([][2]int64, n), shape: make([][]segment, n), null: make([]bool, n)}
	for i, v := range c.values {
		text := fmt.Sprint(v)
		if v == nil {
			text, out.null[i] = "", true
		}
		out.texts = append(out.texts, text)
		if c.Binned && v != nil {
			out.ends[i], out.whole[i], out.shape[i] = c.bin(text)
		}
	}
	for i, text := range out.texts {
		out.ranges = append(out.ranges, out.rangeOf(i, text))
	}
	return out
}

// rangeOf returns the values of a cell.
func (c *cells) rangeOf(cell int, text string) constraint.Value {
	switch {
	case c.null[cell]:
		return constraint.Value{Null: true}
	case c.of.Type == "text":
		return constraint.Value{Text: text}
	case c.of.Type == "boolean":
		return constraint.Value{True: text == "true"}
	case c.of.Binned && c.of.whole:
		return constraint.Value{Low: float64(c.whole[cell][0]), High: float64(c.whole[cell][1])}
	case c.of.Binned:
		return constraint.Value{Low: c.ends[cell][0], High: c.ends[cell][1]}
	}
	x, err := c.of.number(text)
	if err != nil {
		return constraint.Value{Null: true}
	}
	return constraint.At(x)
}

// value returns a value of a cell, as constraints take it.
func (c *cells) value(cell int, of point) constraint.Value {
	switch {
	case !c.of.Binned || c.null[cell]:
		return c.ranges[cell]
	case c.of.whole:
		return constraint.At(float64(of.whole))
	}
	return constraint.At(of.number)
}

// near returns the values of a cell that are nearest to constants, on both sides.
func (c *cells) near(cell int, constants []float64) (out []point) {
	if !c.of.Binned || c.null[cell] {
		return []point{{}}
	}
	known := map[point]bool{}
	add := func(x float64) {
		r := c.ranges[cell]
		x = max(r.Low, min(x, r.High))
		p := point{number: x}
		if c.of.whole {
			p = point{whole: max(c.whole[cell][0], min(int64(math.Floor(x)), c.whole[cell][1]))}
		}
		if !known[p] {
			known[p], out = true, append(out, p)
		}
	}
	for _, x := range constants {
		add(x)
		if c.of.whole {
			add(x - 1)
			add(x + 1)
		}
	}
	return out
}

// between returns the ends of the bin with an index.
func (c *Column) between(n *big.Rat) (low, high *big.Rat) {
	if c.bins == nil {
		low = new(big.Rat).Add(c.origin, new(big.Rat).Mul(n, c.width))
		if high = new(big.Rat).Add(low, c.width); c.whole {
			high.Sub(high, big.NewRat(1, 1))
		}
		return low, high
	}
	i := 0
	if n.IsInt() && n.Num().IsInt64() {
		i = int(min(max(n.Num().Int64(), 0), int64(len(c.bins)-1)))
	}
	return c.bins[i].low, c.bins[i].high
}

// bin returns the ends of the bin with an index, within the bounds of the column.
func (c *Column) bin(index string) (ends [2]float64, whole [2]int64, shape []segment) {
	n, ok := new(big.Rat).SetString(index)
	if !ok {
		n = new(big.Rat)
	}
	low, high := c.between(n)
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
	return [2]float64{a, max(a, b)}, whole, c.segments(low, high)
}

// point is a value of a cell. Of a binned column, it is a whole number or another one.
type point struct {
	whole  int64
	number float64
}

// draw returns a value of a cell. Times in wide bins are whole seconds, unless that is before the beginning of the bin.
func (c *cells) draw(cell int, words *splitmix.Stream) (out point) {
	if !c.of.Binned || c.null[cell] {
		return out
	}
	uniform := func() float64 { return float64(words.Word()>>11) / (1 << 53) }
	low, high := c.whole[cell][0], c.whole[cell][1]
	ends := c.ends[cell]
	if shape := c.shape[cell]; len(shape) > 0 {
		u := uniform() * shape[len(shape)-1].sum
		at := min(sort.Search(len(shape), func(i int) bool { return shape[i].sum > u }), len(shape)-1)
		low, high, ends = shape[at].whole[0], shape[at].whole[1], [2]float64{shape[at].low, shape[at].high}
	}
	u := uniform()
	if c.of.whole {
		n := min(low+int64(math.Floor(u*(float64(high-low)+1))), high)
		if calendar := c.of.Type == "timestamp" || c.of.Type == "time"; calendar && high-low >= 100*micros-1 {
			n = max(low, n-((n%micros)+micros)%micros)
		} else if c.of.Type == "integer" && c.of.fine != nil && c.of.fine.digits != nil {
			n = c.of.digit(n, c.whole[cell][0], c.whole[cell][1], uniform())
		}
		return point{whole: n}
	}
	return point{number: min(max(ends[0], round(ends[0]+u*(ends[1]-ends[0]), ends[1]-ends[0])), ends[1])}
}

// text writes a value of a cell.
func (c *cells) text(cell int, of point) string {
	switch {
	case !c.of.Binned || c.null[cell]:
		return c.texts[cell]
	case c.of.whole:
		return c.of.written(of.whole)
	}
	return strconv.FormatFloat(of.number, 'g', -1, 64)
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
