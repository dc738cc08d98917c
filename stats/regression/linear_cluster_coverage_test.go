package regression

import (
	"math"
	"os"
	"testing"

	"dither/internal/splitmix"
	"dither/internal/stattest"

	"gonum.org/v1/gonum/mat"
)

// personWorld is a simulation of persons with 1 to most rows, whose residuals have the correlation 0.8 within a person, as
// have their predictors. heavy makes a person's part of the residual that of a person in ten, and larger. uneven gives one
// person in a hundred the most rows, and the others up to three.
type personWorld struct {
	persons, most, p int
	price            float64 // ε of Laplace noise, ρ of Gaussian
	laplace, heavy   bool
	uneven           bool
}

// noise returns the noise of the equations and of the scores, whose bound is c.
func (w personWorld) noise() (law equationNoise, scores func(c float64) scoreSums) {
	p, m := float64(w.p), float64(w.most)
	if w.laplace {
		two := func(scale float64) float64 { return 2 * scale * scale }
		fit, rest := 0.75*w.price, 0.25*w.price
		e := two(m * (p*p + p) / 2 / (0.45 * fit))
		law = equationNoise{diagonal: e, offDiagonal: e, b: two(m * p / (0.45 * fit)), c: two(m / (0.1 * fit)), laplace: true}
		return law, func(c float64) scoreSums {
			return scoreSums{
				sd: math.Sqrt2 * (p + 1) / 2 * c * c / (0.8 * rest), lostError: math.Sqrt2 * 3 * c * c / (0.15 * rest),
				countError: math.Sqrt2 / (0.05 * rest), laplace: true,
			}
		}
	}
	fit, rest := 0.75*w.price, 0.25*w.price
	e := m * m * p * p / (2 * 0.45 * fit)
	law = equationNoise{diagonal: e, offDiagonal: e / 2, b: m * m * p / (2 * 0.45 * fit), c: m * m / (2 * 0.1 * fit)}
	return law, func(c float64) scoreSums {
		return scoreSums{
			sd: c * c / math.Sqrt(2*0.8*rest), lostError: 3 * c * c / math.Sqrt(2*0.15*rest),
			countError: 1 / math.Sqrt(2*0.05*rest),
		}
	}
}

// rows draws the number of rows of a person.
func (w personWorld) rows(words *splitmix.Stream, person int) int {
	switch {
	case !w.uneven:
		return 1 + words.Below(w.most)
	case person%100 == 0:
		return w.most
	}
	return 1 + words.Below(3)
}

// dependentRow is a row of a cluster.
type dependentRow struct {
	z []float64
	v float64
}

// residual returns the residual at clamped coefficients.
func (r dependentRow) residual(gamma []float64) float64 {
	e := r.v
	for j, g := range gamma {
		e -= math.Max(-farCoefficient, math.Min(farCoefficient, g)) * r.z[j]
	}
	return e
}

// dependentRows makes up clusters of rows, and the noisy sums of all rows. The residuals have the correlation 0.8 within a
// cluster, as have the predictors. With heavy, one cluster in ten has a larger part of the residual, and the others have
// none.
func dependentRows(
	words *splitmix.Stream, clusters, p int, heavy bool, law equationNoise, rows func(cluster int) int,
) (made [][]dependentRow, q *normalEquations, gamma []float64) {
	normal := func() float64 { return standardNoise(words, false) }
	q = &normalEquations{a: mat.NewSymDense(p, nil), b: make([]float64, p), noise: law, squares: true, intercept: true}
	gamma = make([]float64, p)
	for i := range gamma {
		gamma[i] = 0.3 * math.Cos(float64(2*i)) / math.Sqrt(float64(p))
	}
	made = make([][]dependentRow, clusters)
	for i := range made {
		shared := make([]float64, p+1)
		for j := range shared {
			shared[j] = math.Sqrt(0.8) * normal()
		}
		if heavy {
			shared[p] *= map[bool]float64{true: 3}[words.Below(10) == 0]
		}
		for range rows(i) {
			z := make([]float64, p)
			v := 0.15 * (shared[p] + math.Sqrt(0.2)*normal())
			for j := range z {
				z[j] = math.Max(-1, math.Min(1, 0.4*(shared[j]+math.Sqrt(0.2)*normal())))
				if j == 0 {
					z[j] = 1
				}
				v += gamma[j] * z[j]
			}
			made[i] = append(made[i], dependentRow{z, v})
			q.c += v * v
			for j, x := range z {
				q.b[j] += x * v
			}
			q.a.SymRankOne(q.a, 1, mat.NewVecDense(p, z))
		}
	}
	draw := func(variance float64) float64 { return math.Sqrt(variance) * standardNoise(words, law.laplace) }
	for i := range p {
		q.b[i] += draw(law.b)
		q.a.SetSym(i, i, q.a.At(i, i)+draw(law.diagonal))
		for j := range i {
			q.a.SetSym(i, j, q.a.At(i, j)+draw(law.offDiagonal))
		}
	}
	q.c += draw(law.c)
	q.rows = q.a.At(0, 0)
	q.noise.rows = law.diagonal
	return made, q, gamma
}

// draw simulates persons, the release of the sums of their rows, and the release of their scores.
func (w personWorld) draw(words *splitmix.Stream, size float64) (q *normalEquations, s *solution, scores scoreSums, gamma []float64) {
	law, errors := w.noise()
	people, q, gamma := dependentRows(words, w.persons, w.p, w.heavy, law, func(i int) int { return w.rows(words, i) })
	q.size = size
	draw := func(variance float64) float64 { return math.Sqrt(variance) * standardNoise(words, w.laplace) }
	s, ok := q.solve(true)
	if !ok {
		return q, nil, scores, gamma
	}
	norm, spreads := math.Sqrt(float64(w.p)), float64(fewScoreSpreads)
	if q.rows > 3*math.Sqrt(law.rows) {
		norm = math.Max(0.05*norm, math.Min(norm, math.Sqrt(mat.Trace(q.a)/q.rows)))
		spreads = spreadsFor(errors(1).sd * guessedSize(float64(w.most)) / q.rows)
	}
	most := float64(leastLost)
	if q.rows > 3*math.Sqrt(law.rows) {
		most = lostFor(errors(1).lostError / leastLost * guessedSize(float64(w.most)) / q.rows * spreads * spreads)
	}
	c := spreads * math.Sqrt(guessedSize(float64(w.most))*math.Max(1e-6, s.spread())) * norm
	scores = errors(c)
	scores.lostError *= most / leastLost
	m := mat.NewSymDense(w.p, nil)
	for _, rows := range people {
		sum := mat.NewVecDense(w.p, nil)
		for _, r := range rows {
			sum.AddScaledVec(sum, r.residual(s.gamma), mat.NewVecDense(w.p, r.z))
		}
		n := mat.Norm(sum, 2)
		scores.lost += math.Min(most*c*c, math.Max(0, n*n-c*c))
		if n > c {
			sum.ScaleVec(c/n, sum)
		}
		m.SymRankOne(m, 1, sum)
		scores.clusters++
	}
	off := 0.5
	if w.laplace {
		off = 1
	}
	for i := range w.p {
		for j := i; j < w.p; j++ {
			v := scores.sd * scores.sd
			if i != j {
				v *= off
			}
			scores.products = append(scores.products, m.At(i, j)+draw(v))
		}
	}
	scores.lost += draw(scores.lostError * scores.lostError)
	scores.clusters += draw(scores.countError * scores.countError)
	return q, s, scores, gamma
}

// TestClusteredCoverage: intervals of persons with several dependent rows hold the true coefficients as often as they say,
// at every size of the noise. Each coefficient's coverage is a binomial count of its own; it fails at a count that has a
// probability below 1e-8 at a coverage of 0.94, so that the 50 of them together raise a false alarm with one below 1e-6.
func TestClusteredCoverage(t *testing.T) {
	runs, most := 60, 200
	if os.Getenv("DITHER_LONG") != "" {
		runs, most = 1000, math.MaxInt
	}
	for _, w := range []personWorld{
		{50, 5, 2, 1e6, false, false, false},
		{50, 5, 2, 10, false, false, false},
		{50, 5, 2, 1, false, false, false},
		{200, 5, 3, 1e6, false, false, false},
		{200, 5, 3, 1, false, false, false},
		{1000, 5, 3, 0.1, false, false, false},
		{1000, 5, 3, 0.5, false, false, false},
		{1000, 5, 3, 2, false, false, false},
		{1000, 5, 3, 0.5, false, true, false},
		{1000, 5, 3, 10, false, true, false},
		{1000, 5, 3, 1e6, false, true, false},
		{1000, 5, 2, 2, true, false, false},
		{1000, 10, 3, 10, true, false, false},
		{5000, 5, 3, 0.5, false, false, false},
		{5000, 5, 3, 2, true, false, false},
		{20000, 5, 3, 0.05, false, false, false},
		{20000, 5, 3, 0.5, false, true, false},
		{20000, 5, 3, 1, true, false, false},
		{500, 200, 2, 1e6, false, false, true},
		{500, 200, 2, 50, false, false, true},
	} {
		if w.persons > most {
			continue
		}
		of := max(min(runs, 200), runs*1000/max(1000, w.persons))
		law, _ := w.noise()
		words, size := splitmix.At(splitmix.Mix(11)), law.norm(plain(w.p), 0)
		covered, plainly, open := make([]int, w.p), make([]int, w.p), 0
		half, ideal := 0.0, 0.0
		for range of {
			q, s, scores, gamma := w.draw(&words, size)
			if s == nil {
				t.Fatal("singular")
			}
			v := newInverter(q, s, s.spread())
			m, ok := scores.meat(w.p, q.rows, float64(w.most))
			if !ok {
				t.Fatal("no meat")
			}
			clustered := *v
			clustered.meat = m
			for k := range gamma {
				weights := make([]float64, len(gamma))
				weights[k] = 1
				f, g := clustered.interval(weights, 0.05), v.interval(weights, 0.05)
				if f.low <= gamma[k] && gamma[k] <= f.high {
					covered[k]++
				}
				if g.low <= gamma[k] && gamma[k] <= g.high {
					plainly[k]++
				}
				if f.weak {
					open++
				} else {
					half += (f.high - f.low) / 2
					ideal += 1.96 * math.Sqrt(f.sampling+f.privacy)
				}
			}
		}
		for k, n := range covered {
			if err := (stattest.Proportion{
				Successes: n, Of: stattest.Binomial{Trials: of, Probability: 0.94},
				FalseAlarm: 1e-8,
			}).CheckAtLeast(); err != nil {
				t.Errorf("%+v: coefficient %d: %v", w, k, err)
			}
		}
		t.Logf("%+v: covered %v, independent %v of %d, open %.3f, half %.2f", w, covered, plainly, of,
			float64(open)/float64(of*w.p), half/ideal)
	}
}
