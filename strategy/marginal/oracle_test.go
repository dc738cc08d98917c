package marginal

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"dither/strategy"
)

// kron returns the Kronecker product of matrices.
func kron(factors ...mat.Matrix) *mat.Dense {
	out := mat.NewDense(1, 1, []float64{1})
	for _, f := range factors {
		var next mat.Dense
		next.Kronecker(out, f)
		out = &next
	}
	return out
}

// ones returns a row of ones.
func ones(n int) *mat.Dense {
	out := mat.NewDense(1, n, nil)
	for j := range n {
		out.Set(0, j, 1)
	}
	return out
}

// asked returns the matrix of an attribute's queries.
func asked(a Attribute) *mat.Dense {
	var rows []float64
	if a.Queries == Values {
		return mat.DenseCopyOf(identity(a.Size))
	}
	a.each(func(from, to int) {
		row := make([]float64, a.Size)
		for i := from; i < to; i++ {
			row[i] = 1
		}
		rows = append(rows, row...)
	})
	return mat.NewDense(len(rows)/a.Size, a.Size, rows)
}

// matrix returns R.
func (f *factor) matrix() *mat.Dense {
	out := mat.NewDense(f.size, f.size, nil)
	for i := range f.size {
		for j := range f.size {
			switch {
			case f.rows != nil:
				out.Set(i, j, float64(f.rows[i][j]))
			case i == j:
				out.Set(i, j, float64(f.size)-1)
			default:
				out.Set(i, j, -1)
			}
		}
	}
	return out
}

// variances returns the variance of every query of a workload, by dense least squares from the plan's matrices, and the
// weights. Each subset's matrix is scaled to the sensitivity that its share of the price allows.
func variances(p *Plan) (all, weights []float64) {
	w := p.residuals.workload
	d := w.domain
	n := int(d.cells(everything(d)))
	gram := mat.NewSymDense(n, nil)
	seen := map[subset]bool{}
	w.each(func(members []int) {
		subsets(members, func(s subset) {
			if seen[s] {
				return
			}
			seen[s] = true
			for _, m := range s.members() {
				if d.attributes[m].Size == 1 {
					return
				}
			}
			var parts []mat.Matrix
			for i, a := range d.attributes {
				if s.has(i) {
					parts = append(parts, p.factors[i].matrix())
				} else {
					parts = append(parts, ones(a.Size))
				}
			}
			r := kron(parts...)
			rows, columns := r.Dims()
			most := 0.0 // the squared sensitivity
			for j := range columns {
				norm := 0.0
				for i := range rows {
					if p.unit == strategy.Epsilon {
						norm += math.Abs(r.At(i, j))
					} else {
						norm += r.At(i, j) * r.At(i, j)
					}
				}
				if p.unit == strategy.Epsilon {
					norm *= norm
				}
				most = max(most, norm)
			}
			class, _ := p.residuals.class(s)
			share := p.shares[class]
			if p.unit == strategy.Epsilon {
				share *= share
			}
			var x mat.Dense
			x.Mul(r.T(), r)
			for i := range n {
				for j := i; j < n; j++ {
					gram.SetSym(i, j, gram.At(i, j)+x.At(i, j)*share/most)
				}
			}
		})
	})
	inverse := power(gram, func(e float64) float64 { return 1 / e })
	for _, it := range expanded(w) {
		in := of(it.members...)
		var parts []mat.Matrix
		for i, a := range d.attributes {
			if in.has(i) {
				parts = append(parts, asked(a))
			} else {
				parts = append(parts, ones(a.Size))
			}
		}
		q := kron(parts...)
		var half, full mat.Dense
		half.Mul(q, inverse)
		full.Mul(&half, q.T())
		rows, _ := q.Dims()
		for i := range rows {
			all = append(all, full.At(i, i))
			weights = append(weights, it.weight)
		}
	}
	return all, weights
}

// everything returns all positions.
func everything(d *Domain) []int {
	out := make([]int, len(d.attributes))
	for i := range out {
		out[i] = i
	}
	return out
}

// expanded returns every marginal of a workload.
func expanded(w *Workload) (out []item) {
	if w.colours == nil {
		return w.items
	}
	w.each(func(members []int) {
		out = append(out, item{append([]int(nil), members...), 1, 1})
	})
	return out
}

// TestErrorsAreThoseOfLeastSquares compares the closed forms of every candidate with dense least squares on small
// domains, for all kinds of queries, both families of noise, and symmetric and other workloads.
func TestErrorsAreThoseOfLeastSquares(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		var attributes []Attribute
		for i := range 1 + random.IntN(3) {
			attributes = append(attributes, Attribute{fmt.Sprint(i), 1 + random.IntN(4), Queries(random.IntN(3))})
		}
		d, err := NewDomain(attributes...)
		if err != nil {
			t.Fatal(err)
		}
		w := randomWorkload(t, random, d)
		for _, n := range []strategy.Unit{strategy.Rho, strategy.Epsilon} {
			c := w.Choose(n)
			if c.Plan == nil || n == strategy.Rho && c.Plan != c.Chosen.Plan {
				t.Errorf("%v %+v price %v: the plan is %v, the chosen candidate %v", attributes, w.items, n, c.Plan, c.Chosen)
			}
			for _, k := range c.Candidates {
				if k.RMSE < c.Bound || k.RMSE < c.Chosen.RMSE*(1-1e-8) {
					t.Errorf("%v %+v: %s has the RMSE %v; the chosen one has %v, and the bound is %v",
						attributes, w.items, k.Name, k.RMSE, c.Chosen.RMSE, c.Bound)
				}
				if k.Plan == nil || k.Plan.tables != nil { // see TestConsistentPlansAreLeastSquares
					continue
				}
				all, weights := variances(k.Plan)
				sum, most, total := 0.0, 0.0, 0.0
				for i, v := range all {
					sum += weights[i] * v
					total += weights[i]
					most = max(most, v)
				}
				if got := math.Sqrt(sum / total); math.Abs(got/k.RMSE-1) > 1e-7 {
					t.Errorf("%v %+v price %v: %s states the RMSE %v, least squares has %v",
						attributes, w.items, n, k.Name, k.RMSE, got)
				}
				if got := math.Sqrt(most); got > k.Maximum*(1+1e-7) || !k.Plan.Rough && got < k.Maximum*(1-1e-7) {
					t.Errorf("%v %+v price %v: %s states the maximum %v, least squares has %v",
						attributes, w.items, n, k.Name, k.Maximum, got)
				}
				if k.Maximum < c.Least {
					t.Errorf("%v %+v: %s has the maximum %v below the bound %v", attributes, w.items, k.Name, k.Maximum, c.Least)
				}
			}
		}
	}
}

// randomWorkload returns ways, or a list of marginals with weights.
func randomWorkload(t *testing.T, random *rand.Rand, d *Domain) *Workload {
	t.Helper()
	var w *Workload
	var err error
	if random.IntN(2) == 0 {
		w, err = d.Ways(random.Perm(len(d.attributes) + 1)[:1+random.IntN(len(d.attributes))]...)
	} else {
		var list []Marginal
		for mask := range 1 << len(d.attributes) {
			if random.IntN(2) == 0 && len(list) > 0 {
				continue
			}
			m := Marginal{Weight: float64(1 + random.IntN(9))}
			for i, a := range d.attributes {
				if mask>>i&1 == 1 {
					m.Attributes = append(m.Attributes, a.Name)
				}
			}
			list = append(list, m)
		}
		w, err = d.Marginals(list...)
	}
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestSharesAddUp checks that all subsets together have the whole price.
func TestSharesAddUp(t *testing.T) {
	d, _ := NewDomain(
		Attribute{"a", 3, Values}, Attribute{"b", 3, Values}, Attribute{"c", 5, Prefixes}, Attribute{"d", 1, Values},
	)
	w, err := d.Ways(1, 3)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []strategy.Unit{strategy.Rho, strategy.Epsilon} {
		p := w.Decomposition(n)
		sum := 0.0
		for class, s := range p.shares {
			sum += s * p.residuals.count[class]
		}
		if math.Abs(sum-1) > 1e-12 {
			t.Errorf("price %v: the shares add up to %v", n, sum)
		}
	}
}

// TestPlainValuesAttainTheBound checks that no strategy beats ResidualPlanner on plain marginals.
func TestPlainValuesAttainTheBound(t *testing.T) {
	d, _ := NewDomain(Attribute{"a", 3, Values}, Attribute{"b", 7, Values}, Attribute{"c", 2, Values})
	w, err := d.Ways(1, 2)
	if err != nil {
		t.Fatal(err)
	}
	c := w.Choose(strategy.Rho)
	if c.Chosen.Name != "residual planner (sum)" || c.Chosen.RMSE > c.Bound*(1+2*slack) {
		t.Errorf("chosen: %+v, bound %v", c.Chosen, c.Bound)
	}
	for _, k := range c.Candidates {
		if k.Name == "residual planner (maximum)" && k.Maximum > c.Least*(1+2*gapWanted) {
			t.Errorf("the least maximum %v is not certified: the bound is %v", k.Maximum, c.Least)
		}
	}
}

// TestDecompositionGains checks that prefixes and ranges gain from the decomposition.
func TestDecompositionGains(t *testing.T) {
	for _, q := range []Queries{Prefixes, Ranges} {
		d, _ := NewDomain(Attribute{"a", 32, q}, Attribute{"b", 5, Values}, Attribute{"c", 32, q})
		w, err := d.Ways(1, 2)
		if err != nil {
			t.Fatal(err)
		}
		c := w.Choose(strategy.Rho)
		if rp := c.Candidates[2].RMSE; c.Chosen.Name != "decomposition" || c.Chosen.RMSE > .7*rp {
			t.Errorf("%v: decomposition %v, residual planner %v", q, c.Chosen.RMSE, rp)
		}
		if c.Chosen.RMSE > 1.2*c.Bound {
			t.Errorf("%v: the RMSE is %v, the bound %v", q, c.Chosen.RMSE, c.Bound)
		}
	}
}

// TestManyAttributes plans all marginals of up to three of 100 attributes with ten values, and of 20 different ones.
func TestManyAttributes(t *testing.T) {
	var same, different []Attribute
	for i := range 100 {
		same = append(same, Attribute{fmt.Sprint(i), 10, Values})
		different = append(different, Attribute{fmt.Sprint(i), 10 + i, Values})
	}
	d, _ := NewDomain(same...)
	w, err := d.Ways(1, 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	c := w.Choose(strategy.Rho)
	if len(w.items) != 3 || w.Count() != 166_750 || c.Chosen.RMSE > c.Bound*(1+2*slack) {
		t.Errorf("%d classes of %v marginals: RMSE %v, bound %v", len(w.items), w.Count(), c.Chosen.RMSE, c.Bound)
	}
	d, _ = NewDomain(different[:20]...)
	if w, err = d.Ways(1, 2, 3); err != nil {
		t.Fatal(err)
	}
	if p := w.Sum(strategy.Rho); p.RMSE > w.Bound()*(1+2*slack) {
		t.Errorf("RMSE %v, bound %v", p.RMSE, w.Bound())
	}
}
