package cli

import (
	"fmt"
	"math/big"

	"dither/curator"
	"dither/hypothesis"
	"dither/noise"
)

// runMeans tests one mean, or the difference of two, from noisy counts and sums.
func runMeans(s *session, o *testOptions) error {
	home, err := o.fromHome("counts", "sums", "squares", "count-sigma", "count-scale", "sum-sigma", "sum-scale", "square-sigma", "square-scale", "bounds")
	if err != nil {
		return err
	}
	c := hypothesis.Comparison{Alternative: o.get("alternative")}
	if c.Null, err = o.number("null", 0); err != nil {
		return err
	}
	if c.Confidence, err = o.confidence(); err != nil {
		return err
	}
	seed, err := o.number("seed", 0)
	if err != nil {
		return err
	}
	c.Seed = uint64(max(0, min(seed, 1<<53)))
	if home {
		return s.meansAtHome(o, c)
	}
	samples, err := o.samples()
	if err != nil {
		return err
	}
	return s.compared(o, samples, []string{"1", "2"}, c, nil)
}

// samples reads the numbers of one sample, or of two.
func (o *testOptions) samples() ([]hypothesis.Sample, error) {
	for _, name := range []string{"counts", "sums", "bounds"} {
		if !o.given[name] {
			return nil, usage("test means needs --counts, --sums and --bounds, one number for each sample; or --table and --column")
		}
	}
	counts, err := o.numbers("counts")
	if err != nil {
		return nil, err
	}
	sums, err := o.numbers("sums")
	if err != nil {
		return nil, err
	}
	bounds, err := o.numbers("bounds")
	if err != nil {
		return nil, err
	}
	var squares []float64
	if o.given["squares"] {
		if squares, err = o.numbers("squares"); err != nil {
			return nil, err
		}
	}
	if len(counts) > 2 || len(sums) != len(counts) || squares != nil && len(squares) != len(counts) || len(bounds) != 2 {
		return nil, usage("test means takes one count and sum (and sum of squares) or two, and --bounds as 0,100")
	}
	var noises [3]noise.Distribution
	for i, name := range []string{"count", "sum", "square"} {
		if !o.given[name+"-sigma"] && !o.given[name+"-scale"] {
			if name == "sum" {
				return nil, usage("one of --sum-sigma and --sum-scale tells the noise of the sums")
			}
			continue // counts may be public, and squares not told
		}
		if noises[i], err = o.noiseFrom(name+"-sigma", name+"-scale"); err != nil {
			return nil, err
		}
	}
	out := make([]hypothesis.Sample, len(counts))
	for i := range out {
		out[i] = hypothesis.Sample{Low: bounds[0], High: bounds[1], HasSquares: squares != nil}
		out[i].Count, out[i].Sum = hypothesis.Noisy{Value: counts[i], Noise: noises[0]}, hypothesis.Noisy{Value: sums[i], Noise: noises[1]}
		if squares != nil {
			out[i].Squares = hypothesis.Noisy{Value: squares[i], Noise: noises[2]}
		}
	}
	return out, nil
}

// compared shows the test of the mean of one sample, or of two samples.
func (s *session) compared(o *testOptions, samples []hypothesis.Sample, names []string, c hypothesis.Comparison, r *released) error {
	var t *hypothesis.Test
	var err error
	out := tested{release: r, header: []string{"sample", "noisy count", "noisy mean"}}
	if len(samples) == 1 {
		out.about, out.estimated = fmt.Sprintf("Is the mean %s? From a noisy sum.", number6(c.Null)), "mean"
		t, err = hypothesis.Mean(samples[0], c)
	} else {
		out.about, out.estimated = fmt.Sprintf("Do the means of %s and %s differ by %s? From noisy sums.", names[0], names[1], number6(c.Null)), "difference"
		t, err = hypothesis.Means(samples[0], samples[1], c)
	}
	if err != nil {
		return err
	}
	for i, a := range samples {
		mean := "–"
		if a.Count.Value > 0 {
			mean = number6(a.Centre + a.Sum.Value/a.Count.Value)
		}
		out.rows = append(out.rows, []string{names[i], number6(a.Count.Value), mean})
	}
	o.seeded(t)
	out.Test = t
	return s.showTest(out)
}

// meansAtHome asks for the count, the sum and the sum of squares of a column, as AVG has them: of all rows, or of the two groups of
// another column.
func (s *session) meansAtHome(o *testOptions, c hypothesis.Comparison) error {
	column, err := s.columnOf(o)
	if err != nil {
		return err
	}
	low, okLow := new(big.Rat).SetString(column.Lower)
	high, okHigh := new(big.Rat).SetString(column.Upper)
	if !okLow || !okHigh || low.Cmp(high) >= 0 {
		return usage("test means needs numbers with bounds, for which noise is made, and the policy gives %s of table %s none", o.get("column"), o.get("table"))
	}
	m := momentsOf(low, high, column.Type == "integer")
	var by []string
	if o.given["by"] {
		by = append(by, o.get("by"))
	}
	return s.measure(o, o.groupedBy(m.sql(curator.SQLName(column.Name)), by...), func(r *released) error {
		samples, names, err := m.samples(r)
		if err != nil {
			return err
		}
		if len(samples) == 0 || len(samples) > 2 {
			return usage("test means compares two groups, and --by has %d; --where and a column of two values select them", len(samples))
		}
		return s.compared(o, samples, names, c, r)
	})
}

// moments are the sums that a mean and its variance are computed from: about the middle, which of integers is an integer. shift is what is
// added to each square, so that its sum is told from that of the numbers by what was subtracted from them.
type moments struct{ low, high, middle, about, shift *big.Rat }

func momentsOf(low, high *big.Rat, whole bool) moments {
	half := big.NewRat(1, 2)
	m := moments{low: low, high: high, middle: new(big.Rat).Add(low, high), shift: new(big.Rat)}
	m.middle.Mul(m.middle, half)
	m.about = m.middle
	if whole {
		m.about = new(big.Rat).SetInt(new(big.Int).Quo(m.middle.Num(), m.middle.Denom()))
	}
	d := new(big.Rat).Sub(high, m.about)
	most := d.Mul(d, d).Mul(d, half) // what is subtracted from squares, or nearly
	if apart := new(big.Rat).Sub(most, m.middle); apart.Abs(apart).Cmp(new(big.Rat).Mul(new(big.Rat).Abs(m.middle), big.NewRat(1, 4))) <= 0 {
		m.shift = new(big.Rat).SetInt(new(big.Int).Quo(new(big.Rat).Abs(m.middle).Num(), m.middle.Denom()))
		m.shift.Add(m.shift, big.NewRat(1, 1))
	}
	return m
}

// sql are the columns of the question.
func (m moments) sql(x string) string {
	d := fmt.Sprintf("(%s - (%s))", x, exact10(m.about))
	square := d + " * " + d
	if m.shift.Sign() > 0 {
		square += " + " + exact10(m.shift)
	}
	return fmt.Sprintf("COUNT(%s), AVG(%s), AVG(%s)", x, x, square)
}

// samples are the cells' sums.
func (m moments) samples(r *released) (out []hypothesis.Sample, names []string, err error) {
	var count curator.Vector
	var sums []curator.Vector
	for _, v := range r.Vectors {
		if v.Name == "count" {
			count = v
		} else {
			sums = append(sums, v)
		}
	}
	if count.Unit == nil || len(sums) != 2 {
		return nil, nil, usage("the sums are not those that were asked for")
	}
	off := func(v curator.Vector) *big.Rat { d := new(big.Rat).Sub(v.Centre, m.middle); return d.Abs(d) }
	if off(sums[1]).Cmp(off(sums[0])) < 0 {
		sums[0], sums[1] = sums[1], sums[0]
	}
	for i, keys := range r.Cells {
		name := "all"
		if len(keys) > 0 {
			if keys[0] == nil {
				continue
			}
			name = fmt.Sprint(keys[0])
		}
		a := hypothesis.Sample{Count: noisyOf(count, i), Sum: noisyOf(sums[0], i), Squares: noisyOf(sums[1], i), HasSquares: true}
		a.Low, _ = m.low.Float64()
		a.High, _ = m.high.Float64()
		a.Centre, _ = sums[0].Centre.Float64()
		a.About, _ = m.about.Float64()
		a.SquareCentre, _ = new(big.Rat).Sub(sums[1].Centre, m.shift).Float64()
		out, names = append(out, a), append(names, name)
	}
	return out, names, nil
}

// noisyOf is a noisy number of a cell in the values' own unit.
func noisyOf(v curator.Vector, cell int) hypothesis.Noisy {
	x, _ := new(big.Rat).Mul(new(big.Rat).SetInt(v.Values[cell-v.First]), v.Unit).Float64()
	unit, _ := v.Unit.Float64()
	return hypothesis.Noisy{Value: x, Noise: v.Noise, Unit: unit}
}

// exact10 writes a number as SQL reads it, exactly: bounds are decimals, and so is their middle.
func exact10(r *big.Rat) string {
	places, _ := r.FloatPrec()
	return r.FloatString(places)
}
