package selection

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"dither/internal/stattest"
	"dither/mechanism"
	"dither/mechanism/internal/mechtest"
	"dither/privacy"
)

// chooser is a mechanism that chooses one of a list.
type chooser interface {
	Select(scores []mechanism.Exact) (Choice, error)
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
		"exponential": {
			Exponential{big.NewInt(2), false, mechtest.EpsilonRatio(t, 3, 2)},
			exponentialLaw, 1.5 / 4,
		},
		"exponential, monotonic": {
			Exponential{big.NewInt(2), true, mechtest.EpsilonRatio(t, 3, 2)},
			exponentialLaw, 1.5 / 2,
		},
		"permute-and-flip": {
			PermuteAndFlip{big.NewInt(2), false, mechtest.EpsilonRatio(t, 3, 2)},
			flipLaw, 1.5 / 4,
		},
		"permute-and-flip, monotonic": {
			PermuteAndFlip{big.NewInt(2), true, mechtest.EpsilonRatio(t, 3, 2)},
			flipLaw, 1.5 / 2,
		},
	} {
		for _, scores := range [][]int64{
			{0, 0, 0},
			{1, 3, 2, 2},
			{-1 << 62, 1 << 62, 1<<62 - 1},
			{5},
			{0, -1, -4, -2, -1},
		} {
			observed := make([]int, len(scores)+1) // one cell more, for lists of one
			for range 2000 {
				s, err := c.m.Select(mechtest.Exacts(scores...))
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
			if err := (stattest.ChiSquared{
				Observed: observed, Expected: expected,
				FalseAlarm: mechtest.FalseAlarm,
			}).Check(); err != nil {
				t.Errorf("%s of %v: %v", name, scores, err)
			}
		}
	}
}

// neighbours calls with all pairs of score lists of so many candidates in 0…2 that differ by at most 1 in each score;
// one way only, if monotonic.
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

// TestSelectionRatios: over all neighbouring lists of a small domain the two laws keep within exp(ε), and reach it
// nearly somewhere for permute-and-flip; and the exponential mechanism's log-ratios within an interval of length ε.
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
			t.Logf("%s, monotonic %t: largest log-ratio %.4f, widest range %.4f, ε = %g", name, monotonic, worst,
				widest, epsilon)
		}
	}
}

func TestSelectionLosses(t *testing.T) {
	one := Exponential{big.NewInt(1), false, mechtest.EpsilonRatio(t, 1, 10)}
	s, err := one.Select(mechtest.Exacts(1, 2))
	if pure, ok := s.Loss.Pure(); err != nil || !ok || pure.Cmp(one.Epsilon) != 0 {
		t.Errorf("%v, %v", s.Loss, err)
	}
	rho, _ := one.ZCDP().ZCDP()
	if rho.String() != "0.00125" { // 0.01/8
		t.Errorf("ρ = %s", rho)
	}
	ten := TopExponential{K: 10, Sensitivity: big.NewInt(1), Epsilon: mechtest.EpsilonRatio(t, 1, 1)}
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
	m := Exponential{big.NewInt(3), false, mechtest.EpsilonRatio(t, 1, 2)}
	got, err := m.Shortfall(big.NewInt(7), 0.05)
	want := 2 * 3 * (math.Log(7) + math.Log(20)) / 0.5
	if err != nil || got < want || got > want*(1+1e-12) {
		t.Errorf("%g, %v; want %g", got, err, want)
	}
	top, err := TopExponential{
		K: 4, Sensitivity: big.NewInt(3),
		Epsilon: mechtest.EpsilonRatio(t, 2, 1),
	}.Shortfall(big.NewInt(7), 0.05)
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

func BenchmarkSelect(b *testing.B) {
	scores := make([]mechanism.Exact, 1000)
	for i := range scores {
		scores[i] = mechanism.NewExact(big.NewInt(int64(i % 37)))
	}
	for name, m := range map[string]chooser{
		"exponential":      Exponential{big.NewInt(1), false, mechtest.EpsilonRatio(b, 1, 1)},
		"permute-and-flip": PermuteAndFlip{big.NewInt(1), false, mechtest.EpsilonRatio(b, 1, 1)},
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
