package derive

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"dither/noise"
)

// latticeOf is a lattice without a plan.
func latticeOf(sizes []int64, sets []uint64, variance []*big.Rat) *lattice {
	l := &lattice{weights: map[uint64][]*big.Rat{}, sizes: sizes, sets: sets, variance: variance}
	for t := range uint64(1) << len(sizes) {
		for _, s := range sets {
			if t&^s == 0 && l.weights[t] == nil {
				l.all, l.weights[t] = append(l.all, t), l.weigh(l.within(t))
			}
		}
	}
	return l
}

var lattices = []struct {
	sizes []int64
	sets  []uint64
}{
	{[]int64{3}, []uint64{1, 0}},
	{[]int64{2, 3}, []uint64{3, 1, 0}},            // ROLLUP
	{[]int64{2, 3}, []uint64{3, 1, 2, 0}},         // CUBE
	{[]int64{2, 3}, []uint64{1, 2}},               // without the finest
	{[]int64{2, 3}, []uint64{3, 0}},               // without the middle
	{[]int64{1, 3, 2}, []uint64{7, 3, 5, 4, 1}},   // a key of one value
	{[]int64{2, 2, 3}, []uint64{3, 5, 6}},         // every pair
	{[]int64{2, 3, 2}, []uint64{7, 6, 5, 3, 0}},   //
	{[]int64{2, 2, 2, 2}, []uint64{15, 3, 12, 0}}, //
}

// The fit is the least-squares one: it is what the normal equations give, solved here by elimination over the
// rationals, with the pseudo-inverse where no grouping has all keys (the tables are unique all the same). Its tables
// add up exactly, and the law of each cell has the variance that the linear map gives it.
func TestLatticeIsLeastSquares(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, c := range lattices {
		var variance []*big.Rat
		for range c.sets {
			variance = append(variance, big.NewRat(1+random.Int64N(20), 1+random.Int64N(5)))
		}
		l := latticeOf(c.sizes, c.sets, variance)
		var noisy [][]*big.Int
		for _, s := range c.sets {
			var table []*big.Int
			for range l.cells(s).Int64() {
				table = append(table, big.NewInt(random.Int64N(2000)-1000))
			}
			noisy = append(noisy, table)
		}
		values, denominators := l.fit(noisy)
		want := projected(l, noisy)
		for i := range c.sets {
			for cell, v := range values[i] {
				got, _ := new(big.Rat).SetFrac(v, denominators[i]).Float64()
				if math.Abs(got-want[i][cell]) > 1e-7*(1+math.Abs(got)) {
					t.Errorf("%v: set %b, cell %d: %g, and by the normal equations %g", c, c.sets[i], cell, got, want[i][cell])
				}
			}
		}
		addUp(t, l, values, denominators)
		// The law: the effect of one unit in each noisy cell in turn.
		noises := make([]noise.Distribution, len(c.sets))
		for i, v := range variance {
			d, err := noise.NewDiscreteGaussian(v)
			if err != nil {
				t.Fatal(err)
			}
			noises[i] = d
		}
		for i, s := range c.sets {
			cell := int(random.Int64N(l.cells(s).Int64()))
			sum := 0.0
			for j := range c.sets {
				for at := range noisy[j] {
					unit := zeros(noisy)
					unit[j][at].SetInt64(1)
					v, d := l.fit(unit)
					x, _ := new(big.Rat).SetFrac(v[i][cell], d[i]).Float64()
					sum += x * x * noises[j].Variance()
				}
			}
			if got := l.law(s, noises).Variance(); math.Abs(got-sum) > 1e-9*(1+sum) {
				t.Errorf("%v: set %b: variance %g, and by its linear map %g", c, s, got, sum)
			}
			if got := l.law(s, noises).Variance(); got > noises[i].Variance()*(1+1e-3) {
				t.Errorf("%v: set %b: variance %g, and of its own measurement %g", c, s, got, noises[i].Variance())
			}
		}
	}
}

func zeros(like [][]*big.Int) [][]*big.Int {
	out := make([][]*big.Int, len(like))
	for i := range like {
		for range like[i] {
			out[i] = append(out[i], new(big.Int))
		}
	}
	return out
}

// addUp checks that each coarser table is the sum of each finer one, exactly.
func addUp(t *testing.T, l *lattice, values [][]*big.Int, denominators []*big.Int) {
	t.Helper()
	for i, s := range l.sets {
		for j, coarse := range l.sets {
			if coarse&^s != 0 {
				continue
			}
			sums := make([]*big.Rat, len(values[j]))
			for k := range sums {
				sums[k] = new(big.Rat)
			}
			for cell, at := range positions(s, coarse, l.sizes) {
				sums[at].Add(sums[at], new(big.Rat).SetFrac(values[i][cell], denominators[i]))
			}
			for k := range sums {
				if sums[k].Cmp(new(big.Rat).SetFrac(values[j][k], denominators[j])) != 0 {
					t.Errorf("sets %b and %b do not add up at %d", s, coarse, k)
				}
			}
		}
	}
}

// projected fits by solving the normal equations for the table of all keys with a little ridge, which the margins do
// not feel.
func projected(l *lattice, noisy [][]*big.Int) [][]float64 {
	all := uint64(1)<<len(l.sizes) - 1
	n := int(l.cells(all).Int64())
	a, b := make([][]float64, n), make([]float64, n)
	for i := range a {
		a[i] = make([]float64, n)
		a[i][i] = 1e-9
	}
	for i, s := range l.sets {
		v, _ := l.variance[i].Float64()
		at := positions(all, s, l.sizes)
		for x := range n {
			y, _ := new(big.Float).SetInt(noisy[i][at[x]]).Float64()
			b[x] += y / v
			for z := range n {
				if at[x] == at[z] {
					a[x][z] += 1 / v
				}
			}
		}
	}
	for i := range n {
		pivot := i
		for r := i; r < n; r++ {
			if math.Abs(a[r][i]) > math.Abs(a[pivot][i]) {
				pivot = r
			}
		}
		a[i], a[pivot], b[i], b[pivot] = a[pivot], a[i], b[pivot], b[i]
		for r := i + 1; r < n; r++ {
			f := a[r][i] / a[i][i]
			for k := i; k < n; k++ {
				a[r][k] -= f * a[i][k]
			}
			b[r] -= f * b[i]
		}
	}
	x := make([]float64, n)
	for i := n - 1; i >= 0; i-- {
		x[i] = b[i]
		for k := i + 1; k < n; k++ {
			x[i] -= a[i][k] * x[k]
		}
		x[i] /= a[i][i]
	}
	var out [][]float64
	for _, s := range l.sets {
		table := make([]float64, l.cells(s).Int64())
		for i, at := range positions(all, s, l.sizes) {
			table[at] += x[i]
		}
		out = append(out, table)
	}
	return out
}
