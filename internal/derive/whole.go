package derive

import (
	"math/big"
	"slices"

	"dither/internal/plan"
)

// Whole makes counts appear as non-negative integers that add up. Their intervals stay around the original
// estimates. This is post-processing. It is biased: raising negative counts to 0 lowers the other counts of the
// same total.
func (a *Answer) Whole() { a.whole = true }

func notNegative(n *big.Int) *big.Int {
	if n.Sign() < 0 {
		return new(big.Int)
	}
	return n
}

// makeWhole rounds the counts of all groupings together.
//
// If each grouping contains the keys of the next coarser one, as in ROLLUP, makeWhole starts at the total and
// distributes each integer among its parts. Otherwise it distributes the total among the cells of all keys, and the
// coarser tables are sums of these cells.
func (a *Answer) makeWhole(grids []*grid) {
	for j, m := range a.plan.Measures {
		if m.Sums() {
			continue
		}
		order := make([]int, len(grids)) // from the coarsest to the finest
		for i := range order {
			order[i] = len(grids) - 1 - i
		}
		if m.Additive() && len(grids) > 1 && !a.chain() {
			a.wholeFromAll(grids, j)
			continue
		}
		for i, g := range order {
			f := grids[g].of[m]
			f.whole = make([]*big.Int, len(f.values))
			if i == 0 || !m.Additive() {
				for c, v := range f.values {
					f.whole[c] = nearest(v, f.denominator)
				}
				continue
			}
			totals := grids[order[i-1]]
			f.distribute(totals.of[m].whole, a.partsOf(grids[g].grouping, totals.grouping))
		}
	}
}

// chain reports whether each grouping contains the keys of the next. Groupings are sorted by their number of keys,
// in decreasing order.
func (a *Answer) chain() bool {
	for i := 1; i < len(a.plan.Sets); i++ {
		if keySet(a.plan.Sets[i].Keys)&^keySet(a.plan.Sets[i-1].Keys) != 0 {
			return false
		}
	}
	return true
}

// partsOf lists, for each cell (group) of the coarser grouping, the cells of the finer one that add up to it.
func (a *Answer) partsOf(fine, coarse plan.Grouping) [][]int {
	var sizes []int64
	for _, k := range a.plan.Keys {
		sizes = append(sizes, int64(len(k.Values)))
	}
	out := make([][]int, coarse.Cells(&a.plan.Statement))
	for i, at := range positions(keySet(fine.Keys), keySet(coarse.Keys), sizes) {
		out[at] = append(out[at], i)
	}
	return out
}

// wholeFromAll distributes the total among the cells of all keys, and adds these up to the cells of each grouping.
func (a *Answer) wholeFromAll(grids []*grid, j int) {
	m, p := a.plan.Measures[j], a.plan
	all := plan.Grouping{}
	for k := range p.Keys {
		all.Keys = append(all.Keys, k)
	}
	// Fitting the fitted tables again leaves them unchanged, and gives the table over all keys.
	l := newLattice(p, j)
	common := big.NewInt(1)
	for _, g := range grids {
		common = lcm(common, g.of[m].denominator)
	}
	var scaled [][]*big.Int
	for _, g := range grids {
		f := g.of[m]
		times := new(big.Int).Quo(common, f.denominator)
		table := make([]*big.Int, len(f.values))
		for i, v := range f.values {
			table[i] = new(big.Int).Mul(v, times)
		}
		scaled = append(scaled, table)
	}
	components := l.components(scaled)
	total, d := l.assemble(0, components)
	cells := &fitted{}
	cells.values, cells.denominator = l.assemble(keySet(all.Keys), components)
	cells.denominator.Mul(cells.denominator, common)
	every := make([]int, len(cells.values))
	for i := range every {
		every[i] = i
	}
	cells.whole = make([]*big.Int, len(cells.values))
	cells.distribute([]*big.Int{nearest(total[0], d.Mul(d, common))}, [][]int{every})
	for _, g := range grids {
		f := g.of[m]
		f.whole = make([]*big.Int, len(f.values))
		for at, parts := range a.partsOf(all, g.grouping) {
			f.whole[at] = new(big.Int)
			for _, i := range parts {
				f.whole[at].Add(f.whole[at], cells.whole[i])
			}
		}
	}
}

// nearest returns the integer nearest to v/d, for d > 0, with halves rounded up. It returns 0 if that integer is
// negative.
func nearest(v, d *big.Int) *big.Int {
	x := new(big.Int).Lsh(v, 1)
	x.Add(x, d)
	return notNegative(x.Div(x, new(big.Int).Lsh(d, 1))) // Div rounds down, because d is positive
}

// distribute rounds the parts of each total to integers that add up to it. It first finds the point nearest to the
// values, in the sum of squares, among all points with non-negative coordinates that add up to the total [the
// projection onto a simplex: Held, Wolfe & Crowder 1974]. Then it rounds each coordinate down, except as many as
// the total requires: those with the largest remainders are rounded up.
func (f *fitted) distribute(totals []*big.Int, parts [][]int) {
	for t, members := range parts {
		f.simplex(totals[t], members)
	}
}

func (f *fitted) simplex(total *big.Int, members []int) {
	order := slices.Clone(members)
	slices.SortStableFunc(order, func(x, y int) int { return f.values[y].Cmp(f.values[x]) })
	// In units of 1/denominator, a value x becomes max(x − τ, 0), where τ is (the sum of the k largest values −
	// total)/k. k is the largest number for which all of these k results are positive.
	whole := new(big.Int).Mul(total, f.denominator)
	sum, excess, k := new(big.Int), new(big.Int), int64(0)
	for i, c := range order {
		sum.Add(sum, f.values[c])
		e := new(big.Int).Sub(sum, whole)
		n := int64(i) + 1
		if new(big.Int).Mul(f.values[c], big.NewInt(n)).Cmp(e) <= 0 {
			break
		}
		excess, k = e, n
	}
	left := new(big.Int).Set(total)
	type rest struct {
		cell int
		of   *big.Int
	}
	var rests []rest
	d := new(big.Int).Mul(f.denominator, big.NewInt(max(k, 1)))
	for i, c := range order {
		f.whole[c] = new(big.Int)
		if int64(i) >= k {
			continue
		}
		x := new(big.Int).Mul(f.values[c], big.NewInt(k))
		x.Sub(x, excess)
		r := new(big.Int)
		f.whole[c].DivMod(x, d, r)
		left.Sub(left, f.whole[c])
		rests = append(rests, rest{c, r})
	}
	slices.SortStableFunc(rests, func(x, y rest) int { return y.of.Cmp(x.of) })
	for i := range left.Int64() { // the rest of the total is smaller than len(rests)
		f.whole[rests[i].cell].Add(f.whole[rests[i].cell], big.NewInt(1))
	}
}
