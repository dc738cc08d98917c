package estimate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"dither/curator"
	"dither/stats/internal/statstest"
)

// noisyRows are the released sums of made-up rows, each a vector of blocks of one coordinate, with noise of a law of
// their own.
func noisyRows(s *simulator, v curator.Vectors, rows [][]float64, law vectorLaw) vectorSums {
	out := vectorSums{law: law, count: float64(len(rows)) + s.noise(law.count)}
	for _, sum := range v.Sums {
		switch sum.Kind {
		case curator.First(0).Kind:
			x := 0.0
			for _, r := range rows {
				x += r[sum.I]
			}
			out.first = append(out.first, []float64{x + s.noise(law.first[len(out.first)])})
		case curator.Product(0, 0).Kind:
			x := 0.0
			for _, r := range rows {
				x += r[sum.I] * r[sum.J]
			}
			out.products = append(out.products, [][]float64{{x + s.noise(law.products[len(out.products)])}})
		}
	}
	return out
}

// cover counts an estimate's interval.
func cover(c *statstest.Covers, e Value, truth float64) { c.Add(e.Low, e.High, truth) }

func estimateTrials() int {
	if os.Getenv("DITHER_LONG") != "" {
		return 4000
	}
	return 80
}

// Intervals about a population: of normal, skewed and two-valued rows within [−1, 1], of few and of many rows, with
// noise that is nothing, that is like sampling, and that is more.
func TestPopulationCoverage(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 1))
	of := centredColumn{low: -1, high: 1}
	populations := []struct {
		name           string
		draw           func() float64
		mean, variance float64
	}{
		{"normal", func() float64 { return math.Min(math.Max(0.2+0.15*r.NormFloat64(), -1), 1) }, 0.2, 0.0225},
		{"beta", func() float64 { return math.Pow(r.Float64(), 3) }, 0.25, 1./7 - 1./16},
		{"coin", func() float64 { return math.Copysign(1, r.Float64()-0.7) }, -0.4, 0.84},
	}
	long := os.Getenv("DITHER_LONG") != ""
	var means, variances, squares statstest.Covers // of all together, where there are not enough of each
	for _, p := range populations {
		for _, n := range []int{100, 1000} {
			for _, epsilon := range []float64{0.2, 5} {
				for _, laplace := range []bool{true, false} {
					if !long && (n == 1000) != (p.name == "normal") || n == 1000 && !laplace {
						continue
					}
					if long {
						means, variances, squares = statstest.Covers{}, statstest.Covers{}, statstest.Covers{}
					}
					s := &simulator{newSimulator().stream}
					law := func(k int) vectorLaw {
						l := noiseLaw{math.Sqrt2 * 5 / epsilon, laplace}
						return vectorLaw{
							count: l, first: []noiseLaw{l}, products: slices.Repeat([]noiseLaw{l}, k),
							off: slices.Repeat([]noiseLaw{l}, k),
						}
					}
					m, q, v := meanSums([]centredColumn{of}), squareSums([]centredColumn{of}),
						varianceSums([]centredColumn{of})
					for range estimateTrials() / 4 {
						rows := make([][]float64, n)
						for i := range rows {
							x := p.draw()
							rows[i] = []float64{x, x * x}
						}
						sums := noisyRows(s, m, rows, law(1))
						cover(&means, simulated(&sums, []centredColumn{of}, []string{""}, nil, 0.05,
							productSymmetric(m), true, meanOf)[0], p.mean)
						halved := make([][]float64, n)
						for i, r := range rows {
							halved[i] = []float64{r[0], r[1] - 0.5}
						}
						twice := law(1)
						twice.first = append(twice.first, twice.first...)
						sums = noisyRows(s, q, halved, twice)
						cover(&squares, simulated(&sums, []centredColumn{of}, []string{""}, nil, 0.05,
							productSymmetric(q), false, squareOf)[0], sampleVariance(rows))
						sums = noisyRows(s, v, rows, law(3))
						cover(&variances, simulated(&sums, []centredColumn{of}, []string{""}, nil, 0.05,
							productSymmetric(v), true, varianceOf)[0], p.variance)
					}
					if what := fmt.Sprintf("%s, n = %d, ε = %g, Laplace %t", p.name, n, epsilon, laplace); long {
						means.Check(t, what+", mean")
						variances.Check(t, what+", variance")
						squares.Check(t, what+", variance of the rows")
					}
				}
			}
		}
	}
	if !long {
		means.Check(t, "means")
		variances.Check(t, "variances")
		squares.Check(t, "variances of the rows")
	}
}

func sampleVariance(rows [][]float64) float64 {
	sum, squares, n := 0.0, 0.0, float64(len(rows))
	for _, r := range rows {
		sum, squares = sum+r[0], squares+r[0]*r[0]
	}
	return (squares - sum*sum/n) / (n - 1)
}

// gaussianRows are rows of a normal distribution.
func gaussianRows(r *rand.Rand, n int, mean []float64, l [][]float64) [][]float64 {
	out := make([][]float64, n)
	d := len(mean)
	z := make([]float64, d)
	for i := range out {
		out[i] = make([]float64, d)
		for j := range z {
			z[j] = r.NormFloat64()
		}
		for j := range d {
			out[i][j] = mean[j]
			for k := 0; k <= j; k++ {
				out[i][j] += l[j][k] * z[k]
			}
		}
	}
	return out
}

// pricing is a price of a simulation, in ε or in ρ.
type pricing struct{ epsilon, rho float64 }

func (p pricing) String() string {
	if p.rho > 0 {
		return fmt.Sprintf("ρ = %g", p.rho)
	}
	return fmt.Sprintf("ε = %g", p.epsilon)
}

// law is the noise of a sum that a row changes by at most these norms, at a share of the price.
func (p pricing) law(share, l1, l2 float64) noiseLaw {
	if p.rho > 0 {
		return noiseLaw{deviation: l2 / math.Sqrt(2*p.rho*share)}
	}
	return noiseLaw{deviation: math.Sqrt2 * l1 / (p.epsilon * share), laplace: true}
}

// pressing is a look at made-up rows, with the noise that the kernel has under add/remove.
func pressing(s *simulator, rows [][]float64, price pricing, shares []float64, products bool) pressLook {
	return func(round int, f linearForms, norm float64) (*pressSums, error) {
		d := len(f.unit)
		total := 0.0
		weights := []float64{1, 19, 0}
		if products {
			weights = []float64{1, 3, 8}
		}
		for _, w := range weights {
			total += w
		}
		law := func(i int, l1, l2 float64) noiseLaw { return price.law(shares[round]*weights[i]/total, l1, l2) }
		out := &pressSums{
			law:   vectorLaw{count: law(0, 1, 1), first: []noiseLaw{law(1, norm*math.Sqrt(float64(d)), norm)}},
			first: [][]float64{make([]float64, d)},
		}
		out.count = float64(len(rows)) + s.noise(out.law.count)
		if products {
			l := law(2, norm*norm*float64(d+1)/2, norm*norm)
			off := l
			if !l.laplace {
				off.deviation /= math.Sqrt2
			}
			out.law.products, out.law.off, out.products = []noiseLaw{l}, []noiseLaw{off}, [][][]float64{pressZero(d)}
		}
		plain := true
		for i, row := range f.a {
			for j, x := range row {
				plain = plain && (x == 1) == (i == j) && (x == 0) == (i != j)
			}
		}
		w := make([]float64, d)
		for _, row := range rows {
			length := 0.0
			for i := range d {
				w[i] = 0
				from := 0
				if plain {
					from = i
				}
				for j := from; j <= i; j++ {
					w[i] += f.a[i][j] * ((row[j]-f.middle[j])/f.unit[j] - f.centre[j])
				}
				length += w[i] * w[i]
			}
			scale := math.Min(1, norm/math.Sqrt(length))
			for i := range d {
				out.first[0][i] += scale * w[i]
				for j := 0; products && j < d; j++ {
					out.products[0][i][j] += scale * scale * w[i] * w[j]
				}
			}
		}
		for i := range d {
			out.first[0][i] += s.noise(out.law.first[0])
		}
		return out.drawnProducts(s), nil
	}
}

// drawnProducts adds noise to symmetric products alone.
func (v *pressSums) drawnProducts(s *simulator) *pressSums {
	if len(v.products) == 0 {
		return v
	}
	d := v.room()
	v.drawn(s, func(int) bool { return true }, d)
	v.products = d.products
	return v
}

func floats(t testing.TB, rounds int) (out []float64) {
	sum := 0.0
	for _, r := range pressShares(rounds) {
		x, _ := r.Float64()
		out, sum = append(out, x), sum+x
	}
	if math.Abs(sum-1) > 1e-12 || out[rounds-1] < 0.75-1e-12 {
		t.Errorf("shares %v", out)
	}
	return out
}

// The published experiment (Biswas, Dong, Kamath and Ullman 2020): rows of N(0, I) in 50 dimensions, known to have
// their mean within 10√50 of the origin, ρ = 0.5; the L2 error, its mean over trials without the tenth at each end.
// Published: of 1000 rows .2806 in 2 rounds and .2707 in 4 (.2210 without privacy, 10.06 by plain bounds); of 10,000
// rows .0732 and .0735. It is not a statistical test that ours is less: trimmed means of 40 trials have a standard
// error of .003, and are .04 below. (The published one is under change-one with a public n, where noise is twice as
// large; here the rows are counted too.)
func TestPressPublished(t *testing.T) {
	trials, sizes := 40, []int{1000}
	if os.Getenv("DITHER_LONG") != "" {
		trials, sizes = 100, []int{1000, 10_000}
	}
	r, s := rand.New(rand.NewPCG(42, 1)), newSimulator()
	const d = 50
	identity := plainForms(make([]float64, d), slices.Repeat([]float64{1}, d))
	published := map[[2]int]float64{{1000, 2}: .2806, {1000, 4}: .2707, {10_000, 2}: .0732, {10_000, 4}: .0735}
	for _, n := range sizes {
		for _, rounds := range []int{2, 4} {
			for _, at := range []float64{0, 5} { // the mean is where it was published, and away from the origin
				var errors []float64
				for range trials {
					mean := slices.Repeat([]float64{at}, d)
					rows := gaussianRows(r, n, mean, identity.a)
					last, err := pressMean(d, identity, 10*math.Sqrt(d), rounds,
						pressing(s, rows, pricing{rho: 0.5}, floats(t, rounds), false))
					if err != nil {
						t.Fatal(err)
					}
					off := 0.0
					for _, x := range last.means(last.sums) {
						off = math.Hypot(off, x-at)
					}
					errors = append(errors, off)
				}
				slices.Sort(errors)
				sum, kept := 0.0, errors[trials/10:trials-trials/10]
				for _, x := range kept {
					sum += x
				}
				got, most := sum/float64(len(kept)), published[[2]int{n, rounds}]
				t.Logf("n = %d, %d rounds, mean %g: %.4f, published %.4f", n, rounds, at, got, most)
				if got > most {
					t.Errorf("n = %d, %d rounds, mean %g: %.4f, published %.4f", n, rounds, at, got, most)
				}
			}
		}
	}
}

// Covariances of correlated normal rows whose bounds are loose, in three rounds and in one: intervals about the
// population, and how much closer rounds are.
func TestPressCovariance(t *testing.T) {
	const d, n = 3, 5000
	r, s := rand.New(rand.NewPCG(43, 1)), newSimulator()
	l := [][]float64{{1, 0, 0}, {0.9, 0.5, 0}, {-0.3, 0.2, 2}}
	mean := []float64{3, -7, 10}
	truth := pressZero(d)
	for i := range d {
		for j := range d {
			for k := range d {
				truth[i][j] += l[i][k] * l[j][k]
			}
		}
	}
	forms := plainForms(make([]float64, d), slices.Repeat([]float64{50}, d))
	sample := Sample{Columns: []string{"a", "b", "c"}, Population: true}
	ranges := slices.Repeat([][2]float64{{-50, 50}}, d)
	for _, rounds := range []int{1, 3} {
		var held statstest.Covers
		off := 0.0
		trials := estimateTrials() / 8
		for range trials {
			rows := gaussianRows(r, n, mean, l)
			last, err := pressCovariance(d, forms, math.Sqrt(d), rounds,
				pressing(s, rows, pricing{rho: 0.5}, floats(t, rounds), true))
			if err != nil {
				t.Fatal(err)
			}
			values, _ := covarianceValues(&last, sample, ranges, nil, 0.05, func(int) bool { return true })
			at := 0
			next := func(x float64) { cover(&held, values[at], x); at++ }
			for i := range d {
				next(mean[i])
			}
			for i := range d {
				for j := i; j < d; j++ {
					next(truth[i][j])
					off += math.Abs(last.covariances(last.sums)[i][j] - truth[i][j])
				}
			}
			for i := range d {
				for j := i + 1; j < d; j++ {
					next(truth[i][j] / math.Sqrt(truth[i][i]*truth[j][j]))
				}
			}
		}
		off /= float64(trials * d * (d + 1) / 2)
		// The twelve intervals of a trial are not independent: a twelfth of them is held to the rate.
		held.Held, held.Of = held.Held/12, held.Of/12
		held.Check(t, fmt.Sprintf("%d rounds", rounds))
		t.Logf("%d rounds: entries are off by %.3f on average", rounds, off)
		if most := map[int]float64{1: 6, 3: 0.25}[rounds]; off > most {
			t.Errorf("%d rounds: entries are off by %.3f on average, more than %g", rounds, off, most)
		}
	}
}

// Whatever is released, nothing that is shown is NaN or infinite: of no rows, of one, of constants, of noise beyond all
// numbers.
func TestEstimatesAreNumbers(t *testing.T) {
	s := newSimulator()
	of := []centredColumn{{low: -1, high: 1}, {low: 0, high: 0}}
	finite := func(what string, e Value) {
		t.Helper()
		for _, n := range []*curator.Number{e.Value, e.Low, e.High} {
			if n != nil && (math.IsNaN(n.Real) || math.IsInf(n.Real, 0)) {
				t.Errorf("%s: %v", what, e)
			}
		}
		if e.StdError != nil && (math.IsNaN(*e.StdError) || math.IsInf(*e.StdError, 0)) {
			t.Errorf("%s: standard error %g", what, *e.StdError)
		}
		if e.Value != nil &&
			(e.Low != nil && e.Low.Real > e.Value.Real || e.High != nil && e.High.Real < e.Value.Real) {
			t.Errorf("%s: %v is not within %v, %v", what, e.Value, e.Low, e.High)
		}
	}
	for _, rows := range [][][]float64{nil, {{1, 1}}, {{0, 0}, {0, 0}}, slices.Repeat([][]float64{{0.5, 0.25}}, 100)} {
		for _, deviation := range []float64{1e-9, 1, 1e9, 1e300} {
			l := noiseLaw{deviation, true}
			law := vectorLaw{count: l, first: []noiseLaw{l, l}, products: []noiseLaw{l, l, l}, off: []noiseLaw{l, l, l}}
			for _, c := range of {
				v := meanSums([]centredColumn{c})
				sums := noisyRows(s, v, rows, law)
				finite("mean", simulated(&sums, []centredColumn{c}, []string{""}, nil, 0.05, productSymmetric(v),
					true, meanOf)[0])
				v = varianceSums([]centredColumn{c})
				sums = noisyRows(s, v, rows, law)
				finite("variance", simulated(&sums, []centredColumn{c}, []string{""}, nil, 0.02, productSymmetric(v),
					true, varianceOf)[0])
			}
			forms := plainForms([]float64{0, 0}, []float64{1, 1})
			last, err := pressCovariance(2, forms, 2, 3, pressing(s, rows, pricing{rho: 1 / deviation / deviation}, floats(t, 3), true))
			if err != nil {
				t.Fatal(err)
			}
			values, _ := covarianceValues(&last, Sample{Columns: []string{"a", "b"}, Population: true},
				[][2]float64{{-1, 1}, {math.Inf(-1), math.Inf(1)}}, nil, 0.05, func(int) bool { return true })
			for _, e := range values {
				finite(fmt.Sprintf("%d rows, deviation %g: %s", len(rows), deviation, e.Name), e)
			}
		}
	}
}
