package post

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"dither/internal/stattest"
	"dither/internal/value"
	"dither/noise"
)

// A reach from the table is at most 1.2 % larger than the one that is computed for the same noises. It is smaller by no
// more than the tolerance of both: a two-thousandth of alpha, which moves the quantile of a Laplace noise by less than 3e-4
// of it.
func TestTabulatedReaches(t *testing.T) {
	laplace, err := noise.NewDiscreteLaplace(big.NewRat(20, 1))
	if err != nil {
		t.Fatal(err)
	}
	gaussian, err := noise.NewDiscreteGaussian(big.NewRat(900, 1))
	if err != nil {
		t.Fatal(err)
	}
	noises := []*Noise{{Law: laplace, Unit: 1}, {Law: gaussian, Unit: 0.5}}
	with, without := newLaws(0.05), newLaws(0.05)
	with.table = map[ratioed]float64{}
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var parts []part
		for range 1 + random.IntN(2) {
			p := part{of: noises[random.IntN(2)], coefficient: math.Exp(random.NormFloat64() * 3), times: 1}
			if random.IntN(2) == 0 {
				p.times = math.Ceil(math.Exp(random.Float64() * 10))
			}
			parts = append(parts, p)
		}
		got, want := with.reach(append([]part{}, parts...)), without.reach(append([]part{}, parts...))
		if got < want*(1-3e-4) || got > want*1.012 {
			t.Errorf("%v: %g, and computed %g", parts, got, want)
		}
	}
}

// The intervals of quotients in an answer of 300 groups hold the exact quotients. Each draw tests ten groups whose quotients
// have no number in common, so the tests are independent. A false alarm has a probability of at most 1e-7 for each form,
// and a coverage of 85 % or less is found with a probability of 99 %.
func TestManyQuotients(t *testing.T) {
	law, err := noise.NewDiscreteLaplace(big.NewRat(8, 1))
	if err != nil {
		t.Fatal(err)
	}
	n := &Noise{Law: law, Unit: 1}
	answer := func(draw func() int64) (rows [][]Cell) {
		for i := range int64(300) {
			rows = append(rows, []Cell{
				Exact(value.OfInt(i % 10)), Released(value.OfInt(60+i+draw()), int(2*i), n), Released(value.OfReal(float64(20+i%50+draw())), int(2*i+1), n),
			})
		}
		return rows
	}
	for _, form := range []string{"SELECT n / SUM(n) OVER (PARTITION BY m)", "SELECT s / n"} {
		bound := boundForm(t, form+measuredForm)
		truth := computed(t, bound, answer(func() int64 { return 0 }))
		test := &stattest.Sequential{Promised: 0.95, Wrong: 0.85, FalseAlarm: 1e-7, Miss: 1e-2}
		for draw := 0; draw < 400 && stattest.AnyOpen([]*stattest.Sequential{test}); draw++ {
			got := computed(t, bound, answer(func() int64 { return law.Draw().Int64() }))
			for i := range 10 { // of one group each
				row := 10*(draw%30) + i
				x, in := number(truth.Rows[row][0].Value), got.Rows[row][0].Interval
				test.Observe(in == nil || in.Low <= x && x <= in.High)
			}
		}
		if err := test.Check(); err != nil {
			t.Errorf("%s: %v", form, err)
		}
	}
}
