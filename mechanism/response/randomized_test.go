package response

import (
	"encoding/binary"
	"errors"
	"math"
	"math/big"
	"testing"

	"dither/internal/entropy"
	"dither/internal/stattest"
	"dither/mechanism"
	"dither/mechanism/internal/mechtest"
)

func fair() Randomized {
	return Randomized{Truth: big.NewRat(1, 2), Yes: big.NewRat(1, 2)}
}

// TestTwoCoins is the textbook's: 3/4 against 1/4, and ln 3.
func TestTwoCoins(t *testing.T) {
	ratio, err := fair().Ratio()
	if err != nil || ratio.Cmp(big.NewRat(3, 1)) != 0 {
		t.Fatalf("e^ε = %v, %v", ratio, err)
	}
	e, err := fair().Epsilon()
	if err != nil || e.String() != "1.0986122886681097" { // ln 3 = 1.098612288668109691…, rounded up
		t.Errorf("ε = %s, %v", e, err)
	}
	p, err := fair().Channel()
	if err != nil || p[1][1].Cmp(big.NewRat(3, 4)) != 0 || p[0][1].Cmp(big.NewRat(1, 4)) != 0 {
		t.Errorf("channel %v, %v", p, err)
	}
}

// TestRandomizedChannel enumerates the bytes of both coins: with denominators that are powers of two none is rejected,
// of each only the lowest six bits count at most, and so the channel is counted exactly. The ratio is the largest of
// the counts' ratios.
func TestRandomizedChannel(t *testing.T) {
	for _, m := range []Randomized{
		fair(),
		{big.NewRat(1, 4), big.NewRat(7, 8)},
		{big.NewRat(13, 16), big.NewRat(1, 8)},
		{big.NewRat(1, 64), big.NewRat(1, 2)},
	} {
		want, err := m.Channel()
		if err != nil {
			t.Fatal(err)
		}
		var counted [2][2]int64
		for bit := range int64(2) {
			for first := range 64 {
				for second := range 64 {
					answers, err := m.respond(entropy.Recorded([]byte{byte(first), byte(second)}), mechtest.Exacts(bit))
					if err != nil {
						t.Fatal(err)
					}
					if answers[0] {
						counted[bit][1]++
					} else {
						counted[bit][0]++
					}
				}
			}
		}
		worst := new(big.Rat)
		for answer := range 2 {
			for bit := range 2 {
				if got := big.NewRat(counted[bit][answer], 1<<12); got.Cmp(want[bit][answer]) != 0 {
					t.Errorf("%v: P(%d|%d) = %s, want %s", m, answer, bit, got, want[bit][answer])
				}
				if r := big.NewRat(counted[bit][answer], counted[1-bit][answer]); r.Cmp(worst) > 0 {
					worst = r
				}
			}
		}
		if ratio, err := m.Ratio(); err != nil || ratio.Cmp(worst) != 0 {
			t.Errorf("%v: e^ε = %s, counted %s, %v", m, ratio, worst, err)
		}
	}
}

// TestRandomizedCountIsUnbiased sums over every number of answers, each of n persons of whom c have the bit: both
// estimates are right in expectation, exactly.
func TestRandomizedCountIsUnbiased(t *testing.T) {
	m := Randomized{big.NewRat(2, 5), big.NewRat(3, 7)}
	p, err := m.Channel()
	if err != nil {
		t.Fatal(err)
	}
	const n = 5
	for c := range int64(n + 1) {
		law := []*big.Rat{big.NewRat(1, 1)} // of the number of answers 1
		for i := range int64(n) {
			bit := 0
			if i < c {
				bit = 1
			}
			next := make([]*big.Rat, len(law)+1)
			for j := range next {
				next[j] = new(big.Rat)
			}
			for j, mass := range law {
				next[j].Add(next[j], new(big.Rat).Mul(mass, p[bit][0]))
				next[j+1].Add(next[j+1], new(big.Rat).Mul(mass, p[bit][1]))
			}
			law = next
		}
		mean, square, variance := new(big.Rat), new(big.Rat), new(big.Rat)
		for ones, mass := range law {
			count, v, err := m.Count(int64(ones), n)
			if err != nil {
				t.Fatal(err)
			}
			mean.Add(mean, new(big.Rat).Mul(mass, count))
			square.Add(square, new(big.Rat).Mul(mass, new(big.Rat).Mul(count, count)))
			variance.Add(variance, new(big.Rat).Mul(mass, v))
		}
		square.Sub(square, new(big.Rat).Mul(mean, mean))
		if mean.Cmp(new(big.Rat).SetInt64(c)) != 0 || square.Cmp(variance) != 0 {
			t.Errorf("c = %d: mean %s, variance %s, estimated %s", c, mean, square, variance)
		}
	}
}

func TestRandomizedRefuses(t *testing.T) {
	half := big.NewRat(1, 2)
	long := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 5000))
	for name, m := range map[string]Randomized{
		"nil": {}, "certain truth": {big.NewRat(1, 1), half}, "no truth": {new(big.Rat), half},
		"certain yes": {half, big.NewRat(1, 1)},
		"negative":    {big.NewRat(-1, 2), half}, "beyond": {half, big.NewRat(3, 2)}, "long": {half, long},
	} {
		if _, err := m.Respond(mechtest.Exacts(1)); !errors.Is(err, mechanism.ErrParameter) {
			t.Errorf("%s: Respond: %v", name, err)
		}
		if _, err := m.Epsilon(); !errors.Is(err, mechanism.ErrParameter) {
			t.Errorf("%s: Epsilon: %v", name, err)
		}
		if _, _, err := m.Count(1, 2); !errors.Is(err, mechanism.ErrParameter) {
			t.Errorf("%s: Count: %v", name, err)
		}
	}
	for _, c := range [][2]int64{{3, 2}, {-1, 2}, {1, -1}} {
		if _, _, err := fair().Count(c[0], c[1]); !errors.Is(err, mechanism.ErrParameter) {
			t.Errorf("%v: %v", c, err)
		}
	}
	if answers, err := fair().Respond(nil); err != nil || len(answers) != 0 {
		t.Errorf("nobody: %v, %v", answers, err)
	}
}

// TestCategoryChannel replays the draw of the other value, of 3 for k = 4, and the first 64 digits of the uniform
// number around those of p = 1/(1 + (k − 1)e^(−ε)): the truth is told up to them, and not beyond. So p is right to
// 2⁻⁶⁴, and each other value is as likely as the next.
func TestCategoryChannel(t *testing.T) {
	m := Category{Categories: 4, Epsilon: mechtest.Epsilon(t, "1")}
	p, q, err := m.Channel()
	if err != nil || math.Abs(p-0.475367) > 5e-7 || math.Abs(p/q-math.E) > 1e-14 || math.Abs(p+3*q-1) > 1e-15 {
		t.Fatalf("p = %g, q = %g, %v", p, q, err)
	}
	const digits = 8768971294881393556 // ⌊2⁶⁴·e/(e + 3)⌋, by mpmath
	for value := range int64(4) {
		others := map[int64]bool{}
		for coin := range byte(3) {
			for _, c := range []struct {
				first uint64
				truth bool
			}{{0, true}, {digits - 1, true}, {digits + 1, false}, {math.MaxUint64, false}} {
				answers, err := m.respond(entropy.Recorded(binary.LittleEndian.AppendUint64([]byte{coin}, c.first)),
					mechtest.Exacts(value))
				if err != nil || c.truth != (answers[0] == value) {
					t.Errorf("%d, coin %d, digits %d: %v, %v", value, coin, c.first, answers, err)
				}
				if !c.truth {
					others[answers[0]] = true
				}
			}
		}
		if len(others) != 3 || others[value] {
			t.Errorf("other values than %d: %v", value, others)
		}
	}
}

// TestCategoryDistribution has answers of every true value follow the channel, at a small and at a large ε.
func TestCategoryDistribution(t *testing.T) {
	for _, c := range []struct {
		k int64
		e string
	}{{2, "1"}, {5, "1/10"}, {10, "6"}} {
		m := Category{Categories: c.k, Epsilon: mechtest.Epsilon(t, c.e)}
		p, q, err := m.Channel()
		if err != nil {
			t.Fatal(err)
		}
		x := make([]mechanism.Exact, 20_000)
		for value := range c.k {
			for i := range x {
				x[i] = mechtest.Exacts(value)[0]
			}
			answers, err := m.Respond(x)
			if err != nil {
				t.Fatal(err)
			}
			observed, expected := make([]int, c.k), make([]float64, c.k)
			for _, a := range answers {
				observed[a]++
			}
			for v := range expected {
				expected[v] = q
			}
			expected[value] = p
			if err := (stattest.ChiSquared{
				Observed: observed, Expected: expected,
				FalseAlarm: mechtest.FalseAlarm,
			}).Check(); err != nil {
				t.Errorf("k = %d, ε = %s, value %d: %v", c.k, c.e, value, err)
			}
		}
	}
}

// TestCategoryCount checks the two linear formulas at their fixed points: where the answers are what they are expected
// to be.
func TestCategoryCount(t *testing.T) {
	m := Category{Categories: 3, Epsilon: mechtest.Epsilon(t, "2")}
	p, q, err := m.Channel()
	if err != nil {
		t.Fatal(err)
	}
	lowest, _, err := m.Count(0, 1000)
	if err != nil || math.Abs(lowest+1000*q/(p-q)) > 1e-9 {
		t.Errorf("no answers: %g, %v", lowest, err)
	}
	highest, variance, err := m.Count(1000, 1000)
	want := (highest*p*(1-p) + (1000-highest)*q*(1-q)) / (p - q) / (p - q)
	if err != nil || math.Abs(highest-lowest-1000/(p-q)) > 1e-9 || math.Abs(variance-want) > 1e-6 {
		t.Errorf("all answers: %g ± %g, %v", highest, variance, err)
	}
}

func TestCategoryClampsAndRefuses(t *testing.T) {
	m := Category{Categories: 3, Epsilon: mechtest.Epsilon(t, "1000")} // the truth but for e^−1000
	far := new(big.Int).Lsh(big.NewInt(1), 200)
	answers, err := m.Respond([]mechanism.Exact{
		{},
		mechtest.Exacts(-5)[0], mechtest.Exacts(7)[0],
		mechanism.NewExact(far), mechanism.NewExact(new(big.Int).Neg(far)), mechtest.Exacts(1)[0],
	})
	if err != nil || answers[0] != 0 || answers[1] != 0 || answers[2] != 2 || answers[3] != 2 || answers[4] != 0 ||
		answers[5] != 1 {
		t.Errorf("%v, %v", answers, err)
	}
	tiny := mechtest.Epsilon(t, new(big.Rat).SetFrac(big.NewInt(1), far).RatString())
	for name, m := range map[string]Category{
		"zero": {}, "one category": {1, mechtest.Epsilon(t, "1")}, "negative": {-4, mechtest.Epsilon(t, "1")},
		"no ε":    {Categories: 4},
		"ε large": {4, mechtest.Epsilon(t, "1001")}, "ε tiny": {4, tiny.Share(1, 4)},
	} {
		if _, err := m.Respond(mechtest.Exacts(1)); !errors.Is(err, mechanism.ErrParameter) {
			t.Errorf("%s: %v", name, err)
		}
		if _, _, err := m.Count(1, 2); !errors.Is(err, mechanism.ErrParameter) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, m := range []Category{{4, tiny}, {math.MaxInt64, mechtest.Epsilon(t, "1")}, {math.MaxInt64, tiny}} {
		if _, err := m.Respond(mechtest.Exacts(1, 2, 3)); err != nil {
			t.Errorf("%v: %v", m, err)
		}
	}
	if _, _, err := m.Count(3, 2); !errors.Is(err, mechanism.ErrParameter) {
		t.Errorf("3 of 2: %v", err)
	}
}
