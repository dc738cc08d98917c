package attack

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"dither/account"
	"dither/audit/interpret"
	"dither/internal/stattest"
	"dither/privacy"
)

// Exact means of ten times as many attributes as people tell most members; with fixed noise more attributes do; a
// budget does not. In theory the score is about normal, with mean d·v/n for a member and the variance d·v²/n for
// both, where v = E p(1−p): so that at 5 % false positives Φ(√(d/n) − 1.645) of the members are found, 0.935 at
// d/n = 10.
func TestMembership(t *testing.T) {
	m := Membership{People: 50, Attributes: 500, Runs: 20, Seed: 1}
	exactly, err := m.Run(Truthful())
	if err != nil {
		t.Fatal(err)
	}
	if got := exactly.TruePositives(0.05); math.Abs(got-0.935) > 0.06 {
		t.Errorf("exact means tell %.3f", got)
	}
	off, err := m.Run(bounded(t, 20))
	if err != nil {
		t.Fatal(err)
	}
	m.Attributes, m.Runs = 8000, 2
	more, err := m.Run(bounded(t, 20))
	if err != nil || more.TruePositives(0.05) < off.TruePositives(0.05)+0.2 {
		t.Errorf("fixed noise: %.3f, with more attributes %.3f (%v)",
			off.TruePositives(0.05), more.TruePositives(0.05), err)
	}
}

// One attribute and two people, where a budget leaks most: of independent pairs the rate stays below the bound. The
// true rate is far below.
func TestMembershipOurs(t *testing.T) {
	for _, m := range []Membership{
		{People: 2, Attributes: 1, Runs: 2000, Seed: 1},
		{People: 50, Attributes: 500, Runs: 10, Seed: 1},
	} {
		traced, err := m.Run(ours(t, "1"))
		if err != nil {
			t.Fatal(err)
		}
		if got, most := traced.TruePositives(0.05),
			interpret.MostFound(account.Approximate{Epsilon: epsilon(t, "1")}, big.NewRat(1, 20)); got > most {
			t.Errorf("%+v: %.3f are found, the promise allows %.3f", m, got, most)
		}
	}
	for _, m := range []Membership{
		{},
		{People: 2, Attributes: 1},
		{People: 1, Attributes: 1, Runs: 1},
		{People: 1 << 20, Attributes: 1 << 20, Runs: 1},
		{People: math.MaxInt, Attributes: 2, Runs: 1},
		{People: 2, Attributes: 1<<20 + 1, Runs: 1},
	} {
		if _, err := m.Run(Truthful()); !errors.Is(err, ErrParameter) {
			t.Errorf("%+v: %v", m, err)
		}
	}
}

// The curve of scores by hand, ties included.
func TestTracingCurve(t *testing.T) {
	tr := Tracing{in: []float64{3, 2, 2, 0}, out: []float64{2, 1}}
	want := []Operating{{0, 0}, {0, 0.25}, {0.5, 0.75}, {1, 0.75}, {1, 1}}
	got := tr.Curve()
	for i := range want {
		if len(got) != len(want) || got[i] != want[i] {
			t.Fatalf("%v, want %v", got, want)
		}
	}
	if tr.TruePositives(0.4) != 0.25 || tr.TruePositives(0.5) != 0.75 || tr.TruePositives(1) != 1 {
		t.Error("the rates are others")
	}
}

func TestNameAndShame(t *testing.T) {
	for _, published := range []*big.Rat{big.NewRat(1, 10_000), big.NewRat(1, 1_000_000)} {
		n := NameAndShame{People: 10_000, Delta: published}
		delta, err := privacy.DeltaOf(published)
		if err != nil {
			t.Fatal(err)
		}
		leaks := interpret.Shamed(delta, 10_000).Upper
		const runs = 1000
		got, err := n.Simulate(runs, 1)
		if err != nil {
			t.Fatal(err)
		}
		if err := (stattest.Proportion{
			Successes: int(got.Mean*runs + 0.5),
			Of:        stattest.Binomial{Trials: runs, Probability: leaks}, FalseAlarm: 1e-7,
		}).Check(); err != nil {
			t.Error(err)
		}
		// Over every event: never more than δ apart, and one of them impossible under the other record.
		outputs, p, err := n.Channel()
		if err != nil || len(outputs) != 3 {
			t.Fatal(outputs, err)
		}
		most, without := new(big.Rat), false
		for event := range 8 {
			var under [2]big.Rat
			for i := range 3 {
				if event>>i&1 == 1 {
					under[0].Add(&under[0], p[0][i])
					under[1].Add(&under[1], p[1][i])
				}
			}
			if d := new(big.Rat).Sub(&under[0], &under[1]); d.Cmp(most) > 0 {
				most = d
			}
			without = without || under[0].Sign() > 0 && under[1].Sign() == 0
		}
		if most.Cmp(published) != 0 || !without {
			t.Errorf("events are up to %v apart; one is impossible: %v", most, without)
		}
	}
	for _, n := range []NameAndShame{
		{},
		{People: 1},
		{Delta: big.NewRat(1, 2)},
		{People: 1, Delta: big.NewRat(-1, 2)},
		{People: 1, Delta: big.NewRat(1, 1)},
	} {
		if _, _, err := n.Channel(); !errors.Is(err, ErrParameter) {
			t.Errorf("%+v: %v", n, err)
		}
		if _, err := n.Simulate(1, 1); !errors.Is(err, ErrParameter) {
			t.Errorf("%+v: %v", n, err)
		}
	}
	if _, err := (NameAndShame{People: 1e9, Delta: new(big.Rat)}).Simulate(1e6, 1); !errors.Is(err, ErrParameter) {
		t.Error(err)
	}
}
