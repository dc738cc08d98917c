package mechanism

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"dither/internal/entropy"
	"dither/internal/stattest"
	"dither/privacy"
)

// falseAlarm is the rate of each statistical check on fresh randomness.
const falseAlarm = 1e-6

func exacts(values ...int64) []Exact {
	out := make([]Exact, len(values))
	for i, v := range values {
		out[i] = NewExact(big.NewInt(v))
	}
	return out
}

func eps(t testing.TB, num, den int64) privacy.Epsilon {
	t.Helper()
	e, err := privacy.EpsilonOf(big.NewRat(num, den))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// chooser is a mechanism that chooses one of a list.
type chooser interface {
	Select(scores []Exact) (Selection, error)
}

// law is the distribution of a choice, for c = 1 and real scores.
type law func(scores []float64) []float64

// exponentialLaw is exp(u), normalised.
func exponentialLaw(u []float64) []float64 {
	top := slices.Max(u)
	out, total := make([]float64, len(u)), 0.0
	for i := range u {
		out[i] = math.Exp(u[i] - top)
		total += out[i]
	}
	for i := range out {
		out[i] /= total
	}
	return out
}

// flipLaw is that of permute-and-flip by its definition: over all orders, the first heads.
func flipLaw(u []float64) []float64 {
	top := slices.Max(u)
	out := make([]float64, len(u))
	var visit func(left []int, p float64)
	visit = func(left []int, p float64) {
		for k, i := range left {
			heads, next := math.Exp(u[i]-top), p/float64(len(left))
			out[i] += next * heads
			if heads < 1 {
				visit(slices.Delete(slices.Clone(left), k, k+1), next*(1-heads))
			}
		}
	}
	all := make([]int, len(u))
	for i := range all {
		all[i] = i
	}
	visit(all, 1)
	return out
}

func times(c float64, scores []int64) []float64 {
	out := make([]float64, len(scores))
	for i, s := range scores {
		out[i] = c * float64(s)
	}
	return out
}

// TestSelectionLaws: what is chosen has the law of the definition.
func TestSelectionLaws(t *testing.T) {
	for name, c := range map[string]struct {
		m    chooser
		law  law
		rate float64
	}{
		"exponential":                 {Exponential{big.NewInt(2), false, eps(t, 3, 2)}, exponentialLaw, 1.5 / 4},
		"exponential, monotonic":      {Exponential{big.NewInt(2), true, eps(t, 3, 2)}, exponentialLaw, 1.5 / 2},
		"permute-and-flip":            {PermuteAndFlip{big.NewInt(2), false, eps(t, 3, 2)}, flipLaw, 1.5 / 4},
		"permute-and-flip, monotonic": {PermuteAndFlip{big.NewInt(2), true, eps(t, 3, 2)}, flipLaw, 1.5 / 2},
	} {
		for _, scores := range [][]int64{{0, 0, 0}, {1, 3, 2, 2}, {-1 << 62, 1 << 62, 1<<62 - 1}, {5}, {0, -1, -4, -2, -1}} {
			observed := make([]int, len(scores)+1) // one cell more, for lists of one
			for range 2000 {
				s, err := c.m.Select(exacts(scores...))
				if err != nil {
					t.Fatal(err)
				}
				observed[s.Index]++
			}
			top := slices.Max(scores)
			relative := make([]int64, len(scores))
			for i, s := range scores {
				relative[i] = max(s-top, -1<<40) // where s − top overflows, the chance is 0 either way
				if s < 0 && top > 0 {
					relative[i] = -1 << 40
				}
			}
			expected := append(c.law(times(c.rate, relative)), 0)
			if len(scores) == 1 {
				if observed[0] != 2000 {
					t.Errorf("%s of one: %v", name, observed)
				}
				continue
			}
			if err := (stattest.ChiSquared{Observed: observed, Expected: expected, FalseAlarm: falseAlarm}).Check(); err != nil {
				t.Errorf("%s of %v: %v", name, scores, err)
			}
		}
	}
}

// neighbours calls with all pairs of score lists of so many candidates in 0…2 that differ by at most 1 in each score; one
// way only, if monotonic.
func neighbours(n int, monotonic bool, visit func(u, v []int64)) {
	u, v := make([]int64, n), make([]int64, n)
	var step func(i int)
	step = func(i int) {
		if i == n {
			visit(u, v)
			return
		}
		for u[i] = 0; u[i] <= 2; u[i]++ {
			for v[i] = u[i] - 1; v[i] <= u[i]+1; v[i]++ {
				if !monotonic || v[i] >= u[i] {
					step(i + 1)
				}
			}
		}
	}
	step(0)
}

// TestSelectionRatios: over all neighbouring lists of a small domain the two laws keep within exp(ε), and reach it nearly
// somewhere for permute-and-flip; and the exponential mechanism's log-ratios within an interval of length ε.
func TestSelectionRatios(t *testing.T) {
	for _, monotonic := range []bool{false, true} {
		for name, law := range map[string]law{"exponential": exponentialLaw, "permute-and-flip": flipLaw} {
			const epsilon = 1.2
			c := epsilon / 2
			if monotonic {
				c = epsilon
			}
			worst, widest := 0.0, 0.0
			neighbours(3, monotonic, func(u, v []int64) {
				p, q := law(times(c, u)), law(times(c, v))
				low, high := math.Inf(1), math.Inf(-1)
				for i := range p {
					r := math.Log(p[i] / q[i])
					low, high = min(low, r), max(high, r)
				}
				worst, widest = max(worst, high, -low), max(widest, high-low)
			})
			if worst > epsilon+1e-9 {
				t.Errorf("%s, monotonic %t: a log-ratio of %g", name, monotonic, worst)
			}
			if name == "exponential" && widest > epsilon+1e-9 {
				t.Errorf("%s, monotonic %t: log-ratios over a range of %g", name, monotonic, widest)
			}
			t.Logf("%s, monotonic %t: largest log-ratio %.4f, widest range %.4f, ε = %g", name, monotonic, worst, widest, epsilon)
		}
	}
}

// TestFlipIsNeverWorse: for all lists of four scores in 0…4 and three rates, the expected error of permute-and-flip is at
// most the exponential mechanism's, and so is the chance of each shortfall.
func TestFlipIsNeverWorse(t *testing.T) {
	for _, c := range []float64{0.1, 0.5, 2} {
		for code := range 625 {
			scores := []int64{int64(code % 5), int64(code / 5 % 5), int64(code / 25 % 5), int64(code / 125)}
			em, pf := exponentialLaw(times(c, scores)), flipLaw(times(c, scores))
			top := slices.Max(scores)
			expected := 0.0
			for fall := int64(1); fall <= 4; fall++ {
				tail := 0.0
				for i, s := range scores {
					if top-s >= fall {
						tail += pf[i] - em[i]
					}
				}
				if tail > 1e-12 {
					t.Errorf("%v at %g: a shortfall of %d or more is likelier by %g", scores, c, fall, tail)
				}
				expected += tail
			}
			if expected > 1e-12 {
				t.Errorf("%v at %g: the expected error is greater by %g", scores, c, expected)
			}
		}
	}
}

// flipFormula is the law of permute-and-flip by the integral in its doc comment, exactly summed as a polynomial's.
func flipFormula(u []float64) []float64 {
	top, out := slices.Max(u), make([]float64, len(u))
	for i := range u {
		polynomial := []float64{1}
		for j := range u {
			if j == i {
				continue
			}
			p := math.Exp(u[j] - top)
			polynomial = append(polynomial, 0)
			for k := len(polynomial) - 1; k > 0; k-- {
				polynomial[k] -= p * polynomial[k-1]
			}
		}
		for k, a := range polynomial {
			out[i] += a / float64(k+1)
		}
		out[i] *= math.Exp(u[i] - top)
	}
	return out
}

func TestFlipFormula(t *testing.T) {
	for _, u := range [][]float64{{0}, {0, 0}, {1, .5, -2}, {3, 3, 1, -1, 0}} {
		a, b := flipLaw(u), flipFormula(u)
		for i := range u {
			if math.Abs(a[i]-b[i]) > 1e-12 {
				t.Errorf("%v: %v by orders, %v by the integral", u, a, b)
			}
		}
	}
}

// TestTopExponential: the order of three of four has the law of drawing one after another.
func TestTopExponential(t *testing.T) {
	scores := []int64{0, 1, 3, -1}
	m := TopExponential{K: 3, Sensitivity: big.NewInt(1), Epsilon: eps(t, 3, 1)}
	p := exponentialLaw(times(.5, scores)) // ε/K is 1
	var names []string
	var expected []float64
	var draw func(order []int, chance, rest float64)
	draw = func(order []int, chance, rest float64) {
		if len(order) == 3 {
			names, expected = append(names, fmt.Sprint(order)), append(expected, chance)
			return
		}
		for i := range scores {
			if !slices.Contains(order, i) {
				draw(append(slices.Clone(order), i), chance*p[i]/rest, rest-p[i])
			}
		}
	}
	draw(nil, 1, 1)
	observed := make([]int, len(names))
	for range 10_000 {
		r, err := m.Select(exacts(scores...))
		if err != nil {
			t.Fatal(err)
		}
		observed[slices.Index(names, fmt.Sprint(r.Indices))]++
	}
	if err := (stattest.ChiSquared{Observed: observed, Expected: expected, FalseAlarm: falseAlarm}).Check(); err != nil {
		t.Error(err)
	}
}

func TestSelectionLosses(t *testing.T) {
	one := Exponential{big.NewInt(1), false, eps(t, 1, 10)}
	s, err := one.Select(exacts(1, 2))
	if pure, ok := s.Loss.Pure(); err != nil || !ok || pure.Cmp(one.Epsilon) != 0 {
		t.Errorf("%v, %v", s.Loss, err)
	}
	rho, _ := one.ZCDP().ZCDP()
	if rho.String() != "0.00125" { // 0.01/8
		t.Errorf("ρ = %s", rho)
	}
	ten := TopExponential{K: 10, Sensitivity: big.NewInt(1), Epsilon: eps(t, 1, 1)}
	rho, _ = ten.ZCDP().ZCDP()
	if rho.String() != "0.0125" { // 10·0.01/8
		t.Errorf("ρ of ten = %s", rho)
	}
	// A hundred choices at 0.1 each cost ρ = 0.125, which at δ = 1e-6 is 2.419.
	d, err := privacy.DeltaOf(big.NewRat(1, 1e6))
	if err != nil {
		t.Fatal(err)
	}
	rho, _ = one.ZCDP().ZCDP()
	at, err := rho.Times(100).EpsilonAt(d)
	if f, _ := at.Rat().Float64(); err != nil || math.Abs(f-2.419) > .0005 {
		t.Errorf("100 choices: ε = %g, %v", f, err)
	}
}

// TestShortfalls: the bounds are the formula's, and hold by the exact law.
func TestShortfalls(t *testing.T) {
	m := Exponential{big.NewInt(3), false, eps(t, 1, 2)}
	got, err := m.Shortfall(big.NewInt(7), 0.05)
	want := 2 * 3 * (math.Log(7) + math.Log(20)) / 0.5
	if err != nil || got < want || got > want*(1+1e-12) {
		t.Errorf("%g, %v; want %g", got, err, want)
	}
	top, err := TopExponential{K: 4, Sensitivity: big.NewInt(3), Epsilon: eps(t, 2, 1)}.Shortfall(big.NewInt(7), 0.05)
	if want := 2 * 3 * (math.Log(7) + math.Log(80)) / 0.5; err != nil || top < want || top > want*(1+1e-12) {
		t.Errorf("of four: %g, %v; want %g", top, err, want)
	}
	flip, err := PermuteAndFlip(m).Shortfall(big.NewInt(7), 0.05)
	if err != nil || flip != got {
		t.Errorf("permute-and-flip: %g, %v", flip, err)
	}
	if none, err := m.Shortfall(big.NewInt(1), 1); err != nil || none != 0 {
		t.Errorf("of one, surely: %g, %v", none, err)
	}
}

func TestSelectionRefusals(t *testing.T) {
	e, d := eps(t, 1, 1), big.NewInt(1)
	some := exacts(0, 1)
	long := new(big.Int).Lsh(d, 5000)
	refused := map[string]error{}
	try := func(name string, err error) { refused[name] = err }
	for name, c := range map[string]struct {
		sensitivity *big.Int
		epsilon     privacy.Epsilon
		scores      []Exact
		k           int
	}{
		"no sensitivity":     {nil, e, some, 1},
		"a sensitivity of 0": {new(big.Int), e, some, 1},
		"a negative one":     {big.NewInt(-1), e, some, 1},
		"an endless one":     {long, e, some, 1},
		"no epsilon":         {d, privacy.Epsilon{}, some, 1},
		"nobody":             {d, e, nil, 1},
		"none of two":        {d, e, some, 0},
		"three of two":       {d, e, some, 3},
		"fewer than none":    {d, e, some, math.MinInt},
		"more than there is": {d, e, some, math.MaxInt},
	} {
		_, err := TopExponential{c.k, c.sensitivity, false, c.epsilon}.Select(c.scores)
		try("peeling: "+name, err)
		_, err = NoisyTop{c.k, c.sensitivity, true, c.epsilon}.Select(c.scores)
		try("noisy top: "+name, err)
		if c.k == 1 {
			_, err = Exponential{c.sensitivity, true, c.epsilon}.Select(c.scores)
			try("exponential: "+name, err)
			_, err = PermuteAndFlip{c.sensitivity, true, c.epsilon}.Select(c.scores)
			try("permute-and-flip: "+name, err)
			_, err = NoisyMax{c.sensitivity, true, c.epsilon}.Select(c.scores)
			try("noisy max: "+name, err)
		}
	}
	_, err := Exponential{d, false, e}.SelectWithin(nil)
	try("no space", err)
	_, err = Exponential{d, false, e}.SelectWithin(slices.Values([]OutputInterval{{NewExact(big.NewInt(5)), NewExact(big.NewInt(5)), NewExact(nil)}}))
	try("an empty space", err)
	for name, beta := range map[string]float64{"0": 0, "negative": -1, "above 1": 1.5, "NaN": math.NaN()} {
		_, err = Exponential{d, false, e}.Shortfall(d, beta)
		try("beta "+name, err)
		_, err = NoisyMax{d, false, e}.Shortfall(2, beta)
		try("noisy beta "+name, err)
	}
	_, err = Exponential{d, false, e}.Shortfall(nil, .5)
	try("a bound over nothing", err)
	_, err = TopExponential{1, d, false, e}.Shortfall(nil, .5)
	try("a bound of several over nothing", err)
	_, err = NoisyMax{d, false, e}.Shortfall(0, .5)
	try("a bound over no draws", err)
	_, err = NoisyMax{d, false, e}.Shortfall(5, math.SmallestNonzeroFloat64)
	try("a bound of no probability", err)
	_, err = NoisyMax{new(big.Int).Lsh(d, 300), false, e}.Select(some)
	try("more noise than is drawn", err)
	for name, err := range refused {
		if !errors.Is(err, ErrParameter) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSelectionExtremes: scores, sensitivities and losses far out are served, and in no time.
func TestSelectionExtremes(t *testing.T) {
	far := new(big.Int).Lsh(big.NewInt(1), 200)
	scores := []Exact{NewExact(far), {}, NewExact(new(big.Int).Neg(far)), NewExact(far), {}, exacts(math.MinInt64)[0]}
	huge := eps(t, 1e6, 1)
	tiny, err := privacy.EpsilonOf(new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Exp(big.NewInt(10), big.NewInt(30), nil)))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []privacy.Epsilon{tiny, huge} {
		for _, d := range []*big.Int{big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 300)} {
			for range 50 {
				a, err := Exponential{d, false, e}.Select(scores)
				b, err2 := PermuteAndFlip{d, false, e}.Select(scores)
				c, err3 := TopExponential{6, d, false, e}.Select(scores)
				if err := errors.Join(err, err2, err3); err != nil {
					t.Fatal(err)
				}
				if d.BitLen() == 1 && (a.Index%3 != 0 || b.Index%3 != 0 || c.Indices[0]%3 != 0 || c.Indices[1]%3 != 0 || c.Indices[5] != 2) {
					t.Errorf("at %s: %v, %v, %v", e, a, b, c)
				}
			}
		}
	}
	top, err := NoisyTop{6, big.NewInt(1), false, tiny}.Select(scores)
	if err != nil || top.Indices[0]%3 != 0 || len(top.Gaps) != 5 {
		t.Errorf("%v, %v", top, err)
	}
	if _, err := (NoisyTop{2, big.NewInt(1), false, huge}).Select(exacts(0, 0, 0)); err != nil {
		t.Error(err)
	}
}

// TestFlipTies: with all scores equal, the first in the random order is taken, and each equally often.
func TestFlipTies(t *testing.T) {
	observed := make([]int, 5)
	m, source := PermuteAndFlip{big.NewInt(1), false, eps(t, 1, 1)}, entropy.System()
	for range 10_000 {
		s, err := m.choose(source, make([]Exact, 5))
		if err != nil {
			t.Fatal(err)
		}
		observed[s.Index]++
	}
	if err := (stattest.ChiSquared{Observed: observed, Expected: []float64{.2, .2, .2, .2, .2}, FalseAlarm: falseAlarm}).Check(); err != nil {
		t.Error(err)
	}
}

func BenchmarkSelect(b *testing.B) {
	scores := make([]Exact, 1000)
	for i := range scores {
		scores[i] = NewExact(big.NewInt(int64(i % 37)))
	}
	for name, m := range map[string]chooser{
		"exponential":      Exponential{big.NewInt(1), false, eps(b, 1, 1)},
		"permute-and-flip": PermuteAndFlip{big.NewInt(1), false, eps(b, 1, 1)},
	} {
		b.Run(name+"/1000", func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				if _, err := m.Select(scores); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
