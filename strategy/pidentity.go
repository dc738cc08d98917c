package strategy

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"

	"dither/internal/splitmix"
)

// PIdentity returns a strategy for Laplace noise of the form [I; B]·D: each cell, and p weighted sums of cells, where D
// scales every column to an L1 norm of 1 [McKenna, Miklau, Hay & Machanavajjhala, Optimizing error of high-dimensional
// statistical queries under differential privacy, VLDB 2018]. It minimises the RMSE over B ≥ 0 from several beginnings.
// The beginnings are fixed, so equal workloads give equal strategies. The minimum is local. p must be from 1 to the
// number of cells.
//
// The search first takes the entries of B to be equal in groups of neighbouring cells, which makes a step cheap. It goes
// on from the best beginning with groups of half the size, down to single cells.
//
// The measured matrix is in multiples of 2⁻²⁰. Its expected errors are computed from these integers.
func PIdentity(w Workload, p int) (*Strategy, error) {
	n := w.cells
	if n == 0 || n > MaxOptimised || p < 1 || p > n {
		return nil, fmt.Errorf("%w: p-identity needs 1 to %d cells, and p from 1 to the cells", ErrWorkload, MaxOptimised)
	}
	f := &pLoss{w: w, p: p, width: 1}
	for p*f.groups() > mostFirst {
		f.width *= 2
	}
	best, err := f.firstRoots()
	for err == nil && f.width > 1 {
		groups := f.groups()
		f = &pLoss{w: w, p: p, width: f.width / 2}
		finer := make([]float64, p*f.groups())
		for i := range finer {
			finer[i] = best[i/f.groups()*groups+i%f.groups()/2]
		}
		best, _, err = f.descend(finer, laterSteps)
	}
	if err != nil {
		return nil, err
	}
	return New(fmt.Sprintf("p-identity(%d)", p), w, pMatrix(best, p, n), Epsilon)
}

// Limits of the search: the entries of B in the first stage, and the steps of the optimiser in a stage.
const (
	mostFirst  = 1 << 13
	firstSteps = 300
	laterSteps = 200
)

// firstRoots returns the best local minimum from several beginnings: two layers of overlapping bumps, with different
// numbers of wide ones, and random numbers. Minima that the search finds from random numbers have the form of the two
// layers, but with sums that measure nothing.
func (f *pLoss) firstRoots() (best []float64, err error) {
	var beginnings [][]float64
	for seed := range min(4, max(1, 64/f.p)) {
		random, roots := splitmix.At(uint64(seed)+1), make([]float64, f.p*f.groups())
		for i := range roots {
			roots[i] = math.Sqrt(float64(random.Word()>>11) * 0x1p-53)
		}
		beginnings = append(beginnings, roots)
	}
	for _, wide := range slices.Compact([]int{(f.p + 8) / 16, (f.p + 5) / 11, (f.p + 4) / 8}) {
		beginnings = append(beginnings, f.layers(wide))
	}
	least := math.Inf(1)
	for _, roots := range beginnings {
		found, loss, err := f.descend(roots, firstSteps)
		if err != nil {
			return nil, err
		}
		if loss < least {
			best, least = found, loss
		}
	}
	return best, nil
}

// layers returns the roots of a B with two layers of overlapping bumps over all cells: some wide ones, and the other
// sums as narrow ones. All entries are above 0, because the gradient by a root is 0 at 0.
func (f *pLoss) layers(wide int) []float64 {
	const height, floor = 0.7, 1e-4
	n := f.groups()
	roots := make([]float64, f.p*n)
	for i := range roots {
		at, count := i/n, wide
		if at >= wide {
			at, count = at-wide, f.p-wide
		}
		place := (float64(i%n) + 0.5) / float64(n) * float64(count) // in distances of neighbouring bumps
		roots[i] = math.Sqrt(height*max(0, 1-math.Abs(place-float64(at)-0.5)) + floor)
	}
	return roots
}

// descend returns the local minimum that the optimiser reaches from a beginning, or gets near to in so many steps.
func (f *pLoss) descend(roots []float64, steps int) ([]float64, float64, error) {
	result, err := optimize.Minimize(
		optimize.Problem{Func: f.value, Grad: f.gradient}, roots,
		&optimize.Settings{
			MajorIterations: steps,
			Converger:       &optimize.FunctionConverge{Relative: 1e-5, Iterations: 20},
		}, &optimize.LBFGS{Store: 20},
	)
	if result == nil {
		return nil, 0, fmt.Errorf("%w: the optimisation failed: %w", ErrStrategy, err)
	}
	return result.X, result.F, nil
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

// pLoss is the loss of a p-identity strategy whose B has equal entries in each group of neighbouring columns, as a
// function of the roots of these entries. With groups of one cell it is any B.
//
// With s_j = 1 + Σ_i B_ij, S their diagonal, C = SVS and P = I + BBᵀ, the loss is tr(C) − tr(P⁻¹·BCBᵀ), by Woodbury's
// identity. With K = P⁻¹BC its derivative by B_ij is (2/s_j)·(C_jj − Σ_k B_kj·K_kj) − 2·(K − K·Bᵀ·P⁻¹·B)_ij. The
// derivative by an entry of a group is the sum over its columns. With one column of B, s and K for each group, C is
// S·V′·S for the block sums V′ of V, and products over columns take the number of a group's cells.
type pLoss struct {
	w     Workload
	p     int
	width int // the cells of a group; the last group may have fewer

	at   []float64 // the roots of the last evaluation, nil before the first
	loss float64
	by   []float64 // the gradient there
	diag []float64 // for each group, the sum of its part of the diagonal of V
	size []float64 // for each group, its cells
}

// groups returns the number of groups.
func (f *pLoss) groups() int { return (f.w.cells + f.width - 1) / f.width }

func (f *pLoss) value(x []float64) float64 {
	f.evaluate(x)
	return f.loss
}

func (f *pLoss) gradient(grad, x []float64) {
	f.evaluate(x)
	copy(grad, f.by)
}

// prepare computes the parts of the loss that do not depend on B.
func (f *pLoss) prepare() {
	n := f.groups()
	f.at, f.by, f.diag, f.size = make([]float64, f.p*n), make([]float64, f.p*n), make([]float64, n), make([]float64, n)
	for j, v := range f.w.diagonal() {
		f.diag[j/f.width] += v
		f.size[j/f.width]++
	}
}

func (f *pLoss) evaluate(x []float64) {
	if f.at != nil && slices.Equal(f.at, x) {
		return
	}
	p, n := f.p, f.groups()
	if f.at == nil {
		f.prepare()
	}
	copy(f.at, x)
	b, sized := mat.NewDense(p, n, nil), mat.NewDense(p, n, nil) // sized is B times the roots of the groups' sizes
	flat := b.RawMatrix().Data
	s := make([]float64, n)
	for j := range s {
		s[j] = 1
	}
	for i, v := range x {
		flat[i] = v * v
		s[i%n] += v * v
		sized.RawMatrix().Data[i] = v * v * math.Sqrt(f.size[i%n])
	}
	bc, cells, sums := mat.NewDense(p, n, nil), make([]float64, f.w.cells), make([]float64, f.w.cells)
	for i := range p {
		row := b.RawRowView(i)
		for j := range cells {
			cells[j] = row[j/f.width] * s[j/f.width]
		}
		f.w.gramTimes(cells, sums)
		out := bc.RawRowView(i)
		for j, v := range sums {
			out[j/f.width] += v
		}
		for j := range out {
			out[j] *= s[j]
		}
	}
	gram := mat.NewSymDense(p, nil)
	gram.SymOuterK(1, sized)
	for i := range p {
		gram.SetSym(i, i, gram.At(i, i)+1)
	}
	var factor mat.Cholesky
	k, h, hq := mat.NewDense(p, n, nil), mat.NewDense(p, p, nil), mat.NewDense(p, n, nil) // hq is K·Bᵀ·P⁻¹·B
	if !factor.Factorize(gram) || factor.SolveTo(k, bc) != nil {
		f.loss = math.Inf(1)
		return
	}
	h.Mul(b, k.T())
	if factor.SolveTo(h, h) != nil {
		f.loss = math.Inf(1)
		return
	}
	hq.Mul(h.T(), b)
	kFlat, hqFlat := k.RawMatrix().Data, hq.RawMatrix().Data
	kept := make([]float64, n) // Σ over the group of C_jj − Σ_k B_kj·K_kj
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
		f.by[i] = 2 * x[i] * (2/s[j]*kept[j] - 2*(kFlat[i]-f.size[j]*hqFlat[i]))
	}
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
