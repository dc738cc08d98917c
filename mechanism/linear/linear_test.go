package linear

import (
	"errors"
	"math/big"
	"math/rand/v2"
	"testing"

	"dither/mechanism"
	"dither/mechanism/internal/opaque"
)

// random returns a matrix with a few columns and rows of small entries, some of them 0.
func random(t *testing.T, r *rand.Rand, columns int) Matrix {
	t.Helper()
	entries := make([][]int64, 1+r.IntN(4))
	for i := range entries {
		entries[i] = make([]int64, columns)
		for j := range entries[i] {
			if entries[i][j] = r.Int64N(7) - 3; r.IntN(3) == 0 && j > 0 {
				entries[i][j] = entries[i][j-1]
			}
		}
	}
	m, err := Dense(entries)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// strategy returns a stack of random products over the same number of columns, and its entries, multiplied out by the
// definition of the Kronecker product. Some stacks have factors of different sizes.
func strategy(t *testing.T, r *rand.Rand) (Strategy, [][]int64) {
	t.Helper()
	sides := [][]int{{2, 3}, {2, 3}, {6}, {3, 2}}
	if r.IntN(2) == 0 {
		sides = sides[:1+r.IntN(2)]
	}
	var products []Product
	var all [][]int64
	for _, of := range sides[:1+r.IntN(len(sides))] {
		var p Product
		entries := [][]int64{{1}}
		for _, n := range of {
			m := random(t, r, n)
			p = append(p, m)
			entries = kronecker(entries, m.Dense())
		}
		products, all = append(products, p), append(all, entries...)
	}
	s, err := NewStrategy(products...)
	if err != nil {
		t.Fatal(err)
	}
	return s, all
}

func kronecker(a, b [][]int64) (out [][]int64) {
	for _, x := range a {
		for _, y := range b {
			var row []int64
			for _, u := range x {
				for _, v := range y {
					row = append(row, u*v)
				}
			}
			out = append(out, row)
		}
	}
	return out
}

// The answers are those of the matrix that is multiplied out, in words and in integers of any size, and beyond a bound
// that does not hold.
func TestAnswersAreThoseOfTheMatrix(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	huge := new(big.Int).Lsh(big.NewInt(1), 90)
	for range 500 {
		s, entries := strategy(t, r)
		unit := []*big.Int{big.NewInt(1), huge}[r.IntN(2)]
		x, exact := make([]*big.Int, s.Columns()), make([]mechanism.Exact, s.Columns())
		for j := range x {
			x[j] = new(big.Int).Mul(unit, big.NewInt(r.Int64N(2001)-1000))
			exact[j] = mechanism.NewExact(x[j])
		}
		for _, most := range []*big.Int{nil, big.NewInt(1000), big.NewInt(10), new(big.Int).Mul(huge, big.NewInt(1000))} {
			got, err := s.Apply(exact, most)
			if err != nil || len(got) != len(entries) || s.Rows() != len(entries) {
				t.Fatal(len(got), len(entries), err)
			}
			for i, row := range entries {
				want := new(big.Int)
				for j, v := range row {
					want.Add(want, new(big.Int).Mul(big.NewInt(v), x[j]))
				}
				if opaque.Open(got[i]).Cmp(want) != 0 {
					t.Fatalf("query %d is %s, want %s, within %v", i, opaque.Open(got[i]), want, most)
				}
			}
		}
	}
}

// The norms are those of the columns of the matrix that is multiplied out. No difference of two columns, times values
// in the bounds, is longer than Apart, and some difference is as long in L2.
func TestNormsAreThoseOfTheMatrix(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	attained := 0
	for range 500 {
		s, entries := strategy(t, r)
		lo, hi := -r.Int64N(3), r.Int64N(3)
		l1, l2, apart1, apart2 := int64(0), int64(0), int64(0), int64(0)
		for i := range s.Columns() {
			n1, n2 := int64(0), int64(0)
			for _, row := range entries {
				n1, n2 = n1+max(row[i], -row[i]), n2+row[i]*row[i]
			}
			l1, l2 = max(l1, n1), max(l2, n2)
			for j := range s.Columns() {
				for v := lo; v <= hi; v++ {
					for w := lo; w <= hi; w++ {
						n1, n2 := int64(0), int64(0)
						for _, row := range entries {
							d := v*row[i] - w*row[j]
							n1, n2 = n1+max(d, -d), n2+d*d
						}
						apart1, apart2 = max(apart1, n1), max(apart2, n2)
					}
				}
			}
		}
		got1, got2 := s.Norms()
		if got1.Cmp(big.NewInt(l1)) != 0 || got2.Cmp(big.NewInt(l2)) != 0 {
			t.Fatalf("norms %s and %s, want %d and %d", got1, got2, l1, l2)
		}
		got1, got2 = s.Apart(big.NewInt(lo), big.NewInt(hi))
		if got2.Cmp(big.NewInt(apart2)) != 0 || got1.Cmp(big.NewInt(apart1)) < 0 {
			t.Fatalf("apart %s and %s, want %d and %d", got1, got2, apart1, apart2)
		}
		if got1.Cmp(big.NewInt(apart1)) == 0 {
			attained++
		}
	}
	if attained < 100 {
		t.Errorf("the bound on the L1 norm is attained %d times in 500", attained)
	}
}

// The norms of columns with large entries are exact too, in two words and in integers of any size.
func TestNormsOfLargeEntries(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	for range 300 {
		var products []Product
		sums := [2][8]big.Int{} // L1 norms and squared L2 norms of the columns
		for range 1 + r.IntN(4) {
			var p Product
			norms := [2][]*big.Int{{big.NewInt(1)}, {big.NewInt(1)}}
			for _, columns := range [][]int{{8}, {2, 4}, {2, 2, 2}}[r.IntN(3)] {
				entries, own := make([][]int64, 1+r.IntN(3)), [2][]big.Int{make([]big.Int, columns), make([]big.Int, columns)}
				for i := range entries {
					for j := range columns {
						v := (r.Int64N(3) - 1) << r.IntN(41)
						entries[i] = append(entries[i], v)
						x := big.NewInt(max(v, -v))
						own[0][j].Add(&own[0][j], x)
						own[1][j].Add(&own[1][j], x.Mul(x, x))
					}
				}
				m, err := Dense(entries)
				if err != nil {
					t.Fatal(err)
				}
				p = append(p, m)
				for k := range norms {
					var next []*big.Int
					for _, left := range norms[k] {
						for j := range own[k] {
							next = append(next, new(big.Int).Mul(left, &own[k][j]))
						}
					}
					norms[k] = next
				}
			}
			products = append(products, p)
			for k := range sums {
				for j, n := range norms[k] {
					sums[k][j].Add(&sums[k][j], n)
				}
			}
		}
		s, err := NewStrategy(products...)
		if err != nil {
			t.Fatal(err)
		}
		var most [2]big.Int
		for k := range most {
			for j := range sums[k] {
				if sums[k][j].Cmp(&most[k]) > 0 {
					most[k].Set(&sums[k][j])
				}
			}
		}
		if got1, got2 := s.Norms(); got1.Cmp(&most[0]) != 0 || got2.Cmp(&most[1]) != 0 {
			t.Fatalf("norms %s and %s, want %s and %s", got1, got2, &most[0], &most[1])
		}
	}
}

// stacked returns a stack of so many products of two matrices of so many columns, whose entries are at most top. No column
// has the largest norm of each product.
func stacked(t *testing.T, products, columns int, top int64) Strategy {
	t.Helper()
	all := make([]Product, products)
	for i := range all {
		row := make([]int64, columns)
		for j := range row {
			row[j] = top - int64(i+j)%2
		}
		m, err := Dense([][]int64{row})
		if err != nil {
			t.Fatal(err)
		}
		all[i] = Product{m, m}
	}
	s, err := NewStrategy(all...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Norms in words take few steps even for the largest strategies, and many products of large entries take too many.
// Comparing the columns of one strategy is always within the limit.
func TestStepsWeighTheArithmetic(t *testing.T) {
	for _, c := range []struct {
		products, columns int
		top               int64
		fits              bool
	}{
		{MaxProducts, 2048, 1 << 25, true},
		{MaxProducts, 512, MaxEntry, false},
		{MaxProducts, 64, MaxEntry, true},
		{8, 128, 9, true},
	} {
		s := stacked(t, c.products, c.columns, c.top)
		if steps := s.Steps(true); steps <= MaxSteps != c.fits {
			t.Errorf("%+v: %g steps, and the limit is %g", c, steps, float64(MaxSteps))
		}
	}
}

// Comparing the columns of many products gives up before it takes much memory.
func TestApartGivesUp(t *testing.T) {
	products := make([]Product, MaxProducts)
	for i := range products {
		row := make([]int64, 128)
		for j := range row {
			row[j] = int64((j*7919+i*104729)%1000003) + 1
		}
		m, err := Dense([][]int64{row})
		if err != nil {
			t.Fatal(err)
		}
		products[i] = Product{m}
	}
	s, err := NewStrategy(products...)
	if err != nil {
		t.Fatal(err)
	}
	if l1, l2 := s.Apart(big.NewInt(0), big.NewInt(1)); l1 != nil || l2 != nil {
		t.Errorf("16,384 pairs of columns in 256 products give %s and %s", l1, l2)
	}
}

// Matrices and strategies that are empty, ragged, too large or of different sizes are refused.
func TestStrategiesRefuse(t *testing.T) {
	half := Product{Identity(1 << 12), Total(1 << 12)}
	many := make(Product, 12)
	for i := range many {
		many[i] = Centred(4)
	}
	refused := map[string]func() error{
		"no rows":           func() error { _, err := Dense(nil); return err },
		"no columns":        func() error { _, err := Dense([][]int64{{}}); return err },
		"ragged":            func() error { _, err := Dense([][]int64{{1, 2}, {3}}); return err },
		"a large entry":     func() error { _, err := Dense([][]int64{{MaxEntry + 1}}); return err },
		"the least integer": func() error { _, err := Dense([][]int64{{-1 << 63}}); return err },
		"a run outside":     func() error { _, err := NewMatrix(2, [][]Run{{{1, 3, 1}}}); return err },
		"a run before":      func() error { _, err := NewMatrix(2, [][]Run{{{-1, 1, 1}}}); return err },
		"an empty run":      func() error { _, err := NewMatrix(2, [][]Run{{{1, 1, 1}}}); return err },
		"overlapping runs":  func() error { _, err := NewMatrix(3, [][]Run{{{1, 3, 1}, {0, 2, 1}}}); return err },
		"many columns":      func() error { _, err := NewMatrix(MaxSide+1, [][]Run{nil}); return err },
		"no products":       func() error { _, err := NewStrategy(); return err },
		"no factors":        func() error { _, err := NewStrategy(Product{}); return err },
		"a zero matrix":     func() error { _, err := NewStrategy(Product{Matrix{}}); return err },
		"too many rows":     func() error { _, err := NewStrategy(Product{Identity(1 << 12), Identity(1 << 12)}); return err },
		"too many columns":  func() error { _, err := NewStrategy(half); return err },
		"too much work":     func() error { _, err := NewStrategy(many); return err },
		"two sizes":         func() error { _, err := NewStrategy(Product{Identity(2)}, Product{Identity(3)}); return err },
		"a short vector": func() error {
			s, err := NewStrategy(Product{Identity(2)})
			if err != nil {
				return err
			}
			_, err = s.Apply(make([]mechanism.Exact, 3), nil)
			return err
		},
	}
	for name, try := range refused {
		if err := try(); !errors.Is(err, ErrParameter) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Equal matrices have one digest, however they are written, and different ones have different digests.
func TestDigests(t *testing.T) {
	digest := func(columns int, rows ...[]Run) string {
		m, err := NewMatrix(columns, rows)
		if err != nil {
			t.Fatal(err)
		}
		s, err := NewStrategy(Product{m})
		if err != nil {
			t.Fatal(err)
		}
		return s.Digest()
	}
	whole := digest(3, []Run{{0, 3, 1}})
	if split := digest(3, []Run{{2, 3, 1}, {0, 1, 1}, {1, 2, 1}}); split != whole {
		t.Error("the same row in pieces has another digest")
	}
	seen := map[string]bool{whole: true}
	for _, other := range []string{
		digest(4, []Run{{0, 3, 1}}), digest(3, []Run{{0, 2, 1}}), digest(3, []Run{{0, 3, -1}}),
		digest(3, []Run{{0, 3, 1}}, nil),
		digest(3, nil, []Run{{0, 3, 1}}),
	} {
		if seen[other] {
			t.Error("two matrices have one digest")
		}
		seen[other] = true
	}
}
