package statistics

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"dither/curator"
	"dither/hypothesis"
	"dither/internal/cli/console"
	"dither/internal/cli/render"
	"dither/noise"
)

// sampleFlags are the flags for the published numbers of samples.
var sampleFlags = []string{
	"counts", "sums", "squares", "count-sigma", "count-scale", "sum-sigma", "sum-scale", "square-sigma", "square-scale",
	"bounds", "centre",
}

// runMeans tests one mean, or the difference of two, from noisy counts and sums.
func runMeans(s *console.Console, o *testOptions) error {
	home, err := o.fromHome(sampleFlags...)
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
	if c.Seed, err = o.seed(); err != nil {
		return err
	}
	switch {
	case o.given["paired"] && (!home || o.given["release"] || o.given["by"]):
		return console.Usage(
			"--paired needs --table, and excludes --by and --release; for published numbers, give the sums of the " +
				"differences")
	case o.given["release"]:
		return measure(s, o, "", nil, func(r *released) error {
			samples, names, err := releasedSamples(r)
			if err != nil {
				return err
			}
			return compared(s, o, samples, names, c, r)
		})
	case home:
		return meansAtHome(s, o, c)
	}
	samples, err := o.samples()
	if err != nil {
		return err
	}
	return compared(s, o, samples, []string{"1", "2"}, c, nil)
}

// samples parses the numbers of samples.
func (o *testOptions) samples() ([]hypothesis.Sample, error) {
	for _, name := range []string{"counts", "sums", "bounds"} {
		if !o.given[name] {
			return nil, console.Usage(
				"test %s needs --counts, --sums and --bounds, one number for each sample; or --table and --column", o.kind)
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
	if len(sums) != len(counts) || squares != nil && len(squares) != len(counts) || len(bounds) != 2 {
		return nil, console.Usage(
			"give a count, a sum and optionally a sum of squares for each sample, and --bounds such as 0,100")
	}
	var noises [3]noise.Distribution
	for i, name := range []string{"count", "sum", "square"} {
		if !o.given[name+"-sigma"] && !o.given[name+"-scale"] {
			if name == "sum" {
				return nil, console.Usage("give the noise of the sums by --sum-sigma or --sum-scale")
			}
			continue // counts may be public, and squares are optional
		}
		if noises[i], err = o.noiseFrom(name+"-sigma", name+"-scale"); err != nil {
			return nil, err
		}
	}
	centre, err := o.number("centre", 0)
	if err != nil {
		return nil, err
	}
	out := make([]hypothesis.Sample, len(counts))
	for i := range out {
		out[i] = hypothesis.Sample{
			Low: bounds[0], High: bounds[1], Centre: centre, About: centre,
			HasSquares: squares != nil,
		}
		out[i].Count, out[i].Sum = hypothesis.Noisy{Value: counts[i], Noise: noises[0]},
			hypothesis.Noisy{Value: sums[i], Noise: noises[1]}
		if squares != nil {
			out[i].Squares = hypothesis.Noisy{Value: squares[i], Noise: noises[2]}
		}
	}
	return out, nil
}

// compared shows the test of one sample's mean, or of the difference of two.
func compared(
	s *console.Console, o *testOptions, samples []hypothesis.Sample, names []string, c hypothesis.Comparison,
	r *released,
) error {
	if len(samples) == 0 || len(samples) > 2 {
		return console.Usage(
			"test means compares two groups, not %d; select two groups by --where, or by a column of two values",
			len(samples))
	}
	var t *hypothesis.Test
	var err error
	out := tested{release: r}
	if len(samples) == 1 {
		out.about, out.estimated = fmt.Sprintf("Is the mean %s? From a noisy sum.", render.Number6(c.Null)), "mean"
		t, err = hypothesis.Mean(samples[0], c)
	} else {
		out.about, out.estimated = fmt.Sprintf("Do the means of %s and %s differ by %s? From noisy sums.",
			names[0], names[1], render.Number6(c.Null)), "difference"
		t, err = hypothesis.Means(samples[0], samples[1], c)
	}
	if err != nil {
		return err
	}
	out.header, out.rows = sampleRows(samples, names)
	o.seeded(t)
	out.Test = t
	return showTest(s, out)
}

// meansAtHome measures the count, the sum and the sum of squares of a column, for all rows or for the two groups of
// another column.
func meansAtHome(s *console.Console, o *testOptions, c hypothesis.Comparison) error {
	x, low, high, err := bounded(s, o, o.get("column"))
	if err != nil {
		return err
	}
	if o.given["paired"] { // compute the bounds of the difference
		y, lowest, highest, err := bounded(s, o, o.get("paired"))
		if err != nil {
			return err
		}
		x, low, high = "("+x+" - "+y+")", low.Sub(low, highest), high.Sub(high, lowest)
	}
	m := momentsOf(low, high)
	var by []string
	if o.given["by"] {
		by = append(by, o.get("by"))
	} else if err := m.uncounted(s, o, x); err != nil {
		return err
	}
	try := func(cells int) error {
		if cells > 3 { // two groups, and possibly one for NULL
			return console.Usage(
				"test means compares two groups, not %d; select two groups by --where, or by a column of two values",
				cells)
		}
		law, err := noise.NewDiscreteGaussian(big.NewRat(1, 1))
		if err != nil {
			return err
		}
		a := m.madeUp(law)
		if len(by) > 0 {
			_, err = hypothesis.Means(a, a, c)
		} else {
			_, err = hypothesis.Mean(a, c)
		}
		return err
	}
	return measure(s, o, o.groupedBy(m.sql(x), by...), try, func(r *released) error {
		samples, names, err := m.samples(r)
		if err != nil {
			return err
		}
		return compared(s, o, samples, names, c, r)
	})
}

// bounded returns the SQL and the bounds of a numeric column.
func bounded(s *console.Console, o *testOptions, name string) (sql string, low, high *big.Rat, err error) {
	column, err := columnOf(s, o.get("table"), name)
	if err != nil {
		return "", nil, nil, err
	}
	low, okLow := new(big.Rat).SetString(column.Lower)
	high, okHigh := new(big.Rat).SetString(column.Upper)
	if !okLow || !okHigh || low.Cmp(high) >= 0 {
		return "", nil, nil,
			console.Usage(
				"this test needs a number with bounds, the lower below the upper, and the policy does not declare "+
					"them for %s of table %s",
				name, o.get("table"))
	}
	return curator.SQLName(column.Name), low, high, nil
}

// moments are the sums from which a mean and its variance are computed. Values are taken relative to the middle of
// their bounds, and their squares relative to half of the largest square, which minimises the noise. The noise on
// the mean comes from the sum. It also comes from the count, in proportion to the distance between the mean and the
// middle. The squares determine only the variance. The sum therefore gets the largest share of the price, and the
// squares the smallest.
//
// rows is the number of rows if it is public, and else 0: then it is not counted, and the sums get the whole price.
type moments struct {
	low, high, middle, square *big.Rat
	rows                      int64
}

// Weights by which the measurements share the price.
const countWeight, sumWeight, squareWeight = 8, 10, 3

func momentsOf(low, high *big.Rat) moments {
	half := big.NewRat(1, 2)
	m := moments{low: low, high: high, middle: new(big.Rat).Add(low, high)}
	m.middle.Mul(m.middle, half)
	d := new(big.Rat).Sub(high, m.middle)
	m.square = d.Mul(d, d).Mul(d, half)
	return m
}

// uncounted leaves the count out if the number of rows is public. A test that was paid with its count keeps it, and is free.
func (m *moments) uncounted(s *console.Console, o *testOptions, x string) error {
	rows, err := o.publicRows(s, x)
	if err != nil || rows == 0 {
		return err
	}
	q := o.question()
	q.SQL = o.groupedBy(m.sql(x))
	return s.Asking(func(c *curator.Session) error {
		if e, err := c.Explain(s.Context(), q); err != nil || !e.Replayed {
			m.rows = rows
		}
		return nil
	})
}

// sql returns the items of a SELECT that measures the moments of the expression x.
func (m moments) sql(x string) string {
	d := fmt.Sprintf("(%s - (%s))", x, exact10(m.middle))
	sums := fmt.Sprintf("SUM%s, SUM(%s * %s - %s, weight => %d)",
		strings.TrimSuffix(d, ")")+fmt.Sprintf(", weight => %d)", sumWeight), d, d, exact10(m.square), squareWeight)
	if m.rows > 0 { // a constant, which --explain states
		return "COUNT(" + x + "), " + sums
	}
	return fmt.Sprintf("COUNT(%s, weight => %d), ", x, countWeight) + sums
}

// madeUp returns a sample that no rows decide, to try a test before anything is paid.
func (m moments) madeUp(law noise.Distribution) hypothesis.Sample {
	a := hypothesis.Sample{Count: hypothesis.Noisy{Value: 1000}, Sum: hypothesis.Noisy{Noise: law}}
	if m.rows > 0 {
		a.Count.Value = float64(m.rows)
	}
	a.Low, _ = m.low.Float64()
	a.High, _ = m.high.Float64()
	a.Centre, _ = m.middle.Float64()
	return a
}

// samples returns one sample for each group of a release, and the groups' names.
func (m moments) samples(r *released) (out []hypothesis.Sample, names []string, err error) {
	var count, sum, squares curator.Vector
	for _, v := range r.Vectors {
		switch {
		case v.Name == "count":
			count = v
		case squaredIn(v.Of):
			squares = v
		default:
			sum = v
		}
	}
	want := 3
	if m.rows > 0 {
		want = 2
	}
	if len(r.Vectors) != want || (count.Unit == nil) != (m.rows > 0) || sum.Unit == nil || squares.Unit == nil {
		return nil, nil, console.Usage("the release does not contain the requested sums")
	}
	group := r.groups()
	for i, keys := range r.Cells {
		name := "all"
		if len(keys) > 0 {
			if keys[0] == nil || !group[i] {
				continue
			}
			name = fmt.Sprint(keys[0])
		}
		a := hypothesis.Sample{
			Count: countOf(count, i, m.rows), Sum: noisyOf(sum, i), Squares: noisyOf(squares, i), HasSquares: true,
		}
		a.Low, _ = m.low.Float64()
		a.High, _ = m.high.Float64()
		a.Centre, _ = m.middle.Float64()
		a.About = a.Centre
		a.SquareCentre, _ = m.square.Float64()
		out, names = append(out, a), append(names, name)
	}
	return out, names, nil
}

// releasedMoments returns the moments that a release has, if it is that of a test of means of one expression, by
// [moments.sql]. ok is false if it has other numbers.
func releasedMoments(r *released) (m moments, ok bool) {
	var of, sum, squares string
	var bounds [2]*big.Rat
	var rows int64
	for _, v := range r.Vectors {
		switch {
		case v.First != 0 || len(v.Values) != len(r.Cells):
			return m, false
		case v.Name == "count":
			of = v.Of
		case squaredIn(v.Of):
			squares = v.Of
		default:
			sum, bounds, rows = v.Of, v.Bounds, v.Rows
		}
	}
	want := 3
	switch {
	case of != "":
		rows = 0
	case rows > 0: // the number of rows is public
		want, of = 2, strings.TrimPrefix(sum[:max(0, strings.LastIndexByte(sum, ' '))], "(sub ")
	}
	rest, isSum := strings.CutPrefix(sum, "(sub "+of+" ")
	if !isSum { // whole numbers, whose middle is none
		rest, isSum = strings.CutPrefix(sum, "(sub (to_real "+of+") ")
	}
	middle := constantOf(strings.TrimSuffix(rest, ")"))
	if len(r.Vectors) != want || len(r.Grouped) > 1 || of == "" || squares == "" || !isSum || middle == nil || bounds[0] == nil {
		return m, false
	}
	m = momentsOf(new(big.Rat).Add(bounds[0], middle), new(big.Rat).Add(bounds[1], middle))
	m.rows = rows
	product := "(mul " + sum + " " + sum + ")"
	for _, left := range []string{product, "(to_real " + product + ")"} {
		rest, isSquare := strings.CutPrefix(squares, "(sub "+left+" ")
		if c := constantOf(strings.TrimSuffix(rest, ")")); isSquare && c != nil {
			return m, c.Cmp(m.square) == 0 && middle.Cmp(m.middle) == 0
		}
	}
	return m, false
}

// squaredIn reports whether an expression is a square less a constant, as [moments.sql] has it.
func squaredIn(of string) bool {
	return strings.HasPrefix(of, "(sub (mul ") || strings.HasPrefix(of, "(sub (to_real (mul ")
}

// constantOf returns the number of a constant in the notation of plans, or nil.
func constantOf(notation string) *big.Rat {
	_, quoted, typed := strings.Cut(notation, ":")
	text, err := strconv.Unquote(quoted)
	x, ok := new(big.Rat).SetString(text)
	if !typed || err != nil || !ok {
		return nil
	}
	return x
}

// releasedSamples returns the samples of an earlier release of a test of means, or of counts and sums of one expression, such as COUNT(x)
// with AVG(x) or SUM(x). The release may also contain squares, as of VAR_SAMP(x). A VAR_SAMP(x) over declared units alone has no
// sum.
func releasedSamples(r *released) (out []hypothesis.Sample, names []string, err error) {
	if m, ok := releasedMoments(r); ok {
		return m.samples(r)
	}
	var counts, sums, squares []curator.Vector
	spread := false // a variance as one number
	for _, v := range r.Vectors {
		switch {
		case v.Name == "count":
			counts = append(counts, v)
		case v.Name == "distinct", v.Name == "distinct sum": // of values, rather than of rows
		case v.Name == "spread": // of pairs
			spread = true
		case strings.HasPrefix(v.Of, "(mul "):
			squares = append(squares, v)
		default:
			sums = append(sums, v)
		}
	}
	// drop COUNT(*), which counts NULLs too
	counts = slices.DeleteFunc(counts, func(v curator.Vector) bool { return len(sums) == 1 && v.Of != sums[0].Of })
	var count curator.Vector
	var rows int64
	switch {
	case len(counts) == 1:
		count = counts[0]
	case len(counts) == 0 && len(sums) == 1: // unless their number is public, this is 0
		rows = sums[0].Rows
	}
	fits := (count.Unit != nil || rows > 0) && len(sums) == 1 && len(squares) <= 1
	for _, v := range slices.Concat(counts, sums, squares) {
		fits = fits && v.First == 0 && len(v.Values) == len(r.Cells)
	}
	about := 0.0
	if fits && len(squares) == 1 {
		about, fits = squaredAbout(squares[0].Of, sums[0].Of)
	}
	switch {
	case spread && len(sums) == 0:
		return nil, nil, console.Usage(
			"this release has a variance of all rows as one number, without a sum; this test needs a release of AVG(x), or of AVG(x) " +
				"and VAR_SAMP(x) in one question")
	case !fits:
		return nil, nil, console.Usage(
			"this test needs a release of test means or test anova, of AVG(x), of COUNT(x) and SUM(x), or of VAR_SAMP(x), without " +
				"groups or by one column")
	}
	group := r.groups()
	for i, keys := range r.Cells {
		name := "all"
		switch {
		case len(keys) > 1:
			return nil, nil, console.Usage("this test supports groups by one column only")
		case len(keys) == 1 && (keys[0] == nil || !group[i]):
			continue
		case len(keys) == 1:
			name = fmt.Sprint(keys[0])
		}
		a := hypothesis.Sample{Count: countOf(count, i, rows), Sum: noisyOf(sums[0], i), HasSquares: len(squares) == 1}
		a.Low, _ = sums[0].Bounds[0].Float64()
		a.High, _ = sums[0].Bounds[1].Float64()
		a.Centre, _ = sums[0].Centre.Float64()
		if a.HasSquares {
			a.Squares, a.About = noisyOf(squares[0], i), about
			a.SquareCentre, _ = squares[0].Centre.Float64()
		}
		out, names = append(out, a), append(names, name)
	}
	return out, names, nil
}

// squaredAbout returns the number that is subtracted from an expression before it is squared, as in VAR_SAMP. ok is
// false if square is not such a square.
func squaredAbout(square, of string) (about float64, ok bool) {
	if square == "(mul "+of+" "+of+")" {
		return 0, true
	}
	rest, ok := strings.CutPrefix(square, "(mul (sub "+of+" ")
	number, _, closed := strings.Cut(rest, ")")
	_, quoted, typed := strings.Cut(number, ":")
	text, err := strconv.Unquote(quoted)
	if !ok || !closed || !typed || err != nil || square != "(mul (sub "+of+" "+number+") (sub "+of+" "+number+"))" {
		return 0, false
	}
	about, err = strconv.ParseFloat(text, 64)
	return about, err == nil
}

// countOf returns the count of a cell: the declared number of rows, or the noisy one of v if that is 0.
func countOf(v curator.Vector, cell int, rows int64) hypothesis.Noisy {
	if rows > 0 {
		return hypothesis.Noisy{Value: float64(rows)}
	}
	return noisyOf(v, cell)
}

// noisyOf returns the noisy number of a cell, in the unit of the values.
func noisyOf(v curator.Vector, cell int) hypothesis.Noisy {
	x, _ := new(big.Rat).Mul(new(big.Rat).SetInt(v.Values[cell-v.First]), v.Unit).Float64()
	unit, _ := v.Unit.Float64()
	return hypothesis.Noisy{Value: x, Noise: v.Noise, Unit: unit}
}

// exact10 writes a number as an exact decimal for SQL. Bounds are decimals, so their middle is a decimal too.
func exact10(r *big.Rat) string {
	places, _ := r.FloatPrec()
	return r.FloatString(places)
}
