package partition

import (
	"encoding/binary"
	"errors"
	"math"
	"math/big"
	"testing"

	"dither/internal/entropy"
	"dither/internal/exact"
	"dither/internal/stattest"
	"dither/mechanism"
	"dither/mechanism/internal/mechtest"
)

// ln2 is ln 2 to 60 digits.
const ln2 = "0.693147180559945309417232121458176568075500134360255254120680"

func partitions(t testing.TB, epsilon, delta string, keys, least int64) Parameters {
	t.Helper()
	return Parameters{
		Epsilon: mechtest.Epsilon(t, epsilon), Delta: mechtest.Delta(t, delta), Keys: keys,
		MinUnits: least,
	}
}

// TestPartitionFigures are the keep probabilities of Desfontaines et al. at ε = ln 2, δ = 0.1.
func TestPartitionFigures(t *testing.T) {
	for least, want := range map[int64][]float64{
		0: {0, .1, .3, .7, .9, 1, 1, 1}, 1: {0, .1, .3, .7, .9, 1}, 3: {0, 0, 0, .1, .3, .7, .9, 1, 1},
	} {
		m := Selection{partitions(t, ln2, "0.1", 1, least)}
		for n, p := range want {
			if got, err := m.Probability(int64(n)); err != nil || math.Abs(got-p) > 1e-15 {
				t.Errorf("least %d: p(%d) = %.17g, want %g, %v", least, n, got, p, err)
			}
		}
		for _, n := range []int64{-1, math.MinInt64} {
			if got, err := m.Probability(n); got != 0 || err != nil {
				t.Errorf("p(%d) = %g, %v", n, got, err)
			}
		}
		if got, err := m.Probability(math.MaxInt64); got != 1 || err != nil {
			t.Errorf("p(many) = %g, %v", got, err)
		}
	}
}

var partitionCases = [][2]string{
	{ln2, "0.1"},
	{"1", "0.00001"},
	{"0.1", "0.000001"},
	{"3", "0.5"},
	{"0.01", "0.2"},
	{"8", "0.000000000001"},
	{"2", "0.99"},
	{"1/1000000", "0.05"},
}

// TestPartitionClosedForm holds the closed form against the recursion, which is evaluated in intervals of 600 bits, and
// the recursion against the two inequalities that are the promise: each p_n satisfies them, and no larger one does.
func TestPartitionClosedForm(t *testing.T) {
	const bits = 500
	for _, c := range partitionCases {
		law, err := Selection{partitions(t, c[0], c[1], 1, 0)}.law()
		if err != nil {
			t.Fatal(err)
		}
		one, delta := exact.IntervalOf(big.NewRat(1, 1), bits), exact.IntervalOf(law.delta, bits)
		grown := exact.IntervalOf(law.epsilon, bits).Exp()
		lesser := func(x, y exact.Interval) exact.Interval {
			if x.Hi().Cmp(y.Lo()) <= 0 {
				return x
			}
			return y
		}
		p := exact.IntervalOf(new(big.Rat), bits)
		for n := int64(1); n <= 240; n++ {
			up := grown.Mul(p).Add(delta)                     // p_n ≤ e^ε·p_{n−1} + δ
			down := one.Sub(one.Sub(p).Sub(delta).Quo(grown)) // 1 − p_{n−1} ≤ e^ε·(1 − p_n) + δ
			p = lesser(lesser(up, down), one)                 // the largest that both allow
			if n > 16 && n%16 != 0 {
				continue
			}
			closed, sure := law.keep(big.NewInt(n))(bits), law.certain(big.NewInt(n))
			far := closed.Sub(p)
			apart := new(big.Float).Abs(far.Lo())
			if p.Hi().Cmp(big.NewFloat(1)) >= 0 { // the closed form goes on above 1
				if closed.Hi().Cmp(big.NewFloat(1)) < 0 {
					t.Fatalf("%v: p(%d) is %s, and 1 by recursion", c, n, closed.Hi().Text('g', 20))
				}
				continue
			}
			if sure || apart.Cmp(big.NewFloat(0x1p-300)) > 0 {
				t.Fatalf("%v: p(%d) differs by %s; certain: %t", c, n, far.Lo().Text('g', 5), sure)
			}
		}
	}
}

// TestPartitionSamples replays the first 64 digits around those of p_n: kept up to them, and not beyond. (p₁ = ½ has
// two expansions.)
func TestPartitionSamples(t *testing.T) {
	for _, c := range partitionCases {
		m := Selection{partitions(t, c[0], c[1], 1, 0)}
		law, err := m.law()
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int64{1, 2, 3, 5, 20} {
			x := law.keep(big.NewInt(n))(256).Lo()
			digits, _ := x.SetMantExp(x, 64).Int(nil)
			if !digits.IsUint64() || digits.Sign() == 0 || digits.Uint64() > math.MaxUint64-1000 {
				continue // 0 or 1, or too near to it
			}
			for d, want := range map[uint64]bool{
				0: true, digits.Uint64() - 1: true, digits.Uint64() + 2: false,
				math.MaxUint64: false,
			} {
				kept, err := m.choose(entropy.Recorded(binary.LittleEndian.AppendUint64(nil, d)),
					grouped(mechtest.Exacts(n)...))
				if err != nil || (len(kept) == 1) != want {
					t.Errorf("%v: n = %d, digits %d: kept %v, %v", c, n, d, kept, err)
				}
			}
		}
	}
}

// TestPartitionsThatAreCertainNeedNoCoin: partitions of ten thousand distinct numbers of units, from the one on that
// the comment on Select names, are kept without a random bit.
func TestPartitionsThatAreCertainNeedNoCoin(t *testing.T) {
	for _, c := range partitionCases {
		m := Selection{partitions(t, c[0], c[1], 1, 5)}
		epsilon, _ := m.Epsilon.Rat().Float64()
		delta, _ := m.Delta.Rat().Float64()
		var units []mechanism.Exact
		for i := range int64(10_000) {
			units = append(units, mechtest.Exacts(4+int64(math.Ceil(2*math.Log(1/delta)/epsilon+3))+i)...)
		}
		if kept, err := m.choose(entropy.Recorded(nil), grouped(units...)); err != nil || len(kept) != len(units) {
			t.Errorf("%v: %d kept, %v", c, len(kept), err)
		}
	}
}

func TestPartitionDistribution(t *testing.T) {
	m := Selection{partitions(t, "1", "0.02", 2, 2)}
	const each = 2_000
	var units []mechanism.Exact
	for n := range int64(20) {
		for range each {
			units = append(units, mechtest.Exacts(n)...)
		}
	}
	kept, err := m.Select(grouped(units...))
	if err != nil {
		t.Fatal(err)
	}
	var trues [20]int
	for _, key := range kept {
		trues[placeOf(t, key)/each]++
	}
	for n, successes := range trues {
		p, err := m.Probability(int64(n))
		if err != nil {
			t.Fatal(err)
		}
		if err := (stattest.Proportion{
			Successes: successes, Of: stattest.Binomial{Trials: each, Probability: p},
			FalseAlarm: mechtest.FalseAlarm,
		}).Check(); err != nil {
			t.Errorf("n = %d: %v", n, err)
		}
	}
}

// countLaw is the law of one partition of Counts, by floats: P(not kept), and P(count).
func countLaw(t *testing.T, m Counts, n int64) (none float64, counts map[int64]float64) {
	t.Helper()
	reach, err := m.Reach()
	if err != nil {
		t.Fatal(err)
	}
	e, _, err := m.perKey()
	if err != nil {
		t.Fatal(err)
	}
	epsilon, _ := e.Float64()
	k, b := reach.Int64(), math.Exp(-epsilon)
	c := -math.Expm1(-epsilon) / (1 + b - 2*math.Exp(-float64(k+1)*epsilon))
	counts = map[int64]float64{}
	for v := -k; v <= k; v++ {
		p := c * math.Exp(-epsilon*math.Abs(float64(v)))
		if n+v > k+max(m.MinUnits, 1)-1 {
			counts[n+v] += p
		} else {
			none += p
		}
	}
	return none, counts
}

// distance is the least δ of two laws at ε, from the first to the second.
func distance(
	epsilon float64, none float64, counts map[int64]float64, none2 float64, counts2 map[int64]float64,
) float64 {
	delta := max(0, none-math.Exp(epsilon)*none2)
	for y, p := range counts {
		delta += max(0, p-math.Exp(epsilon)*counts2[y])
	}
	return delta
}

// TestPartitionCountsArePrivate enumerates the laws of all neighbours: the least δ is at most what is claimed, and is
// reached to within e^ε, by which the least integer may miss.
func TestPartitionCountsArePrivate(t *testing.T) {
	for _, c := range []struct {
		epsilon, delta string
		least          int64
	}{
		{"1", "0.01", 0},
		{"1/2", "0.001", 1},
		{"2", "0.1", 3},
		{"1/10", "0.2", 2},
		{"3", "0.000001", 1},
		{"1/100", "0.4", 1},
	} {
		m := Counts{partitions(t, c.epsilon, c.delta, 1, c.least)}
		epsilon, _ := m.Epsilon.Rat().Float64()
		delta, _ := m.Delta.Rat().Float64()
		reach, err := m.Reach()
		if err != nil {
			t.Fatal(err)
		}
		worst := 0.0
		for n := int64(0); n < 3*reach.Int64()+c.least+5; n++ {
			none, counts := countLaw(t, m, n)
			none2, counts2 := countLaw(t, m, n+1)
			worst = max(worst, distance(epsilon, none, counts, none2, counts2),
				distance(epsilon, none2, counts2, none, counts))
			if n < max(c.least, 1) && len(counts) > 0 {
				t.Errorf("%v: %d units are kept", c, n)
			}
		}
		if worst > delta*(1+1e-9)+1e-14 || worst < delta*math.Exp(-epsilon)*0.3 {
			t.Errorf("%v: k = %s, the least δ is %g", c, reach, worst)
		}
		if k := float64(reach.Int64() - 1); math.Exp(-k*epsilon) <= delta*(1+math.Exp(-epsilon))/(1-math.Exp(-epsilon)+2*delta*math.Exp(-epsilon)) {
			t.Errorf("%v: %g would do for %s", c, k, reach)
		}
	}
}

// TestPartitionCountsFollowTheirLaw draws.
func TestPartitionCountsFollowTheirLaw(t *testing.T) {
	m := Counts{partitions(t, "1", "0.02", 1, 2)}
	for _, n := range []int64{0, 1, 2, 5, 9} {
		none, counts := countLaw(t, m, n)
		units := make([]mechanism.Exact, 10_000)
		for i := range units {
			units[i] = mechtest.Exacts(n)[0]
		}
		out, err := m.Select(grouped(units...))
		if err != nil {
			t.Fatal(err)
		}
		observed, expected := make([]int, 30), make([]float64, 30)
		observed[0] = len(units) - len(out.Kept)
		expected[0] = none
		for y, p := range counts {
			expected[y] = p
		}
		for _, p := range out.Kept {
			observed[p.Value.Int64()]++
		}
		if none > 1-1e-12 {
			if observed[0] != len(units) {
				t.Errorf("n = %d: %v", n, observed)
			}
			continue
		}
		if err := (stattest.ChiSquared{
			Observed: observed, Expected: expected,
			FalseAlarm: mechtest.FalseAlarm,
		}).Check(); err != nil {
			t.Errorf("n = %d: %v", n, err)
		}
	}
}

func TestPartitionsLoss(t *testing.T) {
	loss, err := partitions(t, "1/2", "0.001", 4, 0).Loss()
	if r, d := loss.ZCDP(); err != nil || r.String() != "0.03125" || d.String() != "0.001" { // 4·(1/8)²/2
		t.Errorf("%s, %v", loss, err)
	}
	epsilon, delta, err := partitions(t, "1/2", "0.001", 4, 0).perKey()
	if err != nil || epsilon.Cmp(big.NewRat(1, 8)) != 0 || delta.Cmp(big.NewRat(1, 4000)) != 0 {
		t.Errorf("%s, %s, %v", epsilon, delta, err)
	}
}

func TestPartitionsExtremes(t *testing.T) {
	far := new(big.Int).Lsh(big.NewInt(1), 200)
	tiny := new(big.Rat).SetFrac(big.NewInt(1), far).RatString()
	least := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 2000)).RatString()
	units := grouped(mechanism.Exact{}, mechtest.Exacts(0)[0], mechanism.NewExact(far),
		mechanism.NewExact(new(big.Int).Neg(far)), mechtest.Exacts(1)[0], mechtest.Exacts(5)[0])
	for _, p := range []Parameters{
		partitions(t, "1", "0.00001", 1, 0), partitions(t, tiny, "0.1", 1, 0), partitions(t, "1000", least, 1, 0),
		partitions(t, tiny, least, 1, 0),
		// where p(2) is 1 by a tie
		partitions(t, "1", "0.00001", math.MaxInt64, math.MaxInt64), partitions(t, "1/2", "1/2", 1, 1),
	} {
		kept, err := Selection{p}.Select(units)
		if err != nil {
			t.Errorf("%v: %v", p, err)
		}
		counts, err := Counts{p}.Select(units)
		if err != nil {
			t.Errorf("%v: %v", p, err)
		}
		for _, p := range counts.Kept {
			kept = append(kept, p.Key)
		}
		for _, key := range kept {
			if i := placeOf(t, key); i == 0 || i == 1 || i == 3 {
				t.Errorf("%v: %d is kept", p, i)
			}
		}
	}
	if kept, err := (Selection{partitions(t, "1/2", "1/2",
		1, 1)}).Select(grouped(mechtest.Exacts(2, 3)...)); err != nil || len(kept) != 2 {
		t.Errorf("p(2) at δ = ½: %v, %v", kept, err)
	}
	if kept, err := (Selection{partitions(t, "1", "0.1", 1, 1)}).Select(nil); err != nil || len(kept) != 0 {
		t.Errorf("no partitions: %v, %v", kept, err)
	}
}

func TestPartitionsRefuse(t *testing.T) {
	long := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 5000)).RatString()
	for name, p := range map[string]Parameters{
		"zero": {}, "no keys": partitions(t, "1", "0.1", 0, 0), "negative keys": partitions(t, "1", "0.1", -1, 0),
		"least": partitions(t, "1", "0.1", 1, -1),
		"no ε":  partitions(t, "0", "0.1", 1, 0), "no δ": partitions(t, "1", "0", 1, 0),
		"δ 1": partitions(t, "1", "1", 1, 0), "δ tiny": partitions(t, "1", long, 1, 0),
		"ε large": partitions(t, "1001", "0.1", 1, 0), "ε tiny": partitions(t, long, "0.1", 1, 0),
	} {
		_, err := Selection{p}.Select(grouped(mechtest.Exacts(1)...))
		_, err2 := Counts{p}.Select(grouped(mechtest.Exacts(1)...))
		_, err3 := Selection{p}.Probability(3)
		_, err4 := p.Loss()
		_, err5 := Counts{p}.Reach()
		for _, err := range []error{err, err2, err3, err4, err5} {
			if !errors.Is(err, mechanism.ErrParameter) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func BenchmarkPartitionSelection(b *testing.B) {
	m := Selection{partitions(b, "1", "0.00001", 1, 0)}
	units := mechtest.Exacts(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20)
	for len(units) < 10_000 {
		units = append(units, units...)
	}
	groups := grouped(units...)
	for b.Loop() {
		if _, err := m.Select(groups); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(units)), "ns/partition")
}
