package synth

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"

	"dither/curator"
)

const (
	// shapeShare: the shapes of all columns together take one part of this number of the price
	shapeShare = 20
	// fineCells is the number of small bins of a column. Whole numbers and days have a bin each, up to fineWhole of
	// them.
	fineCells, fineWhole = 1000, 4096
	residues             = 100 // the last two digits, of whole numbers in wider small bins
)

// fine divides a column into small bins, whose noisy counts give the shape of the numbers within its bins.
type fine struct {
	sql           string
	key           int // of the question
	origin, width *big.Rat
	cells         int
	values        []any     // by cell of the answer
	weights       []float64 // by small bin; nil before the measurement
	counts        []float64 // by small bin, with noise; nil before the measurement
	precision     float64   // of counts: the inverse of the variance of the noise

	digits *fine // the last digits of whole numbers whose small bins have several; nil otherwise
}

// refine lays out the small bins.
func (c *Column) refine() {
	if c.fine = nil; !c.Binned || c.offset == "" {
		return
	}
	f := &fine{origin: c.lower}
	span := new(big.Rat).Sub(c.upper, c.lower)
	switch c.Type {
	case "timestamp", "time":
		if c.Type == "time" {
			f.origin, span = new(big.Rat), c.upper
		}
		seconds := new(big.Rat).Quo(span, integer(micros))
		width := ceil(seconds.Quo(seconds.Add(seconds, integer(1)), integer(fineCells)))
		f.sql, f.width = fmt.Sprintf("FLOOR(%s / %s)", c.offset, width.RatString()), new(big.Rat).Mul(width, integer(micros))
	case "real":
		f.sql = fmt.Sprintf("LEAST(WIDTH_BUCKET(%s, %s, %s, %d) - 1, %d)", c.name, decimal(c.lower), decimal(c.upper), fineCells, fineCells-1)
		f.width = span.Quo(span, integer(fineCells))
	default:
		span.Add(span, integer(1))
		f.width, f.sql = integer(1), c.offset
		if span.Cmp(integer(fineWhole)) > 0 {
			f.width = ceil(span.Quo(span, integer(fineCells)))
			f.sql = fmt.Sprintf("FLOOR((%s) / %s)", c.offset, f.width.RatString())
			if c.Type == "integer" {
				f.digits = &fine{sql: fmt.Sprintf("MOD(%s, %d)", c.offset, residues), cells: residues, origin: new(big.Rat), width: integer(1)}
			}
		}
	}
	if c.bins == nil && c.width.Cmp(f.width) <= 0 {
		return
	}
	f.cells = int(c.small(f, c.upper)) + 1
	c.fine = f
}

// small returns the small bin of a number.
func (c *Column) small(f *fine, x *big.Rat) int64 {
	at := new(big.Rat).Sub(x, f.origin)
	at.Quo(at, f.width)
	n := new(big.Int).Div(at.Num(), at.Denom()).Int64()
	if c.Type == "real" {
		n = min(n, fineCells-1)
	}
	return n
}

// shapes returns the small bins of all columns.
func (p *Plan) shapes() (out []*fine) {
	for _, c := range p.Columns {
		if c.fine != nil {
			if out = append(out, c.fine); c.fine.digits != nil {
				out = append(out, c.fine.digits)
			}
		}
	}
	return out
}

// addShapes adds the small bins to the candidates. They are keys after those of the columns. Those of a join are not
// keys of the same question.
func (p *Plan) addShapes() {
	if p.shaped = len(p.candidates); p.apart {
		return
	}
	for _, f := range p.shapes() {
		p.candidates = append(p.candidates, []int{f.key})
	}
}

// measureShapes measures the small bins with a share of the price.
func (s *synthesis) measureShapes(ctx context.Context) error {
	shapes := s.shapes()
	if s.apart {
		return s.measureApart(ctx, shapes)
	}
	if len(shapes) == 0 {
		return nil
	}
	var candidates []int
	for i := range shapes {
		candidates = append(candidates, s.shaped+i)
	}
	price := new(big.Rat).Quo(s.total, big.NewRat(shapeShare, 1))
	parts, err := s.rounds.Measure(ctx, candidates, s.step(price))
	if err != nil {
		return err
	}
	for i, f := range shapes {
		s.outline(f, parts[i].Values, math.Sqrt(parts[i].Noise.Variance()), parts[i].Loss)
		s.result.Replayed = s.result.Replayed && parts[i].Replayed
	}
	s.total = new(big.Rat).Sub(s.total, price)
	s.watch(price)
	return nil
}

// measureApart measures small bins by a question for each, with a share of the price, and then returns to the question of
// the marginals.
func (s *synthesis) measureApart(ctx context.Context, shapes []*fine) error {
	whole := s.total
	for _, f := range shapes {
		price := new(big.Rat).Quo(whole, big.NewRat(int64(shapeShare*len(shapes)), 1))
		if err := s.rounds.Change(ctx, question(s.shapesFrom, s.shapesWhere, []string{f.sql}), [][]int{{0}}); err != nil {
			return err
		}
		parts, err := s.rounds.Measure(ctx, []int{0}, s.step(price))
		if err != nil {
			return err
		}
		s.outline(f, parts[0].Values, math.Sqrt(parts[0].Noise.Variance()), parts[0].Loss)
		s.result.Replayed = s.result.Replayed && parts[0].Replayed
		s.total = new(big.Rat).Sub(s.total, price)
		s.watch(price)
	}
	return s.rounds.Change(ctx, s.Plan.rounds.SQL, s.candidates)
}

// outline adds measured counts of small bins. Several measurements are combined by their inverse variances.
func (s *synthesis) outline(f *fine, values []*big.Int, deviation float64, loss curator.Loss) {
	counts := make([]float64, f.cells)
	for cell, v := range values {
		if at, ok := f.place(cell); ok {
			counts[at], _ = new(big.Float).SetInt(v).Float64()
		}
	}
	precision := 1 / (deviation * deviation)
	all := f.precision + precision
	for i := range counts {
		if f.counts != nil {
			counts[i] = (f.precision*f.counts[i] + precision*counts[i]) / all
		}
	}
	f.counts, f.precision = counts, all
	f.weights = denoised(counts, 1/math.Sqrt(all))
	s.outlines = append(s.outlines, Measured{
		Columns: []string{s.shapeOf(f)}, Cells: len(values), StdDev: deviation, Loss: loss, Shape: true,
	})
}

// shapeOf returns the name of the column of small bins.
func (p *Plan) shapeOf(f *fine) string {
	i := slices.IndexFunc(p.Columns, func(c *Column) bool { return c.fine == f || c.fine != nil && c.fine.digits == f })
	return p.Columns[i].Name
}

// place returns the small bin of a cell of the answer, unless the cell is NULL.
func (f *fine) place(cell int) (int, bool) {
	if f.values[cell] == nil {
		return 0, false
	}
	n, err := strconv.Atoi(fmt.Sprint(f.values[cell]))
	return n, err == nil && n >= 0 && n < f.cells
}

// denoised returns nonnegative weights from noisy counts. A count that exceeds the median of its neighbours by more
// than the noise can be is kept. The others are smoothed by Haar wavelets: differences between neighbouring intervals
// that the noise explains are removed. The threshold is √(2·ln k) standard deviations for k counts, which noise alone
// exceeds anywhere with probability about 1/√(π·ln k).
//
// Source: Donoho and Johnstone, "Ideal spatial adaptation by wavelet shrinkage", Biometrika 1994.
func denoised(counts []float64, deviation float64) []float64 {
	n := 1
	for n < len(counts) {
		n *= 2
	}
	threshold := math.Sqrt(2*math.Log(float64(max(len(counts), 2)))) * deviation
	out, rest := make([]float64, len(counts)), make([]float64, n)
	for i, v := range counts {
		near := slices.Clone(counts[max(0, i-4):min(len(counts), i+5)])
		slices.Sort(near)
		rest[i] = v
		if middle := near[len(near)/2]; v-middle > threshold*1.1 {
			out[i], rest[i] = v-middle, middle
		}
	}
	// sums of intervals, and the differences of their halves
	for i, v := range haar(rest, len(counts), threshold) {
		out[i] = max(0, out[i]+v)
	}
	return out
}

// haar smooths the first m of n = 2ᵏ numbers. The numbers after them are no data.
func haar(x []float64, m int, threshold float64) []float64 {
	var split func(from, to int, mean float64, into []float64)
	sums := make([]float64, len(x)+1)
	for i, v := range x {
		sums[i+1] = sums[i] + v
	}
	mean := func(from, to int) float64 {
		to = min(to, m)
		return (sums[to] - sums[from]) / float64(to-from)
	}
	split = func(from, to int, at float64, into []float64) {
		middle := (from + to) / 2
		if to-from == 1 {
			into[from] = at
			return
		}
		if middle >= m {
			split(from, middle, at, into)
			return
		}
		left, right := float64(middle-from), float64(min(to, m)-middle)
		difference := mean(middle, to) - mean(from, middle)
		if math.Abs(difference) < threshold*math.Sqrt(1/left+1/right) {
			difference = 0
		}
		split(from, middle, at-difference*right/(left+right), into)
		split(middle, to, at+difference*left/(left+right), into)
	}
	out := make([]float64, m)
	split(0, len(x), mean(0, m), out)
	return out
}

// segment is a part of a bin, with the running sum of weights up to it.
type segment struct {
	low, high float64  // of numbers that are not whole
	whole     [2]int64 // of whole numbers: both ends are included
	sum       float64
}

// segments divides a bin at its small bins. It returns nil if they have no weight.
func (c *Column) segments(low, high *big.Rat) (out []segment) {
	f := c.fine
	if f == nil || f.weights == nil || low.Cmp(high) == 0 {
		return nil
	}
	sum := 0.0
	for at := max(0, c.small(f, low)); at < int64(len(f.weights)); at++ {
		from := new(big.Rat).Mul(f.width, integer(at))
		from.Add(from, f.origin)
		to := new(big.Rat).Add(from, f.width)
		if c.whole {
			to.Sub(to, integer(1))
		}
		if from.Cmp(low) < 0 {
			from = low
		}
		if to.Cmp(high) > 0 {
			to = high
		}
		if from.Cmp(high) > 0 || from.Cmp(high) == 0 && !c.whole {
			break
		}
		s := segment{}
		length := new(big.Rat).Sub(to, from)
		if c.whole {
			length.Add(length, integer(1))
			s.whole = [2]int64{from.Num().Int64(), max(from.Num().Int64(), to.Num().Int64())}
		}
		s.low, _ = from.Float64()
		s.high, _ = to.Float64()
		part, _ := length.Quo(length, f.width).Float64()
		if sum += part * f.weights[at]; part*f.weights[at] > 0 {
			s.sum = sum
			out = append(out, s)
		}
	}
	return out
}

// digit moves a whole number within a small bin to one whose last digits are likely.
func (c *Column) digit(n, low, high int64, u float64) int64 {
	f := c.fine
	if f == nil || f.digits == nil || f.digits.weights == nil || high-low < residues-1 {
		return n
	}
	sum := 0.0
	for _, w := range f.digits.weights {
		sum += w
	}
	u *= sum
	first := c.lower.Num().Int64()
	for r, w := range f.digits.weights {
		if u -= w; u < 0 {
			at := (n-first)/residues*residues + int64(r) + first
			for at < low {
				at += residues
			}
			for at > high {
				at -= residues
			}
			return max(low, at)
		}
	}
	return n
}

// keysOf returns the SQL of the keys: the columns and then the small bins.
func (p *Plan) keysOf() (out []string) {
	for _, c := range p.Columns {
		out = append(out, c.SQL)
	}
	for _, f := range p.shapes() {
		if !p.apart {
			f.key = len(out)
			out = append(out, f.sql)
		}
	}
	return out
}

// readShapes sets the values of the small bins.
func (p *Plan) readShapes(ctx context.Context, c *curator.Session, d *curator.Domain) error {
	for _, f := range p.shapes() {
		if !p.apart {
			f.values = d.Values[f.key]
			continue
		}
		of := p.rounds.Request
		of.SQL = question(p.shapesFrom, p.shapesWhere, []string{f.sql})
		apart, err := c.Domain(ctx, of)
		if err != nil {
			return err
		}
		f.values = apart.Values[0]
	}
	return nil
}
