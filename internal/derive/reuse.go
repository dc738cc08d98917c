package derive

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"dither/internal/exact"
	"dither/internal/plan"
	"dither/noise"
)

// Earlier is an earlier release: its plan and its numbers.
type Earlier struct {
	Plan    *plan.Plan
	Numbers [][]*big.Int

	laws map[string]*noise.Combination // of the sums that were asked for
	fits map[int]*fittedOnce           // of its measures
}

// fittedOnce is a measure's lattice with what its noisy tables say.
type fittedOnce struct {
	lattice    *lattice
	components map[uint64]component
}

// latticeOf fits a measure's tables, once.
func (e *Earlier) latticeOf(j int, tables [][]*big.Int) (*lattice, map[uint64]component) {
	if e.fits[j] == nil {
		if e.fits == nil {
			e.fits = map[int]*fittedOnce{}
		}
		l := newLattice(e.Plan, j)
		e.fits[j] = &fittedOnce{l, l.components(tables)}
	}
	return e.fits[j].lattice, e.fits[j].components
}

// From answers the plan from earlier releases, where it follows from them (plan.Follow): each measure from the one that tells it best; or,
// to combine, from all that tell it, weighted by their inverse variances. Their noises are independent, and so is what they say, as long as
// none was asked for, or priced, because of what another said: who asks until the numbers please, and combines them, has intervals that
// fail more often than they tell. It gives the releases that are used, by index; ok is false where they do not tell all.
//
// Where asExact is true, only what has no larger variance than the plan's own measurement would have, in any of its groupings, is
// taken.
func (a *Answer) From(earlier []*Earlier, combine, asExact bool) (used []int, ok bool) {
	p := a.plan
	if !p.Followable() {
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

// told is the table of a release over the keys that a following names, with the law of each cell's error.
func (e *Earlier) told(f plan.Following, noises []noise.Distribution) (values []*big.Int, denominator *big.Int, law *noise.Combination) {
	of := tables(e.Plan, f.Measure, e.Numbers)
	name := fmt.Sprint(f.Measure, f.Keys)
	law = e.laws[name]
	if e.Plan.Sets == nil { // one table, whose cells have independent noise: however many keys it has
		all := e.Plan.Groupings()[0]
		into := plan.Grouping{Keys: f.Keys}
		values = make([]*big.Int, into.Cells(&e.Plan.Bounded))
		for i := range values {
			values[i] = new(big.Int)
		}
		for i, at := range into.Into(&e.Plan.Bounded) {
			values[at].Add(values[at], of[0][i])
		}
		if law == nil {
			law = &noise.Combination{}
			law.Add(1, noises[0], float64(all.Cells(&e.Plan.Bounded)/len(values)))
		}
		denominator = big.NewInt(1)
	} else {
		l, components := e.latticeOf(f.Measure, of)
		set := keySet(f.Keys)
		values, denominator = l.assemble(set, components)
		if law == nil {
			law = l.law(set, noises)
		}
	}
	if e.laws == nil {
		e.laws = map[string]*noise.Combination{}
	}
	e.laws[name] = law
	return values, denominator, law
}

// against is the variance of what is told of a measure, as a multiple of that of the plan's own estimate: in the grouping where it is the
// largest.
func (a *Answer) against(j int, told []*fitted) float64 {
	most := 0.0
	for i, t := range told {
		own := a.measures[a.plan.Measures[j]].noise.Variance()
		if a.fits != nil {
			own = a.fits[j].laws[i].Variance()
		}
		switch v := t.law.Variance(); {
		case v == own: // which may be 0
			most = max(most, 1)
		case v > 0 && !(v/own < math.Inf(1)):
			most = math.Inf(1)
		default:
			most = max(most, v/own)
		}
	}
	return most
}

// told is what each release tells of a measure, by the plan's groupings, with the releases' indices.
func (a *Answer) told(m *plan.Measure, earlier []*Earlier) (out [][]*fitted, from []int) {
	for i, e := range earlier {
		tables := make([]*fitted, 0, len(a.plan.Groupings()))
		for _, g := range a.plan.Groupings() {
			follows, ok := a.plan.Follow(m, g, e.Plan)
			if !ok {
				break
			}
			t := e.table(follows)
			if t == nil {
				break
			}
			tables = append(tables, t)
		}
		if len(tables) == len(a.plan.Groupings()) {
			out, from = append(out, tables), append(from, i)
		}
	}
	return out, from
}

// table adds up the cells of a release that a following names; nil where their errors together have no law that is known here.
func (e *Earlier) table(f plan.Following) *fitted {
	n := len(f.Cells[0])
	if n > 1 && e.Plan.Sets != nil {
		return nil // fitted cells are correlated
	}
	noises, err := noisesOf(e.Plan, f.Measure)
	if err != nil {
		return nil
	}
	values, denominator, law := e.told(f, noises)
	if n > 1 {
		law = law.Times(float64(n))
	}
	out := &fitted{denominator: denominator, law: law}
	for _, cells := range f.Cells {
		sum := new(big.Int)
		for _, c := range cells {
			sum.Add(sum, values[c])
		}
		out.values = append(out.values, sum)
	}
	return out
}

// leastBy is the index of the one with the least number, the first of them.
func leastBy(of [][]*fitted, number func([]*fitted) float64) int {
	best := 0
	for i := range of {
		if number(of[i]) < number(of[best]) {
			best = i
		}
	}
	return best
}

// averaged weighs tables of one quantity by the inverse variance of the first grouping's cells: one weight for all groupings, so that
// they add up as before. The weights are rationals that add up to 1.
func averaged(of [][]*fitted) []*fitted {
	if len(of) == 1 {
		return of[0]
	}
	weights, total := make([]*big.Rat, len(of)), new(big.Rat)
	first := func(tables []*fitted) float64 { return tables[0].law.Variance() }
	least := first(of[leastBy(of, first)])
	for i, tables := range of { // in 2^-30ths of the largest: a weight that is off a little is as unbiased
		share := 1.0
		if v := first(tables); v > least {
			share = least / v
		}
		weights[i] = big.NewRat(int64(math.Round(share*(1<<30))), 1<<30)
		total.Add(total, weights[i])
	}
	out := make([]*fitted, len(of[0]))
	for g := range out {
		f := &fitted{denominator: big.NewInt(1), law: &noise.Combination{}}
		for i := range of {
			w := new(big.Rat).Quo(weights[i], total)
			f.denominator = lcm(f.denominator, new(big.Int).Mul(of[i][g].denominator, w.Denom()))
			f.law = f.law.Plus(of[i][g].law, exact.FloatUp(w))
		}
		for c := range of[0][g].values {
			sum := new(big.Int)
			for i := range of {
				w := new(big.Rat).Quo(weights[i], total)
				x := new(big.Rat).SetFrac(of[i][g].values[c], of[i][g].denominator)
				x.Mul(x, w)
				sum.Add(sum, x.Num().Mul(x.Num(), new(big.Int).Quo(f.denominator, x.Denom())))
			}
			f.values = append(f.values, sum)
		}
		out[g] = f
	}
	return out
}

// Forget undoes From.
func (a *Answer) Forget() { a.given = nil }
