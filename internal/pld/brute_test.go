package pld_test

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"dither/internal/exact"
	"dither/internal/pld"
)

// finite is a pair of finite distributions at 200 bits.
type finite struct{ p, q []*big.Float }

func wide(x *big.Rat) *big.Float { return new(big.Float).SetPrec(200).SetRat(x) }

func expOf(x *big.Rat) *big.Float { return exact.IntervalOf(x, 200).Exp().Lo() }

func (f finite) times(g finite) finite {
	var h finite
	for i := range f.p {
		for j := range g.p {
			h.p = append(h.p, new(big.Float).Mul(f.p[i], g.p[j]))
			h.q = append(h.q, new(big.Float).Mul(f.q[i], g.q[j]))
		}
	}
	return h
}

// delta is Σ max(0, p − e^ε·q).
func (f finite) delta(epsilon *big.Rat) float64 {
	e, sum := expOf(epsilon), new(big.Float).SetPrec(200)
	for i := range f.p {
		if d := new(big.Float).Sub(f.p[i], new(big.Float).Mul(e, f.q[i])); d.Sign() > 0 {
			sum.Add(sum, d)
		}
	}
	x, _ := sum.Float64()
	return x
}

// normalised scales weights to sum to 1 − lost.
func normalised(weights []*big.Float, lost *big.Rat) []*big.Float {
	sum := new(big.Float).SetPrec(200)
	for _, w := range weights {
		sum.Add(sum, w)
	}
	scale := new(big.Float).Quo(wide(new(big.Rat).Sub(big.NewRat(1, 1), lost)), sum)
	out := make([]*big.Float, len(weights))
	for i, w := range weights {
		out[i] = new(big.Float).Mul(w, scale)
	}
	return out
}

func answers(epsilon *big.Rat, k int64, lost *big.Rat) finite {
	one := wide(big.NewRat(1, 1))
	p := []*big.Float{expOf(epsilon), one}
	for i := int64(2); i < k; i++ {
		p = append(p, one)
	}
	p = normalised(p, lost)
	q := append([]*big.Float{}, p...)
	q[0], q[1] = p[1], p[0]
	nothing := wide(new(big.Rat))
	return finite{append(p, wide(lost), nothing), append(q, nothing, wide(lost))}
}

// geometric is the discrete Laplace pair on the outcomes up to 0, 1, …, from the shift on.
func geometric(shift int64, scale *big.Rat) finite {
	a := expOf(new(big.Rat).Neg(new(big.Rat).Inv(scale)))
	one := wide(big.NewRat(1, 1))
	tail := new(big.Float).Quo(one, new(big.Float).Add(one, a))
	mass := new(big.Float).Mul(tail, new(big.Float).Sub(one, a))
	var f finite
	power := one
	for k := int64(0); k <= shift; k++ {
		p := new(big.Float).Mul(mass, power)
		if k == 0 || k == shift {
			p = new(big.Float).Mul(tail, power)
		}
		f.p = append(f.p, p)
		power = new(big.Float).Mul(power, a)
	}
	for k := range f.p {
		f.q = append(f.q, f.p[len(f.p)-1-k])
	}
	return f
}

// sampled is ((1−q)Q + qP, Q), or its reverse.
func sampled(f finite, rate *big.Rat, reverse bool) finite {
	var g finite
	rest := wide(new(big.Rat).Sub(big.NewRat(1, 1), rate))
	for i := range f.p {
		mixed := new(big.Float).Mul(rest, f.q[i])
		g.p = append(g.p, mixed.Add(mixed, new(big.Float).Mul(wide(rate), f.p[i])))
	}
	g.q = f.q
	if reverse {
		g.p, g.q = g.q, g.p
	}
	return g
}

// TestAgainstBruteForce composes small pairs by listing every outcome at 200 bits.
func TestAgainstBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		if !oneOf(t, 4) {
			return
		}
		zero := new(big.Rat)
		decimal := func(name string, low, high int64) *big.Rat {
			return big.NewRat(rapid.Int64Range(low, high).Draw(t, name), 1000)
		}
		one := wide(big.NewRat(1, 1))
		directions := []finite{{[]*big.Float{one}, []*big.Float{one}}, {[]*big.Float{one}, []*big.Float{one}}}
		var steps []pld.Step
		for i := range rapid.IntRange(1, 4).Draw(t, "steps") {
			var p pld.Pair
			var err error
			var f finite
			epsilon := decimal(fmt.Sprint("ε", i), 1, 3000)
			switch rapid.IntRange(0, 3).Draw(t, "kind") {
			case 0:
				p, err = pld.Pure(epsilon)
				f = answers(epsilon, 2, zero)
			case 1:
				k := rapid.Int64Range(2, 5).Draw(t, "k")
				p, err = pld.RandomizedResponse(epsilon, k)
				f = answers(epsilon, k, zero)
			case 2:
				delta := decimal("δ", 0, 100)
				p, err = pld.Approximate(epsilon, delta)
				f = answers(epsilon, 2, delta)
			default:
				shift, scale := rapid.Int64Range(1, 3).Draw(t, "shift"), decimal("scale", 500, 5000)
				p, err = pld.DiscreteLaplace(shift, scale)
				f = geometric(shift, scale)
			}
			both := []finite{f, f}
			if err == nil && rapid.Bool().Draw(t, "sample") {
				rate := decimal("rate", 1, 999)
				p, err = pld.Subsample(p, rate)
				both = []finite{sampled(f, rate, false), sampled(f, rate, true)}
			}
			if err != nil {
				t.Fatal(err)
			}
			n := rapid.Int64Range(1, 2).Draw(t, "count")
			steps = append(steps, pld.Step{Pair: p, Count: n})
			for range n {
				for d := range directions {
					if len(directions[d].p) < 2000 {
						directions[d] = directions[d].times(both[d])
					} else {
						t.Skip("too many outcomes")
					}
				}
			}
		}
		c, err := pld.Compose(steps)
		if err != nil {
			t.Fatal(err)
		}
		at := decimal("at", 0, 8000)
		nearest, _ := at.Float64()
		lower, upper := c.Delta(nearest)
		at.SetFloat64(nearest)
		truth := max(directions[0].delta(at), directions[1].delta(at))
		if lower > truth*(1+1e-14) || upper < truth*(1-1e-14) {
			t.Fatalf("δ(%g): [%.17g, %.17g] does not hold %.17g", nearest, lower, upper, truth)
		}
		if truth < 1e-9 || truth > 0.999 {
			return
		}
		low, high := c.Epsilon(truth)
		if low > nearest*(1+1e-9)+1e-9 || high < nearest*(1-1e-9)-1e-9 {
			t.Fatalf("ε(%g): [%.17g, %.17g] does not hold %.17g", truth, low, high, nearest)
		}
		later := new(big.Rat).Add(at, big.NewRat(1, 10))
		if math.IsInf(high, 1) && truth > 1.00001*max(directions[0].delta(later), directions[1].delta(later)) {
			t.Fatalf("ε(%g): no upper bound near %g", truth, nearest)
		}
	})
}
