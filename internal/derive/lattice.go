package derive

import (
	"cmp"
	"math/big"
	"math/bits"
	"slices"

	"dither/internal/plan"
	"dither/noise"
)

// lattice is the least-squares fit to one measure's noisy tables over several grouping sets. The fitted tables are
// consistent: coarser tables are exactly the sums of finer ones.
//
// Let a grouping S be a set of keys, where key k has n_k values. Let y_S be its table: the sums M_S x of the table
// x over all keys, with independent noise of variance v_S on each cell. For a table over the keys T, write C_T for
// centring along each key of T, u ↦ u − mean. Write M_T y for y summed over the keys that are not in T. Then the
// tables C_T M_T y_S for T ⊆ S are uncorrelated between different T, because C_T u and C_T′ u are in orthogonal
// spaces. They determine y_S:
//
//	y_S = Σ_{T⊆S} (lifted C_T M_T y_S) / Π_{k∈S∖T} n_k.
//
// For every grouping S ⊇ T, C_T M_T y_S estimates the same table C_T M_T x. Its covariance is v_S·Π_{k∈S∖T} n_k
// times the same matrix C_T. So the least-squares estimate of C_T M_T x is the average of these estimates, weighted
// by the inverses 1/(v_S·Π_{k∈S∖T} n_k). The fitted tables are put together from these averages by the formula
// above [the analysis of variance of complete tables: Scheffé 1959, §4; for noisy margins Barak et al. 2007]. If
// only one grouping contains T, its average is that grouping's estimate.
//
// For any weights that add up to 1 for each T, the fit is unbiased and its tables add up. Here v_S is not the
// variance but the square of the noise's scale, an exact rational, to which the variance is very nearly
// proportional.
//
// Since Π_{k∈S∖T} n_k is Π_{k∈S} n_k divided by Π_{k∈T} n_k, the weights of T are proportional to 1/(v_S·Π_{k∈S}
// n_k). So they depend on T only through the set of groupings that contain T.
type lattice struct {
	sizes    []int64  // number of values of each key
	sets     []uint64 // keys of each grouping, as bits
	variance []*big.Rat
	all      []uint64              // every set T of keys within some grouping
	weights  map[uint64][]*big.Rat // by T: the weight of each grouping; nil if the grouping does not contain T
	sizesUp  map[[2]int64]float64  // what sizeUp computed
	firsts   []int                 // what first computed
}

// keySet returns the keys of a grouping as bits.
func keySet(keys []int) (set uint64) {
	for _, k := range keys {
		set |= 1 << k
	}
	return set
}

func newLattice(p *plan.Plan, j int) *lattice { return latticeWith(p, variances(p, j)) }

// variances returns the square of the noise's scale in each grouping, for the j-th measure: b² for Laplace noise,
// σ² for Gaussian noise. Groupings that have the first grouping's noise share its *big.Rat.
func variances(p *plan.Plan, j int) (out []*big.Rat) {
	var first *plan.Measure
	for _, g := range p.Groupings() {
		m := g.Measures[j]
		if first != nil && m.Noise == first.Noise &&
			(m.Parameter == first.Parameter || m.Parameter.Cmp(first.Parameter) == 0) {
			out = append(out, out[0])
			continue
		}
		v := m.Parameter
		if m.Noise == plan.Laplace {
			v = new(big.Rat).Mul(v, v)
		}
		if out = append(out, v); first == nil {
			first = m
		}
	}
	return out
}

// latticeWith returns the lattice for these variances, of which only the ratios matter.
func latticeWith(p *plan.Plan, variance []*big.Rat) *lattice {
	l := &lattice{weights: map[uint64][]*big.Rat{}, variance: variance}
	for _, k := range p.Keys {
		l.sizes = append(l.sizes, int64(len(k.Values)))
	}
	for _, g := range p.Groupings() {
		l.sets = append(l.sets, keySet(g.Keys))
	}
	families := map[family][]*big.Rat{}
	for _, s := range l.sets {
		for t := s; ; t = (t - 1) & s { // all subsets of s
			if l.weights[t] == nil {
				l.all = append(l.all, t)
				within := l.within(t)
				if families[within] == nil {
					families[within] = l.weigh(within)
				}
				l.weights[t] = families[within]
			}
			if t == 0 {
				break
			}
		}
	}
	return l
}

// first returns the first grouping with the same variance as the i-th.
func (l *lattice) first(i int) int {
	for j := len(l.firsts); j <= i; j++ {
		v := l.variance[j]
		l.firsts = append(l.firsts, slices.IndexFunc(l.variance, func(o *big.Rat) bool { return o == v || o.Cmp(v) == 0 }))
	}
	return l.firsts[i]
}

// family is a set of groupings, as bits.
type family [plan.MaxSets/64 + 1]uint64 // the grouping of all keys may be added to those of the question

// within returns the set of groupings that have all keys of t.
func (l *lattice) within(t uint64) (f family) {
	for i, s := range l.sets {
		if t&^s == 0 {
			f[i/64] |= 1 << (i % 64)
		}
	}
	return f
}

// weigh returns the weight of each grouping in f in the fit (see lattice). It returns nil for groupings that are not in
// f.
func (l *lattice) weigh(f family) []*big.Rat {
	out := make([]*big.Rat, len(l.sets))
	total := new(big.Rat)
	for i, s := range l.sets {
		if f[i/64]>>(i%64)&1 == 1 {
			v := new(big.Rat).SetInt(l.cells(s))
			out[i] = v.Inv(v.Mul(v, l.variance[i]))
			total.Add(total, out[i])
		}
	}
	for _, w := range out {
		if w != nil {
			w.Quo(w, total)
		}
	}
	return out
}

// cells returns the number of cells of a table over the keys in set, which has one bit for each key.
func (l *lattice) cells(set uint64) *big.Int {
	out := big.NewInt(1)
	for ; set != 0; set &= set - 1 {
		out.Mul(out, big.NewInt(l.sizes[bits.TrailingZeros64(set)]))
	}
	return out
}

// table is a table over the cells of some keys. The last key changes fastest.
type table struct {
	keys   uint64
	values []*big.Int
}

// without returns the table summed over one of its keys.
func (t table) without(k int, sizes []int64) table {
	inner := 1
	for j := k + 1; j < len(sizes); j++ {
		if t.keys>>j&1 == 1 {
			inner *= int(sizes[j])
		}
	}
	n := int(sizes[k])
	out := table{t.keys &^ (1 << k), make([]*big.Int, len(t.values)/n)}
	for i := range out.values {
		sum := new(big.Int)
		first := i/inner*inner*n + i%inner
		for v := range n {
			sum.Add(sum, t.values[first+v*inner])
		}
		out.values[i] = sum
	}
	return out
}

// centred returns the table minus its mean along one of its keys, times the number n of that key's values. The
// results are integers.
func (t table) centred(k int, sizes []int64) table {
	sums := t.without(k, sizes)
	n := big.NewInt(sizes[k])
	out := table{t.keys, make([]*big.Int, len(t.values))}
	at := positions(t.keys, sums.keys, sizes)
	for i, v := range t.values {
		x := new(big.Int).Mul(v, n)
		out.values[i] = x.Sub(x, sums.values[at[i]])
	}
	return out
}

// positions returns, for each cell of a table over the keys `of`, the index of the cell that contains it in the
// table over the keys `in`, a subset.
func positions(of, in uint64, sizes []int64) []int {
	out := []int{0}
	for k, n := range sizes {
		if of>>k&1 == 0 {
			continue
		}
		next := make([]int, 0, len(out)*int(n))
		for _, at := range out {
			for v := range int(n) {
				if in>>k&1 == 1 {
					next = append(next, at*int(n)+v)
				} else {
					next = append(next, at)
				}
			}
		}
		out = next
	}
	return out
}

// fit returns the fitted table of each grouping: integers over one denominator for each. The computation is exact.
func (l *lattice) fit(noisy [][]*big.Int) (fitted [][]*big.Int, denominators []*big.Int) {
	components := l.components(noisy)
	for _, s := range l.sets {
		values, denominator := l.assemble(s, components)
		fitted, denominators = append(fitted, values), append(denominators, denominator)
	}
	return fitted, denominators
}

func (l *lattice) components(noisy [][]*big.Int) map[uint64]component {
	margins := l.margins(noisy)
	out := map[uint64]component{}
	for _, t := range l.all {
		out[t] = l.component(t, margins)
	}
	return out
}

// assemble returns the fitted table over any keys s, as integers over one denominator. The keys need not be those
// of a grouping. If no grouping has all of them, the result is the table with the least sum of squares among the
// tables over s whose sums are the fitted tables.
func (l *lattice) assemble(s uint64, components map[uint64]component) ([]*big.Int, *big.Int) {
	// With c_T and d_T the values and the denominator of the component of T, a cell of the table over S is Σ_T
	// c_T/(d_T·Π_{k∈T} n_k·Π_{k∈S∖T} n_k): see lattice. The product of the last two factors is the same for all T.
	common := big.NewInt(1)
	for t := s; ; t = (t - 1) & s {
		if c, ok := components[t]; ok {
			common = lcm(common, c.denominator)
		}
		if t == 0 {
			break
		}
	}
	values := make([]*big.Int, l.cells(s).Int64())
	for i := range values {
		values[i] = new(big.Int)
	}
	for t := s; ; t = (t - 1) & s {
		c, ok := components[t]
		if !ok {
			continue // t is not 0, because every grouping contains 0
		}
		times := new(big.Int).Quo(common, c.denominator)
		at := positions(s, t, l.sizes)
		scaled := make([]*big.Int, len(c.values))
		for i, v := range c.values {
			scaled[i] = new(big.Int).Mul(v, times)
		}
		for i := range values {
			values[i].Add(values[i], scaled[at[i]])
		}
		if t == 0 {
			break
		}
	}
	return values, common.Mul(common, l.cells(s))
}

// component is the estimate of the table C_T M_T x (see lattice), times denominator·Π_{k∈T} n_k.
type component struct {
	values      []*big.Int
	denominator *big.Int
}

// margins returns, for each grouping, its table summed to every subset of its keys, by the remaining keys.
func (l *lattice) margins(noisy [][]*big.Int) []map[uint64]table {
	out := make([]map[uint64]table, len(l.sets))
	for i, s := range l.sets {
		out[i] = map[uint64]table{s: {s, noisy[i]}}
		for t := s; t != 0; {
			// from the largest subset of s to the smallest, so that a superset with one key more always comes first
			t = (t - 1) & s
			k := bits.TrailingZeros64(s &^ t)
			out[i][t] = out[i][t|1<<k].without(k, l.sizes)
		}
	}
	return out
}

func (l *lattice) component(t uint64, margins []map[uint64]table) component {
	denominator := big.NewInt(1)
	for _, w := range l.weights[t] {
		if w != nil {
			denominator = lcm(denominator, w.Denom())
		}
	}
	sum := table{t, make([]*big.Int, l.cells(t).Int64())}
	for i := range sum.values {
		sum.values[i] = new(big.Int)
	}
	term := new(big.Int)
	for i, w := range l.weights[t] {
		if w == nil {
			continue
		}
		times := new(big.Int).Mul(w.Num(), new(big.Int).Quo(denominator, w.Denom()))
		for c, v := range margins[i][t].values {
			sum.values[c].Add(sum.values[c], term.Mul(v, times))
		}
	}
	for k := range l.sizes {
		if t>>k&1 == 1 {
			sum = sum.centred(k, l.sizes)
		}
	}
	return component{sum.values, denominator}
}

func lcm(a, b *big.Int) *big.Int {
	g := new(big.Int).GCD(nil, nil, a, b)
	return g.Mul(new(big.Int).Quo(a, g), b)
}

// law returns the distribution of the error of each cell of the fitted table over s, in grid units. noises holds
// the noise of each grouping's cells.
//
// The estimate of the cell is a linear form of all noisy cells. The coefficient of a cell of grouping S′ depends on
// the set A ⊆ S ∩ S′ of keys in which the two cells agree:
//
//	Σ_{T⊆S∩S′} w_{S′,T}/Π_{k∈S∖T} n_k · Π_{k∈T∩A} (1 − 1/n_k) · Π_{k∈T∖A} (−1/n_k).
//
// For each A, exactly Π_{k∈(S∩S′)∖A} (n_k − 1) · Π_{k∈S′∖S} n_k cells of S′ agree with it in the keys A and in no
// other key of S ∩ S′.
func (l *lattice) law(s uint64, noises []noise.Distribution) *noise.Combination {
	return lawOf(l.kinds(s), noises)
}

// kind is a number of independent noises with the same coefficient and the same variance.
type kind struct {
	coefficient float64
	noise       int // index of the first grouping with this variance
	times       float64
}

// kinds returns the noises in a cell of the fitted table over s, grouped by kind and sorted.
func (l *lattice) kinds(s uint64) []kind {
	times := map[kind]float64{}
	for i, other := range l.sets {
		first := l.first(i)
		keys := keysOf(s & other)
		each := l.coefficients(s, i, keys)
		outside := l.cells(other &^ s).Int64() // the number of cells of a table, so it is below plan.MaxCells
		for a, coefficient := range each {
			cells := outside
			for j, k := range keys {
				if a>>j&1 == 0 {
					cells *= l.sizes[k] - 1
				}
			}
			if cells > 0 {
				times[kind{coefficient: coefficient, noise: first}] += float64(cells)
			}
		}
	}
	var out []kind
	for of, n := range times {
		of.times = n
		out = append(out, of)
	}
	slices.SortFunc(out, func(x, y kind) int {
		return cmp.Or(cmp.Compare(x.coefficient, y.coefficient), cmp.Compare(x.noise, y.noise))
	})
	return out
}

// keysOf returns the keys of a set, in increasing order.
func keysOf(set uint64) (keys []int) {
	for ; set != 0; set &= set - 1 {
		keys = append(keys, bits.TrailingZeros64(set))
	}
	return keys
}

func lawOf(kinds []kind, noises []noise.Distribution) *noise.Combination {
	out := &noise.Combination{}
	for _, k := range kinds {
		out.Add(k.coefficient, noises[k.noise], k.times)
	}
	return out
}
