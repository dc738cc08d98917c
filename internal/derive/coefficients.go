package derive

import (
	"math/big"
	"math/bits"

	"dither/internal/exact"
)

// coefficients returns how strongly each noisy cell of the i-th grouping enters one cell of the fitted table over the
// keys in s. The fitted cell is a linear combination of all noisy cells (see lattice.law), and the result has the
// absolute values of its coefficients, rounded up. keys are the keys that both s and the i-th grouping have. A
// coefficient depends only on the keys in which the noisy cell has the same values as the fitted cell: the a-th result
// is for the noisy cells that agree with the fitted cell in exactly the keys keys[j] for which bit j of a is 1.
//
// The sum over the sets T of keys in lattice.law is computed key by key, once with the key in T and once without it. It
// is exact: it uses integers over one denominator, because rationals would be reduced at each step. It uses 64-bit
// words if they suffice.
func (l *lattice) coefficients(s uint64, i int, keys []int) []float64 {
	weights := make([]*big.Rat, 1<<len(keys))
	subsets := make([]uint64, len(weights))
	for a := range weights {
		for j, k := range keys {
			subsets[a] |= uint64(a>>j&1) << k
		}
		weights[a] = l.weights[subsets[a]][i]
	}
	out := make([]float64, len(weights))
	if words, denominator, ok := l.inWords(s, keys, weights, subsets); ok {
		for a, x := range words {
			out[a] = l.sizeUp(max(x, -x), denominator)
		}
		return out
	}
	common, last := big.NewInt(1), (*big.Rat)(nil)
	for _, w := range weights {
		if w != last && new(big.Int).Rem(common, w.Denom()).Sign() != 0 {
			common = lcm(common, w.Denom())
		}
		last = w
	}
	x := make([]*big.Int, len(weights))
	for a, w := range weights { // in the terms of lattice.law: w/Π_{k∈S∖T} n_k = w·Π_{k∈T} n_k/Π_{k∈S} n_k
		x[a] = new(big.Int).Quo(common, w.Denom())
		x[a].Mul(x[a].Mul(x[a], w.Num()), l.cells(subsets[a]))
	}
	denominator := common.Mul(common, l.cells(s))
	for j, k := range keys {
		n := big.NewInt(l.sizes[k])
		denominator.Mul(denominator, n)
		for a := range x {
			if a>>j&1 == 0 {
				continue
			}
			in, without := x[a], x[a&^(1<<j)]
			without.Mul(without, n)
			agree := new(big.Int).Mul(in, n)
			x[a] = agree.Add(agree.Sub(agree, in), without) // n·((1 − 1/n)·in + without)
			without.Sub(without, in)                        // n·(without − in/n)
		}
	}
	for a := range x {
		out[a] = exact.FloatUp(new(big.Rat).SetFrac(x[a].Abs(x[a]), denominator))
	}
	return out
}

// inWords computes the coefficients in 64-bit words. It returns false if words might not suffice. Every intermediate
// number is at most the sum of the first numbers, which are not negative, times the sizes of the keys so far. Proof.
// Let a key have n values. A step replaces two numbers, `in` and `without`, by two others: n·((1 − 1/n)·in + without)
// and n·(without − in/n). Their coefficients have magnitude at most n, and each earlier number contributes at most once
// to a later number. ∎
func (l *lattice) inWords(
	s uint64,
	keys []int,
	weights []*big.Rat,
	subsets []uint64,
) (x []int64, denominator int64, ok bool) {
	common, last := int64(1), (*big.Rat)(nil)
	for _, w := range weights {
		if w == last {
			continue
		}
		last = w
		if !w.Num().IsInt64() || !w.Denom().IsInt64() {
			return nil, 0, false
		}
		d := w.Denom().Int64()
		if common, ok = times(common, d/gcd(common, d)); !ok {
			return nil, 0, false
		}
	}
	x = make([]int64, len(weights))
	sum := int64(0)
	for a, w := range weights {
		n, fits := times(common/w.Denom().Int64(), w.Num().Int64())
		for _, k := range keysOf(subsets[a]) {
			if fits {
				n, fits = times(n, l.sizes[k])
			}
		}
		if !fits || sum > maxWord-n {
			return nil, 0, false
		}
		x[a], sum = n, sum+n
	}
	denominator = common
	for _, k := range keysOf(s) {
		if denominator, ok = times(denominator, l.sizes[k]); !ok {
			return nil, 0, false
		}
	}
	for j, k := range keys {
		n := l.sizes[k]
		if sum, ok = times(sum, n); !ok {
			return nil, 0, false
		}
		if denominator, ok = times(denominator, n); !ok {
			return nil, 0, false
		}
		for a := range x {
			if a>>j&1 == 1 {
				in, without := x[a], x[a&^(1<<j)]*n
				x[a], x[a&^(1<<j)] = in*n-in+without, without-in
			}
		}
	}
	return x, denominator, true
}

const maxWord = 1 << 62

// times multiplies two numbers that are not negative. It returns false if the product exceeds maxWord.
func times(a, b int64) (int64, bool) {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	return int64(lo & (maxWord - 1)), hi == 0 && lo < maxWord
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// sizeUp returns n/d, rounded up to a double.
func (l *lattice) sizeUp(n, d int64) float64 {
	g := gcd(n, d)
	of := [2]int64{n / g, d / g}
	size, ok := l.sizesUp[of]
	if !ok {
		size = exact.FloatUp(big.NewRat(of[0], of[1]))
		if l.sizesUp == nil {
			l.sizesUp = map[[2]int64]float64{}
		}
		l.sizesUp[of] = size
	}
	return size
}
