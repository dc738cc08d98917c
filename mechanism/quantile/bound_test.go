package quantile

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"dither/internal/stattest"
	"dither/mechanism"
	"dither/mechanism/internal/mechtest"
	"dither/privacy"
)

func TestRankError(t *testing.T) {
	const trials, beta = 100, 0.1
	data := make([]int64, 400)
	for i := range data {
		data[i] = int64(7*i) + 1_000_000
	}
	in := Domain{0, 1 << 40}
	one := Single{
		in,
		mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1},
		big.NewRat(1, 4),
		mechtest.Epsilon(t, "1"),
	}
	many := Approximate{
		in, one.Unit,
		[]*big.Rat{big.NewRat(1, 4), big.NewRat(1, 2), big.NewRat(3, 5)},
		one.Epsilon, false,
	}
	a, err := one.RankError(beta)
	if err != nil {
		t.Fatal(err)
	}
	b, err := many.RankError(beta)
	if err != nil {
		t.Fatal(err)
	}
	if want := 2 * 0.75 * (math.Log(1<<40+1) + math.Log(10)); math.Abs(a/want-1) > 1e-12 || a < want*(1-1e-15) {
		t.Errorf("the bound is %g, not %g", a, want)
	}
	// d of an output among values that do not repeat
	d := func(o int64, q float64) float64 {
		below, upTo := 0.0, 0.0
		for _, x := range data {
			if x < o {
				below++
			}
			if x <= o {
				upTo++
			}
		}
		return max(0, below-q*400, q*400-upTo)
	}
	test := stattest.Proportion{
		Of:         stattest.Binomial{Trials: trials, Probability: 1 - beta},
		FalseAlarm: mechtest.FalseAlarm,
	}
	several := test
	for range trials {
		out, err := one.Release(orderedOf(data...))
		if err != nil {
			t.Fatal(err)
		}
		if d(out.Values[0], 0.25) <= a {
			test.Successes++
		}
		if out, err = many.Release(orderedOf(data...)); err != nil {
			t.Fatal(err)
		}
		if d(out.Values[0], 0.25) <= b && d(out.Values[1], 0.5) <= b && d(out.Values[2], 0.6) <= b {
			several.Successes++
		}
	}
	for _, p := range []stattest.Proportion{test, several} {
		if err := p.CheckAtLeast(); err != nil {
			t.Error(err)
		}
	}
}

// TestRankErrorOfRecursion has the bound by hand, the largest of some a·c + b with c = 2(ln N + ln(k/β))/ε, from the
// shares of ε.
func TestRankErrorOfRecursion(t *testing.T) {
	in, beta := Domain{0, 1 << 40}, 0.1
	q := big.NewRat
	// ½ first, with Δ = ½, so that E = c/(2s₁) + ½. Then ¼ in the lower half, D = c/(2s₀) + E/2, and 3/5 in the
	// upper, q′ = 1/5: D = 4c/(5s₂) + 4E/5.
	three := func(delta float64) func(s []float64) [][2]float64 {
		return func(s []float64) [][2]float64 {
			return [][2]float64{{delta / s[0] / 2, 0.25}, {delta * (0.8/s[2] + 0.4/s[1]), 0.4}}
		}
	}
	for name, c := range map[string]struct {
		unit   mechanism.Unit
		ranks  []*big.Rat
		bounds func(s []float64) [][2]float64
	}{
		"three": {
			mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1},
			[]*big.Rat{q(1, 4), q(1, 2), q(3, 5)},
			three(1),
		},
		"three of 3": {
			mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 3},
			[]*big.Rat{q(1, 4), q(1, 2), q(3, 5)},
			three(3),
		},
		// Under change-one Δ = 3 at first, and then 2·3·4/5.
		"three changed": {
			mechanism.Unit{Neighbours: privacy.ChangeOne, MaxRows: 3},
			[]*big.Rat{q(1, 4), q(1, 2), q(3, 5)},
			three(6),
		},
		// ⅓ first, and ⅔ in the only part of the second level: Δ = 1 in both.
		"two changed": {
			mechanism.Unit{Neighbours: privacy.ChangeOne, MaxRows: 1},
			[]*big.Rat{q(1, 3), q(2, 3)},
			func(s []float64) [][2]float64 {
				return [][2]float64{{1/s[1] + 0.5/s[0], 0.25}}
			},
		},
		// Each is sought at an end of the domain.
		"ends": {
			mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1},
			[]*big.Rat{q(0, 1), q(1, 1)},
			func(s []float64) [][2]float64 {
				return [][2]float64{{1 / s[0], 0}, {1 / s[1], 0}}
			},
		},
		// ½ with E₃ = c/(2s₃) + ½, below it 1/5, q′ = 2/5, E₁ = 3c/(5s₁) + 2E₃/5 + ½, and at its sides the
		// least, which is sought at the end, and ¼, q′ = 1/6; above it 9/10, q′ = 4/5, and the greatest at the other
		// end.
		"six": {
			mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1},
			[]*big.Rat{q(0, 1), q(1, 5), q(1, 4), q(1, 2), q(9, 10), q(1, 1)},
			func(s []float64) [][2]float64 {
				e3 := [2]float64{0.5 / s[3], 0.5}
				e1 := [2]float64{0.6/s[1] + 0.4*e3[0], 0.4*e3[1] + 0.5}
				return [][2]float64{
					{1 / s[0], 0}, {5./6/s[2] + 5./6*e1[0] + e3[0]/6, 5./6*e1[1] + e3[1]/6}, {0.8/s[4] + 0.2*e3[0], 0.2 * e3[1]}, {1 / s[5], 0},
				}
			},
		},
	} {
		m := Approximate{in, c.unit, c.ranks, mechtest.Epsilon(t, "0.5"), false}
		got, err := m.RankError(beta)
		if err != nil {
			t.Fatal(err)
		}
		var shares []float64
		for _, s := range m.Shares() {
			x, _ := s.Float64()
			shares = append(shares, x)
		}
		k, want := float64(len(c.ranks)), 0.0
		for _, b := range c.bounds(shares) {
			want = max(want, b[0]*2*(math.Log(1<<40+1)+math.Log(k/beta))*2+b[1])
		}
		if math.Abs(got/want-1) > 1e-12 || got < want*(1-1e-15) {
			t.Errorf("%s: the bound is %.17g, not %.17g", name, got, want)
		}
	}
	for _, u := range relations {
		for _, rank := range []*big.Rat{q(0, 1), q(1, 3), q(1, 2), q(1, 1)} {
			one := Single{in, u, rank, mechtest.Epsilon(t, "1")}
			a, err := one.RankError(beta)
			if err != nil {
				t.Fatal(err)
			}
			if b, err := (Approximate{in, u, []*big.Rat{rank}, one.Epsilon, false}).RankError(beta); err != nil ||
				a != b {
				t.Errorf("%s under %v: one quantile is within %g, by recursion %g, %v", rank, u, a, b, err)
			}
		}
	}
}

// TestRankErrorsAddUp is the proof's step in exact arithmetic, for cuts of any kind: where no value repeats, d of an
// output is at most what it is in its own section and the mean of E at that section's ends.
func TestRankErrorsAddUp(t *testing.T) {
	r := rand.New(rand.NewPCG(37, 38))
	for range 2000 {
		var data []int64
		for v := range int64(25) {
			if r.IntN(3) == 0 {
				data = append(data, v)
			}
		}
		den := 1 + r.Int64N(12)
		m := Approximate{Domain: Domain{0, 24}, Unit: relations[0], Epsilon: mechtest.Epsilon(t, "1")}
		for at := range den + 1 {
			if r.IntN(2) == 0 || at == den/2 {
				m.Ranks = append(m.Ranks, big.NewRat(at, den))
			}
		}
		target, err := targetsOf(m.Ranks)
		if err != nil {
			t.Fatal(err)
		}
		e := map[int64]*big.Rat{0: new(big.Rat), target.den: new(big.Rat)} // E of the cut at a rank
		for level := []section{m.root(target)}; len(level) > 0; {
			cuts := make([]int64, len(level))
			for i, scores := range m.stage(level).candidateScores(t, data) {
				s, mean := level[i], new(big.Rat)
				j := r.IntN(len(scores))
				cuts[i] = s.low + int64(j)
				mean.Add(mean, new(big.Rat).Mul(big.NewRat(s.to-s.at, s.to-s.from), e[s.from]))
				mean.Add(mean, new(big.Rat).Mul(big.NewRat(s.at-s.from, s.to-s.from), e[s.to]))
				bound := mean.Add(mean, big.NewRat(-scores[j], (s.to-s.from)*m.whole()))
				if d := big.NewRat(rankErrors(data, m.Domain, s.at, target.den)[cuts[i]],
					target.den); d.Cmp(bound) > 0 {
					t.Fatalf("%v, ranks %v: at %d/%d, %d is off by %s, beyond %s", data, m.Ranks, s.at, target.den,
						cuts[i], d, bound)
				}
				e[s.at] = new(big.Rat).Add(bound, big.NewRat(1, 2))
			}
			level = m.parts(target, level, cuts)
		}
	}
}

// TestRankErrorOfIndependent has the bound by hand: Δ is the largest, 3·3/4 under add-remove, and each of three is at
// ε/3 and β/3.
func TestRankErrorOfIndependent(t *testing.T) {
	ranks := []*big.Rat{big.NewRat(1, 4), big.NewRat(1, 2), big.NewRat(3, 5)}
	for u, delta := range map[mechanism.Unit]float64{
		{Neighbours: privacy.AddRemove, MaxRows: 3}: 2.25,
		{Neighbours: privacy.ChangeOne, MaxRows: 3}: 3,
	} {
		got, err := Independent{Domain{0, 1 << 40}, u, ranks, mechtest.Epsilon(t, "0.5")}.RankError(0.1)
		if want := 2 * delta * (math.Log(1<<40+1) + math.Log(30)) * 3 * 2; err != nil || math.Abs(got/want-1) > 1e-12 ||
			got < want*(1-1e-15) {
			t.Errorf("%v: the bound is %.17g, not %.17g, %v", u, got, want, err)
		}
	}
}

// TestRankErrorIsNearlyAttained has the exact probabilities of a median where all rows share a value, and all other
// candidates have an error of n/2: with n/2 above the bound it is at most β, with n/2 at 19/20 of it, above β.
func TestRankErrorIsNearlyAttained(t *testing.T) {
	const beta = 0.1
	for _, u := range relations {
		m := Single{Domain{0, 1999}, u, big.NewRat(1, 2), mechtest.Epsilon(t, "1")}.independent()
		bound, err := m.RankError(beta)
		if err != nil {
			t.Fatal(err)
		}
		missed := func(half int) float64 {
			data := slices.Repeat([]int64{700}, 2*half)
			target, err := m.check()
			if err != nil {
				t.Fatal(err)
			}
			return 1 - m.stage(target).laws(t, data)[0][700]
		}
		above, below := missed(int(bound)+1), missed(int(0.95*bound))
		if above > beta || below <= beta {
			t.Errorf("%v: d is above the bound of %g with probability %g, and above 19/20 of it with %g",
				u, bound, above, below)
		}
	}
}

// TestSortingKeepsRankErrors sorts outputs of any kind, not those of a mechanism: none of the sorted ones is further
// off than the worst was before.
func TestSortingKeepsRankErrors(t *testing.T) {
	r := rand.New(rand.NewPCG(35, 36))
	for range 5000 {
		data, _ := randomNeighbours(r, mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1})
		in, den := Domain{-5, 5}, 1+r.Int64N(10)
		var outputs []int64
		var d [][]int64 // by rank
		for at := range den + 1 {
			if r.IntN(2) == 0 {
				d, outputs = append(d, rankErrors(data, in, at, den)), append(outputs, r.Int64N(11))
			}
		}
		worst := func(outputs []int64) (most int64) {
			for i, o := range outputs {
				most = max(most, d[i][o])
			}
			return most
		}
		before := worst(outputs)
		after := worst(slices.Sorted(slices.Values(outputs)))
		if after > before {
			t.Fatalf("of %v, %v at ranks in %d parts: off by %d, and by %d when sorted", data, outputs, den,
				before, after)
		}
	}
}

// TestRankErrorUnderTies has ages, 45 % of them 0 or below and 10 % above the domain. Two fifths of the rows lie within
// the zeros: the recursion's cut there has 22,500 of the 100,000 rows before it, not 40,000, and the median then comes
// out as 0, 5000 rows off, but with probability below 1e-100. The bound of independent quantiles holds.
func TestRankErrorUnderTies(t *testing.T) {
	const trials, beta = 150, 0.05
	counts := [][2]int64{{-1, 20_000}, {0, 25_000}}
	for age := int64(1); age <= 100; age++ {
		counts = append(counts, [2]int64{age, 450})
	}
	counts = append(counts, [2]int64{200, 10_000})
	data := mechanism.NewOrdered(func(yield func(value, count int64) bool) error {
		for _, c := range counts {
			if !yield(c[0], c[1]) {
				break
			}
		}
		return nil
	})
	ranks := []*big.Rat{big.NewRat(1, 5), big.NewRat(2, 5), big.NewRat(1, 2)} // the second is cut first
	apart := Independent{
		Domain{0, 115},
		mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 1},
		ranks,
		mechtest.Epsilon(t, "1"),
	}
	// d of an output
	d := func(o int64, rank *big.Rat) float64 {
		below, upTo := 0.0, 0.0
		for _, c := range counts {
			if v := apart.clamp(c[0]); v < o {
				below += float64(c[1])
			}
			if v := apart.clamp(c[0]); v <= o {
				upTo += float64(c[1])
			}
		}
		q, _ := rank.Float64()
		return max(0, below-q*100_000, q*100_000-upTo)
	}
	within := func(release func(mechanism.Ordered) (OrderStatistics, error),
		rankError func(float64) (float64, error),
	) int {
		bound, err := rankError(beta)
		if err != nil || bound > 1000 {
			t.Fatalf("a bound of %g, %v", bound, err)
		}
		good := 0
		for range trials {
			out, err := release(data)
			if err != nil {
				t.Fatal(err)
			}
			off := 0.0
			for i, o := range out.Values {
				off = max(off, d(o, ranks[i]))
			}
			if off <= bound {
				good++
			}
		}
		return good
	}
	test := stattest.Proportion{
		Of:         stattest.Binomial{Trials: trials, Probability: 1 - beta},
		FalseAlarm: mechtest.FalseAlarm,
	}
	if test.Successes = within(apart.Release, apart.RankError); test.CheckAtLeast() != nil {
		t.Error(test.CheckAtLeast())
	}
	recursion := Approximate{apart.Domain, apart.Unit, apart.Ranks, apart.Epsilon, false}
	if good := within(recursion.Release, recursion.RankError); good > 0 {
		t.Errorf("the recursion was within its bound %d times of %d", good, trials)
	}
}
