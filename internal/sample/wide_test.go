package sample

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

func word() *rapid.Generator[uint64] {
	return rapid.OneOf(rapid.Uint64(),
		rapid.SampledFrom([]uint64{0, 1, 2, 1 << 63, 1<<63 - 1, 1<<63 + 1, math.MaxUint64, math.MaxUint64 - 1}))
}

func drawPair(t *rapid.T, name string) pair { return pair{word().Draw(t, name), word().Draw(t, name)} }

func (a pair) big() *big.Int { return set(new(big.Int), wide{a.lo, a.hi}, false) }

func (w wide) big() *big.Int {
	out := new(big.Int)
	for i := 3; i >= 0; i-- {
		out.Lsh(out, 64).Or(out, new(big.Int).SetUint64(w[i]))
	}
	return out
}

func TestWideAgreesWithBig(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, x := drawPair(t, "a"), drawPair(t, "b"), word().Draw(t, "x")
		if a.times(x, pair{}).big().Cmp(new(big.Int).Mul(a.big(), new(big.Int).SetUint64(x))) != 0 {
			t.Fatal("times")
		}
		if !a.less(b) { // b < a: a·x + b < 2¹⁹²
			want := new(big.Int).Mul(a.big(), new(big.Int).SetUint64(x))
			if x < math.MaxUint64 && a.times(x, b).big().Cmp(want.Add(want, b.big())) != 0 {
				t.Fatal("times and more")
			}
		}
		if a.square().big().Cmp(new(big.Int).Mul(a.big(), a.big())) != 0 {
			t.Fatal("square")
		}
		if d := new(big.Int).Sub(a.big(), b.big()); a.distance(b).big().Cmp(d.Abs(d)) != 0 {
			t.Fatal("distance")
		}
		if a.less(b) != (a.big().Cmp(b.big()) < 0) || a.len() != a.big().BitLen() || toPair(a.big()) != a {
			t.Fatal("less, len or toPair")
		}
		if a != (pair{}) && a.minusOne().big().Cmp(new(big.Int).Sub(a.big(), bigOne)) != 0 {
			t.Fatal("minusOne")
		}
	})
}

func TestDivide(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawPair(t, "d")
		d = pair{d.hi >> rapid.IntRange(0, 64).Draw(t, "shift"), d.lo}
		if d == (pair{}) {
			return
		}
		w := wide{word().Draw(t, "0"), word().Draw(t, "1"), word().Draw(t, "2"), word().Draw(t, "3")}
		if rapid.Bool().Draw(t, "near a multiple") { // where an estimated digit is too large
			w = d.times(word().Draw(t, "q"), pair{})
			w[0] -= rapid.Uint64Range(0, 2).Draw(t, "less")
			w = wide{0, w[0], w[1], w[2]}
		}
		q, r := w.divide(d)
		wantQ, wantR := new(big.Int).QuoRem(w.big(), d.big(), new(big.Int))
		if q.big().Cmp(wantQ) != 0 || r.big().Cmp(wantR) != 0 {
			t.Fatalf("%x / %x = %x, %x; want %x, %x", w.big(), d.big(), q.big(), r.big(), wantQ, wantR)
		}
		w[3] >>= 4
		if w.timesSixteen().big().Cmp(new(big.Int).Lsh(w.big(), 4)) != 0 {
			t.Fatal("timesSixteen")
		}
	})
}

func TestSet(t *testing.T) {
	z := new(big.Int).SetBits(make([]big.Word, 0, 8))
	for _, c := range []struct {
		w        wide
		negative bool
		want     string
	}{
		{wide{}, false, "0"},
		{wide{7}, true, "-7"},
		{wide{0, 1}, false, "18446744073709551616"},
		{wide{5, 1}, true, "-18446744073709551621"},
		{wide{math.MaxUint64, math.MaxUint64}, false, "340282366920938463463374607431768211455"},
		{wide{0, 0, 0, 1}, false, "6277101735386680763835789423207666416102355444464034512896"},
	} {
		if got := set(z, c.w, c.negative).String(); got != c.want {
			t.Errorf("%x: got %s, want %s", c.w, got, c.want)
		}
	}
	if n := testing.AllocsPerRun(100, func() { set(z, wide{1, 2, 3, 4}, true) }); n != 0 {
		t.Errorf("%g allocations", n)
	}
}
