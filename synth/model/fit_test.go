package model

import (
	"errors"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"dither/internal/splitmix"
)

// fit returns a fit that must succeed.
func fit(t *testing.T, d *Domain, measurements []Measurement, o Options) *Model {
	t.Helper()
	m, err := Fit(d, measurements, o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func domain(t *testing.T, sizes ...int) *Domain {
	t.Helper()
	d, err := NewDomain(sizes...)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// The stated gap is the largest over all cells of the domain of ⟨g, μ⟩ − total·g(cell), or the loss if that is less.
func TestGapIsThatOfAllCells(t *testing.T) {
	r := splitmix.At(3)
	for range 100 {
		d := someDomain(&r, 6, 4)
		measurements := someMeasurements(&r, d, 100, 3, someSets(&r, len(d.sizes), 1+r.Below(6), 3))
		s, err := newSolver(d, measurements, Options{Total: 100, Iterations: 1 + r.Below(50)})
		if err != nil {
			t.Fatal(err)
		}
		s.descend()
		inner := 0.0
		for _, f := range s.model.factors {
			for i, g := range f.gradient {
				inner += g * f.marginal[i]
			}
		}
		want := 0.0
		newJoint(d, func(codes []int) float64 {
			sum := 0.0
			for _, f := range s.model.factors {
				sum += f.gradient[place(d, f.members, codes)]
			}
			want = max(want, inner-100*sum)
			return 0
		})
		got := s.model.Report()
		if want = min(want, got.Loss); math.Abs(got.Gap-want) > 1e-8*(1+got.Loss+math.Abs(inner)) {
			t.Fatalf("%v: the gap is %v, and by all cells %v", d.sizes, got.Gap, want)
		}
	}
}

// The gradient of the loss along a change of the marginals is that of finite differences, for any matrices.
func TestGradientIsThatOfFiniteDifferences(t *testing.T) {
	r := splitmix.At(4)
	d := domain(t, 3, 4, 2)
	dense, err := Dense([][]float64{{1, 0, 2, -1}, {0, 3, 1, 1}})
	if err != nil {
		t.Fatal(err)
	}
	measurements := []Measurement{
		{Attributes: []int{0, 1}, Matrices: []*Matrix{Centred(3), dense}, Values: make([]float64, 6), Variance: 2},
		{Attributes: []int{1, 2}, Matrices: []*Matrix{dense, nil}, Values: make([]float64, 4), Variance: .5},
		{Attributes: []int{0}, Values: make([]float64, 3), Variance: 1},
	}
	for i := range measurements {
		for k := range measurements[i].Values {
			measurements[i].Values[k] = 10 * normal(&r)
		}
	}
	s, err := newSolver(d, measurements, Options{Total: 50})
	if err != nil {
		t.Fatal(err)
	}
	at := func(step float64, direction [][]float64) (loss float64) {
		for i, f := range s.model.factors {
			for k, v := range direction[i] {
				f.potential[k] = step * v
			}
			f.changed = true
		}
		return s.evaluate()
	}
	for range 20 {
		direction := make([][]float64, len(s.model.factors))
		for i, f := range s.model.factors {
			for range f.potential {
				direction[i] = append(direction[i], normal(&r))
			}
		}
		const h = 1e-5
		forth, marginals := at(h, direction), [][]float64{}
		for _, f := range s.model.factors {
			marginals = append(marginals, append([]float64{}, f.marginal...))
		}
		back, along := at(-h, direction), 0.0
		moved := [][]float64{}
		for i, f := range s.model.factors {
			moved = append(moved, append([]float64{}, f.marginal...))
			for k := range moved[i] {
				moved[i][k] = marginals[i][k] - moved[i][k]
			}
		}
		at(0, direction)
		for i, f := range s.model.factors {
			for k, g := range f.gradient {
				along += g * moved[i][k]
			}
		}
		if math.Abs(along-(forth-back)) > 1e-6*math.Abs(along) {
			t.Errorf("the loss changes by %v, and by its gradient by %v", forth-back, along)
		}
	}
}

// If no cell of the best distribution is 0, the fit has the marginals of least squares with the total fixed.
func TestFitIsLeastSquaresInTheInterior(t *testing.T) {
	r := splitmix.At(5)
	for range 12 {
		d := domain(t, 2+r.Below(2), 2+r.Below(2), 2+r.Below(2), 2)
		sets := append(someSets(&r, 4, 4, 2), []int{0, 1}, []int{1, 2}, []int{2, 3})
		measurements := someMeasurements(&r, d, 1e4, 2, sets)
		for i := range measurements {
			measurements[i].Variance *= float64(1 + r.Below(3))
		}
		model := fit(t, d, measurements, Options{Total: 1e4, Iterations: 40_000, Gap: 1e-9})
		want, loss := leastSquares(d, measurements, 1e4)
		if want == nil {
			continue
		}
		if math.Abs(model.Report().Loss-loss) > 1e-8*(1+loss) {
			t.Errorf("%v: the loss is %.12g instead of %.12g: %+v", sets, model.Report().Loss, loss, model.Report())
		}
		for _, y := range measurements {
			got, err := model.Marginal(y.Attributes...)
			if err != nil {
				t.Fatal(err)
			}
			if off := furthest(t, got, want.marginal(y.Attributes...)); off > 1e-3 {
				t.Errorf("%v: the marginal of %v is off by %v", sets, y.Attributes, off)
			}
		}
	}
}

// leastSquares returns the shortest joint table that minimises the loss among all with the total, and the loss.
func leastSquares(d *Domain, measurements []Measurement, total float64) (*joint, float64) {
	j := newJoint(d, func([]int) float64 { return 0 })
	n := len(j.values)
	normal, right := mat.NewDense(n+1, n+1, nil), mat.NewVecDense(n+1, nil)
	for _, y := range measurements {
		for a := range n {
			at := place(d, y.Attributes, j.codes(a))
			right.SetVec(a, right.AtVec(a)+y.Values[at]/y.Variance)
			for b := range n {
				if place(d, y.Attributes, j.codes(b)) == at {
					normal.Set(a, b, normal.At(a, b)+1/y.Variance)
				}
			}
		}
	}
	for a := range n {
		normal.Set(a, n, 1)
		normal.Set(n, a, 1)
	}
	right.SetVec(n, total)
	var svd mat.SVD
	svd.Factorize(normal, mat.SVDFull)
	rank := svd.Rank(1e-10)
	var x mat.VecDense
	svd.SolveVecTo(&x, right, rank)
	copy(j.values, x.RawVector().Data[:n])
	loss := 0.0
	for _, y := range measurements {
		for i, v := range j.marginal(y.Attributes...) {
			if v <= 0 {
				return nil, 0
			}
			loss += (v - y.Values[i]) * (v - y.Values[i]) / (2 * y.Variance)
		}
	}
	return j, loss
}

// On the boundary too, the loss comes within 1e-8 of a bound that no distribution is below.
func TestFitClosesItsGap(t *testing.T) {
	r := splitmix.At(6)
	for range 20 {
		d := someDomain(&r, 5, 4)
		measurements := someMeasurements(&r, d, 100, 10, someSets(&r, len(d.sizes), 1+r.Below(5), 2))
		model := fit(t, d, measurements, Options{Total: 100, Iterations: 20_000, Gap: 1e-8})
		if got := model.Report(); !got.Converged {
			t.Errorf("%v: %+v", d.sizes, got)
		}
	}
}

// Closed forms: one measured attribute is projected onto the simplex, and others are uniform and independent.
func TestFitOfOneAttributeIsItsProjection(t *testing.T) {
	d := domain(t, 3, 4)
	model := fit(t, d, []Measurement{{Attributes: []int{0}, Values: []float64{7, 5, -4}, Variance: 1}}, Options{
		Total: 10, Iterations: 10_000, Gap: 1e-10,
	})
	got, err := model.Marginal(0, 1)
	if err != nil {
		t.Fatal(err)
	}
	want := []float64{1.5, 1.5, 1.5, 1.5, 1, 1, 1, 1, 0, 0, 0, 0}
	if off := furthest(t, got, want); off > 1e-6 {
		t.Errorf("%v", got)
	}
	if e := math.Log(4) - .6*math.Log(.6) - .4*math.Log(.4); math.Abs(model.Entropy()-e) > 1e-6 {
		t.Errorf("the entropy is %v instead of %v", model.Entropy(), e)
	}
}

// Consistent tables of (A, B) and (B, C) give p(a, b)·p(b, c)/p(b), the distribution of maximum entropy.
func TestFitOfAChainIsConditionallyIndependent(t *testing.T) {
	d := domain(t, 2, 2, 3)
	ab, bc := []float64{10, 20, 30, 40}, []float64{5, 15, 20, 30, 10, 20}
	model := fit(t, d, []Measurement{
		{Attributes: []int{0, 1}, Values: ab, Variance: 1},
		{Attributes: []int{1, 2}, Values: bc, Variance: 4},
	}, Options{Iterations: 5000, Gap: 1e-12})
	want := newJoint(d, func(c []int) float64 {
		return ab[2*c[0]+c[1]] * bc[3*c[1]+c[2]] / []float64{40, 60}[c[1]]
	})
	for _, s := range [][]int{{0, 2}, {0, 1, 2}, {1}, {}} {
		got, err := model.Marginal(s...)
		if err != nil {
			t.Fatal(err)
		}
		if off := furthest(t, got, want.marginal(s...)); off > 1e-5 {
			t.Errorf("the marginal of %v is %v instead of %v", s, got, want.marginal(s...))
		}
	}
}

// A residual, such as (cI − 11ᵀ)x, fits as well as the table that it is computed from.
func TestFitOfResidualsIsThatOfTheTable(t *testing.T) {
	d := domain(t, 3, 4)
	table := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 14}
	p, err := newProduct([]*Matrix{Centred(3), Centred(4)}, []int{3, 4})
	if err != nil {
		t.Fatal(err)
	}
	model := fit(t, d, []Measurement{
		{Attributes: []int{0, 1}, Matrices: p.matrices, Values: append([]float64{}, p.apply(table, false)...), Variance: 100},
		{Attributes: []int{0}, Values: []float64{10, 26, 44}, Variance: 1},
		{Attributes: []int{1}, Values: []float64{15, 18, 21, 26}, Variance: 1},
	}, Options{Iterations: 20_000, Gap: 1e-12})
	got, err := model.Marginal(0, 1)
	if err != nil {
		t.Fatal(err)
	}
	if off := furthest(t, got, table); off > 1e-4 {
		t.Errorf("the table is %v: %+v", got, model.Report())
	}
}

func TestTotalWeighsByInverseVariance(t *testing.T) {
	d := domain(t, 2, 4)
	twice, err := Dense([][]float64{{2, 0}, {0, 2}})
	if err != nil {
		t.Fatal(err)
	}
	total, variance, err := Total(d, []Measurement{
		{Attributes: []int{0}, Values: []float64{40, 60}, Variance: 1},                                 // 100, variance 2
		{Attributes: []int{1}, Values: []float64{30, 30, 30, 30}, Variance: 2},                         // 120, variance 8
		{Attributes: []int{0}, Matrices: []*Matrix{twice}, Values: []float64{100, 120}, Variance: 4},   // 110, variance 2
		{Attributes: []int{0}, Matrices: []*Matrix{Centred(2)}, Values: []float64{1, -1}, Variance: 1}, // none
	})
	want := (100/2. + 120/8. + 110/2.) / (1/2. + 1/8. + 1/2.)
	if err != nil || math.Abs(total-want) > 1e-9 || math.Abs(variance-1/(1/2.+1/8.+1/2.)) > 1e-9 {
		t.Errorf("the total is %v with variance %v (%v), not %v", total, variance, err, want)
	}
	if total, variance, err := Total(d, nil); total != 0 || !math.IsInf(variance, 1) || err != nil {
		t.Errorf("no measurement gives the total %v with variance %v (%v)", total, variance, err)
	}
}

// Cells that a constraint forbids have no rows, and the others fit as well as the best distribution without them.
func TestConstraintsHold(t *testing.T) {
	d := domain(t, 3, 3, 2)
	allowed := []bool{true, true, true, false, true, true, false, false, true} // a ≤ b
	model := fit(t, d, []Measurement{
		{Attributes: []int{0}, Values: []float64{30, 30, 40}, Variance: 1},
		{Attributes: []int{1}, Values: []float64{30, 30, 40}, Variance: 1},
		{Attributes: []int{1, 2}, Values: []float64{10, 20, 10, 20, 20, 20}, Variance: 1},
	}, Options{Constraints: []Constraint{{[]int{0, 1}, allowed}}, Iterations: 20_000, Gap: 1e-8})
	got, err := model.Marginal(0, 1)
	if err != nil {
		t.Fatal(err)
	}
	// Both attributes have the same marginal and a ≤ b, so a = b.
	if off := furthest(t, got, []float64{30, 0, 0, 0, 30, 0, 0, 0, 40}); off > 1e-2 {
		t.Errorf("the table is %v: %+v", got, model.Report())
	}
	for i, ok := range allowed {
		if !ok && got[i] != 0 {
			t.Errorf("cell %d is forbidden and has %v rows", i, got[i])
		}
	}
	if p, err := model.LogProbability([]int32{1, 0, 0}); err != nil || !math.IsInf(p, -1) {
		t.Errorf("a forbidden row has the logarithm %v (%v)", p, err)
	}
}

// A fit from an earlier model with fewer measurements reaches the same loss.
func TestWarmStartsReachTheSameLoss(t *testing.T) {
	r := splitmix.At(7)
	d := domain(t, 3, 4, 3, 2)
	measurements := someMeasurements(&r, d, 1000, 5, [][]int{{0}, {1}, {0, 1}, {1, 2}, {2, 3}})
	first := fit(t, d, measurements[:3], Options{Total: 1000, Gap: 1e-2})
	cold := fit(t, d, measurements, Options{Total: 1000, Iterations: 5000, Gap: 1e-3})
	warm := fit(t, d, measurements, Options{Total: 1000, Iterations: 5000, Gap: 1e-3, From: first})
	if a, b := cold.Report(), warm.Report(); math.Abs(a.Loss-b.Loss) > 1e-8 || !a.Converged || !b.Converged {
		t.Errorf("cold %+v, warm %+v", a, b)
	}
	again := fit(t, d, measurements, Options{Total: 1000, Gap: 1e-2, From: warm})
	if got := again.Report(); got.Iterations > 3*every {
		t.Errorf("from the end: %+v", got)
	}
}

// A cell that an earlier model held empty gets the rows that a new measurement sees in it.
func TestWarmStartsRefillEmptyCells(t *testing.T) {
	d := domain(t, 2)
	y := []Measurement{{Attributes: []int{0}, Values: []float64{50, 50}, Variance: 1}}
	empty := fit(t, d, y, Options{})
	empty.factors[0].potential[1] = -1e6
	if got := fit(t, d, y, Options{From: empty, Iterations: 100, Gap: 1e-3}).Report(); !got.Converged {
		t.Errorf("%+v", got)
	}
}

// The same arguments give the same bits.
func TestFitsAreTheSame(t *testing.T) {
	r := splitmix.At(8)
	d := domain(t, 3, 4, 3, 2, 5)
	measurements := someMeasurements(&r, d, 1000, 5, [][]int{{0, 1}, {1, 2}, {0, 2}, {3}, {2, 4}})
	a := fit(t, d, measurements, Options{Iterations: 50})
	b := fit(t, d, measurements, Options{Iterations: 50})
	for i := range a.factors {
		for k, v := range a.factors[i].potential {
			if v != b.factors[i].potential[k] {
				t.Fatalf("potential %d of %d is %v and %v", k, i, v, b.factors[i].potential[k])
			}
		}
	}
}

func TestBadArgumentsAreNamed(t *testing.T) {
	d := domain(t, 2, 3)
	good := Measurement{Attributes: []int{0}, Values: []float64{1, 2}, Variance: 1}
	wide, err := Dense([][]float64{{1, 1, 1}})
	if err != nil {
		t.Fatal(err)
	}
	for want, y := range map[string]Measurement{
		"has 1 values instead of 2": {Attributes: []int{0}, Values: []float64{1}, Variance: 1},
		"attributes 0 to 1, not 2":  {Attributes: []int{2}, Values: []float64{1}, Variance: 1},
		"ascending":                 {Attributes: []int{1, 0}, Values: []float64{1}, Variance: 1},
		"variance 0":                {Attributes: []int{0}, Values: []float64{1, 2}},
		"value NaN":                 {Attributes: []int{0}, Values: []float64{1, math.NaN()}, Variance: 1},
		"has 3 columns":             {Attributes: []int{0}, Matrices: []*Matrix{wide}, Values: []float64{1}, Variance: 1},
		"one for each attribute":    {Attributes: []int{0}, Matrices: []*Matrix{}, Values: []float64{1}, Variance: 1},
	} {
		if _, err := Fit(d, []Measurement{good, y}, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: the error is %v", want, err)
		}
	}
	small := Options{Cliques: [][]int{{0, 1}}, MaxBytes: 47}
	if _, err := Fit(d, []Measurement{good}, small); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a model of 48 bytes: %v", err)
	}
	none := Constraint{[]int{0}, []bool{false, false}}
	if _, err := Fit(d, []Measurement{good}, Options{Constraints: []Constraint{none}}); !errors.Is(err, ErrForbidden) {
		t.Errorf("no allowed row: %v", err)
	}
	for _, sizes := range [][]int{{}, {0}, {2, MaxSize + 1}, make([]int, MaxAttributes+1)} {
		if _, err := NewDomain(sizes...); err == nil {
			t.Errorf("a domain of sizes %v", sizes)
		}
	}
	if m := fit(t, d, nil, Options{}); math.Abs(m.Entropy()-math.Log(6)) > 1e-12 || m.Total() != 1 {
		t.Errorf("no measurement gives the entropy %v and total %v", m.Entropy(), m.Total())
	}
}
