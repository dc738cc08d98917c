package reconstruct

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"dither/internal/splitmix"
	"dither/synth/model"
)

// normal returns a standard normal number.
func normal(r *splitmix.Stream) float64 {
	uniform := func() float64 { return (float64(r.Word()>>11) + 0.5) / (1 << 53) }
	return math.Sqrt(-2*math.Log(uniform())) * math.Cos(2*math.Pi*uniform())
}

// rows returns the matrix of a marginal's cells, or of its residuals, over the cells of the whole domain.
func rows(sizes, attributes []int, centred bool) *mat.Dense {
	out := mat.NewDense(1, 1, []float64{1})
	for a, n := range sizes {
		factor := mat.NewDense(1, n, nil)
		in := false
		for _, b := range attributes {
			in = in || a == b
		}
		if in {
			factor = mat.NewDense(n, n, nil)
		}
		r, _ := factor.Dims()
		for i := range r {
			for j := range n {
				switch {
				case !in:
					factor.Set(i, j, 1)
				case centred && i == j:
					factor.Set(i, j, float64(n-1))
				case centred:
					factor.Set(i, j, -1)
				case i == j:
					factor.Set(i, j, 1)
				}
			}
		}
		var next mat.Dense
		next.Kronecker(out, factor)
		out = &next
	}
	return out
}

// Estimates and variances are those of weighted least squares over all cells of the domain, by dense algebra.
func TestEstimateIsWeightedLeastSquares(t *testing.T) {
	r := splitmix.At(1)
	sizes := []int{3, 2, 4, 1}
	d, err := model.NewDomain(sizes...)
	if err != nil {
		t.Fatal(err)
	}
	sets := []struct {
		attributes []int
		centred    bool
	}{
		{[]int{0, 1}, false},
		{[]int{1, 2}, false},
		{[]int{1, 2}, true},
		{[]int{0}, false},
		{[]int{0}, true},
		{[]int{0, 2}, true},
		{nil, false},
		{[]int{0, 3}, false},
	}
	e := New(d)
	information, right := mat.NewDense(24, 24, nil), mat.NewVecDense(24, nil)
	for i, s := range sets {
		a := rows(sizes, s.attributes, s.centred)
		n, _ := a.Dims()
		y := model.Measurement{Attributes: s.attributes, Variance: 1 + float64(i)}
		for range n {
			y.Values = append(y.Values, 20*normal(&r))
		}
		if s.centred {
			for _, k := range s.attributes {
				y.Matrices = append(y.Matrices, model.Centred(sizes[k]))
			}
		}
		if err := e.Add(y); err != nil {
			t.Fatal(err)
		}
		var gram mat.Dense
		gram.Mul(a.T(), a)
		gram.Scale(1/y.Variance, &gram)
		information.Add(information, &gram)
		var v mat.VecDense
		v.MulVec(a.T(), mat.NewVecDense(n, y.Values))
		right.AddScaledVec(right, 1/y.Variance, &v)
	}
	var svd mat.SVD
	svd.Factorize(information, mat.SVDFull)
	inverse := mat.NewDense(24, 24, nil)
	identity := mat.NewDense(24, 24, nil)
	for i := range 24 {
		identity.Set(i, i, 1)
	}
	svd.SolveTo(inverse, identity, svd.Rank(1e-10))
	var x mat.VecDense
	x.MulVec(inverse, right)
	for _, s := range [][]int{nil, {0}, {1}, {2}, {3}, {0, 1}, {1, 2}, {0, 2}, {0, 2, 3}} {
		a := rows(sizes, s, false)
		var want mat.VecDense
		want.MulVec(a, &x)
		var half, covariance mat.Dense
		half.Mul(a, inverse)
		covariance.Mul(&half, a.T())
		got, err := e.Marginal(s...)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range got.Values {
			if math.Abs(v-want.AtVec(i)) > 1e-8 || math.Abs(got.Variance-covariance.At(i, i)) > 1e-8*got.Variance {
				t.Errorf(
					"cell %d of %v is %v with variance %v, not %v with %v", i, s, v, got.Variance, want.AtVec(i), covariance.At(i, i),
				)
			}
		}
	}
	if got, err := e.Marginal(0, 1, 2); err != nil || !math.IsInf(got.Variance, 1) {
		t.Errorf("a marginal that is not determined is %v (%v)", got, err)
	}
}

func TestBadMeasurementsAreNamed(t *testing.T) {
	d, err := model.NewDomain(2, 3)
	if err != nil {
		t.Fatal(err)
	}
	e := New(d)
	for _, y := range []model.Measurement{
		{Attributes: []int{2}, Values: []float64{1}, Variance: 1},
		{Attributes: []int{1, 0}, Values: make([]float64, 6), Variance: 1},
		{Attributes: []int{0}, Values: []float64{1}, Variance: 1},
		{Attributes: []int{0}, Values: []float64{1, 2}},
		{Attributes: []int{0}, Values: []float64{1, math.NaN()}, Variance: 1},
		{Attributes: []int{0}, Matrices: []*model.Matrix{nil}, Values: []float64{1, 2}, Variance: 1},
		{Attributes: make([]int, MaxWays+1), Variance: 1},
	} {
		if err := e.Add(y); err == nil {
			t.Errorf("the measurement %+v has no error", y)
		}
	}
	if len(e.residuals) != 0 {
		t.Error("a refused measurement has an effect")
	}
}

// BenchmarkReconstruct measures the reconstruction of all marginals of up to two attributes of Adult, from noisy
// measurements of all pairs.
func BenchmarkReconstruct(b *testing.B) {
	sizes := []int{85, 9, 100, 16, 7, 15, 6, 5, 2, 100, 100, 99, 42, 2}
	d, err := model.NewDomain(sizes...)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		e := New(d)
		for i := range sizes {
			for k := range i {
				if err := e.Add(model.Measurement{
					Attributes: []int{k, i}, Values: make([]float64, sizes[i]*sizes[k]), Variance: 1,
				}); err != nil {
					b.Fatal(err)
				}
			}
		}
		for i := range sizes {
			for k := range i {
				if _, err := e.Marginal(k, i); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
}
