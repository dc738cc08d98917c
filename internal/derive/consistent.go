package derive

import (
	"cmp"
	"math"
	"math/big"
	"slices"
	"strconv"

	"dither/internal/exact"
	"dither/internal/plan"
	"dither/internal/value"
	"dither/noise"
)

// fitted is one measure over the cells of a table, where each cell is estimated from several noisy numbers. The
// estimate of cell i is values[i]/denominator, in grid units.
type fitted struct {
	*released   // the measure, for its grid and units
	values      []*big.Int
	denominator *big.Int
	laws        []*noise.Combination // the distribution of each cell's error, or one for all cells
	direct      bool                 // the values are released numbers, with integer noise
	whole       []*big.Int           // if set, consistent non-negative integers that are shown in place of the values
	// later computes the fields values and denominator. It is nil once they are computed. Forecasts need only the
	// distributions of the errors, the field laws.
	later func() ([]*big.Int, *big.Int)
}

// settle computes the fields values and denominator if that has not been done.
func (f *fitted) settle() {
	if f.later != nil {
		f.values, f.denominator = f.later()
		f.later = nil
	}
}

// rat returns the estimate of cell i in the measure's own unit.
func (f *fitted) rat(i int) *big.Rat {
	x := new(big.Rat).SetFrac(f.values[i], f.denominator)
	return x.Mul(x, f.Unit())
}

// law returns the distribution of the error of cell i, in grid units.
func (f *fitted) law(i int) *noise.Combination {
	if len(f.laws) == 1 {
		return f.laws[0]
	}
	return f.laws[i]
}

// widest returns the distribution with the largest variance among the distributions of the cells' errors.
func (f *fitted) widest() *noise.Combination {
	return slices.MaxFunc(f.laws, func(a, b *noise.Combination) int { return cmp.Compare(a.Variance(), b.Variance()) })
}

// variance returns the mean variance over the cells, in squared grid units.
func (f *fitted) variance() float64 {
	sum := 0.0
	for _, law := range f.laws {
		sum += law.Variance() / float64(len(f.laws))
	}
	return sum
}

// reachOf returns a distance, in the measure's own unit. The estimate of cell i is within this distance of the true
// sum with probability at least 1 − alpha.
func (f *fitted) reachOf(i int, alpha float64) *big.Rat { return f.reachUnder(f.law(i), alpha) }

func (f *fitted) reachUnder(law *noise.Combination, alpha float64) *big.Rat {
	q := law.Quantile(alpha)
	if f.direct { // the error is an integer, so rounding down keeps the probability
		q = math.Floor(q)
	}
	r := new(big.Rat).SetFloat64(q)
	if r == nil { // no quantile is known
		r = new(big.Rat).SetFloat64(math.MaxFloat64)
	}
	r.Add(r, new(big.Rat).SetInt(f.Rounding))
	return r.Mul(r, f.Unit())
}

func (f *fitted) estimateOf(i int, alpha float64) Estimate {
	x := f.rat(i)
	e := Estimate{StdDev: math.NaN(), Interval: everything}
	e.Value, _ = x.Float64()
	if alpha > 0 {
		r := f.reachOf(i, alpha)
		e.StdDev = f.law(i).StdDev() * f.unit
		e.Interval = around(new(big.Rat).Sub(x, r), new(big.Rat).Add(x, r))
		if f.direct && f.whole == nil { // counts with integer noise
			e.WholeLow, e.WholeHigh = new(big.Rat).Sub(x, r).Num(), new(big.Rat).Add(x, r).Num()
		}
	}
	switch {
	case f.whole != nil:
		e.Whole = f.whole[i]
		e.Value, _ = new(big.Float).SetInt(e.Whole).Float64()
	case f.direct:
		e.Whole = f.values[i]
	}
	return e
}

// averageOf computes AVG from an estimated centred sum and an estimated count. Their intervals, each at level
// alpha/2, hold together with probability at least 1 − alpha (Bonferroni). The interval of the quotient is the hull
// of all quotients that these intervals allow with a count above 0, within the bounds. If the estimated count is
// not positive, the value is NULL and the interval is the bounds.
func averageOf(s, n *fitted, i int, alpha float64, agg plan.Aggregate) Estimate {
	a := &average{sum: s.released, bounds: Interval{agg.Lo, agg.Hi}}
	e := Estimate{StdDev: math.NaN(), Interval: a.bounds}
	count := n.rat(i)
	if count.Sign() <= 0 {
		e.Null = true
		return e
	}
	theta := new(big.Rat).SetFrac(s.values[i], s.denominator)
	centred, _ := theta.Quo(theta, count).Float64()
	e.Value = math.Min(math.Max(a.value(centred), agg.Lo), agg.Hi)
	if alpha == 0 {
		return e
	}
	sum, reach := s.rat(i), s.reachOf(i, alpha/2)
	low, high := new(big.Rat).Sub(sum, reach), new(big.Rat).Add(sum, reach)
	reach = n.reachOf(i, alpha/2)
	least, most := new(big.Rat).Sub(count, reach), new(big.Rat).Add(count, reach)
	centre := s.Units(new(big.Int).SetInt64(s.Centre))
	end := func(x *big.Rat, lower bool) *big.Rat {
		// end returns the extreme value of x/n over the allowed counts n, or nil if it is unbounded
		if (x.Sign() < 0) == lower {
			if least.Sign() <= 0 {
				return nil
			}
			return new(big.Rat).Quo(x, least)
		}
		return new(big.Rat).Quo(x, most)
	}
	out := a.bounds
	if x := end(low, true); x != nil {
		out.Low = exact.FloatDown(x.Add(x, centre))
	}
	if x := end(high, false); x != nil {
		out.High = exact.FloatUp(x.Add(x, centre))
	}
	e.Interval = out.within(a.bounds)
	e.Low, e.High = math.Min(e.Low, e.Value), math.Max(e.High, e.Value)
	return e
}

// grid holds the estimates for the cells (groups) of one grouping.
type grid struct {
	grouping plan.Grouping
	of       map[*plan.Measure]*fitted // by the measures of the plan
}

// grids fits the released numbers of a plan with grouping sets.
func (a *Answer) grids(sums [][]*big.Int) []*grid {
	p := a.plan
	out := make([]*grid, len(p.Sets))
	for i, g := range p.Sets {
		out[i] = &grid{grouping: g, of: map[*plan.Measure]*fitted{}}
	}
	for j, m := range p.Measures {
		fit := a.fits[j]
		values, denominators := fit.fit(tables(p, j, sums))
		for i := range p.Sets {
			out[i].of[m] = &fitted{
				released:    a.measures[m],
				values:      values[i],
				denominator: denominators[i],
				laws:        fit.laws[i : i+1],
				direct:      fit.lattice == nil,
			}
		}
	}
	return out
}

// tables returns the released numbers of the j-th measure, by grouping.
func tables(p *plan.Plan, j int, sums [][]*big.Int) [][]*big.Int {
	var out [][]*big.Int
	for _, g := range p.Groupings() {
		n := g.Cells(&p.Statement)
		var table []*big.Int
		for _, row := range sums[:n] {
			table = append(table, row[j])
		}
		out, sums = append(out, table), sums[n:]
	}
	return out
}

// fit holds how the tables of one measure are fitted, and the distributions (laws) of the results' errors. It depends
// on the plan alone.
type fit struct {
	lattice *lattice
	laws    []*noise.Combination // by grouping: the distribution of the error of each cell of the fitted table
}

// noisesOf returns the noise on the cells of each grouping, for the j-th measure.
func (n *noises) noisesOf(p *plan.Plan, j int) (out []noise.Distribution, err error) {
	for _, g := range p.Groupings() {
		of, err := n.of(g.Measures[j])
		if err != nil {
			return nil, err
		}
		out = append(out, of.noise)
	}
	return out, nil
}

// fitText returns a text that identifies all that the fit of the j-th measure depends on. Measures with the same
// noises in every grouping have the same text.
func (n *noises) fitText(p *plan.Plan, j int) string {
	b := strconv.AppendBool(nil, p.Measures[j].Additive())
	for _, g := range p.Groupings() {
		b = strconv.AppendInt(append(b, ' '), int64(n.number(g.Measures[j])), 10)
	}
	return string(b)
}

func (s *Shapes) fit(alike *noises, p *plan.Plan, j int) (fit, error) {
	noises, err := alike.noisesOf(p, j)
	if err != nil || !p.Measures[j].Additive() {
		return unfitted(noises), err
	}
	found := s.of(p, j)
	return fit{found.lattice, found.laws(noises)}, nil
}

// setCells returns the rows of an answer with grouping sets, or from earlier releases, before HAVING. It lists the
// rows of each shown grouping set.
func (a *Answer) setCells(sums [][]*big.Int, alpha float64) []*cell {
	grids, list := a.given, a.plan.Shown
	if grids == nil {
		grids = a.grids(sums)
	}
	if list == nil {
		list = []int{0}
	}
	for _, g := range a.given {
		for _, f := range g.of {
			f.settle()
		}
	}
	if a.whole {
		a.makeWhole(grids)
	}
	var out []*cell
	for _, shown := range list {
		g := grids[shown]
		var rows [][]*big.Int // the released numbers of this grouping, for its quantiles and modes
		if a.given == nil {
			rows = a.rowsOf(shown, sums)
		}
		for i := range g.grouping.Cells(&a.plan.Statement) {
			if a.plan.Sets == nil && !a.possible.has(i) {
				continue
			}
			c := &cell{
				answer: a,
				keys:   g.grouping.CellKeys(&a.plan.Statement, i),
				alpha:  alpha,
				known:  map[estimated]Estimate{},
				grid:   g,
				place:  i,
			}
			if rows != nil {
				c.sums = rows[i]
			}
			out = append(out, c)
		}
	}
	return out
}

// rowsOf returns the released numbers of the grouping whose index is set.
func (a *Answer) rowsOf(set int, sums [][]*big.Int) [][]*big.Int {
	for _, g := range a.plan.Sets[:set] {
		sums = sums[g.Cells(&a.plan.Statement):]
	}
	return sums[:a.plan.Sets[set].Cells(&a.plan.Statement)]
}

// fromGrid computes an aggregate of a row whose measures are estimates.
func (c *cell) fromGrid(agg plan.Aggregate) Estimate {
	ms := agg.Measures()
	if agg.Func == plan.Average {
		return averageOf(c.grid.of[ms[0]], c.grid.of[ms[1]], c.place, c.alpha, agg)
	}
	return c.grid.of[ms[0]].estimateOf(c.place, c.alpha)
}

// grouping returns the value of SQL's GROUPING function in this row.
func (c *cell) grouping(p *plan.Post) value.Value {
	n := int64(0)
	for _, key := range p.Args {
		n <<= 1
		if c.summed(key.Index) {
			n |= 1
		}
	}
	return value.OfInt(n)
}

// summed reports whether the row is a sum over a key.
func (c *cell) summed(key int) bool { return c.grid != nil && !c.grid.grouping.Has(key) }

// ForecastIn is [Answer.Forecast] for the rows of one grouping set of the plan.
func (a *Answer) ForecastIn(set int, o plan.Output, alpha float64) Forecast {
	if a.expected == nil { // once for all outputs
		a.expected, a.foretold = make([]*grid, len(a.plan.Sets)), map[foretoldOf]Forecast{}
		for i := range a.plan.Sets {
			a.likeSets = append(a.likeSets, a.likeSet(i))
		}
	}
	set = a.likeSets[set] // a set whose errors have the same distributions has the same forecast
	key := foretoldOf{set, o.Post, alpha}
	f, ok := a.foretold[key]
	if !ok {
		f = a.forecast(a.expectedIn(set), o, alpha)
		a.foretold[key] = f
	}
	return f
}

// foretoldOf identifies a forecast: an output in the rows of a grouping set, at a level.
type foretoldOf struct {
	set   int
	of    *plan.Post
	alpha float64
}

// likeSet returns the index of the first grouping set in which every measure's error has the same distribution as in
// the given set.
func (a *Answer) likeSet(set int) int {
	for i := range set {
		if !slices.ContainsFunc(a.fits, func(f fit) bool { return f.laws[i] != f.laws[set] }) {
			return i
		}
	}
	return set
}

func (a *Answer) expectedIn(set int) *grid {
	if a.expected[set] == nil {
		g := &grid{grouping: a.plan.Sets[set], of: map[*plan.Measure]*fitted{}}
		for j, m := range a.plan.Measures {
			g.of[m] = &fitted{released: a.measures[m], laws: a.fits[j].laws[set : set+1], direct: a.fits[j].lattice == nil}
		}
		a.expected[set] = g
	}
	return a.expected[set]
}

// reachOf and stdDevOf return the error of a measure in the grid's cells where it is largest.
func (g *grid) reachOf(m *plan.Measure, alpha float64) *big.Rat {
	return g.of[m].reachUnder(g.of[m].widest(), alpha)
}

func (g *grid) stdDevOf(m *plan.Measure) float64 { return g.of[m].widest().StdDev() * g.of[m].unit }

// ForecastGiven is [Answer.Forecast] for the rows of the first grouping when they are computed from earlier
// releases by [Answer.From]. If the errors of rows differ, the result is for the largest.
func (a *Answer) ForecastGiven(o plan.Output, alpha float64) Forecast {
	return a.forecast(a.given[0], o, alpha)
}

// GivenDiffer reports whether the errors of these rows differ.
func (a *Answer) GivenDiffer() bool {
	for _, f := range a.given[0].of {
		if slices.ContainsFunc(f.laws, func(law *noise.Combination) bool { return law.Variance() != f.laws[0].Variance() }) {
			return true
		}
	}
	return false
}

func (a *Answer) forecast(g *grid, o plan.Output, alpha float64) Forecast {
	none := math.NaN()
	f := Forecast{none, none, none, none, 0}
	if o.Post.Op == plan.PostAggregate && a.plan.Aggregates[o.Post.Index].Func == plan.Average {
		if agg := a.plan.Aggregates[o.Post.Index]; agg.Rows > 0 {
			return meanForecast(g, agg, alpha)
		}
		sum := g.of[a.plan.Aggregates[o.Post.Index].Sum]
		f.StdDevTimesN, f.HalfWidthTimesN = sum.widest().StdDev()*sum.unit, sum.widest().Quantile(alpha/2)*sum.unit
		return f
	}
	if form, ok := a.formOf(o.Post); ok {
		f.StdDev, f.HalfWidth = form.stdDev(g), exact.FloatUp(a.reachOfOutput(o, form, g, alpha))
	}
	return f
}
