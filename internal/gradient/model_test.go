package gradient

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

func models() []Model {
	return []Model{
		{Kind: Linear, Features: 4},
		{Kind: Logistic, Features: 4},
		{Kind: Poisson, Features: 4},
		{Kind: Softmax, Features: 4, Classes: 3},
		{Kind: Network, Features: 4, Classes: 3, Hidden: 5},
		{Kind: Network, Features: 4, Classes: 1, Hidden: 5, Activation: "tanh"},
		{Kind: Network, Features: 4, Classes: 2, Hidden: 6, Activation: "relu"},
	}
}

// Every gradient is the slope of the loss in each parameter, by central differences, whose error is of the third order; and it is added to what is there.
func TestGradients(t *testing.T) {
	r := rand.New(rand.NewPCG(91, 92))
	for _, m := range models() {
		if err := m.Check(); err != nil {
			t.Fatal(m, err)
		}
		worst := 0.0
		for range 50 {
			theta, x := make([]float64, m.Parameters()), make([]float64, m.Features)
			for i := range theta {
				theta[i] = r.NormFloat64()
			}
			for i := range x {
				x[i] = r.NormFloat64() / 2
			}
			y := float64(r.IntN(3))
			g := make([]float64, len(theta))
			for i := range g {
				g[i] = 7
			}
			m.Add(theta, x, y, g, m.NewScratch())
			for i := range theta {
				const h = 1e-5
				was := theta[i]
				theta[i] = was + h
				up := m.Loss(theta, x, y)
				theta[i] = was - h
				down := m.Loss(theta, x, y)
				theta[i] = was
				worst = max(worst, math.Abs((up-down)/(2*h)-(g[i]-7))/(1+math.Abs(g[i])))
			}
		}
		if worst > 1e-7 {
			t.Errorf("%+v: off by %g", m, worst)
		}
	}
}

// Models that make no sense are refused.
func TestModelsRefused(t *testing.T) {
	for _, m := range []Model{
		{},
		{Kind: "forest", Features: 2},
		{Kind: Linear},
		{Kind: Linear, Features: -1},
		{Kind: Linear, Features: 2, Classes: 2},
		{Kind: Linear, Features: 2, Hidden: 2},
		{Kind: Softmax, Features: 2, Classes: 1},
		{Kind: Softmax, Features: 1 << 19, Classes: 1 << 19},
		{Kind: Network, Features: 2, Classes: 2},
		{Kind: Network, Features: 2, Classes: 2, Hidden: 2, Activation: "step"},
		{Kind: Logistic, Features: 2, Activation: "relu"},
		{Kind: Network, Features: 2, Hidden: 3},
		{Kind: Linear, Features: MaxParameters + 1},
	} {
		if err := m.Check(); !errors.Is(err, ErrModel) {
			t.Errorf("%+v: %v", m, err)
		}
	}
}

// A class is one of the classes, whatever the response.
func TestClass(t *testing.T) {
	for y, want := range map[float64]int{-1: 0, 0: 0, 1: 1, 1.4: 1, 2: 2, 7: 2, math.Inf(1): 2, math.Inf(-1): 0} {
		if got := Class(y, 3); got != want {
			t.Errorf("%g is %d, want %d", y, got, want)
		}
	}
	if Class(math.NaN(), 3) != 0 {
		t.Error("NaN")
	}
}

func BenchmarkLogistic(b *testing.B) {
	m := Model{Kind: Logistic, Features: 10}
	theta, x, g, s := make([]float64, 10), make([]float64, 10), make([]float64, 10), m.NewScratch()
	for i := range x {
		x[i] = float64(i) / 10
	}
	for b.Loop() {
		m.Add(theta, x, 1, g, s)
	}
}
