package derive

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"dither/internal/exact"
	"dither/internal/plan"
	"dither/internal/reuse"
	"dither/internal/span"
	"dither/noise"
)

// Earlier is an earlier release: its plan and its numbers.
type Earlier struct {
	Plan    *plan.Plan
	Numbers [][]*big.Int
	// Span, if not nil, is the measurement of strategies on the groups of Plan. Numbers then has one row: the numbers of the
	// measurement
	Span *span.Measurement

	laws map[string]*noise.Combination // by Following: the laws of table cells
	fits map[int]*fittedOnce           // by measure of Plan
}

// fittedOnce is the lattice of a measure, with the components of its noisy tables.
type fittedOnce struct {
	lattice    *lattice
	components map[uint64]component // nil until a number is needed
}

// latticeOf returns the fit of the j-th measure's tables. It makes the fit at the first call.
func (e *Earlier) latticeOf(j int) *fittedOnce {
	if e.fits[j] == nil {
		if e.fits == nil {
			e.fits = map[int]*fittedOnce{}
		}
		e.fits[j] = &fittedOnce{lattice: newLattice(e.Plan, j)}
	}
	return e.fits[j]
}

// Reader returns the reader that finds what earlier releases answer of the plan.
func (a *Answer) Reader() *reuse.Reader {
	if a.reader == nil {
		a.reader = reuse.NewReader(a.possible.measured(a.plan))
	}
	return a.reader
}

// From answers the plan from earlier releases, if they determine the whole answer: see [reuse.Reader.Follow]. Each
// measure comes from the release with the least variance. With combine, it comes from all releases that have it,
// weighted by inverse variances. The errors of different releases are independent, as long as nobody asked for a
// release, or chose its price, because of another release's value. Choosing among releases by their values
// invalidates the intervals. From returns the indices of the releases that it used. ok is false if the releases do
// not determine the whole answer.
//
// With asExact, From uses only releases whose variance is at most that of the plan's own measurement, in each of
// its groupings.
func (a *Answer) From(earlier []*Earlier, combine, asExact bool) (used []int, ok bool) {
	p := a.plan
	if !reuse.Followable(p) {
		return nil, false
	}
	grids := make([]*grid, len(p.Groupings()))
	for i, g := range p.Groupings() {
		grids[i] = &grid{grouping: g, of: map[*plan.Measure]*fitted{}}
	}
	for j, m := range p.Measures {
		best, from := a.told(m, earlier)
		if best == nil {
			return nil, false
		}
		if !combine {
			i := leastBy(best, func(of []*fitted) float64 { return a.against(j, of) })
			best, from = best[i:i+1], from[i:i+1]
		}
		tables := averaged(best)
		if asExact && a.against(j, tables) > 1+1e-9 {
			return nil, false
		}
		for i, t := range tables {
			t.released = a.measures[m]
			grids[i].of[m] = t
		}
		for _, f := range from {
			if !slices.Contains(used, f) {
				used = append(used, f)
			}
		}
	}
	slices.Sort(used)
	a.given = grids
	return used, true
}

// told returns the table over the keys of f, as the earlier release e estimates it. law is the distribution of the
// error of each cell, and values computes the table. If the parameter `alone` is negative, the table is fitted to all
// numbers of the measure. Otherwise it is a sum of the numbers of the grouping whose index is alone.
func (e *Earlier) told(
	f reuse.Following,
	noises []noise.Distribution,
	alone int,
) (law *noise.Combination, values func() ([]*big.Int, *big.Int)) {
	name := fmt.Sprint(f.Measure, f.Keys, alone)
	law = e.laws[name]
	if alone >= 0 {
		b, of, into := &e.Plan.Statement, e.Plan.Groupings()[alone], plan.Grouping{Keys: f.Keys}
		n := into.Cells(b)
		if law == nil {
			law = &noise.Combination{}
			law.Add(1, noises[alone], float64(of.Cells(b)/n))
		}
		values = func() ([]*big.Int, *big.Int) {
			out, noisy := zeroes(n), tables(e.Plan, f.Measure, e.Numbers)[alone]
			for i, at := range into.Within(b, of) {
				out[at].Add(out[at], noisy[i])
			}
			return out, big.NewInt(1)
		}
	} else {
		fit, set := e.latticeOf(f.Measure), keySet(f.Keys)
		if law == nil {
			law = fit.lattice.law(set, noises)
		}
		values = func() ([]*big.Int, *big.Int) {
			if fit.components == nil {
				fit.components = fit.lattice.components(tables(e.Plan, f.Measure, e.Numbers))
			}
			return fit.lattice.assemble(set, fit.components)
		}
	}
	if e.laws == nil {
		e.laws = map[string]*noise.Combination{}
	}
	e.laws[name] = law
	return law, values
}

// zeroes returns n separate zeros.
func zeroes(n int) []*big.Int {
	out, numbers := make([]*big.Int, n), make([]big.Int, n)
	for i := range out {
		out[i] = &numbers[i]
	}
	return out
}

// against returns the variance of a measure's estimates from releases, divided by that of the plan's own estimate.
// It returns the largest ratio over all groupings and cells.
func (a *Answer) against(j int, told []*fitted) float64 {
	most := 0.0
	for i, t := range told {
		own := a.measures[a.plan.Measures[j]].noise.Variance()
		if a.fits != nil {
			own = a.fits[j].laws[i].Variance()
		}
		switch v := t.widest().Variance(); {
		case v == own: // both may be 0
			most = max(most, 1)
		case v > 0 && !(v/own < math.Inf(1)):
			most = math.Inf(1)
		default:
			most = max(most, v/own)
		}
	}
	return most
}

// told returns the estimates of a measure from each release that determines it, by grouping of the plan. The result
// from holds the indices of these releases.
func (a *Answer) told(m *plan.Measure, earlier []*Earlier) (out [][]*fitted, from []int) {
	reader := a.Reader()
	for i, e := range earlier {
		follows := make([]reuse.Following, 0, len(a.plan.Groupings()))
		for _, g := range a.plan.Groupings() {
			f, ok := reader.Follow(m, g, e.Plan)
			if !ok {
				break
			}
			f.Cells = a.possible.follow(g, f.Cells)
			follows = append(follows, f)
		}
		if len(follows) < len(a.plan.Groupings()) {
			continue
		}
		if tables := e.tables(follows); tables != nil {
			out, from = append(out, tables), append(from, i)
		}
	}
	return out, from
}

// tables returns a release's estimates of one measure over several groupings, or nil if the distributions (laws) of
// their errors are not known.
//
// If numbers of several groupings are fitted together, the errors of the fitted cells are dependent. Each error has
// a known law, but a sum of several has none. If such sums are needed, all tables come from one grouping alone,
// whose noises are independent. It is the one with the least variance among the groupings that have all needed
// keys. Since all tables come from the same numbers, they add up.
func (e *Earlier) tables(follows []reuse.Following) []*fitted {
	if e.Span != nil {
		return e.spanned(follows)
	}
	noises, err := new(noises).noisesOf(e.Plan, follows[0].Measure)
	if err != nil {
		return nil
	}
	alone := -1
	if e.Plan.Sets == nil {
		alone = 0
	} else if slices.ContainsFunc(follows, sums) {
		if alone = e.finest(follows, noises); alone < 0 {
			return nil
		}
	}
	var out []*fitted
	for _, f := range follows {
		out = append(out, e.table(f, noises, alone))
	}
	return out
}

// sums reports whether f adds up cells of the earlier table.
func sums(f reuse.Following) bool {
	return slices.ContainsFunc(f.Cells, func(cells []int) bool { return len(cells) > 1 })
}

// finest returns the grouping of the earlier release that has the keys of all entries of follows, and gives their
// tables the least variance. It returns −1 if there is none.
func (e *Earlier) finest(follows []reuse.Following, noises []noise.Distribution) int {
	best, least := -1, math.Inf(1)
	for i, g := range e.Plan.Groupings() {
		if slices.ContainsFunc(follows, func(f reuse.Following) bool {
			return slices.ContainsFunc(f.Keys, func(k int) bool { return !g.Has(k) })
		}) {
			continue
		}
		if v := noises[i].Variance() * float64(g.Cells(&e.Plan.Statement)); best < 0 || v < least {
			best, least = i, v
		}
	}
	return best
}

// table adds up the cells of a release that f lists.
//
// Each resulting cell has its own law: the errors of the cells that it adds up are independent and have the same
// law. A cell that adds up no cell is 0 for all rows, and has no error.
func (e *Earlier) table(f reuse.Following, noises []noise.Distribution, alone int) *fitted {
	law, values := e.told(f, noises, alone)
	times := map[int]*noise.Combination{0: {}, 1: law}
	out := &fitted{laws: make([]*noise.Combination, len(f.Cells))}
	for i, cells := range f.Cells {
		n := len(cells)
		if times[n] == nil {
			times[n] = law.Times(float64(n))
		}
		out.laws[i] = times[n]
	}
	out.later = func() ([]*big.Int, *big.Int) {
		table, denominator := values()
		sums := zeroes(len(f.Cells))
		for i, cells := range f.Cells {
			for _, c := range cells {
				sums[i].Add(sums[i], table[c])
			}
		}
		return sums, denominator
	}
	return out
}

// leastBy returns the index of the first entry of the list `of` for which the function number returns the least value.
func leastBy(of [][]*fitted, number func([]*fitted) float64) int {
	best := 0
	for i := range of {
		if number(of[i]) < number(of[best]) {
			best = i
		}
	}
	return best
}

// averaged returns the average of several estimates of the same tables. The weights are the inverses of the mean
// variance of the first grouping's cells. One weight for all cells of all groupings keeps the tables consistent.
// The weights are rationals that add up to 1.
func averaged(of [][]*fitted) []*fitted {
	if len(of) == 1 {
		return of[0]
	}
	weights, total := make([]int64, len(of)), new(big.Int)
	first := func(tables []*fitted) float64 { return tables[0].variance() }
	least := first(of[leastBy(of, first)])
	for i, tables := range of { // in multiples of 2^-30 of the largest weight; rounding a weight causes no bias
		share := 1.0
		if v := first(tables); v > least {
			share = least / v
		}
		weights[i] = int64(math.Round(share * (1 << 30)))
		total.Add(total, big.NewInt(weights[i]))
	}
	shares := make([]float64, len(of))
	for i, w := range weights {
		shares[i] = exact.FloatUp(new(big.Rat).SetFrac(big.NewInt(w), total))
	}
	out := make([]*fitted, len(of[0]))
	for g := range out {
		out[g] = &fitted{
			laws:  averageLaws(of, g, shares),
			later: func() ([]*big.Int, *big.Int) { return weighted(of, g, weights, total) },
		}
	}
	return out
}

// averageLaws returns the laws (the distributions of the errors) of the average of one grouping's tables. Cells with
// the same laws in all tables share a result.
func averageLaws(of [][]*fitted, g int, shares []float64) []*noise.Combination {
	type step struct{ sum, law *noise.Combination }
	sums := make([]*noise.Combination, len(of[0][g].laws))
	nothing := &noise.Combination{}
	for i, share := range shares {
		known := map[step]*noise.Combination{}
		for c, law := range of[i][g].laws {
			if i == 0 {
				sums[c] = nothing
			}
			s := step{sums[c], law}
			if known[s] == nil {
				known[s] = s.sum.Plus(law, share)
			}
			sums[c] = known[s]
		}
	}
	return sums
}

// weighted returns the average of one grouping's tables, as integers over one denominator.
func weighted(of [][]*fitted, g int, weights []int64, total *big.Int) ([]*big.Int, *big.Int) {
	denominator := big.NewInt(1)
	for i := range of {
		of[i][g].settle()
		denominator = lcm(denominator, of[i][g].denominator)
	}
	values, term := zeroes(len(of[0][g].values)), new(big.Int)
	for i := range of {
		times := new(big.Int).Quo(denominator, of[i][g].denominator)
		times.Mul(times, big.NewInt(weights[i]))
		for c, v := range of[i][g].values {
			values[c].Add(values[c], term.Mul(v, times))
		}
	}
	return values, denominator.Mul(denominator, total)
}

// Forget drops the estimates that From took from earlier releases, so that the answer uses its own numbers again.
func (a *Answer) Forget() { a.given = nil }
