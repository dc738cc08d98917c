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

// fitted is one measure over the cells of a table, each estimated from several noisy numbers: cell i is
// values[i]/denominator in grid units.
type fitted struct {
	*released   // the measure, for its units
	values      []*big.Int
	denominator *big.Int
	laws        []*noise.Combination // of each cell's error; or one for all cells
	direct      bool                 // the values are released numbers, with integer noise
	whole       []*big.Int           // nil, or consistent non-negative integers to show in place of the values
	// later computes the values and their denominator if only the law has been requested so far; else nil.
	later func() ([]*big.Int, *big.Int)
}

// settle has the values.
func (f *fitted) settle() {
	if f.later != nil {
		f.values, f.denominator = f.later()
		f.later = nil
	}
}

// rat is the estimate in the measure's own unit.
func (f *fitted) rat(i int) *big.Rat {
	x := new(big.Rat).SetFrac(f.values[i], f.denominator)
	return x.Mul(x, f.Unit())
}

// law is the distribution of a cell's error.
func (f *fitted) law(i int) *noise.Combination {
	if len(f.laws) == 1 {
		return f.laws[0]
	}
	return f.laws[i]
}

// widest is the law of the largest variance.
func (f *fitted) widest() *noise.Combination {
	return slices.MaxFunc(f.laws, func(a, b *noise.Combination) int { return cmp.Compare(a.Variance(), b.Variance()) })
}

// variance is the mean variance of the cells.
func (f *fitted) variance() float64 {
	sum := 0.0
	for _, law := range f.laws {
		sum += law.Variance() / float64(len(f.laws))
	}
	return sum
}

// reachOf is the distance, in the measure's own unit, that a cell's estimate keeps from the true sum with probability
// at least 1 − alpha.
func (f *fitted) reachOf(i int, alpha float64) *big.Rat { return f.reachUnder(f.law(i), alpha) }

func (f *fitted) reachUnder(law *noise.Combination, alpha float64) *big.Rat {
	q := law.Quantile(alpha)
	if f.direct { // as likely
		q = math.Floor(q)
	}
	r := new(big.Rat).SetFloat64(q)
	if r == nil { // no bound is known
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
		if f.direct && f.whole == nil { // counts, with whole noise
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

// averageOf is AVG from an estimated centred sum and an estimated count. Their intervals, each at half of alpha, hold
// together with probability at least 1 − alpha (Bonferroni). Then the quotient lies in the hull of the values that
// both allow, for a count above 0, and within the bounds. If the estimated count is not positive, the value is NULL and
// the interval is the bounds.
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
		// the end of x/n over the counts that are left, nil if there is none
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

// grid has the estimates for the cells of one grouping.
type grid struct {
	grouping plan.Grouping
	of       map[*plan.Measure]*fitted // by the plan's measures
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

// tables are one measure's released numbers, by grouping.
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

// fit is how one measure's tables are fitted, and the laws of the results: functions of the plan alone.
type fit struct {
	lattice *lattice
	laws    []*noise.Combination // of each fitted table's cells
}

// noisesOf are the noises of each grouping's cells.
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

// fitText identifies everything that a fit and its laws depend on: measures with the same noises in every grouping
// share it.
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

// setCells are the rows of an answer with grouping sets, before HAVING: those of each listed set.
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
		var rows [][]*big.Int // the grouping's, for its quantiles and modes
		if a.given == nil {
			rows = a.rowsOf(shown, sums)
		}
		for i := range g.grouping.Cells(&a.plan.Statement) {
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

// rowsOf are the released numbers of one grouping.
func (a *Answer) rowsOf(set int, sums [][]*big.Int) [][]*big.Int {
	for _, g := range a.plan.Sets[:set] {
		sums = sums[g.Cells(&a.plan.Statement):]
	}
	return sums[:a.plan.Sets[set].Cells(&a.plan.Statement)]
}

// fromGrid computes an aggregate of a row with estimated measures.
func (c *cell) fromGrid(agg plan.Aggregate) Estimate {
	ms := agg.Measures()
	if agg.Func == plan.Average {
		return averageOf(c.grid.of[ms[0]], c.grid.of[ms[1]], c.place, c.alpha, agg)
	}
	return c.grid.of[ms[0]].estimateOf(c.place, c.alpha)
}

// grouping is GROUPING's number in the row.
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

// summed reports that the row is summed over a key.
func (c *cell) summed(key int) bool { return c.grid != nil && !c.grid.grouping.Has(key) }

// ForecastIn is Forecast for the rows of one of the plan's grouping sets.
func (a *Answer) ForecastIn(set int, o plan.Output, alpha float64) Forecast {
	if a.expected == nil { // once for all outputs
		a.expected, a.foretold = make([]*grid, len(a.plan.Sets)), map[foretoldOf]Forecast{}
		for i := range a.plan.Sets {
			a.likeSets = append(a.likeSets, a.likeSet(i))
		}
	}
	set = a.likeSets[set] // the set with the same laws
	key := foretoldOf{set, o.Post, alpha}
	f, ok := a.foretold[key]
	if !ok {
		f = a.forecast(a.expectedIn(set), o, alpha)
		a.foretold[key] = f
	}
	return f
}

// foretoldOf is an output in the rows of a grouping set.
type foretoldOf struct {
	set   int
	of    *plan.Post
	alpha float64
}

// likeSet is the first grouping set in which each measure has the same law.
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

// reachOf and stdDevOf are those of a measure in the grid's cells where they are largest.
func (g *grid) reachOf(m *plan.Measure, alpha float64) *big.Rat {
	return g.of[m].reachUnder(g.of[m].widest(), alpha)
}

func (g *grid) stdDevOf(m *plan.Measure) float64 { return g.of[m].widest().StdDev() * g.of[m].unit }

// ForecastGiven is Forecast for the rows of the first grouping as computed from earlier releases (From). If their
// errors differ, it is for the largest.
func (a *Answer) ForecastGiven(o plan.Output, alpha float64) Forecast {
	return a.forecast(a.given[0], o, alpha)
}

// GivenDiffer reports that the errors of these rows differ.
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
		sum := g.of[a.plan.Aggregates[o.Post.Index].Sum]
		f.StdDevTimesN, f.HalfWidthTimesN = sum.widest().StdDev()*sum.unit, sum.widest().Quantile(alpha/2)*sum.unit
		return f
	}
	if form, ok := a.formOf(o.Post); ok {
		f.StdDev = form.stdDev(g)
		f.HalfWidth = exact.FloatUp(form.reach(g, alpha/float64(max(len(aggregates(o.Post)), 1))))
	}
	return f
}
