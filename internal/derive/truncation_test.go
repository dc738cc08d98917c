package derive_test

import (
	"math/big"
	"testing"

	"dither/internal/derive"
	"dither/internal/plan"
	"dither/internal/policy"
	"dither/internal/stattest"
	"dither/privacy"
)

// What an estimate of truncation says, of 1,000 draws of its noise for each number of units that are cut. Where none is cut, at most 1 % warn; where as many
// are cut as are visible, at least 95 % do; and in between the intervals hold all the same. The test fails by chance with a probability below 1e-6.
func TestTruncationSaysWhatItFinds(t *testing.T) {
	for name, text := range map[string]string{
		"pure": "budget: {epsilon: 1}\nprice: {default: 0.5}", "zCDP": "budget: {rho: 1, delta: 1e-6}\nprice: {default: {rho: 0.1}}",
	} {
		p, err := policy.Decode([]byte(`
version: 1
population: {name: town}
`+text+`
tables:
  visits:
    source: {csv: v.csv}
    unit: person
    rows_per_unit: 3
    columns: {person: {type: integer}, cost: {type: integer, bounds: [0, 9]}}
`), ".")
		if err != nil {
			t.Fatal(err)
		}
		q, err := plan.Build(p, plan.Request{
			SQL: "SELECT AVG(cost, bounds => (0, 5)) FROM visits", Truncation: plan.Estimate{Share: big.NewRat(1, 20), Rows: 10},
		})
		if err != nil {
			t.Fatal(err)
		}
		_, visible, err := derive.TruncationVisible(q.Truncation)
		if err != nil {
			t.Fatal(err)
		}
		const runs = 1000
		for _, cut := range []int64{0, visible.Int64() / 2, visible.Int64()} {
			warned, units, lost, clamped := 0, 0, 0, 0
			truth := []int64{cut, 4 * cut, 2 * cut}
			for range runs {
				var numbers []*big.Int
				for i, m := range q.Truncation.Measures {
					d, err := derive.NoiseOf(m)
					if err != nil {
						t.Fatal(err)
					}
					numbers = append(numbers, new(big.Int).Add(big.NewInt(truth[i]), d.Draw()))
				}
				found, err := derive.TruncationOf(q.Truncation, numbers, 0.05)
				if err != nil || found.Rows == nil || len(found.Clamped) != 1 {
					t.Fatalf("%+v, %v", found, err)
				}
				covers := func(e derive.Estimate, x int64, n *int) {
					if e.WholeLow.Cmp(big.NewInt(x)) <= 0 && e.WholeHigh.Cmp(big.NewInt(x)) >= 0 {
						*n++
					}
				}
				covers(found.Units, truth[0], &units)
				covers(*found.Rows, truth[1], &lost)
				covers(found.Clamped[0], truth[2], &clamped)
				if found.Cuts {
					warned++
				}
			}
			for _, n := range []int{units, lost, clamped} {
				if (stattest.Binomial{Trials: runs, Probability: 0.95}).AtMost(n) < 1e-7 {
					t.Errorf("%s, %d cut: %d of %d intervals hold", name, cut, n, runs)
				}
			}
			switch {
			case cut == 0 && (stattest.Binomial{Trials: runs, Probability: derive.FalseAlarm}).AtLeast(warned) < 1e-7:
				t.Errorf("%s: %d of %d false alarms", name, warned, runs)
			case cut == visible.Int64() && (stattest.Binomial{Trials: runs, Probability: 1 - derive.Missed}).AtMost(warned) < 1e-7:
				t.Errorf("%s: %d of %d warnings", name, warned, runs)
			}
			t.Logf("%s, %d cut: %d warn; %d, %d and %d intervals hold", name, cut, warned, units, lost, clamped)
		}
	}
}

// The town's figure: at a twentieth of ε = 0.1, the noise has a standard deviation of 283 units.
func TestTruncationNoise(t *testing.T) {
	e, err := privacy.ParseEpsilon("0.005")
	if err != nil {
		t.Fatal(err)
	}
	scale, err := privacy.LaplaceScale(big.NewInt(1), e)
	if err != nil || scale.Cmp(big.NewRat(200, 1)) != 0 {
		t.Fatal(scale, err)
	}
	d, err := plan.Laplace.Distribution(scale)
	if sd := d.StdDev(); err != nil || sd < 282.8 || sd > 282.9 {
		t.Error(sd, err)
	}
}
