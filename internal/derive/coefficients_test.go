package derive

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"dither/internal/exact"
)

// slowly are the coefficients by the sum over T of lattice.law in rationals, one subset after the other.
func slowly(l *lattice, s uint64, i int, keys []int) (out []float64) {
	for agree := range uint64(1) << len(keys) {
		total := new(big.Rat)
		for in := range uint64(1) << len(keys) {
			t := uint64(0)
			for j, k := range keys {
				t |= (in >> j & 1) << k
			}
			x := new(big.Rat).SetFrac(big.NewInt(1), l.cells(s&^t))
			x.Mul(x, l.weights[t][i])
			for j, k := range keys { // a key of T where cells agree: 1 − 1/n; where they do not: −1/n
				if in>>j&1 == 0 {
					continue
				}
				share := big.NewRat(-1, l.sizes[k])
				if agree>>j&1 == 1 {
					share.Add(share, big.NewRat(1, 1))
				}
				x.Mul(x, share)
			}
			total.Add(total, x)
		}
		out = append(out, exact.FloatUp(total.Abs(total)))
	}
	return out
}

// Coefficients are the same in words, in integers without end, and in rationals; words are left where they would
// overflow.
func TestCoefficients(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	words, beyond := 0, 0
	for range 400 {
		keys, large := 1+random.IntN(4), random.IntN(4)
		var sizes []int64
		for range keys {
			sizes = append(sizes, 1+random.Int64N([]int64{3, 30, 3000, 1 << 31}[large]))
		}
		var sets []uint64
		var variance []*big.Rat
		for range 1 + random.IntN(5) {
			sets = append(sets, random.Uint64N(1<<keys))
			variance = append(variance, big.NewRat(1+random.Int64N([]int64{2, 5, 1 << 20, 1 << 60}[large]), 1+random.Int64N([]int64{2, 5, 9, 1 << 40}[large])))
		}
		l := latticeOf(sizes, sets, variance)
		for i, other := range sets {
			for _, s := range sets {
				both := keysOf(s & other)
				got, want := l.coefficients(s, i, both), slowly(l, s, i, both)
				for a := range want {
					if got[a] != want[a] {
						t.Fatalf("sizes %v, sets %v, variances %v: coefficient %d of grouping %d in %d is %v, not %v", sizes, sets, variance, a, i, s, got[a], want[a])
					}
				}
				weights, subsets := make([]*big.Rat, len(got)), make([]uint64, len(got))
				for a := range weights {
					for j, k := range both {
						subsets[a] |= uint64(a>>j&1) << k
					}
					weights[a] = l.weights[subsets[a]][i]
				}
				if _, _, ok := l.inWords(s, both, weights, subsets); ok {
					words++
				} else {
					beyond++
				}
			}
		}
	}
	if words < 300 || beyond < 300 {
		t.Errorf("%d in words, and %d beyond: the test shows little", words, beyond)
	}
}
