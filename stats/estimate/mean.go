package estimate

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"dither/curator"
	"dither/stats/internal/request"
	"dither/stats/internal/student"
)

// Mean estimates the means of a sample's columns. By default, each mean is SQL's AVG: a noisy sum of bounded,
// centred values over a noisy count, with its interval. MethodAutomatic finds narrower bounds first.
// MethodCoinPress is for columns with loose bounds.
//
// With Population, the mean takes 80 % of the price and the variance 20 %. The interval comes from a simulation of
// both noises and of sampling.
func Mean(ctx context.Context, c *curator.Session, s Sample) (*Result, error) {
	p, err := PlanMean(ctx, c, s)
	return run(ctx, p, err)
}

// PlanMean returns the plan that Mean would carry out. It spends nothing.
func PlanMean(ctx context.Context, c *curator.Session, s Sample) (*Plan, error) {
	return planMean(ctx, c, s)
}

func planMean(ctx context.Context, k asker, s Sample) (*Plan, error) {
	if err := s.check(MethodBounded, MethodAutomatic, MethodCoinPress); err != nil {
		return nil, err
	}
	p := &Plan{Kind: "mean", Method: s.Method}
	if err := chooseMoments(k, s, p); err != nil {
		return nil, err
	}
	names := namesOf("mean", s.Columns)
	switch {
	case p.Method == MethodCoinPress:
		return pressPlan(ctx, k, s, p, false)
	case s.Population && p.Method == MethodAutomatic:
		return nil, request.Misuse("give bounds in the expression: LEAST(GREATEST(x, low), high)",
			"the automatic method does not support intervals for the population")
	case s.Population:
		return populationPlan(ctx, k, s, p, names, meanSums, meanOf)
	}
	items := make([]string, len(s.Columns))
	for i, c := range s.Columns {
		if items[i] = "AVG(" + c + ")"; p.Method == MethodAutomatic {
			items[i] = "AVG(" + c + ", bounds => auto)"
		}
	}
	return answerPlan(ctx, k, s, p, items, names)
}

// Variance estimates the variances of a sample's columns, with n − 1 in the denominator. It measures noisy counts,
// sums, and sums of squares about the middle of the bounds. The noise is that of SQL's VAR_SAMP. The intervals come
// from a simulation. They are narrower than those of VAR_SAMP, which are proved for all data. Where the policy declares the
// number of rows, Variance is VAR_SAMP, with its interval. With Population, sums of third and fourth powers measure the
// sampling error of the variance.
func Variance(ctx context.Context, c *curator.Session, s Sample) (*Result, error) {
	p, err := PlanVariance(ctx, c, s)
	return run(ctx, p, err)
}

// PlanVariance returns the plan that Variance would carry out. It spends nothing.
func PlanVariance(ctx context.Context, c *curator.Session, s Sample) (*Plan, error) {
	return planVariance(ctx, c, s)
}

func planVariance(ctx context.Context, k asker, s Sample) (*Plan, error) {
	if err := s.check(MethodBounded); err != nil {
		return nil, err
	}
	plan := func() *Plan {
		return &Plan{Kind: "variance", Method: MethodBounded, Why: "It is the only method."}
	}
	names := namesOf("variance", s.Columns)
	if s.Population {
		return populationPlan(ctx, k, s, plan(), names, varianceSums, varianceOf)
	}
	sums, err := populationPlan(ctx, k, s, plan(), names, squareSums, squareOf)
	if err != nil || sums.Replayed {
		return sums, err
	}
	if p := spreadPlan(ctx, k, s, plan(), names); p != nil {
		return p, nil
	}
	return sums, nil
}

func namesOf(what string, columns []string) []string {
	out := make([]string, len(columns))
	for i, c := range columns {
		out[i] = what + "(" + c + ")"
	}
	return out
}

// centredColumn is a column relative to the middle of its declared bounds.
type centredColumn struct {
	sql       string // the column minus its middle
	middle    float64
	low, high float64 // bounds of the column itself
}

func centredOn(column string, low, high float64) centredColumn {
	m := low + (high-low)/2
	out := centredColumn{sql: "(" + column + ")", middle: m, low: low, high: high}
	if m != 0 {
		out.sql = "(" + column + " - (" + sqlNumber(m) + "))"
	}
	return out
}

// sqlNumber returns the shortest decimal that parses to the double x.
func sqlNumber(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// populationSums returns the vector sums that a plan measures for its columns.
type populationSums func(columns []centredColumn) curator.Vectors

// populationValue computes one column's estimate from the sums of a cell. It returns the value, the standard
// deviation of its sampling error, and the least and the greatest possible value.
type populationValue func(v *vectorSums, column int, of centredColumn) (value, sampling, least, most float64)

// meanSums spends 80 % of the price on counts and sums, and 20 % on squares.
func meanSums(columns []centredColumn) (v curator.Vectors) {
	v.Sums = []curator.Sum{curator.Count().Weighing(strconv.Itoa(4 * len(columns)))}
	for i := range columns {
		v.Blocks = append(v.Blocks, curator.Block{Size: 1, Norm: curator.L2})
		v.Sums = append(v.Sums, curator.First(i).Weighing("4"), curator.Product(i, i).Weighing("2"))
	}
	return v
}

func meanOf(v *vectorSums, column int, of centredColumn) (value, sampling, least, most float64) {
	if v.count < 2 {
		return math.NaN(), math.NaN(), of.low, of.high
	}
	m := v.first[column][0] / v.count
	variance := v.products[column][0][0]/v.count - m*m
	return of.middle + m, math.Sqrt(math.Max(variance, 0) / (v.count - 1)), of.low, of.high
}

// squareSums spends equal shares on counts, sums and squares. Each square is taken relative to the middle of its
// range, which halves its noise.
func squareSums(columns []centredColumn) (v curator.Vectors) {
	v.Sums = []curator.Sum{curator.Count().Weighing(strconv.Itoa(len(columns)))}
	for i := range columns {
		v.Blocks = append(v.Blocks, curator.Block{Size: 1, Norm: curator.L2}, curator.Block{Size: 1, Norm: curator.L2})
		v.Sums = append(v.Sums, curator.First(2*i), curator.First(2*i+1))
	}
	return v
}

// square returns the SQL of a column's square relative to the middle of its range. The square lies between 0 and
// the square of half the column's width.
func (c centredColumn) square() string {
	most := c.mostSquare()
	return "LEAST(GREATEST(" + c.sql + " * " + c.sql + ", 0.0), " + sqlNumber(most) + "::real) - " +
		sqlNumber(most/2) + "::real"
}

func (c centredColumn) mostSquare() float64 { return (c.high - c.low) / 2 * (c.high - c.low) / 2 }

func squareOf(v *vectorSums, column int, of centredColumn) (value, sampling, least, most float64) {
	if v.count < 2 {
		return math.NaN(), 0, 0, mostVariance(v, of)
	}
	m, squares := v.first[2*column][0]/v.count, v.first[2*column+1][0]/v.count+of.mostSquare()/2
	return (squares - m*m) * v.count / (v.count - 1), 0, 0, mostVariance(v, of)
}

// mostVariance returns the largest variance of values within the bounds: half of the values are at each end. With n
// − 1 in the denominator it is larger for fewer rows, so it uses the noisy count minus six standard deviations.
func mostVariance(v *vectorSums, of centredColumn) float64 {
	half, n := (of.high-of.low)/2, math.Max(v.count-6*v.law.count.deviation, 2)
	return half * half * n / (n - 1)
}

// varianceSums adds to the squares the sums from which the fourth central moment is computed.
func varianceSums(columns []centredColumn) (v curator.Vectors) {
	k := len(columns)
	v.Sums = []curator.Sum{curator.Count().Weighing(strconv.Itoa(2 * k))}
	for i := range columns {
		v.Blocks = append(v.Blocks, curator.Block{Size: 1, Norm: curator.L2}, curator.Block{Size: 1, Norm: curator.L2})
		v.Sums = append(v.Sums, curator.First(2*i).Weighing("2"), curator.Product(2*i, 2*i).Weighing("4"),
			curator.Product(2*i, 2*i+1), curator.Product(2*i+1, 2*i+1))
	}
	return v
}

func varianceOf(v *vectorSums, column int, of centredColumn) (value, sampling, least, most float64) {
	least, most = 0, mostVariance(v, of)
	if v.count < 2 {
		return math.NaN(), math.NaN(), least, most
	}
	n, at := v.count, 3*column
	m := v.first[column][0] / n
	e2, e3, e4 := v.products[at][0][0]/n, v.products[at+1][0][0]/n, v.products[at+2][0][0]/n
	second := e2 - m*m
	fourth := e4 - 4*m*e3 + 6*m*m*e2 - 3*m*m*m*m
	return second * n / (n - 1), math.Sqrt(math.Max(fourth-second*second, 0) / n), least, most
}

// populationPlan plans an estimate that measures vector sums of the columns and simulates its intervals.
func populationPlan(
	ctx context.Context, k asker, s Sample, p *Plan, names []string, sums populationSums, of populationValue,
) (*Plan, error) {
	t, err := s.declaredTable(k)
	if err != nil {
		return nil, err
	}
	confidence := s.Confidence
	alpha, err := request.Confidence(&confidence)
	if err != nil {
		return nil, err
	}
	columns := make([]centredColumn, len(s.Columns))
	var coordinates []string
	for i, c := range s.Columns {
		low, high, err := s.rangeOf(ctx, k, t, c)
		if err != nil {
			return nil, err
		}
		columns[i] = centredOn(c, low, high)
		coordinates = append(coordinates, columns[i].sql)
		switch {
		case p.Kind == "variance" && s.Population:
			coordinates = append(coordinates, columns[i].sql+" * "+columns[i].sql)
		case p.Kind == "variance":
			coordinates = append(coordinates, columns[i].square())
		}
	}
	v := sums(columns)
	v.Request = s.requesting(s.sql(false, coordinates...))
	if v, err = uncounted(ctx, k, v); err != nil {
		return nil, err
	}
	if err := momentsLook(ctx, k, s, p, v); err != nil {
		return nil, err
	}
	about := "Intervals are simulated from the releases, for the population of the bounded values. With few rows, or with " +
		"rare outliers, they hold less often than stated."
	if !s.Population {
		about = "Intervals are simulated from the releases."
	}
	p.Notes = append(p.Notes, about)
	if len(s.Columns) > 1 {
		p.Notes = append(p.Notes, "Rows with NULL in one of the columns do not count.")
	}
	p.measures(k, s, v, confidence, func(out *Result, sums *vectorSums, keys []any) {
		out.Values = append(out.Values,
			simulated(sums, columns, names, keys, alpha, productSymmetric(v), s.Population, of)...)
		if sums.count < 2 {
			out.Notes = append(out.Notes, tooFew(sums, keys))
		}
	})
	return p, nil
}

// tooFew says that the rows of a cell are too few for an estimate.
func tooFew(sums *vectorSums, keys []any) string {
	what := "noisy count"
	if sums.law.count.deviation == 0 {
		what = "declared number"
	}
	return fmt.Sprintf("The %s of rows %sis %s: there is no estimate.", what, groupWords(keys), shortNumber(sums.count))
}

// measures sets the plan's run to one measurement of the vectors v. tell adds the estimates of each cell to the
// result.
func (p *Plan) measures(
	k asker, s Sample, v curator.Vectors, confidence string, tell func(out *Result, sums *vectorSums, keys []any),
) {
	p.Confidence = confidence
	p.run = func(ctx context.Context) (*Result, error) {
		m, err := k.Moments(ctx, v)
		if err != nil {
			return nil, err
		}
		out := ofMoments(s, m, confidence)
		for cell, keys := range m.Cells {
			if !m.Possible.Has(cell) { // WHERE leaves no row in this group
				continue
			}
			sums := sumsOfCell(m, v, cell)
			tell(out, &sums, keys)
		}
		return out, nil
	}
}

// simulated returns the estimates of one cell with simulated intervals. The sampling error of a draw uses the
// larger of two standard deviations: the draw's and the estimate's. A draw's noisy variance may be truncated at 0,
// which makes its root too small too often. The larger one makes the interval somewhat too wide rather than too
// narrow.
func simulated(
	v *vectorSums, columns []centredColumn, names []string, keys []any, alpha float64, symmetric func(int) bool,
	sampling bool, of populationValue,
) (out []Value) {
	draws, told := newSpreads(len(columns), alpha), make([]float64, len(columns))
	for i, c := range columns {
		_, told[i], _, _ = of(v, i, c)
	}
	s, d := newSimulator(), v.room()
	for range drawsFor(alpha) {
		v.drawn(s, symmetric, d)
		for i, c := range columns {
			value, varies, _, _ := of(d, i, c)
			if sampling {
				value += student.FromNormal(s.normal(), v.count) * math.Max(varies, told[i])
			}
			draws[i].add(value)
		}
	}
	for i, c := range columns {
		value, _, least, most := of(v, i, c)
		out = append(out, fromDraws(names[i], keys, value, draws[i], least, most))
	}
	return out
}

// productSymmetric returns a function that reports whether one of v's sums of products ([curator.Product]) multiplies a
// block of coordinates by itself, so that its matrix is symmetric. The argument of the function is the index of the sum
// among v's sums of products.
func productSymmetric(v curator.Vectors) func(int) bool {
	var is []bool
	for _, s := range v.Sums {
		if s.Kind == curator.Product(0, 0).Kind {
			is = append(is, s.I == s.J)
		}
	}
	return func(product int) bool { return is[product] }
}

// groupWords names a group in a note, with a space after it. It returns nothing if there is only one.
func groupWords(keys []any) string {
	if len(keys) == 0 {
		return ""
	}
	var names []string
	for _, k := range keys {
		if k == nil {
			k = "NULL"
		}
		names = append(names, fmt.Sprint(k))
	}
	return "of group " + strings.Join(names, " · ") + " "
}

// momentsLook explains the single access of a plan and enters it in the plan.
func momentsLook(ctx context.Context, k asker, s Sample, p *Plan, v curator.Vectors) error {
	e, err := k.ExplainMoments(ctx, v)
	if err != nil {
		return err
	}
	if err := s.grouped(len(e.Cells)); err != nil {
		return err
	}
	look := Access{SQL: v.SQL, What: "sums of vectors", Price: e.Price}
	for i, sum := range e.Sums {
		if i > 0 {
			look.Expected += "; "
		}
		look.Expected += fmt.Sprintf("%s: noise of standard deviation %s",
			sum.Name, shortNumber(noiseLawOf(sum.Noise, sum.Unit).deviation))
	}
	p.Accesses, p.Price, p.Remaining = []Access{look}, e.Price, e.Remaining
	p.Affordable, p.Replayed, p.Notes = e.Affordable, e.Replayed, append(p.Notes, e.Notes...)
	p.notesUnits(e, v)
	p.dependent = s.Population && request.ManyRows(e.Unit)
	return nil
}

const dependentNote = "A person may have several rows, but the sampling part of an interval assumes that rows are " +
	"independent."

// ofMoments returns a result for a release, without estimates yet.
func ofMoments(s Sample, m *curator.Moments, confidence string) *Result {
	return &Result{
		Keys: s.By, Confidence: confidence, Population: s.Population, Releases: []string{m.ID},
		Price:  []curator.Loss{m.Price},
		Limits: m.Limits, Remaining: m.Remaining, Replayed: m.Replayed,
	}
}
