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
	return s.compared(samples, []string{"1", "2"}, c, nil)
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
		out[i] = hypothesis.Sample{Count: counts[i], Sum: sums[i], Low: bounds[0], High: bounds[1], CountNoise: noises[0], SumNoise: noises[1], SquareNoise: noises[2]}
		if squares != nil {
			out[i].Squares, out[i].HasSquares = squares[i], true
		}
	}
	return out, nil
}

// compared shows the test of the mean of one sample, or of two samples.
func (s *session) compared(samples []hypothesis.Sample, names []string, c hypothesis.Comparison, r *released) error {
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
		if a.Count > 0 {
			mean = number6(a.Centre + a.Sum/a.Count)
		}
		out.rows = append(out.rows, []string{names[i], number6(a.Count), mean})
	}
	out.Test = t
	return s.showTest(out)
}

// meansAtHome asks for the count, the sum and the sum of squares of a column, each about the middle of its bounds: of all rows, or
// of the two groups of another column.
func (s *session) meansAtHome(o *testOptions, c hypothesis.Comparison) error {
	var low, high *big.Rat
	err := s.with(func(home *curator.Curator) error {
		tables, err := home.Tables()
		if err != nil {
			return err
		}
		for _, t := range tables {
			for _, column := range t.Columns {
				if t.Name != o.get("table") || column.Name != o.get("column") || column.Lower == "" {
					continue
				}
				l, okLow := new(big.Rat).SetString(column.Lower)
				h, okHigh := new(big.Rat).SetString(column.Upper)
				if okLow && okHigh && l.Cmp(h) < 0 {
					low, high = l, h
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if low == nil {
		return usage("there is no column %s of numbers with bounds in table %s: its bounds, in the policy, are what noise is made for", o.get("column"), o.get("table"))
	}
	middle := new(big.Rat).Add(low, high)
	middle.Quo(middle, big.NewRat(2, 1))
	x := curator.SQLName(o.get("column"))
	d := fmt.Sprintf("(%s - %s)", x, exact10(middle))
	var by []string
	if o.given["by"] {
		by = append(by, o.get("by"))
	}
	sql := o.groupedBy(fmt.Sprintf("COUNT(%s), SUM%s, SUM(%s * %s)", x, d, d, d), by...)
	return s.measure(o, sql, func(r *released) error {
		var samples []hypothesis.Sample
		var names []string
		count, sum, square, ok := threeVectors(r.Vectors, low, high)
		if !ok {
			return usage("the sums are not those that were asked for")
		}
		for i, keys := range r.Cells {
			name := "all"
			if len(keys) > 0 {
				if keys[0] == nil {
					continue
				}
				name = fmt.Sprint(keys[0])
			}
			a := hypothesis.Sample{HasSquares: true, CountNoise: count.Noise, SumNoise: sum.Noise, SquareNoise: square.Noise}
			a.Centre, _ = middle.Float64()
			a.Low, _ = low.Float64()
			a.High, _ = high.Float64()
			a.SumUnit, _ = sum.Unit.Float64()
			a.SquareUnit, _ = square.Unit.Float64()
			a.SquareCentre, _ = square.Centre.Float64()
			a.Count, a.Sum, a.Squares = valueOf(count, i), valueOf(sum, i), valueOf(square, i)
			samples, names = append(samples, a), append(names, name)
		}
		if len(samples) == 0 || len(samples) > 2 {
			return usage("test means compares two groups, and --by has %d; --where and a column of two values select them", len(samples))
		}
		return s.compared(samples, names, c, r)
	})
}

// threeVectors tells apart a count, and the sums of numbers and of their squares about the middle: by their units and centres, which are
// functions of the bounds.
func threeVectors(v []curator.Vector, low, high *big.Rat) (count, sum, square curator.Vector, ok bool) {
	if len(v) != 3 {
		return
	}
	var sums []curator.Vector
	for _, x := range v {
		if x.Name == "count" {
			count = x
		} else {
			sums = append(sums, x)
		}
	}
	if len(sums) != 2 || count.Unit == nil {
		return
	}
	// The centre of numbers about their middle is 0, of their squares the middle of 0 and the largest.
	if sums[0].Centre.Sign() != 0 {
		sums[0], sums[1] = sums[1], sums[0]
	}
	return count, sums[0], sums[1], sums[0].Centre.Sign() == 0
}

// valueOf is a noisy number of a cell in the values' own unit.
func valueOf(v curator.Vector, cell int) float64 {
	x, _ := new(big.Rat).Mul(new(big.Rat).SetInt(v.Values[cell-v.First]), v.Unit).Float64()
	return x
}

// exact10 writes a number as SQL reads it, exactly: bounds are decimals, and so is their middle.
func exact10(r *big.Rat) string {
	places, _ := r.FloatPrec()
	return r.FloatString(places)
}
