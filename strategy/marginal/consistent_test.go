package marginal

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"dither/strategy"
)

// summed returns the matrix that sums the cells of a domain to those of a marginal.
func summed(d *Domain, in subset) *mat.Dense {
	var factors []mat.Matrix
	for m, a := range d.attributes {
		if in.has(m) {
			factors = append(factors, identity(a.Size))
		} else {
			factors = append(factors, ones(a.Size))
		}
	}
	return kron(factors...)
}

// TestConsistentPlansAreLeastSquares compares the estimates, variances and margins of consistent plans with dense
// weighted least squares from the same tables, on random workloads.
func TestConsistentPlansAreLeastSquares(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 19))
	for try := range 30 {
		d, err := NewDomain([]Attribute{
			{Name: "a", Size: 1 + random.IntN(4)},
			{Name: "b", Size: 2 + random.IntN(2)},
			{Name: "c", Size: 1 + random.IntN(3)},
			{Name: "d", Size: 2},
		}...)
		if err != nil {
			t.Fatal(err)
		}
		w := randomWorkload(t, random, d)
		if try%3 == 0 {
			if w, err = d.Ways(1+random.IntN(2), 3); err != nil {
				t.Fatal(err)
			}
		}
		p, err := w.Consistent()
		if err != nil {
			t.Fatal(err)
		}
		e := &Estimate{plan: p, parts: map[subset]*part{}}
		tables, shares := p.tables.measured(p)
		total, cells := 0.0, int(d.cells(everything(d)))
		normal, right := mat.NewSymDense(cells, nil), mat.NewVecDense(cells, nil)
		for i, members := range tables {
			total += shares[i]
			m := summed(d, of(members...))
			measured := measuredTable{members: members, variance: 1 / (shares[i] * shares[i]), unit: 1}
			for range int(d.cells(members)) {
				measured.values = append(measured.values, random.NormFloat64()*10)
			}
			var gram mat.Dense
			gram.Mul(m.T(), m)
			var own mat.VecDense
			own.MulVec(m.T(), mat.NewVecDense(len(measured.values), measured.values))
			right.AddScaledVec(right, 1/measured.variance, &own)
			for r := range cells {
				for c := r; c < cells; c++ {
					normal.SetSym(r, c, normal.At(r, c)+gram.At(r, c)/measured.variance)
				}
			}
			e.tables = append(e.tables, measured)
		}
		if math.Abs(total-1) > 1e-9 {
			t.Errorf("the shares add up to %v", total)
		}
		e.settle()
		inverse := pseudoInverse(normal)
		var solution mat.VecDense
		solution.MulVec(inverse, right)
		sum, weights := 0.0, 0.0
		for _, it := range w.items {
			var names []string
			for _, m := range it.members {
				names = append(names, d.attributes[m].Name)
			}
			table, err := e.Marginal(names...)
			if err != nil {
				t.Fatal(err)
			}
			q := summed(d, of(it.members...))
			var want mat.VecDense
			want.MulVec(q, &solution)
			var half, spread mat.Dense
			half.Mul(q, inverse)
			spread.Mul(&half, q.T())
			stated, err := p.Variance(names...)
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range table.Values {
				if math.Abs(v-want.AtVec(i)) > 1e-6 {
					t.Fatalf("cell %d of %v is %v, not %v", i, names, v, want.AtVec(i))
				}
				for _, variance := range []float64{table.Variances[i], stated} {
					if math.Abs(variance/spread.At(i, i)-1) > 1e-6 {
						t.Fatalf("cell %d of %v has the variance %v, not %v", i, names, variance, spread.At(i, i))
					}
				}
				sum += it.weight * it.count * spread.At(i, i)
				weights += it.weight * it.count
			}
			readsRight(t, e, it.members, random)
		}
		if w.colours == nil && math.Abs(math.Sqrt(sum/weights)/p.RMSE-1) > 1e-6 {
			t.Errorf("the plan states the error %v, and it is %v", p.RMSE, math.Sqrt(sum/weights))
		}
	}
}

// readsRight compares the variance of a random query by the coefficients that its margin uses with its covariance.
func readsRight(t *testing.T, e *Estimate, members []int, random *rand.Rand) {
	t.Helper()
	q := Query{}
	for _, m := range members {
		a := e.plan.Domain().attributes[m]
		for range a.Size {
			q[a.Name] = append(q[a.Name], float64(random.IntN(3)-1))
		}
	}
	want, err := e.Covariance(q, q)
	if err != nil {
		t.Fatal(err)
	}
	got := 0.0
	for i := range e.tables {
		e.readingOf(&e.tables[i], members, q).each(func(size, times float64) {
			got += times * size * size * e.tables[i].variance
		})
	}
	if math.Abs(got-want) > 1e-6*(1+want) {
		t.Errorf("the margin of %v reads noise of variance %v, not %v", q, got, want)
	}
}

// pseudoInverse returns the Moore–Penrose inverse of a symmetric matrix.
func pseudoInverse(m *mat.SymDense) *mat.Dense {
	n := m.SymmetricDim()
	var eigen mat.EigenSym
	eigen.Factorize(m, true)
	values := eigen.Values(nil)
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	scaled := mat.DenseCopyOf(&vectors)
	for j, v := range values {
		for i := range n {
			if v > 1e-9*values[n-1] {
				scaled.Set(i, j, scaled.At(i, j)/v)
			} else {
				scaled.Set(i, j, 0)
			}
		}
	}
	var out mat.Dense
	out.Mul(scaled, vectors.T())
	return &out
}

// TestConsistentPlansGain pins the errors under a price in ε, and compares them with those of the other strategies.
func TestConsistentPlansGain(t *testing.T) {
	sized := func(sizes ...int) *Domain {
		var all []Attribute
		for i, n := range sizes {
			all = append(all, Attribute{Name: string(rune('a' + i)), Size: n})
		}
		d, err := NewDomain(all...)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	for _, c := range []struct {
		domain *Domain
		ways   []int
		want   float64
	}{
		{sized(10, 2, 17), []int{1, 2}, 2.7776},
		{sized(5, 5, 5, 5, 5, 5, 5, 5), []int{1, 2, 3}, 42.8693},
		{sized(100, 100, 100, 99, 85, 42, 16, 15, 9, 7, 6, 5, 2, 2), []int{1, 2, 3}, 166.98},
		{sized(2, 2, 2, 2, 2, 2), []int{1, 2, 3}, 3.3631}, // the full table
	} {
		w, err := c.domain.Ways(c.ways...)
		if err != nil {
			t.Fatal(err)
		}
		choice := w.Choose(strategy.Epsilon)
		if choice.Chosen.Name != "consistent marginals" || choice.Chosen.Plan == nil || math.Abs(choice.Chosen.RMSE/c.want-1) > 1e-4 {
			t.Errorf("%v of %v: chosen is %s with %v", c.ways, c.domain.attributes, choice.Chosen.Name, choice.Chosen.RMSE)
		}
		for _, k := range choice.Candidates {
			if k.RMSE < choice.Chosen.RMSE*(1-1e-6) || k.RMSE < choice.Bound {
				t.Errorf("%s has %v, the chosen one %v, the bound is %v", k.Name, k.RMSE, choice.Chosen.RMSE, choice.Bound)
			}
		}
	}
	d, err := NewDomain(Attribute{Name: "a", Size: 5, Queries: Ranges})
	if err != nil {
		t.Fatal(err)
	}
	w, err := d.Ways(1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Consistent(); !errors.Is(err, ErrConsistent) {
		t.Errorf("ranges have a consistent plan: %v", err)
	}
}
