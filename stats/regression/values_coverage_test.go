package regression

import (
	"fmt"
	"math"
	"os"
	"testing"

	"dither/internal/glm"
	"dither/internal/splitmix"
	"dither/internal/stattest"

	"gonum.org/v1/gonum/mat"
)

// sizes are the numbers of rows of clusters that are values of a column.
type sizes string

const (
	equalSizes  sizes = "equal clusters"
	unevenSizes sizes = "the k-th cluster in proportion to 1/k"
	halfSizes   sizes = "one cluster has half of the rows"
)

// of returns the number of rows of a cluster, of about as many in all.
func (s sizes) of(cluster, clusters, all int) int {
	share := 1 / float64(clusters)
	switch s {
	case unevenSizes:
		total := 0.0
		for k := range clusters {
			total += 1 / float64(k+1)
		}
		share = 1 / float64(cluster+1) / total
	case halfSizes:
		if share = 0.5; cluster > 0 {
			share /= float64(clusters - 1)
		}
	}
	return max(1, int(math.Round(share*float64(all))))
}

// valueWorld is a simulation of rows in clusters that are values of a column, each row a unit.
type valueWorld struct {
	clusters, rows, p int
	price             float64 // ε of Laplace noise, ρ of Gaussian
	laplace           bool
	sizes             sizes
}

// scoredValues simulates the release of the scores of the rows of each value, for rows in all. size is the guessed size of
// the score of a row.
func scoredValues(words *splitmix.Stream, each [][]*mat.VecDense, rows, size, price float64, laplace bool) valueSums {
	p := 0
	for _, cluster := range each {
		if len(cluster) > 0 {
			p = cluster[0].Len()
		}
	}
	sd := func(l1, l2, share float64) float64 {
		if laplace {
			return math.Sqrt2 * l1 / (share * price)
		}
		return l2 / math.Sqrt(2*share*price)
	}
	noise := sd(math.Sqrt(float64(p)), 1, 0.9)
	c := size * spreadsFor(noise*noise*float64(len(each))/rows)
	out := valueSums{rowsError: sd(1, 1, 0.1)}
	for _, cluster := range each {
		sum := mat.NewVecDense(p, nil)
		for _, score := range cluster {
			sum.AddScaledVec(sum, math.Min(1, c/mat.Norm(score, 2)), score)
		}
		for i := range p {
			sum.SetVec(i, sum.AtVec(i)+noise*c*standardNoise(words, laplace))
		}
		out.scores = append(out.scores, sum.RawVector().Data)
		out.rows = append(out.rows, float64(len(cluster))+out.rowsError*standardNoise(words, laplace))
	}
	return out
}

// TestValueClustersAtSizes: intervals of linear models whose clusters are the values of a column hold the true
// coefficients as often as they say, if the clusters are equal and if they are very uneven.
func TestValueClustersAtSizes(t *testing.T) {
	for _, w := range []valueWorld{
		{10, 50, 2, 1e6, false, equalSizes},
		{10, 50, 2, 1e6, false, unevenSizes},
		{10, 50, 2, 20, true, unevenSizes},
		{30, 1000, 2, 1e6, false, equalSizes},
		{30, 1000, 2, 1e6, false, unevenSizes},
		{30, 1000, 2, 1e6, false, halfSizes},
		{30, 1000, 3, 10, true, unevenSizes},
		{30, 1000, 3, 1, true, equalSizes},
		{30, 1000, 3, 0.5, false, unevenSizes},
		{30, 20_000, 2, 1e6, false, unevenSizes},
		{30, 20_000, 2, 1, true, equalSizes},
		{30, 20_000, 2, 1, true, unevenSizes},
		{30, 20_000, 2, 1, true, halfSizes},
		{100, 20_000, 3, 0.5, false, unevenSizes},
	} {
		if w.rows > 1000 && os.Getenv("DITHER_LONG") == "" {
			continue
		}
		var clustered, plainly stattest.Study
		law, _ := personWorld{most: 1, p: w.p, price: w.price, laplace: w.laplace}.noise()
		words, size := splitmix.At(splitmix.Mix(23)), law.norm(plain(w.p), 0)
		half, ideal := 0.0, 0.0
		for range stattest.Simulations(50, max(200, 1000*min(1, 2000/w.rows))) {
			made, q, gamma := dependentRows(&words, w.clusters, w.p, false, law, func(i int) int {
				return w.sizes.of(i, w.clusters, w.rows)
			})
			q.size = size
			s, ok := q.solve(true)
			if !ok {
				t.Fatal("singular")
			}
			each := make([][]*mat.VecDense, len(made))
			for i, rows := range made {
				for _, r := range rows {
					v := mat.NewVecDense(w.p, nil)
					v.ScaleVec(r.residual(s.gamma), mat.NewVecDense(w.p, r.z))
					each[i] = append(each[i], v)
				}
			}
			norm, rows := math.Sqrt(float64(w.p)), math.Max(1, q.rows)
			if q.rows > 3*math.Sqrt(law.rows) {
				norm = math.Max(0.05*norm, math.Min(norm, math.Sqrt(mat.Trace(q.a)/q.rows)))
			}
			sums := scoredValues(&words, each, rows, norm*math.Sqrt(math.Max(1e-6, s.spread())), w.price/4, w.laplace)
			m, ok := sums.meat(w.p, q.rows)
			if !ok {
				t.Fatal("no meat")
			}
			v := newInverter(q, s, s.spread())
			alone := *v
			v.meat = m
			for k, truth := range gamma {
				weights := make([]float64, w.p)
				weights[k] = 1
				f, g := v.interval(weights, 0.05), alone.interval(weights, 0.05)
				clustered.Covers("clustered", fmt.Sprint(k)).Interval(f.low, truth, f.high)
				plainly.Covers("independent", fmt.Sprint(k)).Interval(g.low, truth, g.high)
				if !f.weak {
					half += (f.high - f.low) / 2
					ideal += 1.96 * math.Sqrt(f.sampling+f.privacy)
				}
			}
		}
		what := fmt.Sprintf("%+v, half %.2f", w, half/ideal)
		clustered.Check(t, what)
		t.Logf("%s: as if independent, %s", what, plainly.Covers("independent", "1"))
	}
}

// TestValueClustersOfModelsAtSizes does the same for logistic and Poisson models.
func TestValueClustersOfModelsAtSizes(t *testing.T) {
	for _, w := range []struct {
		eventWorld
		rows  int
		sizes sizes
	}{
		{eventWorld{glm.Logistic, 10, 1, 2, 1e6, MethodNewton, true, shared}, 50, equalSizes},
		{eventWorld{glm.Logistic, 15, 1, 2, 1e6, MethodNewton, true, shared}, 200, unevenSizes},
		{eventWorld{glm.Logistic, 30, 1, 2, 1e6, MethodNewton, true, shared}, 1000, equalSizes},
		{eventWorld{glm.Logistic, 30, 1, 2, 1e6, MethodNewton, true, shared}, 1000, unevenSizes},
		{eventWorld{glm.Logistic, 30, 1, 3, 10, MethodObjective, false, shared}, 1000, unevenSizes},
		{eventWorld{glm.Logistic, 30, 1, 3, 2, MethodNewton, true, varying}, 1000, unevenSizes},
		{eventWorld{glm.Poisson, 30, 1, 2, 1e6, MethodMinimize, true, shared}, 1000, unevenSizes},
		{eventWorld{glm.Logistic, 30, 1, 2, 1, MethodObjective, false, shared}, 20_000, unevenSizes},
		{eventWorld{glm.Logistic, 30, 1, 2, 1, MethodNewton, false, shared}, 20_000, halfSizes},
		{eventWorld{glm.Poisson, 30, 1, 2, 2, MethodMinimize, true, shared}, 20_000, unevenSizes},
	} {
		if w.rows > 1000 && os.Getenv("DITHER_LONG") == "" {
			continue
		}
		var clustered, plainly stattest.Study
		words, theta := splitmix.At(splitmix.Mix(29)), w.theta()
		for range stattest.Simulations(50, max(400, 1000*min(1, 2000/w.rows))) {
			made, rows := w.drawSizes(&words, func(i int) int { return w.sizes.of(i, w.persons, w.rows) })
			fit := w.fit(&words, made, rows)
			alone := *fit
			each := make([][]*mat.VecDense, len(made))
			for i, cluster := range made {
				for _, r := range cluster {
					at := 0.0
					for j, x := range r.z {
						at += fit.Theta[j] * x
					}
					mu, _ := w.mean(at)
					v := mat.NewVecDense(w.p, nil)
					v.ScaleVec(r.v-mu, mat.NewVecDense(w.p, r.z))
					each[i] = append(each[i], v)
				}
			}
			size := 0.5 * math.Sqrt(float64(w.p))
			if fit.Squares > 0 {
				size = math.Max(0.001*math.Sqrt(float64(w.p)), math.Sqrt(fit.Squares/rows))
			}
			sums := scoredValues(&words, each, rows, size, w.price/4, !w.rho)
			m, ok := sums.meat(w.p, rows)
			if !ok {
				t.Fatal("no meat")
			}
			fit.Depend(glm.Scores{Estimate: m.estimate, Upper: m.upper})
			for k, truth := range theta {
				weights := make([]float64, w.p)
				weights[k] = 1
				e, f := fit.Estimate(weights, 0.95), alone.Estimate(weights, 0.95)
				clustered.Covers("clustered", fmt.Sprint(k)).Interval(e.Low, truth, e.High)
				plainly.Covers("independent", fmt.Sprint(k)).Interval(f.Low, truth, f.High)
			}
		}
		clustered.Check(t, fmt.Sprintf("%+v", w))
		t.Logf("%+v: as if independent, %s", w, plainly.Covers("independent", "1"))
	}
}
