package strategy

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"

	"dither/internal/splitmix"
)

// PIdentity returns a strategy for Laplace noise of the form [I; B]·D: each cell, and p weighted sums of cells, where D
// scales every column to an L1 norm of 1 [McKenna, Miklau, Hay & Machanavajjhala, Optimizing error of high-dimensional
// statistical queries under differential privacy, VLDB 2018]. It minimises the RMSE over B ≥ 0, from several random
// beginnings with fixed seeds, so equal workloads give equal strategies. The minimum is local. p must be from 1 to the
// number of cells.
//
// The measured matrix is in multiples of 2⁻²⁰. Its expected errors are computed from these integers.
func PIdentity(w Workload, p, beginnings int) (*Strategy, error) {
	n := w.cells
	if n == 0 || n > MaxOptimised || p < 1 || p > n || beginnings < 1 || beginnings > 100 {
		return nil, fmt.Errorf("%w: p-identity needs 1 to %d cells, p from 1 to the cells, and 1 to 100 beginnings",
			ErrWorkload, MaxOptimised)
	}
	var best []float64
	least := math.Inf(1)
	for seed := range beginnings {
		random := splitmix.At(uint64(seed) + 1)
		roots := make([]float64, p*n)
		for i := range roots {
			roots[i] = math.Sqrt(float64(random.Word()>>11) * 0x1p-53)
		}
		f := &pLoss{w: w, p: p, n: n}
		result, err := optimize.Minimize(
			optimize.Problem{Func: f.value, Grad: f.gradient}, roots,
			&optimize.Settings{
				MajorIterations: 600,
				Converger:       &optimize.FunctionConverge{Relative: 2e-5, Iterations: 20},
			}, &optimize.LBFGS{Store: 20},
		)
		if result == nil {
			return nil, fmt.Errorf("%w: the optimisation failed: %w", ErrStrategy, err)
		}
		if result.F < least {
			least, best = result.F, result.X
		}
	}
	m := pMatrix(best, p, n)
	return New(fmt.Sprintf("p-identity(%d)", p), w, m, Epsilon)
}

// pMatrix returns [I; B]·D in multiples of 2⁻²⁰, where B has the squares of the roots.
func pMatrix(roots []float64, p, n int) Matrix {
	const bits = 20
	m := Matrix{Columns: n, Rows: make([]Row, 0, n+p)}
	scale := make([]float64, n)
	for j := range scale {
		sum := 1.0
		for i := range p {
			sum += roots[i*n+j] * roots[i*n+j]
		}
		scale[j] = math.Ldexp(1/sum, bits)
		m.Rows = append(m.Rows, Row{First: j, Entries: []int64{max(1, int64(math.Round(scale[j])))}})
	}
	for i := range p {
		r := Row{Entries: make([]int64, n)}
		for j := range r.Entries {
			r.Entries[j] = int64(math.Round(roots[i*n+j] * roots[i*n+j] * scale[j]))
		}
		m.Rows = append(m.Rows, r)
	}
	return m
}

// pLoss is the loss of a p-identity strategy as a function of the roots of B's entries.
//
// With s_j = 1 + Σ_i B_ij, S their diagonal, C = SVS and P = I + BBᵀ, the loss is tr(C) − tr(P⁻¹·BCBᵀ), by Woodbury's
// identity. With K = P⁻¹BC its derivative by B_ij is (2/s_j)·(C_jj − Σ_k B_kj·K_kj) − 2·(K − K·Bᵀ·P⁻¹·B)_ij.
type pLoss struct {
	w    Workload
	p, n int
	at   []float64 // the roots of the last evaluation, nil before the first
	loss float64
	by   []float64 // the gradient there
	diag []float64 // the diagonal of V
}

func (f *pLoss) value(x []float64) float64 {
	f.evaluate(x)
	return f.loss
}

func (f *pLoss) gradient(grad, x []float64) {
	f.evaluate(x)
	copy(grad, f.by)
}

func (f *pLoss) evaluate(x []float64) {
	if f.at != nil && equal(f.at, x) {
		return
	}
	p, n := f.p, f.n
	if f.at == nil {
		f.at, f.by, f.diag = make([]float64, p*n), make([]float64, p*n), f.w.diagonal()
	}
	copy(f.at, x)
	b := mat.NewDense(p, n, nil)
	flat := b.RawMatrix().Data
	s := make([]float64, n)
	for j := range s {
		s[j] = 1
	}
	for i, v := range x {
		flat[i] = v * v
		s[i%n] += v * v
	}
	bc, row := mat.NewDense(p, n, nil), make([]float64, n)
	for i := range p {
		for j, v := range b.RawRowView(i) {
			row[j] = v * s[j]
		}
		out := bc.RawRowView(i)
		f.w.gramTimes(row, out)
		for j := range out {
			out[j] *= s[j]
		}
	}
	gram := mat.NewSymDense(p, nil)
	gram.SymOuterK(1, b)
	for i := range p {
		gram.SetSym(i, i, gram.At(i, i)+1)
	}
	var factor mat.Cholesky
	k, q, h, hq := mat.NewDense(p, n, nil), mat.NewDense(p, n, nil), mat.NewDense(p, p, nil), mat.NewDense(p, n, nil)
	if !factor.Factorize(gram) || factor.SolveTo(k, bc) != nil || factor.SolveTo(q, b) != nil {
		f.loss = math.Inf(1)
		return
	}
	h.Mul(k, b.T())
	hq.Mul(h, q)
	kFlat, hqFlat := k.RawMatrix().Data, hq.RawMatrix().Data
	kept := make([]float64, n) // C_jj − Σ_k B_kj·K_kj
	for j := range kept {
		kept[j] = s[j] * s[j] * f.diag[j]
	}
	for i, v := range flat {
		kept[i%n] -= v * kFlat[i]
	}
	f.loss = 0
	for _, v := range kept {
		f.loss += v
	}
	for i := range f.by {
		j := i % n
		f.by[i] = 2 * x[i] * (2/s[j]*kept[j] - 2*(kFlat[i]-hqFlat[i]))
	}
}

func equal(a, b []float64) bool {
	for i, v := range a {
		if v != b[i] {
			return false
		}
	}
	return true
}

// diagonal returns the diagonal of V.
func (w Workload) diagonal() []float64 {
	out := make([]float64, w.cells)
	for _, p := range w.parts {
		for j := range out {
			if p.family != explicit && p.family != listed {
				out[j] += p.weight * p.common(w.cells, j, j)
			}
		}
		for _, q := range p.pairs {
			for j := q[0]; j < q[1]; j++ {
				out[j] += p.weight
			}
		}
		for _, row := range p.rows {
			for j, v := range row {
				out[j] += p.weight * v * v
			}
		}
	}
	return out
}

// gramTimes sets out to V·x, in a time that is linear in the cells for families of intervals.
func (w Workload) gramTimes(x, out []float64) {
	n := w.cells
	clear(out)
	for _, p := range w.parts {
		switch p.family {
		case prefixes: // V_ij = n − max(i, j)
			before, after := 0.0, 0.0
			for j, v := range x {
				after += v * float64(n-j)
			}
			for i, v := range x {
				before, after = before+v, after-v*float64(n-i)
				out[i] += p.weight * (before*float64(n-i) + after)
			}
		case ranges: // V_ij = (min + 1)·(n − max)
			before, after := 0.0, 0.0
			for j, v := range x {
				after += v * float64(n-j)
			}
			for i, v := range x {
				before, after = before+v*float64(i+1), after-v*float64(n-i)
				out[i] += p.weight * (before*float64(n-i) + after*float64(i+1))
			}
		case windows:
			sums := make([]float64, n+1)
			for i, v := range x {
				sums[i+1] = sums[i] + v
			}
			total := 0.0 // of the windows that hold a cell
			for i := range n {
				if i+p.width <= n {
					total += sums[i+p.width] - sums[i]
				}
				if i >= p.width {
					total -= sums[i] - sums[i-p.width]
				}
				out[i] += p.weight * total
			}
		case listed:
			sums, change := make([]float64, n+1), make([]float64, n+1)
			for i, v := range x {
				sums[i+1] = sums[i] + v
			}
			for _, q := range p.pairs {
				total := sums[q[1]] - sums[q[0]]
				change[q[0]] += total
				change[q[1]] -= total
			}
			total := 0.0
			for i := range n {
				total += change[i]
				out[i] += p.weight * total
			}
		default:
			for _, row := range p.rows {
				total := 0.0
				for j, v := range row {
					total += v * x[j]
				}
				for j, v := range row {
					out[j] += p.weight * total * v
				}
			}
		}
	}
}
