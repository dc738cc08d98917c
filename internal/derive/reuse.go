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
}

// From answers the plan from earlier releases, where it follows from them (plan.Follow): each measure from the one that tells it best; or,
// to combine, from all that tell it, weighted by their inverse variances. Their noises are independent, and so is what they say. It
// gives the releases that are used, by index; ok is false where they do not tell all.
//
// Without combining, and where as is true, only what has no larger variance than the plan's own measurement would have is taken.
func (a *Answer) From(earlier []*Earlier, combine, asExact bool) (used []int, ok bool) {
	p := a.plan
	if len(p.Measures) == 0 { // quantiles and modes alone, which follow from no sums
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
			i := leastVariance(best)
			best, from = best[i:i+1], from[i:i+1]
		}
		tables := averaged(best)
		if asExact && tables[0].law.Variance() > a.planned(j)*(1+1e-9) {
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

// planned is the variance of the plan's own estimate, of its first grouping's cells.
func (a *Answer) planned(j int) float64 {
	if a.fits != nil {
		return a.fits[j].laws[0].Variance()
	}
	return a.measures[a.plan.Measures[j]].noise.Variance()
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
	l, set := newLattice(e.Plan, f.Measure), keySet(f.Keys)
	values, denominator := l.assemble(set, l.components(tables(e.Plan, f.Measure, e.Numbers)))
	name := fmt.Sprint(f.Measure, set, n)
	law := e.laws[name]
	if law == nil {
		noises, err := noisesOf(e.Plan, f.Measure)
		if err != nil {
			return nil
		}
		law = l.law(set, noises).Times(float64(n))
		if e.laws == nil {
			e.laws = map[string]*noise.Combination{}
		}
		e.laws[name] = law
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

func leastVariance(of [][]*fitted) int {
	best := 0
	for i := range of {
		if of[i][0].law.Variance() < of[best][0].law.Variance() {
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
	least := of[leastVariance(of)][0].law.Variance()
	for i, tables := range of { // in 2^-30ths of the largest: a weight that is off a little is as unbiased
		share := 1.0
		if v := tables[0].law.Variance(); v > least {
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
