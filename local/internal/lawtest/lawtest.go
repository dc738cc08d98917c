// Package lawtest computes the exact law of a randomizer by enumerating all its random choices. Only tests import it.
package lawtest

import (
	"math/big"
	"testing"

	"dither/internal/exact"
	"dither/local/internal/coin"
	"dither/privacy"
)

// few is the largest number of outcomes of a uniform choice that is enumerated completely.
const few = 1 << 8

// Law returns the probability of each output of f, exactly. It runs f once for each sequence of choices, with the
// probability of the sequence. A uniform choice among more than 256 outcomes is replaced by one among four of them:
// use this only for public choices, which the output includes, so that the law given each of them is checked.
func Law(f func(coin.Chooser) string) map[string]*big.Rat {
	law := map[string]*big.Rat{}
	var path []branch
	for {
		e := &enumeration{path: path, weight: big.NewRat(1, 1)}
		out := f(e)
		if law[out] == nil {
			law[out] = new(big.Rat)
		}
		law[out].Add(law[out], e.weight)
		path = e.path
		for len(path) > 0 && path[len(path)-1].taken+1 == path[len(path)-1].of {
			path = path[:len(path)-1]
		}
		if len(path) == 0 {
			return law
		}
		path[len(path)-1].taken++
	}
}

// branch is one choice of a path: the branch taken, among a number of them.
type branch struct{ taken, of uint64 }

// enumeration follows a path, and extends it with first branches.
type enumeration struct {
	path   []branch
	at     int
	weight *big.Rat
}

func (e *enumeration) next(of uint64) uint64 {
	if e.at == len(e.path) {
		e.path = append(e.path, branch{0, of})
	}
	e.at++
	return e.path[e.at-1].taken
}

// Toss implements coin.Chooser.
func (e *enumeration) Toss(c coin.Coin) bool {
	heads := e.next(2) == 0
	if heads {
		e.weight.Mul(e.weight, c.Rat())
	} else {
		e.weight.Mul(e.weight, c.Tails())
	}
	return heads
}

// Below implements coin.Chooser.
func (e *enumeration) Below(n uint64) uint64 {
	of := n
	if n > few {
		of = 4
	}
	e.weight.Mul(e.weight, new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).SetUint64(of)))
	i := e.next(of)
	if n > few { // the ends, and two numbers between them
		return []uint64{0, n/3 + 1, n/2 + 7, n - 1}[i]
	}
	return i
}

// Tight reports an error unless the ratio's logarithm is at most ε, and within 10⁻⁹ of it.
func Tight(t testing.TB, name string, ratio *big.Rat, e privacy.Epsilon) {
	t.Helper()
	grown := coin.Exp(e, 1, 1)
	lo, _ := grown.Lo().Rat(nil)
	if ratio.Cmp(lo) > 0 {
		t.Errorf("%s: the exact ε is above %s", name, e)
	}
	// ratio ≥ e^(ε − 10⁻⁹), where e^−x < 1 − x + x²
	least, x := lo, exact.DecimalStep(9)
	shrink := new(big.Rat).Sub(big.NewRat(1, 1), x)
	shrink.Add(shrink, new(big.Rat).Mul(x, x))
	if hi, _ := grown.Hi().Rat(nil); ratio.Cmp(hi.Mul(hi, shrink)) < 0 {
		r, _ := new(big.Rat).Quo(ratio, least).Float64()
		t.Errorf("%s: the exact ε is more than 1e-9 below %s: e^ε by a factor of %.17g", name, e, r)
	}
}
