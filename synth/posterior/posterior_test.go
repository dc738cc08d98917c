package posterior

import (
	"context"
	"math"
	"testing"

	"dither/internal/splitmix"
	"dither/synth/model"
)

// problem has a tree of two cliques of three attributes, with measurements of both and of one attribute.
func problem(t *testing.T, laplace bool) Problem {
	t.Helper()
	d, err := model.NewDomain(2, 3, 2)
	if err != nil {
		t.Fatal(err)
	}
	measured := []model.Measurement{
		{Attributes: []int{0, 1}, Values: []float64{100, 40, 12, 80, 160, 9}, Variance: 25},
		{Attributes: []int{1, 2}, Values: []float64{90, 92, 150, 45, -3, 20}, Variance: 25},
		{Attributes: []int{0}, Values: []float64{150, 255}, Variance: 9},
	}
	m, err := model.Fit(d, measured, model.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return Problem{Model: m, Measured: measured, Laplace: laplace}
}

// The gradient of the density is that of its differences.
func TestGradient(t *testing.T) {
	for _, laplace := range []bool{false, true} {
		p := problem(t, laplace)
		tree, cells, err := newTree([]int{2, 3, 2}, p.Model.Cliques())
		if err != nil {
			t.Fatal(err)
		}
		at := &target{tree: tree, scale: p.Model.Total()}
		if at.evidence, err = newEvidence([]int{2, 3, 2}, tree, p.Measured, laplace); err != nil {
			t.Fatal(err)
		}
		words := splitmix.At(3)
		c := newChain(at, &random{words: &words}, cells+1, func(*clique, int) float64 { return 20 })
		for i := range c.at {
			if c.moves[i] {
				c.at[i] += 0.3 * c.random.normal()
			}
		}
		gradient, other := make([]float64, len(c.at)), make([]float64, len(c.at))
		at.density(c.at, gradient)
		for i := range c.at {
			if !c.moves[i] {
				continue
			}
			const h = 1e-6
			c.at[i] += h
			up := at.density(c.at, other)
			c.at[i] -= 2 * h
			down := at.density(c.at, other)
			c.at[i] += h
			if want := (up - down) / (2 * h); math.Abs(gradient[i]-want) > 1e-4*(1+math.Abs(want)) {
				t.Errorf("laplace %v: the slope of variable %d is %v instead of %v", laplace, i, gradient[i], want)
			}
		}
	}
}

// With one measured attribute of two values, the posterior of a share is known: n·q is about normal around the noisy count,
// and the share of the population is wider by the sampling of people. The tolerances are five standard errors of 500
// draws that are about independent.
func TestOneMarginal(t *testing.T) {
	d, err := model.NewDomain(2)
	if err != nil {
		t.Fatal(err)
	}
	for _, laplace := range []bool{false, true} {
		const n, k, deviation = 10_000.0, 3000.0, 60.0
		measured := []model.Measurement{{Attributes: []int{0}, Values: []float64{n - k, k}, Variance: deviation * deviation}}
		m, err := model.Fit(d, measured, model.Options{})
		if err != nil {
			t.Fatal(err)
		}
		words := splitmix.At(splitmix.Mix(8))
		draws, done, err := Sample(t.Context(), Problem{Model: m, Measured: measured, Laplace: laplace}, 500, &words)
		if err != nil {
			t.Fatal(err)
		}
		mean, square := 0.0, 0.0
		for _, one := range draws {
			p := 1 - one.share[0][0]
			mean += p / 500
			square += p * p / 500
		}
		// of k/n, both counts with noise: ((1−p)²σ² + p²σ²)/n², and p(1−p)/n from sampling
		p := k / n
		want := math.Sqrt((p*p+(1-p)*(1-p))*deviation*deviation/n/n + p*(1-p)/n)
		got := math.Sqrt(square - mean*mean)
		if math.Abs(mean-p) > 5*want/math.Sqrt(500) || math.Abs(got/want-1) > 5/math.Sqrt(1000) {
			t.Errorf("laplace %v: the share is %.4f ± %.5f instead of %.4f ± %.5f (%+v)", laplace, mean, got, p, want, done)
		}
	}
}

// The same words give the same draws, and their rows have the shares of the draw.
func TestRows(t *testing.T) {
	var first [][]int32
	for range 2 {
		words := splitmix.At(1)
		draws, _, err := Sample(t.Context(), problem(t, false), 2, &words)
		if err != nil {
			t.Fatal(err)
		}
		var rows [][]int32
		if err := draws[1].Sample(20_000, model.Rounded, &words, func(columns [][]int32) error {
			for _, c := range columns {
				rows = append(rows, append([]int32{}, c...))
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		ones := 0.0
		for _, v := range rows[0] {
			ones += float64(v)
		}
		if share := ones / 20_000; math.Abs(share-255.0/405) > 0.15 {
			t.Errorf("the share of 1 is %v", share)
		}
		if first == nil {
			first = rows
			continue
		}
		for a := range rows {
			for i := range rows[a] {
				if rows[a][i] != first[a][i] {
					t.Fatal("the draws differ")
				}
			}
		}
	}
}

func TestRefused(t *testing.T) {
	words := splitmix.At(1)
	p := problem(t, false)
	for _, draws := range []int{0, -1, MaxDraws + 1} {
		if _, _, err := Sample(t.Context(), p, draws, &words); err == nil {
			t.Errorf("%d draws are accepted", draws)
		}
	}
	for _, m := range []model.Measurement{
		{Attributes: []int{0, 2}, Values: make([]float64, 4), Variance: 1}, // in no clique
		{Attributes: []int{0}, Values: make([]float64, 3), Variance: 1},
		{Attributes: []int{0}, Values: make([]float64, 2)},
		{Attributes: []int{9}, Values: make([]float64, 2), Variance: 1},
	} {
		bad := p
		bad.Measured = append([]model.Measurement{m}, p.Measured...)
		if _, _, err := Sample(t.Context(), bad, 2, &words); err == nil {
			t.Errorf("%+v is accepted", m)
		}
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := Sample(done, p, 2, &words); err == nil {
		t.Error("a cancelled context draws")
	}
}
