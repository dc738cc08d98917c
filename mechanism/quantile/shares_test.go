package quantile

import (
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"dither/mechanism"
	"dither/mechanism/internal/mechtest"
	"dither/privacy"
)

// TestSharesAddUp walks down all paths of the trees of random ranks: as many levels as are promised, each rank once, no
// share of nothing, and shares that make at most 1; of the squares, what BoundedRange says.
func TestSharesAddUp(t *testing.T) {
	r := rand.New(rand.NewPCG(39, 40))
	for trial := range 120 {
		den := 1 + r.Int64N(10_000)
		k := 1 + int64(r.IntN(20))
		even := trial < 40 || trial == 100 || trial == 103
		if even {
			k = 1 + int64(trial)
			if trial == 103 {
				k = 255
			}
			den = k + 1
		}
		m := Approximate{
			Domain{0, 10},
			mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1},
			nil,
			mechtest.Epsilon(t, "1"), trial%2 == 0,
		}
		chosen := map[int64]bool{}
		for range k {
			chosen[r.Int64N(den+1)] = true
		}
		for at := range den + 1 {
			if even && at > 0 && at < den || !even && chosen[at] {
				m.Ranks = append(m.Ranks, big.NewRat(at, den))
			}
		}
		target, err := m.check()
		if err != nil {
			t.Fatal(err)
		}
		seen, levels, squares := map[int]bool{}, 0, int64(0)
		var walk func(c *cut, first, last int, sum, square int64, level int)
		walk = func(c *cut, first, last int, sum, square int64, level int) {
			if c == nil {
				if first < last {
					t.Fatalf("%v: ranks %d to %d are not cut", m.Ranks, first, last-1)
				}
				return
			}
			sum, square, level = sum+c.share, square+c.share*c.share, level+1
			if seen[c.rank] || c.rank < first || c.rank >= last || c.share < 1 || sum > c.of {
				t.Fatalf("%v: rank %d in %d to %d, a share of %d/%d, %d with those above", m.Ranks, c.rank, first,
					last-1, c.share, c.of, sum)
			}
			seen[c.rank], levels, squares = true, max(levels, level), max(squares, square)
			walk(c.left, first, c.rank, sum, square, level)
			walk(c.right, c.rank+1, last, sum, square, level)
		}
		root := m.order(target)
		walk(root, 0, len(m.Ranks), 0, 0, 0)
		if len(seen) != len(m.Ranks) || 1<<levels > m.whole() {
			t.Errorf("%d ranks: %d cuts in %d levels", len(m.Ranks), len(seen), levels)
		}
		rho, _ := m.BoundedRange().ZCDP()
		got, _ := rho.Rat().Float64()
		if want := float64(squares) / float64(root.of*root.of) / 8; math.Abs(got/want-1) > 1e-12 || got > 1./8 {
			t.Errorf("%d ranks: a bounded range of %g, not %g", len(m.Ranks), got, want)
		}
		total := new(big.Rat)
		for _, s := range m.Shares() {
			if s.Sign() <= 0 {
				t.Errorf("a share of %s", s)
			}
			total.Add(total, s)
		}
		if total.Cmp(big.NewRat(1, 1)) < 0 {
			t.Errorf("%d ranks: all shares make %s", len(m.Ranks), total)
		}
	}
}

// TestSharesAreBest has the sum of squared errors by the model of cutOrder: with the shares that are chosen it is the
// least of all trees of up to six ranks with shares moved at random, and of ten quantiles an eighth less than with
// equal levels.
func TestSharesAreBest(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 42))
	for _, squares := range []bool{false, true} {
		for range 60 {
			den := 7 + r.Int64N(20)
			var ranks []*big.Rat
			for at := int64(1); at < den && len(ranks) < 6; at++ {
				if r.IntN(3) == 0 || at > den-3 {
					ranks = append(ranks, big.NewRat(at, den))
				}
			}
			m := Approximate{
				Domain{0, 10},
				mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1},
				ranks,
				mechtest.Epsilon(t, "1"), squares,
			}
			target, err := m.check()
			if err != nil {
				t.Fatal(err)
			}
			least := sumOfSquares(target, m.order(target), squares)
			for range 300 {
				other := randomCuts(r, 0, len(ranks), 4)
				if other.depth() > 3 && len(ranks) < 8 {
					continue
				}
				if sum := sumOfSquares(target, other, squares); sum < least*(1-0.01) { // of rounded shares
					t.Fatalf("ranks %v, squares %t: a sum of %g, and by other cuts %g", ranks, squares, least, sum)
				}
			}
		}
	}
	var ten []*big.Rat
	for j := range int64(10) {
		ten = append(ten, big.NewRat(j+1, 11))
	}
	target, err := targetsOf(ten)
	if err != nil {
		t.Fatal(err)
	}
	best, equal := sumOfSquares(target, orderCuts(target, false), false), sumOfSquares(target, equalCuts(0, 10), false)
	t.Logf("ten quantiles: a sum of %.0f/ε², with equal levels %.0f/ε²", best, equal)
	if best > 0.875*equal {
		t.Errorf("ten quantiles: a sum of %g, with equal levels %g", best, equal)
	}
}

func (c *cut) depth() int {
	if c == nil {
		return 0
	}
	return 1 + max(c.left.depth(), c.right.depth())
}

// equalCuts are the cuts of equal levels.
func equalCuts(first, last int) *cut {
	if first >= last {
		return nil
	}
	middle := (first + last) / 2
	return &cut{rank: middle, share: 1, left: equalCuts(first, middle), right: equalCuts(middle+1, last)}
}

func randomCuts(r *rand.Rand, first, last int, parts int64) *cut {
	if first >= last {
		return nil
	}
	middle := first + r.IntN(last-first)
	return &cut{
		rank: middle, share: 1 + r.Int64N(parts), left: randomCuts(r, first, middle, parts),
		right: randomCuts(r, middle+1, last, parts),
	}
}

// sumOfSquares is what all ranks are off by in the sum of squares, at a loss of 1: from the errors of the cuts at
// either end, for each draw.
func sumOfSquares(t targets, root *cut, squares bool) (sum float64) {
	scale := float64(root.sum())
	if squares {
		scale = math.Sqrt(float64(root.squares()))
	}
	type shares map[*cut]float64 // of the draws, in a cut's error
	var walk func(c *cut, from, to int64, low, high shares)
	walk = func(c *cut, from, to int64, low, high shares) {
		if c == nil {
			return
		}
		at := t.at[c.rank]
		q := float64(at-from) / float64(to-from)
		own := shares{c: 1}
		for d, x := range low {
			own[d] += (1 - q) * x
		}
		for d, x := range high {
			own[d] += q * x
		}
		walk(c.left, from, at, low, own)
		walk(c.right, at, to, own, high)
		draws[c] = 2 * math.Pow(2*max(q, 1-q)*scale/float64(c.share), 2)
		for d, x := range own {
			influence[d] += x * x
		}
	}
	draws, influence = map[*cut]float64{}, map[*cut]float64{}
	walk(root, 0, t.den, nil, nil)
	for c, v := range draws {
		sum += v * influence[c]
	}
	return sum
}

var draws, influence map[*cut]float64

// The order of cuts of as many ranks as there may be takes no long time.
func TestSharesAreQuick(t *testing.T) {
	var ranks []*big.Rat
	for j := range int64(255) {
		ranks = append(ranks, big.NewRat(j+1, 256))
	}
	target, err := targetsOf(ranks)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	orderCuts(target, false)
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %v", took)
	} else {
		t.Log(took)
	}
}

// missed is by how many values quantiles at the ranks j/(k + 1) are off on average, of n values of N(0, 5) with bounds
// of ±100: the mean of so many trials and its standard error.
func missed(
	t *testing.T, r *rand.Rand, trials, n, k int,
	release func(ranks []*big.Rat, data mechanism.Ordered) (OrderStatistics, error),
) (mean, deviation float64) {
	const grid = 1_000_000
	var ranks []*big.Rat
	for j := range k {
		ranks = append(ranks, big.NewRat(int64(j+1), int64(k+1)))
	}
	sum, squares := 0.0, 0.0
	for range trials {
		data := make([]int64, n)
		for l := range data {
			data[l] = int64(math.Round(r.NormFloat64() * 5 * grid))
		}
		slices.Sort(data)
		out, err := release(ranks, orderedOf(data...))
		if err != nil {
			t.Fatal(err)
		}
		off := 0.0
		for j, v := range out.Values {
			at, _ := slices.BinarySearch(data, v)
			off += math.Abs(float64(at) - math.Floor(float64(n)*float64(j+1)/float64(k+1)))
		}
		off /= float64(k)
		sum, squares = sum+off, squares+off*off
	}
	mean = sum / float64(trials)
	return mean, math.Sqrt(max(0, squares/float64(trials)-mean*mean) / float64(trials-1))
}

// TestTenQuantiles pins the recursion's error where Kaplan, Schnapp & Stemmer 2022 have 5.8: 1000 values, ε = 1. A
// long run holds it below that; with levels of equal shares it is 6.03. The test fails by mistake with a chance below
// 1e-6.
func TestTenQuantiles(t *testing.T) {
	trials, most := 150, 6.75
	if os.Getenv("DITHER_LONG") != "" {
		trials, most = 6000, 5.8
	}
	mean, deviation := missed(t, rand.New(rand.NewPCG(43, 44)), trials, 1000, 10,
		func(ranks []*big.Rat, data mechanism.Ordered) (OrderStatistics, error) {
			return Approximate{
				Domain{-100_000_000, 100_000_000},
				mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1},
				ranks, mechtest.Epsilon(t, "1"), false,
			}.Release(data)
		})
	t.Logf("%.3f ± %.3f", mean, deviation)
	if mean > most {
		t.Errorf("ten quantiles are off by %.3f ± %.3f values", mean, deviation)
	}
}

// TestClosestQuantiles prints by how many values quantiles are off by each mechanism, for the choice that package stats
// makes.
func TestClosestQuantiles(t *testing.T) {
	if os.Getenv("DITHER_LONG") == "" {
		t.Skip("DITHER_LONG=1 runs it: some minutes")
	}
	in, u := Domain{-100_000_000, 100_000_000}, mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1}
	for _, n := range []int{300, 1000, 10_000} {
		for _, text := range []string{"0.1", "1", "10"} {
			e := mechtest.Epsilon(t, text)
			for _, k := range []int{1, 2, 3, 5, 7, 10, 12, 15, 20, 29, 50, 100} {
				r := rand.New(rand.NewPCG(45, uint64(k)))
				trials := 60
				if n > 1000 {
					trials = 15
				}
				independent, s0 := missed(t, r, trials, n, k,
					func(ranks []*big.Rat, data mechanism.Ordered) (OrderStatistics, error) {
						return Independent{in, u, ranks, e}.Release(data)
					})
				recursive, s1 := missed(t, r, trials, n, k,
					func(ranks []*big.Rat, data mechanism.Ordered) (OrderStatistics, error) {
						return Approximate{in, u, ranks, e, false}.Release(data)
					})
				joint, s2 := missed(t, r, trials, n, k,
					func(ranks []*big.Rat, data mechanism.Ordered) (OrderStatistics, error) {
						return Joint{in, u, ranks, min(1<<22/(k*k), 1<<14), e}.Release(data)
					})
				t.Logf(
					"n = %d, ε = %s, %d quantiles: independent %.2f ± %.2f, recursive %.2f ± %.2f, joint %.2f ± %.2f",
					n, text, k, independent, s0, recursive, s1, joint, s2)
			}
		}
	}
}
