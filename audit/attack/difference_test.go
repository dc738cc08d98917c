package attack

import (
	"errors"
	"testing"

	"dither/account"
	"dither/audit/interpret"
	"dither/internal/stattest"
)

// Exact answers tell the bit; the means of many answers with fixed noise do; a budget does not, and keeps its bound.
func TestDifferencing(t *testing.T) {
	for _, c := range []struct {
		name    string
		curator Curator
		pairs   int
		want    float64 // at least
	}{{"exact", Truthful(), 1, 1}, {"fixed", bounded(t, 4), 1000, 1}} {
		got, err := Differencing{Pairs: c.pairs, Runs: 200, Seed: 1}.Run(c.curator)
		if err != nil || got.Mean < c.want {
			t.Errorf("%s: %v (%v)", c.name, got, err)
		}
	}
	one, err := Differencing{Pairs: 1, Runs: 4000, Seed: 1}.Run(bounded(t, 8))
	if err != nil {
		t.Fatal(err)
	}
	// The difference of two such noises has a triangular density on ±16: the bit is told right with probability 1/2 +
	// 0.5/16 − 0.5²/(2·16²).
	if err := (stattest.Proportion{
		Successes:  int(one.Mean*4000 + 0.5),
		Of:         stattest.Binomial{Trials: 4000, Probability: 0.5 + 0.5/16 - 0.25/512},
		FalseAlarm: 1e-7,
	}).Check(); err != nil {
		t.Error(err)
	}
}

// Of a budget ε over both questions the noises have the scale 2/ε: the probability of a right guess is computed here
// from their masses. With many pairs a coin is left.
func TestDifferencingOurs(t *testing.T) {
	const runs = 8000
	got, err := Differencing{Pairs: 1, Runs: runs, Seed: 1}.Run(ours(t, "1"))
	if err != nil {
		t.Fatal(err)
	}
	// One noise has P(k) = (1−r)/(1+r)·r^|k| with r = e^(−1/2), so P(difference = 0) = ΣP(k)² =
	// ((1−r)/(1+r))²·(1+r²)/(1−r²) = 0.12980…. Both bits are guessed right with probability P(difference ≥ 0)
	// = (1 + P(difference = 0))/2.
	const want = 0.56490
	if err := (stattest.Proportion{
		Successes: int(got.Mean*runs + 0.5),
		Of:        stattest.Binomial{Trials: runs, Probability: want}, FalseAlarm: 1e-7,
	}).Check(); err != nil {
		t.Error(err)
	}
	if got.Mean > interpret.MostGuessed(account.Approximate{Epsilon: epsilon(t, "1")}) {
		t.Errorf("%v is above the bound", got)
	}
	got, err = Differencing{Pairs: 40, Runs: 2000, Seed: 1}.Run(ours(t, "1"))
	if err != nil || got.Mean > 0.62 {
		t.Errorf("40 pairs: %v (%v)", got, err)
	}
	for _, d := range []Differencing{
		{},
		{Pairs: 1},
		{Runs: 1},
		{Pairs: MostQuestions + 1, Runs: 1},
		{Pairs: 1, Runs: MostRuns + 1},
		{Pairs: MostQuestions, Runs: MostRuns},
	} {
		if _, err := d.Run(Truthful()); !errors.Is(err, ErrParameter) {
			t.Errorf("%+v: %v", d, err)
		}
	}
}
