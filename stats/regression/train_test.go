package regression

import (
	"errors"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

	"dither/curator"
	"dither/stats/internal/statstest"
)

const gradientsBudget = "{epsilon: 40, delta: 1e-4, selection_delta: 8e-5}"

func smallTraining() Gradients {
	q := Gradients{
		Table: "people", Formula: "ill ~ age + x + g", Kind: curator.LogisticModel, Rate: "1/4",
		Multiplier: "4", Steps: 40, Rows: 4000,
	}
	q.Delta = "1e-5"
	return q
}

// A logistic model, a softmax and a network are trained. Each step moves by noise of a known size, so that after 40 of
// them the directions are right; a training that is asked for again is free, and the same.
func TestFitGradients(t *testing.T) {
	c, _ := glmHome(t, gradientsBudget, "3", 4000)
	q := smallTraining()
	e, err := ExplainGradients(t.Context(), c, q)
	if err != nil || e.Begun || !e.Affordable || e.Parameters != 5 || math.Abs(e.StdDev-4.0/1000) > 1e-4 {
		t.Fatalf("%+v, %v", e, err)
	}
	var told []TrainingStep
	f, err := FitGradients(t.Context(), c, q, func(s TrainingStep) { told = append(told, s) })
	if err != nil || f.Replayed || len(told) != 40 || told[39].Step != 40 || f.Price != e.Price {
		t.Fatalf("%+v, %v", f, err)
	}
	// Adam's steps are of .05 at most, 40 of them: a coefficient is moved by 2 at most, and by noise of .004 on
	// gradients of some .1.
	if age, x := *f.Coefficients[1].Estimate,
		*f.Coefficients[2].Estimate; !(age > 0.005 && age < 0.06 && x > 0.3 && x < 2) {
		t.Errorf("age %g, x %g", age, x)
	}
	again, err := FitGradients(t.Context(), c, q, nil)
	if err != nil || !again.Replayed || !slices.Equal(again.Theta, f.Theta) {
		t.Errorf("%+v, %v", again, err)
	}
	if out := f.Outputs([]float64{1, 1, 1, 0, 0}); len(out) != 1 || !(out[0] > 0.5) {
		t.Errorf("%v", out)
	}
	for _, of := range []struct{ kind, formula, optimiser string }{
		{curator.SoftmaxModel, "ill ~ age + x", SGD}, {curator.NetworkModel, "ill ~ age + x", Adam}, {curator.NetworkModel, "visits ~ age + x", SGD}, {curator.NetworkModel, "x ~ age", SGD},
	} {
		q := smallTraining()
		q.Kind, q.Formula, q.Optimiser, q.Learning = of.kind, of.formula, of.optimiser, "0.2"
		f, err := FitGradients(t.Context(), c, q, nil)
		if err != nil {
			t.Fatal(of, err)
		}
		x := make([]float64, len(f.Columns))
		out, sum := f.Outputs(x), 0.0
		for _, p := range out {
			sum += p
		}
		if len(out) != f.Classes || f.Classes > 1 && math.Abs(sum-1) > 1e-12 {
			t.Errorf("%v: %v of %d", of, out, f.Classes)
		}
	}
}

// A training is not asked for again with other steps: what to do is said. Rows of another length are of no model.
func TestFitGradientsOtherwise(t *testing.T) {
	c, _ := glmHome(t, gradientsBudget, "3", 200)
	q := smallTraining()
	f, err := FitGradients(t.Context(), c, q, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range [][]float64{nil, make([]float64, len(f.Columns)-1), make([]float64, len(f.Columns)+1)} {
		if out := f.Outputs(x); out != nil {
			t.Errorf("%d numbers: %v", len(x), out)
		}
	}
	before := statstest.Remaining(t, c)
	q.Learning = "0.3"
	var e *curator.Error
	if _, err := FitGradients(t.Context(), c, q, nil); !errors.As(err, &e) || !errors.Is(err, curator.ErrOtherStep) ||
		!strings.Contains(e.Hint, "--fresh") || statstest.Remaining(t, c).Cmp(before) != 0 {
		t.Error(err)
	}
}

// What makes no sense is refused, free.
func TestFitGradientsRefuses(t *testing.T) {
	c, _ := glmHome(t, gradientsBudget, "3", 100)
	for says, change := range map[string]func(*Gradients){
		"the optimiser must": func(q *Gradients) { q.Optimiser = "newton" },
		"the learning rate":  func(q *Gradients) { q.Learning = "-1" },
		"the clip":           func(q *Gradients) { q.Clip = "0" },
		"1 to 1000000 steps": func(q *Gradients) { q.Steps = -1 },
		"units is missing":   func(q *Gradients) { q.Rows = 0; q.Rate = "" },
		"not declared":       func(q *Gradients) { q.Kind, q.Formula = curator.SoftmaxModel, "x ~ age" },
		"invalid model":      func(q *Gradients) { q.Hidden = 3 },
		"training diverges":  func(q *Gradients) { q.Learning = "10001" },
	} {
		q := smallTraining()
		change(&q)
		if _, err := FitGradients(t.Context(), c, q, nil); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
	if b, err := c.Budget(); err != nil || b.Answers != 0 || b.Spent.Rho != "0" {
		t.Errorf("%+v, %v", b.Spent, err)
	}
}

// A training that is killed goes on where it was, pays once, and comes to what it would have come to.
func TestFitGradientsKilled(t *testing.T) {
	if home := os.Getenv("DITHER_TEST_KILLED"); home != "" {
		c, err := curator.Open(home)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = FitGradients(t.Context(), c.Session(), smallTraining(), func(s TrainingStep) {
			if s.Step == 17 {
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			}
		})
		t.Fatal("it lives")
	}
	c, home := glmHome(t, gradientsBudget, "3", 2000)
	child := exec.Command(os.Args[0], "-test.run=^TestFitGradientsKilled$")
	child.Env = append(os.Environ(), "DITHER_TEST_KILLED="+home)
	if out, err := child.CombinedOutput(); err == nil || strings.Contains(string(out), "it lives") {
		t.Fatalf("%v: %s", err, out)
	}
	e, err := ExplainGradients(t.Context(), c, smallTraining())
	if err != nil || !e.Begun || e.Recorded != 17 {
		t.Fatalf("%+v, %v", e, err)
	}
	before, err := c.Budget()
	if err != nil {
		t.Fatal(err)
	}
	replayed := 0
	f, err := FitGradients(t.Context(), c, smallTraining(), func(s TrainingStep) {
		if s.Replayed {
			replayed++
		}
	})
	if err != nil || replayed != 17 {
		t.Fatalf("%d steps again, %v", replayed, err)
	}
	after, err := c.Budget()
	if err != nil || after.Spent != before.Spent || after.Spent.Rho != f.Price.Rho {
		t.Errorf("%+v, and then %+v: %v", before.Spent, after.Spent, err)
	}
	whole, err := FitGradients(t.Context(), c, smallTraining(), nil)
	if err != nil || !slices.Equal(whole.Theta, f.Theta) {
		t.Error("another model, when it is given again", err)
	}
}
