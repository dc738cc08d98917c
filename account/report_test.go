package account_test

import (
	"testing"

	"dither/account"
)

func job(t testing.TB, specs ...string) *account.Job {
	t.Helper()
	var steps []account.Step
	for _, s := range specs {
		step, err := account.ParseStep(s)
		if err != nil {
			t.Fatal(s, err)
		}
		steps = append(steps, step)
	}
	j, err := account.NewJob(steps...)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func TestTry(t *testing.T) {
	for _, s := range [][]string{
		{"pure epsilon=.1 count=100"},
		{"exponential epsilon=0.1 count=100"},
		{"gaussian sigma=1"},
		{"approx epsilon=.1 delta=1e-9 count=100"},
		{"laplace scale=10 count=100 sampling=1/100"},
		{"pure epsilon=1e-30 count=100"},
		{"approx epsilon=0 delta=1e-9 count=100"},
		{"pure epsilon=1000 count=1000000000000"},
	} {
		r, err := job(t, s...).Epsilon(promise(t, "0", "1e-6").Delta)
		t.Logf("%v: %+v %v", s, r, err)
		r, err = job(t, s...).Delta(promise(t, "10", "1e-6").Epsilon)
		t.Logf("%v: %+v %v", s, r, err)
	}
}
