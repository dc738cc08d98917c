package account_test

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"dither/account"
	"dither/privacy"
)

func TestBasic(t *testing.T) {
	sum := account.Basic(
		account.Repeated{Approximate: promise(t, "0.1", "1e-9"), Count: 100},
		account.Repeated{Approximate: promise(t, "1/3", "0"), Count: 3},
		account.Repeated{Approximate: promise(t, "5", "0.1"), Count: 0},
		account.Repeated{Approximate: promise(t, "5", "0.1"), Count: -7},
	)
	if sum.Epsilon.String() != "11" || sum.Delta.String() != "0.0000001" {
		t.Errorf("the sum is %v", sum)
	}
	if sum := account.Basic(account.Repeated{
		Approximate: promise(t, "0", "0.5"),
		Count:       3,
	}); sum.Delta.String() != "1" {
		t.Errorf("δ adds up to %s", sum.Delta)
	}
	if sum := account.Basic(); !sum.Epsilon.IsZero() || !sum.Delta.IsZero() {
		t.Errorf("nothing loses %v", sum)
	}
}

func TestAdvanced(t *testing.T) {
	hundred := []account.Repeated{{Approximate: promise(t, "0.1", "0"), Count: 100}}
	epsilon, delta, err := account.Advanced(hundred, promise(t, "0", "1e-6").Delta)
	brackets(t, "100 × 0.1", epsilon, epsilon, 6.308230950513, 1e-12)
	if err != nil || delta.String() != "0.000001" {
		t.Errorf("δ = %s, %v", delta, err)
	}
	// Unequal parts: 40 of 0.1, 10 of (0.3, 1e-8) [the formula, by mpmath].
	mixed := []account.Repeated{
		{Approximate: promise(t, "0.1", "0"), Count: 40},
		{Approximate: promise(t, "0.3", "1e-8"), Count: 10},
	}
	epsilon, delta, err = account.Advanced(mixed, promise(t, "0", "1e-6").Delta)
	brackets(t, "40 × 0.1 and 10 × 0.3", epsilon, epsilon, 7.4636170384060828, 1e-14)
	if err != nil || delta.String() != "0.0000011" {
		t.Errorf("δ = %s, %v", delta, err)
	}
	// A promise in parts is the promise in whole.
	for _, n := range []int64{1, 7, 500} {
		loop := make([]account.Repeated, n)
		for i := range loop {
			loop[i] = account.Repeated{Approximate: promise(t, "0.02", "1e-10"), Count: 1}
		}
		slack := promise(t, "0", "1e-5").Delta
		apart, d, _ := account.Advanced(loop, slack)
		once, f, _ := account.Advanced([]account.Repeated{{Approximate: promise(t, "0.02", "1e-10"), Count: n}}, slack)
		if math.Abs(apart/once-1) > 1e-15 || d.Cmp(f) != 0 {
			t.Errorf("%d times: %.17g and %.17g, %s and %s", n, apart, once, d, f)
		}
	}
	for _, c := range []struct {
		part  account.Repeated
		slack string
	}{
		{hundred[0], "0"},
		{hundred[0], "1"},
		{account.Repeated{Approximate: promise(t, "1", "0"), Count: -1}, "1e-6"},
		{account.Repeated{Approximate: promise(t, "100001", "0"), Count: 1}, "1e-6"},
	} {
		if _, _, err := account.Advanced([]account.Repeated{c.part}, promise(t, "0", c.slack).Delta); !errors.Is(err,
			account.ErrParameter) {
			t.Errorf("%v: %v", c, err)
		}
	}
}

// The figures are ln(1 + q(e^ε − 1)) by mpmath.
func TestAmplified(t *testing.T) {
	for _, c := range []struct {
		epsilon, q string
		want       float64
	}{
		{"1", "0.01", 0.0170368632361765498},
		{"0.1", "0.5", 0.0512494795136255854},
		{"20", "1e-6", 6.18654847233845502},
		{"1e-20", "1/3", 3.33333333333333333e-21},
		{"700", "0.001", 693.092244721017863},
		{"1e-9", "1e-9", 1.0000000005e-18},
	} {
		for _, s := range []account.Scheme{account.Poisson, account.FixedSize} {
			a, err := promise(t, c.epsilon, "1e-5").Amplified(rat(t, c.q), s)
			if e := float(a.Epsilon); err != nil || math.Abs(e/c.want-1) > 3e-16 ||
				a.Delta.Rat().Cmp(new(big.Rat).Mul(rat(t, c.q), rat(t, "1e-5"))) != 0 {
				t.Errorf("%v: %.17g, %s, %v", c, e, a.Delta, err)
			}
		}
	}
	whole, err := promise(t, "2", "1e-5").Amplified(rat(t, "1"), account.Poisson)
	if err != nil || whole.Epsilon.String() != "2" || whole.Delta.String() != "0.00001" {
		t.Errorf("all of the data: %v, %v", whole, err)
	}
	nobody, err := promise(t, "2", "1e-5").Amplified(new(big.Rat), account.Poisson)
	if err != nil || !nobody.Epsilon.IsZero() || !nobody.Delta.IsZero() {
		t.Errorf("none of the data: %v, %v", nobody, err)
	}
	for _, c := range []struct {
		q *big.Rat
		s account.Scheme
		e string
	}{
		{nil, account.Poisson, "1"},
		{rat(t, "-0.1"), account.Poisson, "1"},
		{rat(t, "1.1"), account.FixedSize, "1"},
		{rat(t, "0.1"), 0, "1"},
		{rat(t, "0.1"), 3, "1"},
		{rat(t, "0.1"), account.Poisson, "100001"},
	} {
		if _, err := promise(t, c.e, "0").Amplified(c.q, c.s); !errors.Is(err, account.ErrParameter) {
			t.Errorf("%v: %v", c, err)
		}
	}
}

// answerOf is a mechanism on a sample of bits: randomized response, true with odds 3 to 1, on whether more than half of
// them are 1. Every sample is neighbour to any, so that ε = ln 3 under either relation.
func answerOf(sample []int) *big.Rat {
	ones := 0
	for _, b := range sample {
		ones += b
	}
	if 2*ones > len(sample) {
		return big.NewRat(3, 4)
	}
	return big.NewRat(1, 4)
}

// poisson and fixed give the law of the answer to a sample, exactly, by enumerating samples.
func poisson(data []int, q *big.Rat) *big.Rat {
	sum := new(big.Rat)
	for set := range 1 << len(data) {
		weight, sample := big.NewRat(1, 1), []int{}
		for i, b := range data {
			if set>>i&1 == 1 {
				weight.Mul(weight, q)
				sample = append(sample, b)
			} else {
				weight.Mul(weight, new(big.Rat).Sub(big.NewRat(1, 1), q))
			}
		}
		sum.Add(sum, weight.Mul(weight, answerOf(sample)))
	}
	return sum
}

func fixed(data []int, m int) *big.Rat {
	sum, sets := new(big.Rat), int64(0)
	for set := range 1 << len(data) {
		var sample []int
		for i, b := range data {
			if set>>i&1 == 1 {
				sample = append(sample, b)
			}
		}
		if len(sample) == m {
			sum.Add(sum, answerOf(sample))
			sets++
		}
	}
	return sum.Quo(sum, new(big.Rat).SetInt64(sets))
}

// TestAmplifiedHolds: the promise is kept by a mechanism that is sampled in every way, between all neighbours among
// bits; and it is reached, so it could not be smaller.
func TestAmplifiedHolds(t *testing.T) {
	one := big.NewRat(1, 1)
	three := big.NewRat(3, 1) // e^ε
	worst := func(p, q *big.Rat) *big.Rat {
		out := new(big.Rat)
		for _, r := range []*big.Rat{
			new(big.Rat).Quo(p, q), new(big.Rat).Quo(q, p),
			new(big.Rat).Quo(new(big.Rat).Sub(one, p), new(big.Rat).Sub(one, q)),
			new(big.Rat).Quo(new(big.Rat).Sub(one, q), new(big.Rat).Sub(one, p)),
		} {
			if r.Cmp(out) > 0 {
				out = r
			}
		}
		return out
	}
	bits := func(n, set int) []int {
		data := make([]int, n)
		for i := range data {
			data[i] = set >> i & 1
		}
		return data
	}
	promised := func(q *big.Rat) *big.Rat { // 1 + q(e^ε−1)
		r := new(big.Rat).Sub(three, one)
		return r.Add(one, r.Mul(r, q))
	}
	for _, q := range []*big.Rat{big.NewRat(1, 10), big.NewRat(1, 2), big.NewRat(9, 10)} {
		most := new(big.Rat)
		for n := 1; n <= 6; n++ {
			for set := range 1 << n {
				data := bits(n, set)
				if r := worst(poisson(data, q), poisson(data[1:], q)); r.Cmp(most) > 0 {
					most = r
				}
			}
		}
		if most.Cmp(promised(q)) != 0 {
			t.Errorf("Poisson samples of rate %s lose %s, promised %s", q, most, promised(q))
		}
	}
	for _, m := range []int{1, 2, 4} {
		const n = 6
		most := new(big.Rat)
		for set := range 1 << n {
			data, changed := bits(n, set), bits(n, set^1)
			if r := worst(fixed(data, m), fixed(changed, m)); r.Cmp(most) > 0 {
				most = r
			}
		}
		if q := big.NewRat(int64(m), n); most.Cmp(promised(q)) > 0 || m == 1 && most.Cmp(promised(q)) != 0 {
			t.Errorf("samples of %d of %d lose %s, promised %s", m, n, most, promised(q))
		}
	}
}

// TestAmplifiedLaws: ε′ rises in q, is at most ε, and is at most qε·e^ε; compounding rates multiplies them.
func TestAmplifiedLaws(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		e := big.NewRat(rapid.Int64Range(1, 20_000).Draw(r, "ε/1000"), 1000)
		q := big.NewRat(rapid.Int64Range(1, 999).Draw(r, "q/1000"), 1000)
		a, err := account.Approximate{Epsilon: epsilonRat(t, e)}.Amplified(q, account.Poisson)
		more, err2 := account.Approximate{Epsilon: epsilonRat(t, e)}.Amplified(new(big.Rat).Add(q, big.NewRat(1, 1000)),
			account.Poisson)
		if err != nil || err2 != nil || a.Epsilon.Cmp(more.Epsilon) >= 0 || a.Epsilon.Rat().Cmp(e) >= 0 {
			r.Fatalf("q = %s of %s: %s, then %s", q, e, a.Epsilon, more.Epsilon)
		}
		twice, _ := a.Amplified(q, account.Poisson)
		once, _ := account.Approximate{Epsilon: epsilonRat(t, e)}.Amplified(new(big.Rat).Mul(q, q), account.Poisson)
		if math.Abs(float(twice.Epsilon)/float(once.Epsilon)-1) > 1e-14 {
			r.Fatalf("q = %s twice of %s: %s, at once %s", q, e, twice.Epsilon, once.Epsilon)
		}
	})
}

func TestGroup(t *testing.T) {
	got := promise(t, "1", "1e-6").Group(3)
	if f, _ := got.Delta.Rat().Float64(); got.Epsilon.String() != "3" ||
		math.Abs(f/(1e-6*(1+math.E+math.E*math.E))-1) > 1e-14 {
		t.Errorf("three are promised %v", got)
	}
}

func TestParallel(t *testing.T) {
	pure := func(e string) privacy.Loss { return privacy.PureLoss(promise(t, e, "0").Epsilon) }
	zcdp := func(r, d string) privacy.Loss {
		rho, err := privacy.RhoOf(rat(t, r))
		if err != nil {
			t.Fatal(err)
		}
		return privacy.ZCDPLoss(rho, promise(t, "0", d).Delta)
	}
	for _, c := range []struct {
		n     privacy.Neighbours
		parts []privacy.Loss
		want  string
	}{
		{privacy.AddRemove, nil, "ε = 0"},
		{privacy.AddRemove, []privacy.Loss{pure("1"), pure("3"), pure("2")}, "ε = 3"},
		{privacy.ChangeOne, []privacy.Loss{pure("1"), pure("3"), pure("2")}, "ε = 5"},
		{privacy.ChangeOne, []privacy.Loss{pure("1")}, "ε = 1"},
		{0, []privacy.Loss{pure("1"), pure("3"), pure("2")}, "ε = 6"},
		{privacy.AddRemove, []privacy.Loss{pure("1"), zcdp("0.25", "1e-6"), zcdp("0.1", "1e-5")}, "ρ = 0.5, δ = 0.00001"},
		{privacy.ChangeOne, []privacy.Loss{pure("1"), zcdp("0.25", "1e-6"), zcdp("0.1", "1e-5")}, "ρ = 0.75, δ = 0.000011"},
	} {
		if got := account.Parallel(c.n, c.parts).String(); got != c.want {
			t.Errorf("%v of %v: %s, want %s", c.n, c.parts, got, c.want)
		}
	}
}
