package stream

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"dither/internal/entropy"
	"dither/internal/stattest"
	"dither/mechanism"
	"dither/mechanism/internal/mechtest"
	"dither/mechanism/internal/opaque"
	"dither/noise"
	"dither/privacy"
)

// sparseModel is a sparse vector technique by its definition, with thresholds 0, for exact enumeration; or a published
// one that is broken.
type sparseModel struct {
	threshold noise.DiscreteLaplace
	query     *noise.DiscreteLaplace // nil for none
	leaks     bool                   // what is above comes as q + ν itself
	known     map[[2]int64]float64   // values of the distributions that were asked for before
}

// below and above are what an answer is, where it is not a number.
const (
	below = math.MinInt64
	above = math.MaxInt64
)

// probability is that of answers (below, above, or the gap) to queries, for thresholds' noise within ±reach.
func (m sparseModel) probability(queries, answers []int64, reach int64) float64 {
	total := 0.0
	for rho := -reach; rho <= reach; rho++ {
		p := m.keep(0, rho, m.threshold.Mass)
		for i, q := range queries {
			p *= m.answer(q, rho, answers[i])
		}
		total += p
	}
	return total
}

// answer is the probability of one answer, given the threshold's noise.
func (m sparseModel) answer(q, rho, answer int64) float64 {
	is := func(b bool) float64 {
		if b {
			return 1
		}
		return 0
	}
	switch {
	case m.query == nil && answer == below:
		return is(q < rho)
	case m.query == nil:
		return is(q >= rho)
	case answer == below:
		return m.keep(1, rho-q-1, m.query.CDF) // ν < ρ − q
	case answer == above:
		return m.keep(1, q-rho, m.query.CDF) // ν ≥ ρ − q, by symmetry
	case m.leaks:
		return is(answer >= rho) * m.keep(2, answer-q, m.query.Mass)
	}
	return m.keep(2, answer+rho-q, m.query.Mass) // the gap
}

// keep is f(x), computed once.
func (m sparseModel) keep(which, x int64, f func(*big.Int) float64) float64 {
	v, ok := m.known[[2]int64{which, x}]
	if !ok {
		v = f(big.NewInt(x))
		m.known[[2]int64{which, x}] = v
	}
	return v
}

func modelOf(t *testing.T, m SparseVector) sparseModel {
	t.Helper()
	n, err := m.noise()
	if err != nil {
		t.Fatal(err)
	}
	return sparseModel{n.threshold, &n.query, false, map[[2]int64]float64{}}
}

// everyList calls with every list of so many entries from an alphabet.
func everyList(n int, alphabet []int64, visit func([]int64)) {
	list := make([]int64, n)
	var step func(i int)
	step = func(i int) {
		if i == n {
			visit(list)
			return
		}
		for _, list[i] = range alphabet {
			step(i + 1)
		}
	}
	step(0)
}

// TestSparseRatios: for three queries in a small domain with all their neighbours, every sequence of answers keeps
// within exp(ε), gaps included. Noise of the threshold within ±reach on one side has its counterpart within ±(reach
// + Δ) on the other, so no tail is left out of the comparison.
func TestSparseRatios(t *testing.T) {
	const reach, epsilon = 25, 2.0
	for _, monotonic := range []bool{false, true} {
		for c := 1; c <= 2; c++ {
			m := modelOf(t, SparseVector{
				Sensitivity: big.NewInt(1), Monotonic: monotonic,
				Epsilon: mechtest.EpsilonRatio(t, 2, 1), Gap: true, Positives: c,
			})
			worst := 0.0
			moves := [][]int64{{-1, 0, 1}}
			if monotonic {
				moves = [][]int64{{0, 1}, {-1, 0}}
			}
			everyList(3, []int64{below, above, 0, 2}, func(answers []int64) {
				positives := 0
				for i, a := range answers {
					if a != below {
						positives++
					}
					if positives == c && i < len(answers)-1 {
						return // the session ended before
					}
				}
				everyList(3, []int64{-1, 0, 2}, func(queries []int64) {
					p := m.probability(queries, answers, reach)
					for _, move := range moves {
						everyList(3, move, func(d []int64) {
							q := m.probability([]int64{queries[0] + d[0], queries[1] + d[1], queries[2] + d[2]},
								answers, reach+1)
							worst = max(worst, math.Log(p/q))
						})
					}
				})
			})
			if worst > epsilon+1e-9 {
				t.Errorf("monotonic %t, c = %d: a log-ratio of %g", monotonic, c, worst)
			}
			t.Logf("monotonic %t, c = %d: largest log-ratio %.4f, ε = %g", monotonic, c, worst, epsilon)
		}
	}
}

// TestBrokenSparse: the same enumeration finds the published variants out that Lyu, Su & Li 2017 (figure 1, Algorithms
// 3 to
// 6) name: each has a log-ratio above its ε, with all of the tail that was left out counted for the other side.
func TestBrokenSparse(t *testing.T) {
	const reach, epsilon = 60, 1.0
	laplace := func(num, den int64) noise.DiscreteLaplace {
		d, err := noise.NewDiscreteLaplace(big.NewRat(num, den))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	repeat := func(n int, v int64) []int64 { return slices.Repeat([]int64{v}, n) }
	half, four := laplace(2, 1), laplace(4, 1) // Δ/ε₁ at ε₁ = ½, and at ε₁ = ¼
	threeQuarters := laplace(4, 3)
	for name, c := range map[string]struct {
		m          sparseModel
		q, r, a    []int64
		impossible bool
	}{
		"the noisy query in place of above (Algorithm 3)": {
			sparseModel{threshold: half, query: &half, leaks: true},
			append(repeat(8, 0), 1), append(repeat(8, 1), 0), append(repeat(8, below), 0), false,
		},
		"query noise without c (Algorithm 4)": {
			sparseModel{threshold: four, query: &threeQuarters},
			repeat(16, 0), append(repeat(8, 1), repeat(8, -1)...), append(repeat(8, below), repeat(8, above)...), false,
		},
		"no query noise (Algorithm 5)": {
			sparseModel{threshold: half}, []int64{0, 1}, []int64{1, 0}, []int64{below, above}, true,
		},
		"no end (Algorithm 6)": {
			sparseModel{threshold: half, query: &half},
			repeat(16, 0), append(repeat(8, 1), repeat(8, -1)...), append(repeat(8, below), repeat(8, above)...), false,
		},
	} {
		c.m.known = map[[2]int64]float64{}
		p := c.m.probability(c.q, c.a, reach)
		q := c.m.probability(c.r, c.a, reach) + c.m.threshold.Tail(big.NewInt(reach))
		ratio := math.Log(p / q)
		if c.impossible {
			if q := c.m.probability(c.r, c.a, reach); q != 0 || p < .01 {
				t.Errorf("%s: %g against %g", name, p, q)
			}
			ratio = math.Inf(1)
		}
		if ratio <= epsilon {
			t.Errorf("%s: not found out, log-ratio %g", name, ratio)
		}
		t.Logf("%s: log-ratio at least %.3f, ε = %g", name, ratio, epsilon)
	}
	// The correct form on the same lists, of sixteen positives.
	m := modelOf(t, SparseVector{Sensitivity: big.NewInt(1), Epsilon: mechtest.EpsilonRatio(t, 1, 1), Positives: 16})
	for _, lists := range [][3][]int64{
		{repeat(16, 0), repeat(16, -1), repeat(16, above)},
		{repeat(16, 0), append(repeat(8, 1), repeat(8, -1)...), append(repeat(8, below), repeat(8, above)...)},
	} {
		const far = 600 // the threshold's scale is about 11
		p, q := m.probability(lists[0], lists[2], far), m.probability(lists[1], lists[2], far+1)
		if math.Log(p/q) > epsilon {
			t.Errorf("the correct form: %g", math.Log(p/q))
		}
	}
}

// TestSparseLaw: a session's answers have the law of the model.
func TestSparseLaw(t *testing.T) {
	m := SparseVector{Sensitivity: big.NewInt(1), Epsilon: mechtest.EpsilonRatio(t, 6, 1), Gap: true, Positives: 2}
	model, queries := modelOf(t, m), []int64{0, 1, -1}
	var names []string
	var expected []float64
	rest := 1.0
	everyList(3, []int64{below, 0, 1, 2, 3, 4, 5}, func(answers []int64) {
		told := slices.Clone(answers)
		if told[0] != below && told[1] != below {
			if told[2] != below {
				return
			}
			told = told[:2] // the session ends
		}
		p := model.probability(queries[:len(told)], told, 60)
		names, expected, rest = append(names, fmt.Sprint(told)), append(expected, p), rest-p
	})
	observed, source, list := make([]int, len(names)+1), entropy.System(), mechtest.Exacts(queries...)
	for range 10_000 {
		s, err := m.begin(source)
		if err != nil {
			t.Fatal(err)
		}
		var told []int64
		for _, q := range list {
			// Thresholds shift queries: 10 and −10 are as 0.
			shift := big.NewInt(10)
			a, err := s.ask(source, mechanism.NewExact(new(big.Int).Add(opaque.Open(q), shift)), shift)
			switch {
			case errors.Is(err, ErrEnded):
				continue
			case err != nil:
				t.Fatal(err)
			case a.Above:
				told = append(told, a.Gap.Int64())
			default:
				told = append(told, below)
			}
		}
		if i := slices.Index(names, fmt.Sprint(told)); i >= 0 {
			observed[i]++
		} else {
			observed[len(names)]++
		}
	}
	if err := (stattest.ChiSquared{
		Observed: observed, Expected: append(expected, max(rest, 0)),
		FalseAlarm: mechtest.FalseAlarm,
	}).Check(); err != nil {
		t.Error(err)
	}
}

// TestSparseValues: values have noise of their own, of scale cΔ/ε₃, whatever the gap.
func TestSparseValues(t *testing.T) {
	m := SparseVector{
		Sensitivity: big.NewInt(3), Epsilon: mechtest.EpsilonRatio(t, 1, 1),
		Value: mechtest.EpsilonRatio(t, 2, 1), Positives: 4000,
	}
	s, err := m.Begin()
	if err != nil {
		t.Fatal(err)
	}
	dist, ok := s.ValueNoise()
	if scale := dist.Scale(); !ok || scale.Cmp(big.NewRat(3*4000, 2)) != 0 {
		t.Fatalf("scale %s", scale)
	}
	if pure, ok := s.Loss().Pure(); !ok || pure.String() != "3" {
		t.Errorf("the loss is %s", s.Loss())
	}
	const cells = 8
	observed, far := make([]int, cells), big.NewInt(1<<40)
	for range m.Positives {
		a, err := s.Ask(mechanism.NewExact(far), nil)
		if err != nil || !a.Above || a.Gap != nil {
			t.Fatal(a, err)
		}
		cdf := dist.CDF(new(big.Int).Sub(a.Value, far))
		observed[min(int(cdf*cells), cells-1)]++
	}
	expected := make([]float64, cells)
	for i := range expected {
		expected[i] = 1.0 / cells // the scale is so large that cells differ by less than 1e-4 of them
	}
	if err := (stattest.ChiSquared{
		Observed: observed, Expected: expected,
		FalseAlarm: mechtest.FalseAlarm,
	}).Check(); err != nil {
		t.Error(err)
	}
	if _, err := s.Ask(mechanism.NewExact(far), nil); !errors.Is(err, ErrEnded) {
		t.Errorf("after the end: %v", err)
	}
}

func TestSparseSplit(t *testing.T) {
	for _, c := range []struct {
		positives int
		monotonic bool
		ratio     float64
	}{
		{1, false, math.Cbrt(4)},
		{1, true, 1},
		{4, true, math.Cbrt(16)},
		{500, false, 100},
		{1 << 30, false, math.Cbrt(math.Exp2(62))},
	} {
		m := SparseVector{
			Sensitivity: big.NewInt(1), Monotonic: c.monotonic, Epsilon: mechtest.EpsilonRatio(t, 1, 3),
			Positives: c.positives,
		}
		first, second, err := m.Split()
		a, _ := first.Rat().Float64()
		b, _ := second.Rat().Float64()
		if err != nil || first.Plus(second).Cmp(m.Epsilon) != 0 || math.Abs(b/a-c.ratio) > .001*c.ratio {
			t.Errorf("%+v: %s and %s, %v", c, first, second, err)
		}
	}
}

// TestSparseAccuracy: the bound is α = a + b, and holds.
func TestSparseAccuracy(t *testing.T) {
	// both scales are 1
	m := SparseVector{
		Sensitivity: big.NewInt(1), Monotonic: true, Epsilon: mechtest.EpsilonRatio(t, 2, 1),
		Positives: 1,
	}
	alpha, err := m.Accuracy(10, 0.1)
	// ⌈ln(2/((1 + 1/e)·0.05)) − 1⌉ + ⌈ln(2/((1 + 1/e)·0.005)) − 1⌉
	if err != nil || alpha.Int64() != 3+5 {
		t.Fatalf("%s, %v", alpha, err)
	}
	source, right := entropy.System(), 0
	for range 2000 {
		s, err := m.begin(source)
		if err != nil {
			t.Fatal(err)
		}
		good := true
		for i := range int64(10) {
			a, err := s.ask(source, mechtest.Exacts((i%2)*16 - 8)[0], nil) // far below, and far above
			if err == nil && a.Above != (i%2 == 1) {
				good = false
			}
		}
		if good {
			right++
		}
	}
	if err := (stattest.Proportion{
		Successes: right, Of: stattest.Binomial{Trials: 2000, Probability: .9},
		FalseAlarm: mechtest.FalseAlarm,
	}).CheckAtLeast(); err != nil {
		t.Error(err)
	}
}

// TestSparseExtremes: queries and thresholds that are far out are answered, and so they are at losses that are.
func TestSparseExtremes(t *testing.T) {
	far := new(big.Int).Lsh(big.NewInt(1), 200)
	tiny, err := privacy.EpsilonOf(new(big.Rat).SetFrac(big.NewInt(1),
		new(big.Int).Exp(big.NewInt(10), big.NewInt(30), nil)))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []privacy.Epsilon{tiny, mechtest.EpsilonRatio(t, 1e6, 1)} {
		s, err := SparseVector{Sensitivity: big.NewInt(1), Epsilon: e, Value: e, Gap: true, Positives: 2}.Begin()
		if err != nil {
			t.Fatal(err)
		}
		low, err := s.Ask(mechanism.NewExact(new(big.Int).Neg(far)), far)
		high, err2 := s.Ask(mechanism.NewExact(far), new(big.Int).Neg(far))
		if err := errors.Join(err, err2); err != nil || low.Above || !high.Above || high.Gap.BitLen() < 201 ||
			high.Value.BitLen() < 200 {
			t.Errorf("at %s: %v and %v, %v", e, low, high, err)
		}
	}
}

// TestSparseNoiseIsKnownBefore: the mechanism names the scales of its proof, Δ/ε₁, 2cΔ/ε₂ (or half of it) and
// cΔ/ε₃, and a session draws from no others.
func TestSparseNoiseIsKnownBefore(t *testing.T) {
	for _, monotonic := range []bool{false, true} {
		for _, value := range []privacy.Epsilon{{}, mechtest.EpsilonRatio(t, 1, 3)} {
			m := SparseVector{
				Sensitivity: big.NewInt(5), Monotonic: monotonic, Epsilon: mechtest.EpsilonRatio(t, 1, 2),
				Value: value, Positives: 7,
			}
			first, second, err := m.Split()
			if err != nil {
				t.Fatal(err)
			}
			queries := big.NewRat(2*7*5, 1)
			if monotonic {
				queries.SetInt64(7 * 5)
			}
			threshold, query, told, err := m.Noise()
			if err != nil || threshold.Scale().Cmp(new(big.Rat).Quo(big.NewRat(5, 1), first.Rat())) != 0 ||
				query.Scale().Cmp(queries.Quo(queries, second.Rat())) != 0 {
				t.Fatalf("monotonic %t: scales %s and %s, %v", monotonic, threshold.Scale(), query.Scale(), err)
			}
			if (told == nil) != value.IsZero() || told != nil && told.Scale().Cmp(big.NewRat(7*5*3, 1)) != 0 {
				t.Errorf("the noise of values is %v", told)
			}
			s, err := m.Begin()
			if err != nil {
				t.Fatal(err)
			}
			a, b := s.Noise()
			c, ok := s.ValueNoise()
			if a.Scale().Cmp(threshold.Scale()) != 0 || b.Scale().Cmp(query.Scale()) != 0 || ok != (told != nil) ||
				ok && c.Scale().Cmp(told.Scale()) != 0 {
				t.Errorf("the session draws from other noise: %v, %v, %v", a, b, c)
			}
		}
	}
}

func TestSparseRefusals(t *testing.T) {
	good := SparseVector{Sensitivity: big.NewInt(1), Epsilon: mechtest.EpsilonRatio(t, 1, 1), Positives: 1}
	for name, spoil := range map[string]func(*SparseVector){
		"no sensitivity":           func(m *SparseVector) { m.Sensitivity = nil },
		"a sensitivity of 0":       func(m *SparseVector) { m.Sensitivity = new(big.Int) },
		"a negative one":           func(m *SparseVector) { m.Sensitivity = big.NewInt(-3) },
		"more noise than is drawn": func(m *SparseVector) { m.Sensitivity = new(big.Int).Lsh(big.NewInt(1), 300) },
		"more than that for values": func(m *SparseVector) {
			m.Value, m.Sensitivity = mechtest.EpsilonRatio(t, 1, 1e18), new(big.Int).Lsh(big.NewInt(1), 190)
		},
		"no epsilon":      func(m *SparseVector) { m.Epsilon = privacy.Epsilon{} },
		"no positives":    func(m *SparseVector) { m.Positives = 0 },
		"fewer than none": func(m *SparseVector) { m.Positives = math.MinInt },
		"too many":        func(m *SparseVector) { m.Positives = math.MaxInt },
	} {
		m := good
		spoil(&m)
		if _, err := m.Begin(); !errors.Is(err, mechanism.ErrParameter) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := m.Accuracy(1, .5); !errors.Is(err, mechanism.ErrParameter) {
			t.Errorf("the accuracy of %s: %v", name, err)
		}
		if _, _, _, err := m.Noise(); !errors.Is(err, mechanism.ErrParameter) {
			t.Errorf("the noise of %s: %v", name, err)
		}
	}
	for name, c := range map[string]struct {
		queries int
		beta    float64
	}{"no queries": {0, .5}, "no beta": {1, 0}, "NaN": {1, math.NaN()}, "beta above 1": {1, 3}} {
		if _, err := good.Accuracy(c.queries, c.beta); !errors.Is(err, mechanism.ErrParameter) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := new(SparseSession).Ask(mechanism.Exact{}, nil); !errors.Is(err, ErrEnded) {
		t.Errorf("a session that was not begun: %v", err)
	}
}
