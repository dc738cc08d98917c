package account_test

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"dither/account"
	"dither/privacy"
)

func integer(t testing.TB, text string) *big.Int {
	t.Helper()
	n, ok := new(big.Int).SetString(text, 10)
	if !ok {
		t.Fatal(text)
	}
	return n
}

func rhoOf(t testing.TB, text string) privacy.Rho {
	t.Helper()
	r, err := privacy.RhoOf(rational(t, text))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// above checks that a float is not below a real number given to 30 digits, and above it by at most a share.
func above(t *testing.T, what string, got float64, text string, share float64) {
	t.Helper()
	want := rational(t, text)
	if math.IsInf(got, 0) || math.IsNaN(got) {
		t.Errorf("%s: %v, want %s", what, got, text)
		return
	}
	over := new(big.Rat).SetFloat64(got)
	over.Sub(over, want)
	if f, _ := over.Quo(over, want).Float64(); f < -1e-25 || f > share {
		t.Errorf("%s: %v is off %s by a share of %g", what, got, text, f)
	}
}

// TestRenyiAgainstMPMath compares with testdata/renyi.py, which takes the definition: sums over all outputs, or
// integrals.
func TestRenyiAgainstMPMath(t *testing.T) {
	n := vectors(t, "renyi.tsv", func(f []string) {
		what := strings.Join(f[:3], " ")
		first, second, _ := strings.Cut(f[1], "/")
		if f[0] == "dgdelta" {
			lower, upper := account.DiscreteGaussianDelta(rational(t, first), integer(t, second), epsilonOf(t, f[2]))
			above(t, what, upper, f[3], 1e-14)
			if new(big.Rat).SetFloat64(lower).Cmp(rational(t, f[3])) > 0 || lower < upper*(1-1e-14) {
				t.Errorf("%s: from %v", what, lower)
			}
			return
		}
		var r account.Renyi
		share := 1e-13
		switch f[0] {
		case "pure":
			r = account.RenyiPure(epsilonOf(t, f[1]))
		case "response3":
			r = account.RenyiRandomizedResponse(3, epsilonOf(t, f[1]))
		case "response10":
			r = account.RenyiRandomizedResponse(10, epsilonOf(t, f[1]))
		case "laplace":
			r = account.RenyiLaplace(epsilonOf(t, f[1]))
		case "range":
			r = account.RenyiBoundedRange(epsilonOf(t, f[1]))
		case "dlaplace":
			r = account.RenyiDiscreteLaplace(integer(t, second), rational(t, first))
		case "dgaussian":
			r = account.RenyiDiscreteGaussian(rational(t, first), integer(t, second))
		case "sampled":
			sigma := rational(t, second)
			r = account.RenyiSampledGaussian(rational(t, first), sigma.Inv(sigma.Mul(sigma, sigma)))
			share = 1e-11 // of the integral
		default:
			t.Fatal(f)
		}
		order, _ := rational(t, f[2]).Float64()
		above(t, what, r(order), f[3], share)
	})
	if n != 359 {
		t.Errorf("%d vectors", n)
	}
}

// TestRenyiFigures are values of other libraries, dp_accounting and autodp. At orders that are no integers
// dp_accounting takes the absolute values of an alternating series, which at 1.5 gives 6.70579741e-4 and at 2.5
// 1.08548710e-3: more than the integral (testdata/renyi.py).
func TestRenyiFigures(t *testing.T) {
	sampled := account.RenyiSampledGaussian(rational(t, "0.01"), rational(t, "0.16")).Times(50)
	narrow := account.RenyiSampledGaussian(rational(t, "0.01"), rational(t, "4"))
	// the true answer with probability 0.73, each other with 0.03
	response := account.RenyiRandomizedResponseOdds(10, rational(t, "73/3"))
	for _, c := range []struct {
		name        string
		got, want   float64
		significant float64
	}{
		{"sampled, 1.5", sampled(1.5), 6.50070897e-4, 1e-9},
		{"sampled, 2.5", sampled(2.5), 1.08541806e-3, 3e-9},
		{"sampled, 5", sampled(5), 2.18075656e-3, 3e-9},
		{"sampled, 50", sampled(50), 2.38460375e-2, 3e-9},
		{"sampled, 100", sampled(100), 167.416308, 3e-9},
		{"narrow, 1.25", narrow(1.25), .00189777364190571, 3e-15}, // autodp has .0018977736416478
		{"narrow, 2", narrow(2), .0053455023143452, 2e-14},
		{"narrow, 4", narrow(4), 1.8618755130319669, 1e-15},
		{"narrow, 10", narrow(10), 14.883144237791036, 1e-15},
		{"response, 1.5", response(1.5), 2.6946320226546314, 1e-15},
		{"response, ∞", response(math.Inf(1)), 3.1918471524802814, 1e-15},
	} {
		if math.Abs(c.got-c.want) > c.significant*c.want {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
	if sampled(1.5) > 6.70579741e-4 || sampled(2.5) > 1.08548710e-3 {
		t.Error("above the looser bounds")
	}
}

// every is one curve of each kind, by name, as a function of its strength: those of more are at least those of less.
func every(t testing.TB) map[string]func(strength int64) account.Renyi {
	t.Helper()
	tenths := func(n int64) privacy.Epsilon {
		e, err := privacy.EpsilonOf(big.NewRat(n, 10))
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	return map[string]func(n int64) account.Renyi{
		"zcdp":     func(n int64) account.Renyi { return account.RenyiZCDP(tenths(n).Rho()) },
		"gaussian": func(n int64) account.Renyi { return account.RenyiGaussian(big.NewRat(n, 10)) },
		"laplace":  func(n int64) account.Renyi { return account.RenyiLaplace(tenths(n)) },
		"discrete laplace": func(n int64) account.Renyi {
			return account.RenyiDiscreteLaplace(big.NewInt(n),
				big.NewRat(10, 1))
		},
		"pure":          func(n int64) account.Renyi { return account.RenyiPure(tenths(n)) },
		"response":      func(n int64) account.Renyi { return account.RenyiRandomizedResponse(4, tenths(n)) },
		"bounded range": func(n int64) account.Renyi { return account.RenyiBoundedRange(tenths(n)) },
		"discrete gaussian": func(n int64) account.Renyi {
			return account.RenyiDiscreteGaussian(big.NewRat(1, 3),
				big.NewInt(n))
		},
		"sampled gaussian": func(n int64) account.Renyi {
			return account.RenyiSampledGaussian(big.NewRat(n, 100),
				big.NewRat(1, 1))
		},
		"sampled, narrower": func(n int64) account.Renyi {
			return account.RenyiSampledGaussian(big.NewRat(1, 50),
				big.NewRat(n, 10))
		},
		"poisson": func(n int64) account.Renyi {
			return account.RenyiLaplace(tenths(5)).PoissonSampled(big.NewRat(n, 100))
		},
		"fixed": func(n int64) account.Renyi { return account.RenyiPure(tenths(n)).FixedSampled(big.NewRat(1, 20)) },
	}
}

// TestRenyiLaws are what holds of every curve: it rises in the order and in its strength, is no loss at a strength of
// 0, and n at a time are n one by one.
func TestRenyiLaws(t *testing.T) {
	curves := every(t)
	inf := math.Inf(1)
	for name, curve := range curves {
		t.Run(name, func(t *testing.T) {
			const rounding = 1 + 1e-12
			for _, n := range []int64{6, 1} {
				if n == 1 && !unhurried() {
					break
				}
				r, stronger := curve(n), curve(n+2)
				last := 0.0
				for i, order := range []float64{1.5, 2, 25, inf, 1.03125, 3.25, 8, inf} {
					if i == 4 {
						if !unhurried() {
							break
						}
						last = 0
					}
					at := r(order)
					if !(at > 0) || at*rounding < last || at > stronger(order)*rounding {
						t.Errorf("order %v, strength %d: %v, after %v and beside %v",
							order, n, at, last, stronger(order))
					}
					last = at
					five := account.ComposeRenyi(r, r, r, r, r)(order)
					if times := r.Times(5)(order); times < five*(1-1e-14) || times > five*rounding {
						t.Errorf("order %v: five times: %v and %v", order, times, five)
					}
				}
				if r.Group(1)(3) != r(3) || r.Group(3)(1.5) < r(1.5) || r.Group(0)(3) != 0 {
					t.Errorf("groups: %v, %v", r.Group(1)(3), r.Group(3)(1.5))
				}
			}
			if curve(0)(2) != 0 || !math.IsInf(curve(3)(1), 1) || !math.IsInf(curve(3)(math.NaN()), 1) {
				t.Error("no strength, or no order")
			}
		})
	}
}

// TestRenyiBounds are the simple bounds that the exact ones improve on.
func TestRenyiBounds(t *testing.T) {
	random, count := cases()
	for range count {
		x := big.NewRat(1+random.Int64N(5000), 1000)
		epsilon, _ := x.Float64()
		e, _ := privacy.EpsilonOf(x)
		order := 1.001 + 30*random.Float64()
		whole := math.Ceil(order/3) + 1
		const rounding = 1 + 1e-12
		for name, c := range map[string]struct{ less, more float64 }{
			"pure ≤ αε²/2":    {account.RenyiPure(e)(order), order * epsilon * epsilon / 2},
			"pure ≤ ε":        {account.RenyiPure(e)(order), epsilon},
			"range ≤ αε²/8":   {account.RenyiBoundedRange(e)(order), order * epsilon * epsilon / 8},
			"range ≤ pure":    {account.RenyiBoundedRange(e)(order), account.RenyiPure(e)(order)},
			"laplace ≤ pure":  {account.RenyiLaplace(e)(order), account.RenyiPure(e)(order)},
			"response ≤ pure": {account.RenyiRandomizedResponse(5, e)(order), account.RenyiPure(e)(order)},
			"discrete ≤ continuous": {
				account.RenyiDiscreteGaussian(x, big.NewInt(1))(order),
				account.RenyiGaussian(new(big.Rat).Inv(x))(order),
			},
			"poisson ≤ whole": {
				account.RenyiPure(e).PoissonSampled(big.NewRat(1, 3))(whole),
				account.RenyiPure(e)(whole),
			},
			"fixed ≤ whole": {
				account.RenyiPure(e).FixedSampled(big.NewRat(1, 3))(order),
				account.RenyiPure(e)(order),
			},
			"gaussian ≤ generic": {
				account.RenyiSampledGaussian(big.NewRat(1, 50), x)(whole),
				account.RenyiGaussian(x).PoissonSampled(big.NewRat(1, 50))(whole),
			},
			"pure group ≤ its chain": {account.RenyiPure(e.Group(2))(order), account.RenyiPure(e).Group(2)(order)},
		} {
			if c.less > c.more*rounding {
				t.Errorf("ε = %v, order %v: %s: %v > %v", epsilon, order, name, c.less, c.more)
			}
		}
	}
}

// TestSampledBoundsHold compares the generic bounds with exact divergences of sampled randomized response: P = (1−q)S
// + qT, Q = S in both orders, and for fixed samples all P = qT + (1−q)S, Q = qU + (1−q)S, over outputs of
// probabilities p and 1−p.
func TestSampledBoundsHold(t *testing.T) {
	divergence := func(p, q [2]float64, order float64) float64 {
		sum := 0.0
		for i := range p {
			sum += math.Pow(p[i], order) * math.Pow(q[i], 1-order)
		}
		return math.Log(sum) / (order - 1)
	}
	mix := func(q float64, s, t [2]float64) [2]float64 {
		return [2]float64{(1-q)*s[0] + q*t[0], (1-q)*s[1] + q*t[1]}
	}
	for _, text := range []string{"0.05", "0.5", "1", "3"} {
		e := epsilonOf(t, text)
		epsilon, _ := e.Rat().Float64()
		p := 1 / (1 + math.Exp(-epsilon))
		s, u := [2]float64{p, 1 - p}, [2]float64{1 - p, p}
		for _, share := range []*big.Rat{big.NewRat(1, 1000), big.NewRat(1, 10), big.NewRat(1, 2), big.NewRat(9, 10)} {
			q, _ := share.Float64()
			poisson, fixed := account.RenyiPure(e).PoissonSampled(share), account.RenyiPure(e).FixedSampled(share)
			for _, order := range []float64{1.5, 2, 3, 8, 40} {
				m := mix(q, s, u)
				if d := max(divergence(m, s, order), divergence(s, m, order)); d > poisson(order)*(1+1e-9)+1e-12 {
					t.Errorf("ε = %s, q = %s, order %v: a Poisson sample loses %v, not at most %v",
						text, share, order, d, poisson(order))
				}
				for _, third := range [][2]float64{s, u} {
					if d := divergence(mix(q, third, s), mix(q, third, u), order); d > fixed(order)*(1+1e-9)+1e-12 {
						t.Errorf("ε = %s, q = %s, order %v: a fixed sample loses %v, not at most %v",
							text, share, order, d, fixed(order))
					}
				}
			}
		}
	}
}

// TestRenyiNonsense has every parameter that no mechanism has promise nothing, and those at the ends end.
func TestRenyiNonsense(t *testing.T) {
	one, minus := big.NewRat(1, 1), big.NewRat(-1, 1)
	for name, r := range map[string]account.Renyi{
		"nil μ²":        account.RenyiGaussian(nil),
		"negative μ²":   account.RenyiGaussian(minus),
		"nil Δ":         account.RenyiDiscreteLaplace(nil, one),
		"no scale":      account.RenyiDiscreteLaplace(big.NewInt(1), new(big.Rat)),
		"negative Δ":    account.RenyiDiscreteLaplace(big.NewInt(-1), one),
		"k = 0":         account.RenyiRandomizedResponse(0, privacy.Epsilon{}),
		"odds below 1":  account.RenyiRandomizedResponseOdds(2, big.NewRat(1, 2)),
		"no odds":       account.RenyiRandomizedResponseOdds(2, nil),
		"no σ²":         account.RenyiDiscreteGaussian(new(big.Rat), big.NewInt(1)),
		"q nil":         account.RenyiSampledGaussian(nil, one),
		"q above 1":     account.RenyiSampledGaussian(big.NewRat(3, 2), one),
		"q negative":    account.RenyiSampledGaussian(minus, one),
		"sampled μ²":    account.RenyiSampledGaussian(one, minus),
		"poisson":       account.RenyiGaussian(one).PoissonSampled(nil),
		"fixed":         account.RenyiGaussian(one).FixedSampled(minus),
		"of nothing":    account.RenyiGaussian(nil).Times(3).Group(2),
		"nothing, half": account.RenyiGaussian(nil).PoissonSampled(big.NewRat(1, 2)),
	} {
		for _, order := range []float64{1.5, 2, 100, math.Inf(1)} {
			if !math.IsInf(r(order), 1) {
				t.Errorf("%s: %v at %v", name, r(order), order)
			}
		}
		if e, d := r.Epsilon(deltaOf(t, "1e-5")), r.Delta(epsilonOf(t, "1")); !math.IsInf(e, 1) || d != 1 {
			t.Errorf("%s: ε = %v, δ = %v", name, e, d)
		}
	}
	tiny, huge := rational(t, "1e-300"), rational(t, "1e300")
	for name, r := range map[string]account.Renyi{
		"tiny μ²":        account.RenyiGaussian(tiny),
		"huge μ²":        account.RenyiGaussian(huge),
		"tiny ε":         account.RenyiPure(epsilonOf(t, "1e-300")),
		"huge ε":         account.RenyiPure(epsilonOf(t, "1e300")),
		"tiny range":     account.RenyiBoundedRange(epsilonOf(t, "1e-300")),
		"huge range":     account.RenyiBoundedRange(epsilonOf(t, "1e300")),
		"laplace":        account.RenyiLaplace(epsilonOf(t, "1e300")),
		"wide laplace":   account.RenyiDiscreteLaplace(big.NewInt(1), huge),
		"narrow laplace": account.RenyiDiscreteLaplace(big.NewInt(1), tiny),
		"wide gaussian":  account.RenyiDiscreteGaussian(huge, big.NewInt(1)),
		"narrow":         account.RenyiDiscreteGaussian(tiny, big.NewInt(1)),
		"many answers":   account.RenyiRandomizedResponse(math.MaxInt64, epsilonOf(t, "1")),
		"rare":           account.RenyiSampledGaussian(tiny, one),
		"rare and wide":  account.RenyiSampledGaussian(tiny, tiny),
		"rare, narrow":   account.RenyiSampledGaussian(tiny, huge),
		"nearly all":     account.RenyiSampledGaussian(rational(t, "0.999999999999999999999999"), one),
		"beside half": account.RenyiSampledGaussian(rational(t, "0.5000000000000000000000000000000000000001"),
			rational(t, "1e-80")),
		"half, wider": account.RenyiSampledGaussian(rational(t, "0.5000000000000000000000000000000000000001"),
			rational(t, "1e-120")),
		"all but a few": account.RenyiLaplace(epsilonOf(t, "2")).PoissonSampled(rational(t,
			"0.999999999999999999999999999999999999999999999999")),
		"strong, rare": account.RenyiLaplace(epsilonOf(t, "200")).PoissonSampled(rational(t, "1e-60")),
		"rare, fixed":  account.RenyiPure(epsilonOf(t, "1e-200")).FixedSampled(tiny),
		"poisson":      account.RenyiPure(epsilonOf(t, "1e300")).PoissonSampled(tiny),
		"many":         account.RenyiSampledGaussian(rational(t, "0.01"), one).Times(math.MaxInt64),
		"large group":  account.RenyiGaussian(one).Group(math.MaxInt64),
	} {
		orders := []float64{1.5, 7, 1e300, math.MaxFloat64, math.Inf(1)}
		if unhurried() {
			orders = append(orders, math.Nextafter(1, 2), 60.5, 500, 2048)
		}
		for _, order := range orders {
			if d := r(order); !(d >= 0) {
				t.Errorf("%s: %v at %v", name, d, order)
			}
		}
	}
}

func BenchmarkRenyiSampledGaussian(b *testing.B) {
	r := account.RenyiSampledGaussian(big.NewRat(256, 60000), rational(b, "100/121")).Times(14062)
	d := deltaOf(b, "1e-5")
	for name, order := range map[string]float64{"integer": 8, "fraction": 8.1} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				r(order)
			}
		})
	}
	b.Run("epsilon", func(b *testing.B) {
		for b.Loop() {
			r.Epsilon(d)
		}
	})
}
