package hypothesis

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"testing"

	"dither/internal/stattest"
	"dither/noise"
)

var ordered = [][]float64{{30, 25, 20, 10}, {20, 25, 25, 15}, {10, 15, 30, 30}}

// Without noise the statistics are those of other software: scipy.stats.kruskal and spearmanr of the same 255 people.
func TestRanksWithoutNoise(t *testing.T) {
	k, err := Table{Counts: ordered}.Kruskal()
	if err != nil {
		t.Fatal(err)
	}
	if want := 25.710099889012195 * 255 / 254; math.Abs(k.Statistic-want) > 1e-9 || k.DF != 2 || k.P > 0.001 {
		t.Errorf("%+v, not %v", k, want)
	}
	r, err := Table{Counts: ordered}.RankCorrelation(0.95)
	if err != nil {
		t.Fatal(err)
	}
	if want := 0.31377493278400953; math.Abs(r.Estimate-want) > 1e-12 || r.P != r.Least {
		t.Errorf("%+v, not %v", r, want)
	}
	if i := r.Interval; i.Low < 0.18 || i.Low > 0.21 || i.High < 0.41 || i.High > 0.44 { // ± 1.96·0.055, roughly
		t.Errorf("interval %v", i)
	}
}

// Sizes, shares of the columns and noises, for tables of several shapes.
var rankShapes = []struct {
	sizes []float64
	tau   []float64
}{
	{[]float64{150, 150}, []float64{.5, .3, .2}},
	{[]float64{400, 60, 40}, []float64{.1, .1, .1, .1, .1, .1, .1, .1, .1, .1}},
	{[]float64{3000, 1000, 500}, []float64{.7, .1, .05, .05, .05, .03, .02}},
}

func rankNoises(t *testing.T) map[string]noise.Distribution {
	return map[string]noise.Distribution{"σ² = 800": published(t), "scale 4": laplaceOf(t, big.NewRat(4, 1)), "none": nil}
}

// At level .05, true hypotheses are rejected in at most 5.5 % of tables. Each comparison has a false alarm in at most a
// millionth of runs.
func TestRanksKeepTheirLevel(t *testing.T) {
	t.Parallel()
	trials := 150
	if long() {
		trials = 2000
	}
	for _, shape := range rankShapes {
		for kind, d := range rankNoises(t) {
			s, l := newStream(77), newLaw(d)
			var kruskal, correlation int
			for range trials {
				table := Table{Noise: d, How: How{Simulations: 199}}
				for _, n := range shape.sizes {
					row := make([]float64, len(shape.tau))
					draw(s, l, row, int64(n), shape.tau)
					table.Counts = append(table.Counts, row)
				}
				table.Seed = s.words.Word()
				k, err := table.Kruskal()
				if err != nil {
					t.Fatal(err)
				}
				if k.P <= .05 {
					kruskal++
				}
				r, err := table.RankCorrelation(.95)
				if err != nil {
					t.Fatal(err)
				}
				if r.P <= .05 {
					correlation++
				}
			}
			for name, got := range map[string]int{"Kruskal–Wallis": kruskal, "rank correlation": correlation} {
				what := fmt.Sprintf("%s of %v, noise %s: %.4f", name, shape.sizes, kind, float64(got)/float64(trials))
				t.Log(what)
				if err := level(got, trials, .055); err != nil {
					t.Errorf("%s: %v", what, err)
				}
			}
		}
	}
}

// Intervals of rank correlations contain the correlation of the population in at least 93.5 % of samples, and the tests
// find a clear one. Each comparison has a false alarm in at most a millionth of runs.
func TestRankCorrelationCovers(t *testing.T) {
	t.Parallel()
	trials := 150
	if long() {
		trials = 2000
	}
	q := make([]float64, 0, 25) // of a bilinear density on a 5 by 5 grid
	for i := range 5 {
		for j := range 5 {
			q = append(q, (1+0.8*(float64(i)-2)*(float64(j)-2)/4)/25)
		}
	}
	truth, _, _ := model{rows: 5, columns: 5}.spearman(q)
	for kind, d := range rankNoises(t) {
		for _, n := range []int64{400, 5000} {
			s, l, x := newStream(5), newLaw(d), make([]float64, 25)
			covered, found, estimable := 0, 0, 0
			for range trials {
				draw(s, l, x, n, q)
				table := Table{Noise: d, How: How{Simulations: 99, Seed: s.words.Word()}}
				for i := range 5 {
					table.Counts = append(table.Counts, x[i*5:i*5+5])
				}
				r, err := table.RankCorrelation(.95)
				if err != nil {
					t.Fatal(err)
				}
				if !math.IsNaN(r.Estimate) {
					estimable++
				}
				if r.Interval.Low <= truth && truth <= r.Interval.High {
					covered++
				}
				if r.P <= .05 {
					found++
				}
			}
			t.Logf("n = %d, noise %s: %d of %d cover %.3f, %d found, %d estimated", n, kind, covered, trials, truth, found, estimable)
			if err := (stattest.Proportion{
				Successes: covered, Of: stattest.Binomial{Trials: trials, Probability: .935}, FalseAlarm: falseAlarm,
			}).CheckAtLeast(); err != nil {
				t.Errorf("n = %d, noise %s: %v", n, kind, err)
			}
			if n == 5000 && found < trials*9/10 {
				t.Errorf("n = %d, noise %s: found in %d of %d", n, kind, found, trials)
			}
		}
	}
}

// What cannot be tested is not rejected, with the reason, and what is no table is refused.
func TestRanksOfDifficultTables(t *testing.T) {
	d := laplaceOf(t, big.NewRat(50, 1))
	for _, c := range []struct {
		table Table
		warns bool
	}{
		{Table{Counts: [][]float64{{0, 0}, {0, 0}}}, true},
		{Table{Counts: [][]float64{{-5, 1}, {2, -9}}, Noise: d}, true},
		{Table{Counts: [][]float64{{500, 0}, {300, 0}}}, true},
		{Table{Counts: [][]float64{{100, 100}, {100, 10}}, Noise: d}, true},
		{Table{Counts: [][]float64{{1e15, 1e15}, {1e15, 1e15}}}, false},
		{Table{Counts: [][]float64{{900, -40, 600}, {700, 30, 800}}, Noise: d}, false},
	} {
		k, err := c.table.Kruskal()
		if err != nil {
			t.Fatal(err)
		}
		r, err := c.table.RankCorrelation(.95)
		if err != nil {
			t.Fatal(err)
		}
		for _, of := range []*Test{k, r} {
			if warned := len(of.Warnings) > 0; of == k && warned != c.warns || math.IsNaN(of.Statistic) || of.P < 0 || of.P > 1 ||
				warned && of.P != 1 {
				t.Errorf("%v: %+v", c.table.Counts, of)
			}
		}
	}
	for _, bad := range []Table{
		{},
		{Counts: [][]float64{{1, 2}}},
		{Counts: [][]float64{{1, 2}, {3}}},
		{Counts: [][]float64{{1, math.NaN()}, {3, 4}}},
		{Counts: ordered, N: 255},
		{Counts: ordered, Sizes: []float64{1, 2, 3}},
		{Counts: ordered, How: How{Method: Naive}},
	} {
		if _, err := bad.Kruskal(); !errors.Is(err, ErrInput) {
			t.Errorf("%+v: %v", bad, err)
		}
		if _, err := bad.RankCorrelation(.95); !errors.Is(err, ErrInput) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	if _, err := (Table{Counts: ordered}).RankCorrelation(1); !errors.Is(err, ErrInput) {
		t.Error(err)
	}
}
