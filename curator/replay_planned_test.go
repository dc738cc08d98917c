package curator

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math/big"
	mathrand "math/rand/v2"
	"slices"
	"strings"
	"testing"

	"dither/internal/release"
	"dither/mechanism"
	"dither/mechanism/quantile"
	"dither/mechanism/selection"
	"dither/mechanism/stream"
	"dither/privacy"
)

// What the kernel hands a mechanism is what was planned: on the same bytes, the mechanism with the parameters that are typed here,
// and with the exact answers of a table that is small enough to be known, gives what the curator released.

// drawnFrom runs f with bytes of a seed as the system's randomness.
func drawnFrom[T any](seed byte, f func() T) T {
	system := rand.Reader
	rand.Reader = mathrand.NewChaCha8([32]byte{seed, 'p'})
	defer func() { rand.Reader = system }()
	return f()
}

// must is a value that no error comes with.
func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func sealed(values ...int64) (out []mechanism.Exact) {
	for _, v := range values {
		out = append(out, mechanism.NewExact(big.NewInt(v)))
	}
	return out
}

// Measure: the output less the exact answer is the planned noise on zeros.
func TestMeasuredAsPlanned(t *testing.T) {
	half := privacy.PureLoss(someEpsilon(t).Share(1, 2))
	rho := must[privacy.Rho](t)(privacy.ParseRho("0.5"))
	zcdp := privacy.ZCDPLoss(rho, privacy.Delta{})
	type norms struct{ l1, l2squared int64 }
	for _, home := range []struct {
		name  string
		c     *Owner
		price privacy.Loss
		asked map[string][]norms // of each measure
	}{
		{"pure", pureTerms.alone(t), half, map[string][]norms{
			"SELECT COUNT(*) FROM people":                         {{1, 1}},
			"SELECT SUM(change) FROM people":                      {{10, 100}},
			"SELECT region, COUNT(*) FROM people GROUP BY region": {{1, 1}},
			"SELECT SUM(cost) FROM visits":                        {{30, 900}},
			"SELECT day, COUNT(*) FROM visits GROUP BY day":       {{3, 9}},
			"SELECT COUNT(*), SUM(age) FROM people":               {{1, 1}, {115, 115 * 115}},
		}},
		{"change-one", changeTerms.alone(t), half, map[string][]norms{
			"SELECT SUM(change) FROM people":                      {{14, 14 * 14}},
			"SELECT region, COUNT(*) FROM people GROUP BY region": {{2, 2}},
		}},
		{"zCDP", zcdpTerms.alone(t), zcdp, map[string][]norms{
			"SELECT SUM(cost) FROM visits":                  {{30, 900}},
			"SELECT day, COUNT(*) FROM visits GROUP BY day": {{3, 9}},
			"SELECT COUNT(*), SUM(age) FROM people":         {{1, 1}, {115, 115 * 115}},
		}},
		{"capped", cappedTerms.alone(t), zcdp, map[string][]norms{
			"SELECT day, COUNT(*) FROM visits GROUP BY day":      {{4, 4}},
			"SELECT day, SUM(5 - cost) FROM visits GROUP BY day": {{20, 4 * 2 * 25}},
		}},
	} {
		for sql, want := range home.asked {
			t.Run(home.name+"/"+sql, func(t *testing.T) {
				c := home.c
				question := Question{SQL: sql, Fresh: true}
				a := must[*asked](t)(c.ask(question))
				paid := privacy.Loss{}
				for j, m := range a.plan.Measures {
					if m.L1.Int64() != want[j].l1 || m.L2Squared.Int64() != want[j].l2squared {
						t.Errorf("%s: L1 %s, squared L2 %s; want %v", m, m.L1, m.L2Squared, want[j])
					}
					paid = paid.Plus(m.Loss)
				}
				if len(a.plan.Measures) != len(want) || !paid.Within(home.price) || !home.price.Within(paid) {
					t.Errorf("%d measures cost %s; want %s", len(a.plan.Measures), paid, home.price)
				}
				got := drawnFrom(1, func() *Measurements { return must[*Measurements](t)(c.Measure(t.Context(), question)) })
				noises := drawnFrom(1, func() (out [][]*big.Int) {
					for j, m := range a.plan.Measures {
						zeros := make([]mechanism.Exact, len(got.Cells))
						var drawn mechanism.Measurement
						if e, pure := m.Loss.Pure(); pure {
							drawn = must[mechanism.Measurement](t)(mechanism.Laplace{Sensitivity: big.NewInt(want[j].l1), Epsilon: e}.Measure(zeros))
						} else {
							rho, _ := m.Loss.ZCDP()
							drawn = must[mechanism.Measurement](t)(mechanism.Gaussian{L2Squared: big.NewInt(want[j].l2squared), Rho: rho}.Measure(zeros))
						}
						out = append(out, drawn.Values)
					}
					return out
				})
				for j, v := range got.Vectors {
					for i, x := range v.Values {
						exact := new(big.Int).Sub(x, noises[j][i])
						if known := knownOf(sql, j, got.Cells[i]); exact.Cmp(big.NewInt(known)) != 0 {
							t.Errorf("%s of %v: %s less the planned noise %s is %s, want %d", v.Name, got.Cells[i], x, noises[j][i], exact, known)
						}
					}
				}
			})
		}
	}
}

// knownOf is what is known of replayPeople and replayVisits.
func knownOf(sql string, measure int, keys []any) int64 {
	key := ""
	if len(keys) > 0 {
		key, _ = keys[0].(string)
	}
	switch {
	case strings.Contains(sql, "GROUP BY region"):
		return map[string]int64{"north": 3, "south": 2}[key]
	case strings.Contains(sql, "GROUP BY day") && strings.Contains(sql, "5 - cost"):
		return map[string]int64{"mon": 5 - 3, "tue": 5 - 10, "wed": 5 - 4}[key]
	case strings.Contains(sql, "GROUP BY day"):
		return map[string]int64{"mon": 1, "tue": 1, "wed": 1}[key]
	case strings.Contains(sql, "SUM(change)"):
		return 1 + 2 - 3 + 0 + 1
	case measure == 1:
		return 30 + 40 + 115 + 0 + 61
	case strings.Contains(sql, "SUM(cost)"):
		return 3 + 10 + 4
	case strings.Contains(sql, "visits"):
		return 3
	}
	return 5
}

// Select: the same choices, and leads, as of the planned mechanism on the known scores.
func TestSelectedAsPlanned(t *testing.T) {
	half, rho := someEpsilon(t).Share(1, 2), must[privacy.Rho](t)(privacy.ParseRho("0.5"))
	pure, zcdp := pureTerms.alone(t), zcdpTerms.alone(t)
	days, costs := []string{"fri", "mon", "thu", "tue", "wed"}, sealed(0, 3, 0, 10, 4)
	regions, changes := []string{"north", "south", "<nil>"}, sealed(1-3+0, 2+1, 0)
	const byDay, byRegion = "SELECT day, SUM(cost) FROM visits GROUP BY day", "SELECT region, SUM(change) FROM people GROUP BY region"
	top := func(m selection.TopExponential, of []mechanism.Exact) func() ([]int, []*big.Int, error) {
		return func() ([]int, []*big.Int, error) { r, err := m.Select(of); return r.Indices, nil, err }
	}
	flip := func(m selection.PermuteAndFlip, of []mechanism.Exact) func() ([]int, []*big.Int, error) {
		return func() ([]int, []*big.Int, error) { r, err := m.Select(of); return []int{r.Index}, nil, err }
	}
	noisy := func(m selection.NoisyTop, of []mechanism.Exact) func() ([]int, []*big.Int, error) {
		return func() ([]int, []*big.Int, error) { r, err := m.Select(of); return r.Indices, r.Gaps, err }
	}
	eight := rho.Times(3).Pure().Times(2) // √(8Kρ)
	s30, s10 := big.NewInt(30), big.NewInt(10)
	ten := someEpsilon(t).Times(10)
	for i, s := range []struct {
		home   *Owner
		asked  Selection
		names  []string
		direct func() ([]int, []*big.Int, error)
	}{
		{pure, Selection{Request: Request{SQL: byDay}, Mechanism: Exponential, Best: 3}, days, top(selection.TopExponential{K: 3, Sensitivity: s30, Monotonic: true, Epsilon: half}, costs)},
		{pure, Selection{Request: Request{SQL: byRegion, Epsilon: "10"}, Mechanism: Exponential, Best: 2}, regions, top(selection.TopExponential{K: 2, Sensitivity: s10, Epsilon: ten}, changes)},
		{zcdp, Selection{Request: Request{SQL: byDay}, Mechanism: Exponential, Best: 3}, days, top(selection.TopExponential{K: 3, Sensitivity: s30, Monotonic: true, Epsilon: eight}, costs)},
		{pure, Selection{Request: Request{SQL: byDay, Epsilon: "10"}}, days, flip(selection.PermuteAndFlip{Sensitivity: s30, Monotonic: true, Epsilon: ten}, costs)},
		{pure, Selection{Request: Request{SQL: byRegion, Epsilon: "10"}}, regions, flip(selection.PermuteAndFlip{Sensitivity: s10, Epsilon: ten}, changes)},
		{pure, Selection{Request: Request{SQL: byDay}, Mechanism: NoisyMax, Best: 2}, days, noisy(selection.NoisyTop{K: 2, Sensitivity: s30, Monotonic: true, Epsilon: half}, costs)},
		{pure, Selection{Request: Request{SQL: byRegion}, Mechanism: NoisyMax}, regions, noisy(selection.NoisyTop{K: 1, Sensitivity: s10, Epsilon: half}, changes)},
		{zcdp, Selection{Request: Request{SQL: byRegion}, Mechanism: NoisyMax}, regions, noisy(selection.NoisyTop{K: 1, Sensitivity: s10, Epsilon: rho.Pure()}, changes)},
	} {
		s.asked.Fresh = true
		for seed := range byte(5) {
			found := drawnFrom(seed, func() *Selected { return must[*Selected](t)(s.home.Select(t.Context(), s.asked)) })
			var got []string
			for _, b := range found.Best {
				text := fmt.Sprint(b.Group[0])
				if b.Lead != nil {
					text += fmt.Sprintf(" by %g", *b.Lead)
				}
				got = append(got, text)
			}
			want := drawnFrom(seed, func() (want []string) {
				indices, gaps, err := s.direct()
				if err != nil {
					t.Fatal(err)
				}
				for r, i := range indices {
					text := s.names[i]
					if r < len(gaps) {
						lead, _ := gaps[r].Float64()
						text += fmt.Sprintf(" by %g", lead)
					}
					want = append(want, text)
				}
				return want
			})
			if !slices.Equal(got, want) {
				t.Errorf("selection %d, seed %d: chose %v, and the planned mechanism %v", i, seed, got, want)
			}
		}
	}
}

// Above: the same gaps and values.
func TestStreamsAsPlanned(t *testing.T) {
	pure, change := pureTerms.alone(t), changeTerms.alone(t)
	half := someEpsilon(t).Share(1, 2)
	for i, s := range []struct {
		home   *Owner
		opened Threshold
		direct stream.SparseVector
	}{
		{pure, Threshold{Above: 2, Values: true, Most: 30}, stream.SparseVector{Sensitivity: big.NewInt(30), Monotonic: true, Epsilon: half.Share(1, 2), Value: half.Share(1, 2), Positives: 2}},
		{pure, Threshold{Most: 30}, stream.SparseVector{Sensitivity: big.NewInt(30), Monotonic: true, Epsilon: half, Positives: 1}},
		{change, Threshold{Above: 2, Most: 60}, stream.SparseVector{Sensitivity: big.NewInt(60), Epsilon: half, Positives: 2}},
	} {
		s.opened.Table, s.opened.Threshold, s.direct.Gap = "visits", "-100000", true
		type told struct{ gap, value string }
		text := func(n *big.Int) string { return fmt.Sprint(n) }
		got := drawnFrom(byte(i), func() (out []told) {
			stream := must[*Stream](t)(s.home.Above(t.Context(), s.opened))
			for range s.direct.Positives {
				v := must[*Verdict](t)(stream.Ask(t.Context(), "SELECT SUM(cost) FROM visits"))
				x := told{text(v.Gap.Whole), text(nil)}
				if v.Value != nil {
					x.value = text(v.Value.Whole)
				}
				out = append(out, x)
			}
			return out
		})
		want := drawnFrom(byte(i), func() (out []told) {
			release.NewID()
			session := must[*stream.SparseSession](t)(s.direct.Begin())
			for range s.direct.Positives {
				a := must[stream.SparseAnswer](t)(session.Ask(sealed(17)[0], big.NewInt(-100000)))
				out = append(out, told{text(a.Gap), text(a.Value)})
			}
			return out
		})
		if !slices.Equal(got, want) {
			t.Errorf("stream %d: told %v, and the planned mechanism %v", i, got, want)
		}
	}
}

// Rank and Smooth: the same values.
func TestOrdersAsPlanned(t *testing.T) {
	pure, zcdp := pureTerms.alone(t), zcdpTerms.alone(t)
	change := changeTerms.alone(t)
	costs := mechanism.NewOrdered(func(yield func(value, count int64) bool) error {
		for _, x := range []int64{3, 4, 10} {
			if !yield(x, 1) {
				return nil
			}
		}
		return nil
	})
	domain := quantile.Domain{Lower: 0, Upper: 10}
	added, changed := mechanism.Unit{Neighbours: privacy.AddRemove, MaxRows: 3}, mechanism.Unit{Neighbours: privacy.ChangeOne, MaxRows: 3}
	at, texts := []*big.Rat{big.NewRat(1, 4), big.NewRat(3, 4)}, []string{"0.25", "0.75"}
	ten, rho := someEpsilon(t).Times(10), must[privacy.Rho](t)(privacy.ParseRho("50"))
	type releases interface {
		Release(mechanism.Ordered) (quantile.OrderStatistics, error)
	}
	for i, s := range []struct {
		home   *Owner
		name   string // "" is Smooth
		direct releases
	}{
		{pure, EachQuantile, quantile.Independent{Domain: domain, Unit: added, Ranks: at, Epsilon: ten}},
		{change, EachQuantile, quantile.Independent{Domain: domain, Unit: changed, Ranks: at, Epsilon: ten}},
		{pure, RecursiveQuantiles, quantile.Approximate{Domain: domain, Unit: added, Ranks: at, Epsilon: ten}},
		{pure, JointQuantiles, quantile.Joint{Domain: domain, Unit: added, Ranks: at, Bins: 1 << 14, Epsilon: ten}},
		{pure, "", quantile.Smooth{Domain: domain, Unit: added, Epsilon: ten}},
		{change, "", quantile.Smooth{Domain: domain, Unit: changed, Epsilon: ten}},
		{zcdp, "", quantile.Smooth{Domain: domain, Unit: added, Epsilon: rho.Pure()}},
	} {
		q := Request{SQL: "SELECT cost FROM visits", Epsilon: "10", Fresh: true}
		for seed := range byte(5) {
			got := drawnFrom(seed, func() (out []int64) {
				if s.name == "" {
					return []int64{must[*Median](t)(s.home.Smooth(t.Context(), q)).Value.Whole.Int64()}
				}
				for _, v := range must[*Ranked](t)(s.home.Rank(t.Context(), Quantiles{Request: q, At: texts, Mechanism: s.name})).Values {
					out = append(out, v.Whole.Int64())
				}
				return out
			})
			want := drawnFrom(seed, func() []int64 { return must[quantile.OrderStatistics](t)(s.direct.Release(costs)).Values })
			if !slices.Equal(got, want) {
				t.Errorf("order %d, seed %d: %v, and the planned mechanism %v", i, seed, got, want)
			}
		}
	}
}

// A mechanism that is not the planned one does not get out: the price stays spent, the analyst learns nothing of it, and the owner is told.
func TestUnplannedStays(t *testing.T) {
	c := pureTerms.alone(t)
	var owner []error
	c.listener = func(err error) { owner = append(owner, err) }
	a := must[*asked](t)(c.ask(Question{SQL: "SELECT SUM(cost) FROM visits", Fresh: true}))
	good := a.plan.Measures[0].Parameter
	a.plan.Measures[0].Parameter = new(big.Rat).Add(good, big.NewRat(1, 1)) // as if less noise than that had been drawn
	if _, err := c.measured(context.Background(), a); codeOf(err) != CodeFailed || len(owner) != 1 || !errors.Is(owner[0], release.ErrUnplanned) {
		t.Errorf("%v; the owner is told %v", err, owner)
	}
	if b := must[*Budget](t)(c.Budget()); b.Spent.Epsilon != "0.5" || b.Failures != 1 || b.Answers != 0 {
		t.Errorf("%+v", b)
	}
}
