package aim

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"dither/internal/splitmix"
	"dither/synth/model"
)

func domain(t *testing.T, sizes ...int) *model.Domain {
	t.Helper()
	d, err := model.NewDomain(sizes...)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Candidates are the subsets of the workload, weighted by the attributes that they share with its marginals.
func TestCandidatesAreWeighedByOverlap(t *testing.T) {
	w, err := NewWorkload(domain(t, 2, 3, 4, 5), []Marginal{{[]int{0, 1}, 1}, {[]int{1, 2}, 10}})
	if err != nil {
		t.Fatal(err)
	}
	want := []Marginal{{[]int{0}, 1}, {[]int{1}, 11}, {[]int{2}, 10}, {[]int{0, 1}, 12}, {[]int{1, 2}, 21}}
	got := w.Candidates()
	if !slices.EqualFunc(got, want, func(a, b Marginal) bool {
		return slices.Equal(a.Attributes, b.Attributes) && a.Weight == b.Weight
	}) {
		t.Errorf("the candidates are %v instead of %v", got, want)
	}
	for _, bad := range [][]Marginal{
		nil,
		{{nil, 1}},
		{{[]int{0}, 0}},
		{{[]int{4}, 1}},
		{{[]int{1, 0}, 1}},
		{{[]int{0, 1}, MaxWeight}},
		{{make([]int, MaxWays+1), 1}},
	} {
		if _, err := NewWorkload(domain(t, 2, 3, 4, 5), bad); err == nil {
			t.Errorf("the workload %v has no error", bad)
		}
	}
}

// A candidate is within a limit if the model that has it too is, or if it is measured already.
func TestCandidatesAreWithinTheModelsLimit(t *testing.T) {
	d := domain(t, 10, 10, 10)
	w, err := NewWorkload(d, []Marginal{{[]int{0, 1, 2}, 1}})
	if err != nil {
		t.Fatal(err)
	}
	count := func(measured [][]int, most float64) int {
		got, err := w.Within(measured, most)
		if err != nil {
			t.Fatal(err)
		}
		return len(got)
	}
	one := [][]int{{0}, {1}, {2}}
	for most, want := range map[float64]int{0: 3, 8 * 110: 6, 8 * 999: 6, 8 * 1000: 7} {
		if got := count(one, most); got != want {
			t.Errorf("%v bytes allow %d candidates instead of %d", most, got, want)
		}
	}
	if got := count([][]int{{0, 1}, {1, 2}}, 8*200); got != 5 { // a cycle of three pairs needs 1,000 cells
		t.Errorf("two pairs allow %d candidates", got)
	}
}

// Random rows of one unit move a score by at most the sensitivity, and some move it by exactly as much.
func TestSensitivityOfScores(t *testing.T) {
	r := splitmix.At(1)
	for _, changeOne := range []bool{false, true} {
		for range 300 {
			s := &Score{Weight: 1 + int64(r.Below(9)), Model: make([]int64, 1+r.Below(5)), Penalty: int64(r.Below(50))}
			rows := 1 + r.Below(4)
			counts, other := make([]int64, len(s.Model)), make([]int64, len(s.Model))
			for i := range counts {
				s.Model[i], counts[i] = int64(r.Below(20)), int64(r.Below(20))
			}
			copy(other, counts)
			for range rows {
				other[r.Below(len(other))]++
				if changeOne {
					counts[r.Below(len(counts))]++
				}
			}
			if moved(t, s, counts, other).Cmp(Sensitivity([]*Score{s}, int64(rows), changeOne)) > 0 {
				t.Fatalf("%+v moves too far from %v to %v", s, counts, other)
			}
		}
	}
	s := &Score{Weight: 7, Model: []int64{0, 10}}
	if got := moved(t, s, []int64{5, 3}, []int64{2, 6}); got.Cmp(Sensitivity([]*Score{s}, 3, true)) != 0 {
		t.Errorf("three rows move the score by %v instead of 42", got)
	}
	if got := moved(t, s, []int64{5, 3}, []int64{2, 3}); got.Cmp(Sensitivity([]*Score{s, {Weight: 2}}, 3, false)) != 0 {
		t.Errorf("three rows move the score by %v instead of 21", got)
	}
}

// moved returns how far two tables' scores are apart.
func moved(t *testing.T, s *Score, x, y []int64) *big.Int {
	t.Helper()
	a, err := s.Of(x)
	if err != nil {
		t.Fatal(err)
	}
	b, err := s.Of(y)
	if err != nil {
		t.Fatal(err)
	}
	return a.Sub(a, b).Abs(a)
}

// A score is the published one, w(‖x − x̂‖₁ − √(2/π)·σ·n), in whole numbers, but for cells that are nearly empty.
func TestScoreIsThePublishedOneWhereThereAreRows(t *testing.T) {
	s, err := NewScore(Marginal{[]int{0, 1}, 3}, []float64{10, 10.2, 9.8, 10}, 10)
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Of([]int64{40, 0, 0, 0})
	if want := int64(3 * (60 - 32)); err != nil || got.Int64() != want { // √(2/π)·10·4 = 31.9
		t.Errorf("the score is %v (%v) instead of %d", got, err, want)
	}
	sparse, err := NewScore(Marginal{[]int{0, 1}, 3}, []float64{40, 1, 0, -2}, 10)
	if err != nil || sparse.Penalty != 16 { // √(2/π)·10, 2·1 + 2, 2 and 2
		t.Errorf("the penalty is %+v (%v) instead of 16", sparse, err)
	}
	if _, err := s.Of([]int64{1}); err == nil {
		t.Error("a table of one cell has a score")
	}
	if _, err := NewScore(Marginal{[]int{0}, 3}, []float64{math.NaN()}, 1); err == nil {
		t.Error("NaN is a count")
	}
}

// A relation with an amount that is mostly 0 is worth a measurement. The published score of these 200 cells is
// negative, because it expects the whole noise in each of the 190 that are empty.
func TestSparseRelationsAreWorthAMeasurement(t *testing.T) {
	const deviation = 6
	counts, model := make([]int64, 200), make([]float64, 200)
	for i, amount := range []int{0, 20, 40, 60, 80} { // of 4,000 rows, 80 have each amount above 0
		rows, yes := 80.0, 0.7
		if i == 0 {
			rows, yes = 3680, 0.2
		}
		counts[2*amount], counts[2*amount+1] = int64(rows*(1-yes)), int64(rows*yes)
		model[2*amount], model[2*amount+1] = rows*0.76, rows*0.24
	}
	s, err := NewScore(Marginal{[]int{0, 1}, 1}, model, deviation)
	if err != nil {
		t.Fatal(err)
	}
	score, err := s.Of(counts)
	if err != nil || score.Sign() <= 0 {
		t.Errorf("the score is %v (%v)", score, err)
	}
	s.Penalty = int64(math.Sqrt(2/math.Pi) * deviation * 200)
	if score, err = s.Of(counts); err != nil || score.Sign() >= 0 {
		t.Errorf("the published score is %v (%v)", score, err)
	}
}

// Rounds have exactly the whole price together, whenever the rounds are annealed.
func TestRoundsSpendThePriceExactly(t *testing.T) {
	r := splitmix.At(2)
	for range 100 {
		rho := big.NewRat(1+int64(r.Below(1000)), 1+int64(r.Below(1000)))
		d := 1 + r.Below(20)
		s, err := NewSchedule(rho, d, 1+r.Below(20))
		if err != nil {
			t.Fatal(err)
		}
		first := s.First()
		sum := new(big.Rat).Mul(first.Measure, new(big.Rat).SetInt64(int64(first.Times)))
		if first.Times != d || first.Select.Sign() != 0 || first.Spent.Cmp(new(big.Rat).Quo(sum, rho)) != 0 {
			t.Fatalf("the first round is %+v", first)
		}
		for last := false; ; {
			round, ok := s.Next()
			if ok == last {
				t.Fatalf("after a last round (%v) comes one (%v)", last, ok)
			}
			if !ok {
				break
			}
			last = round.Last
			sum.Add(sum, round.Select)
			sum.Add(sum, round.Measure)
			if round.Spent.Cmp(new(big.Rat).Quo(sum, rho)) != 0 {
				t.Fatalf("the round %+v has spent %v", round, sum)
			}
			if r.Below(5) == 0 {
				s.Annealed([]float64{1}, []float64{1}, 1)
			}
		}
		if sum.Cmp(rho) != 0 {
			t.Fatalf("the rounds spend %v of %v", sum, rho)
		}
	}
	if _, err := NewSchedule(new(big.Rat), 3, Published); err == nil {
		t.Error("a price of 0 has a schedule")
	}
}

// Without annealing, σ = √(T/(1.8ρ)) and ε = √(0.8ρ/T) with T = 16d. Annealing doubles both prices, up to a sixteenth
// of the whole.
func TestPricesAreThePublishedOnes(t *testing.T) {
	s, err := NewSchedule(big.NewRat(1, 2), 14, Published)
	if err != nil {
		t.Fatal(err)
	}
	near := func(got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-12*want {
			t.Errorf("%v instead of %v", got, want)
		}
	}
	sigma, epsilon := math.Sqrt(16*14/(1.8*.5)), math.Sqrt(.8*.5/(16*14))
	near(Deviation(s.First().Measure, 1), sigma)
	round, _ := s.Next()
	choose, _ := round.Select.Float64()
	near(math.Sqrt(8*choose), epsilon)
	near(Deviation(round.Measure, 1), sigma)
	cells := []float64{100, 100, 100, 100}
	moved := append([]float64{100 + 4*sigma}, cells[1:]...)
	if s.Annealed(cells, moved, sigma) || !s.Annealed(cells, cells, sigma) {
		t.Error("a change of four deviations is above the noise, and none is below it")
	}
	round, _ = s.Next()
	choose, _ = round.Select.Float64()
	near(math.Sqrt(8*choose), math.Sqrt2*epsilon)
	near(Deviation(round.Measure, 1), sigma/math.Sqrt2)
	for range 10 {
		if !s.Annealed(cells, cells, sigma) {
			t.Error("no change is not below the noise")
		}
	}
	round, _ = s.Next()
	choose, _ = round.Select.Float64()
	near(choose, .1*.5/16)
	near(Deviation(round.Measure, 1), Deviation(big.NewRat(9, 320), 1))
}
