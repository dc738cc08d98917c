package strategy

import (
	"errors"
	"fmt"
	"math"
	"math/big"

	"gonum.org/v1/gonum/mat"

	"dither/mechanism/stream"
	"dither/privacy"
)

// Running is a workload of sums over time, which a stream releases after each of its steps: sum t is Σ_{j≤t}
// weights[t−j]·x_j. The zero Running has no steps; make one with [Totals], [LastSums] or [FadingSums].
type Running struct {
	weights []float64 // by the age of a step; weights[0] is 1
	decay   float64   // if positive, weights[k] = decay^k
}

// Totals returns the running totals of n steps.
func Totals(n int) (Running, error) { return FadingSums(n, 1) }

// LastSums returns the sums of the last `width` steps, or of all steps as long as there are fewer.
func LastSums(n, width int) (Running, error) {
	if width < 1 || width > n {
		return Running{}, fmt.Errorf("%w: a window must have from 1 to %d steps, not %d", ErrWorkload, n, width)
	}
	if width == n {
		return Totals(n)
	}
	return running(n, 0, func(age int) float64 {
		if age < width {
			return 1
		}
		return 0
	})
}

// FadingSums returns the sums of all steps in which a step of age k has the weight decay^k. The decay must be above 0 and
// at most 1.
func FadingSums(n int, decay float64) (Running, error) {
	if !(decay > 0 && decay <= 1) {
		return Running{}, fmt.Errorf("%w: a decay must be above 0 and at most 1", ErrWorkload)
	}
	return running(n, decay, func(age int) float64 { return math.Pow(decay, float64(age)) })
}

func running(n int, decay float64, weight func(age int) float64) (Running, error) {
	if n < 1 || n > MaxCells {
		return Running{}, fmt.Errorf("%w: the number of steps must be from 1 to %d, not %d", ErrWorkload, MaxCells, n)
	}
	r := Running{weights: make([]float64, n), decay: decay}
	for k := range r.weights {
		r.weights[k] = weight(k)
	}
	return r, nil
}

// Limits describe the rows of a unit that a stream counts, as [stream.Continual] does. Rows is at least 1.
type Limits struct {
	Rows, PerPeriod int64
	Neighbours      privacy.Neighbours
}

// Factorization is a lower triangular matrix C of integers. A stream measures Cx + z, step by step, and computes its sums
// from that.
type Factorization struct {
	Name   string
	Matrix *stream.Factor
	// Expected has the errors of the sums, in units of the noise of a count of Rows rows of a unit: that of the identity
	// if all rows may share a period.
	Expected
}

// FactorChoice is the outcome of a comparison of factorizations, by the largest error of a sum.
type FactorChoice struct {
	Candidates []Candidate
	Chosen     *Factorization
	// Bound is a certified lower bound on the largest standard deviation of a sum, for every matrix that is measured
	// with Gaussian noise, triangular or not. It is low if PerPeriod is below Rows.
	Bound float64
}

const (
	// factorBits is the number of binary digits after the point of the entries of a Factorization. Their squares add up
	// to less than 2⁶³ in a column.
	factorBits = 25
	// mostFading and mostWindows are the largest numbers of steps for which the factorization of least error is computed.
	// Each step of the ascent takes a dense root for windows, which takes about two seconds for 1,100 steps.
	mostFading, mostWindows = MaxOptimised, 1100
	// fewWindows is the largest number of steps for which the ascent for windows begins with equal weights. A longer stream
	// begins with the weights of a stream of half its length, whose windows are as long in proportion.
	fewWindows = 128
	// leastGain is the least relative gain for which a matrix that is not Toeplitz is chosen, whose entries are many.
	leastGain = 0.005
)

// Factorize compares factorizations for a stream's sums, by their largest expected error: the identity, the square root of
// the workload [Fichtenberger, Henzinger & Upadhyay 2023], and the factorization of least maximum error among all matrices,
// if the stream is short enough to compute it. If the rows of a unit cannot all arrive in one step, it also compares banded
// square roots and smaller powers of fading sums.
//
// With W the workload and X = CᵀC, the problem is min max_t (W·X⁻¹·Wᵀ)_tt with X_jj ≤ 1. The largest of several numbers is
// at least every weighted mean of them. So for weights z > 0 on the sums and y > 0 on the steps, the duality of [Optimal]
// gives the lower bound T(y, z)²/(Σy·Σz) on the variance, where T is the trace of (D^½·WᵀZW·D^½)^½, the sum of the singular
// values of Z^½·W·D^½. Reversing the order of the steps turns W into Wᵀ, so the optimum has z equal to y reversed. The code
// ascends to it as [Optimal] does, and C is the lower triangular factor of X. A bound for the first steps of a stream holds
// for the whole stream, which has these sums among others, and whose matrix has no shorter columns.
func Factorize(r Running, l Limits) (*FactorChoice, error) {
	n := len(r.weights)
	if n == 0 {
		return nil, fmt.Errorf("%w: it has no steps", ErrWorkload)
	}
	rho, err := privacy.ParseRho("1")
	if err != nil {
		return nil, err
	}
	m := stream.Continual{
		Periods: n, Cells: 1, Rows: l.Rows, PerPeriod: l.PerPeriod, Neighbours: l.Neighbours, Rho: rho,
	}
	if _, err := m.Noise(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrWorkload, err)
	}
	var c FactorChoice
	add := func(f *Factorization, err error) error {
		if err != nil {
			return err
		}
		m.Factor = f.Matrix
		noise := noiseOf(m)
		f.Maximum, f.RMSE = f.Maximum*noise, f.RMSE*noise
		c.Candidates = append(c.Candidates, Candidate{f.Name, f.Expected})
		gain := 0.0
		if f.Name == leastMaximum {
			gain = leastGain
		}
		if c.Chosen == nil || f.Maximum < c.Chosen.Maximum*(1-gain) {
			c.Chosen = f
		}
		return nil
	}
	identity := make([]float64, n)
	identity[0] = 1
	if err := add(r.toeplitz("identity", identity)); err != nil {
		return nil, err
	}
	if err := add(r.toeplitz("square root", seriesRoot(r.weights))); err != nil {
		return nil, err
	}
	if l.apart() {
		further, err := r.apart(l)
		for _, f := range further {
			err = errors.Join(err, add(f, nil))
		}
		if err != nil {
			return nil, err
		}
	}
	short := r
	if most := r.most(); n > most {
		short.weights = r.weights[:most]
	}
	y, bound := short.ascend()
	c.Bound = math.Sqrt(bound)
	if l.apart() {
		c.Bound = short.boundApart(c.Bound, l)
	}
	if len(short.weights) == n && c.Chosen.Maximum > c.Bound*(1+leastGain) {
		x, err := factor(gramOf(r.roots(reversed(y)).full(y), y))
		if err != nil {
			return nil, err
		}
		if err := add(r.triangular(leastMaximum, x)); err != nil {
			return nil, err
		}
	}
	c.Bound = math.Min(c.Bound, c.Chosen.Maximum)
	return &c, nil
}

// leastMaximum is the name of the factorization of least maximum error.
const leastMaximum = "least maximum"

// noiseOf returns the standard deviation of a stream's noise in units of 2^−factorBits, divided by that of a count of all
// rows of a unit.
func noiseOf(m stream.Continual) float64 {
	alone := new(big.Int).Mul(big.NewInt(m.Rows), big.NewInt(m.Rows))
	if m.Neighbours != privacy.AddRemove {
		alone.Lsh(alone, 1)
	}
	ratio, _ := new(big.Rat).SetFrac(m.L2Squared(), alone).Float64()
	return math.Ldexp(math.Sqrt(ratio), -factorBits)
}

// most returns the largest number of steps for which the factorization of least error is computed.
func (r Running) most() int {
	if r.decay > 0 {
		return mostFading
	}
	return mostWindows
}

// roots returns the roots of the sums with weights z.
func (r Running) roots(z []float64) roots {
	if r.decay > 0 {
		return fadingRoots(z, r.decay)
	}
	return &mirrored{r.weights}
}

// ascend maximises T(y, z)²/(Σy·Σz) over y, where z is y reversed. It returns weights with the best bound that it met, or
// better ones, whose bound it had no step left to compute.
func (r Running) ascend() (best []float64, bound float64) {
	y := r.start()
	power := 1.0
	if len(y) > fewWindows && r.decay == 0 {
		power = 1.7 // few steps are left for windows, and begin near the optimum
	}
	for step := range r.steps() {
		m, trace := r.roots(reversed(y)).diagonal(y)
		sum, gap := 0.0, 0.0
		for _, v := range y {
			sum += v
		}
		if value := trace / sum * trace / sum; value > bound {
			bound, best = value, append(best[:0], y...)
		}
		for i := range y {
			gap = max(gap, m[i]/y[i]*sum/trace-1)
		}
		if gap < 1e-3 {
			break
		}
		for i := range y {
			y[i] *= math.Pow(m[i]/y[i]*sum/trace, power)
		}
		if step+1 == r.steps() {
			best = y
		}
	}
	return best, bound
}

// start returns the weights with which the ascent begins. Any positive weights give a valid bound.
func (r Running) start() []float64 {
	n := len(r.weights)
	y := make([]float64, n)
	for i := range y {
		y[i] = 1
	}
	if r.decay > 0 || n <= fewWindows {
		return y
	}
	half := n/2 + 1
	scale := float64(n) / float64(half)
	short := Running{weights: make([]float64, half)}
	for k := range short.weights { // the weight of the age in its middle
		short.weights[k] = r.weights[int((float64(k)+0.5)*scale)]
	}
	short.weights[0] = 1
	of, _ := short.ascend()
	for i := range y {
		at := min(max((float64(i)+0.5)/scale-0.5, 0), float64(half-1))
		k := min(int(at), half-2)
		y[i] = of[k] + (at-float64(k))*(of[k+1]-of[k])
	}
	return y
}

// steps returns the most steps of an ascent. Those of windows take a dense root.
func (r Running) steps() int {
	n := len(r.weights)
	switch {
	case r.decay > 0:
		return 1000
	case n <= fewWindows:
		return 100
	}
	return min(20, max(1, 1_000_000_000/(n*n*n)))
}

// reversed returns the numbers in reverse order.
func reversed(y []float64) []float64 {
	out := make([]float64, len(y))
	for i, v := range y {
		out[len(y)-1-i] = v
	}
	return out
}

// mirrored computes the roots of sums whose weights z are y reversed. Let B = Z^½·W·D^½, and let J reverse the order of
// the steps. W is Toeplitz, so J·B·J = Bᵀ, and J·B is symmetric. So M = (BᵀB)^½ has the eigenvectors of J·B, and the
// absolute values of its eigenvalues.
type mirrored struct{ weights []float64 }

func (r *mirrored) diagonal(y []float64) (m []float64, trace float64) {
	full, trace := r.root(y)
	m = make([]float64, len(y))
	for i := range m {
		m[i] = full.At(i, i)
	}
	return m, trace
}

func (r *mirrored) full(y []float64) *mat.SymDense {
	full, _ := r.root(y)
	return full
}

// root returns M, and a lower bound on its trace: see squareRoot.
func (r *mirrored) root(y []float64) (root *mat.SymDense, trace float64) {
	n := len(y)
	flipped := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n && j <= n-1-i; j++ {
			flipped.SetSym(i, j, math.Sqrt(y[i]*y[j])*r.weights[n-1-i-j])
		}
	}
	if n >= reducedFrom {
		var square mat.SymDense
		square.SymOuterK(1, flipped)
		return fullRoot(&square)
	}
	root = mat.NewSymDense(n, nil)
	var eigen mat.EigenSym
	if !eigen.Factorize(flipped, true) {
		return root, 0
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	values := eigen.Values(nil)
	doubt := 4 * float64(n) * 0x1p-53 * max(math.Abs(values[0]), math.Abs(values[n-1]))
	for k, v := range values {
		trace += max(math.Abs(v)-doubt, 0)
		f := math.Sqrt(math.Abs(v))
		for i := range n {
			vectors.Set(i, k, vectors.At(i, k)*f)
		}
	}
	root.SymOuterK(1, &vectors)
	return root, trace
}

// seriesRoot returns the power series whose square is the given one, which begins with 1.
func seriesRoot(a []float64) []float64 {
	f := make([]float64, len(a))
	f[0] = 1
	for k := 1; k < len(a); k++ {
		sum := a[k]
		for i := 1; i < k; i++ {
			sum -= f[i] * f[k-i]
		}
		f[k] = sum / 2
	}
	return f
}

// toeplitz returns a factorization by a Toeplitz matrix, with the errors of the sums for noise of deviation 2^factorBits. Row
// t of W·C⁻¹ begins with the entries of the series weights/column.
func (r Running) toeplitz(name string, column []float64) (*Factorization, error) {
	entries := make([]int64, len(column))
	for k, v := range column {
		entries[k] = int64(math.Round(math.Ldexp(v, factorBits)))
	}
	of := make([]float64, len(column))
	squares, all := 0.0, 0.0
	for k := range of {
		of[k] = r.weights[k]
		for j := 1; j <= k; j++ {
			of[k] -= math.Ldexp(float64(entries[j]), -factorBits) * of[k-j]
		}
		squares += of[k] * of[k]
		all += squares
	}
	f, err := stream.NewToeplitz(entries)
	return &Factorization{name, f, Expected{RMSE: math.Sqrt(all / float64(len(of))), Maximum: math.Sqrt(squares)}}, err
}

// triangular returns a factorization by a lower triangular matrix, whose entries are rounded to factorBits.
func (r Running) triangular(name string, m Matrix) (*Factorization, error) {
	n := len(m.Rows)
	rows := make([][]int64, n)
	c, w := mat.NewTriDense(n, mat.Lower, nil), mat.NewDense(n, n, nil)
	for t, row := range m.Rows {
		rows[t] = make([]int64, t+1)
		for j, e := range row.Entries {
			rows[t][j] = (e + 1<<(entryBits-factorBits-1)) >> (entryBits - factorBits)
			c.SetTri(t, j, math.Ldexp(float64(rows[t][j]), -factorBits))
			w.Set(t, j, r.weights[t-j])
		}
	}
	f, err := stream.NewFactor(rows)
	if err != nil {
		return nil, err
	}
	var p mat.Dense // (W·C⁻¹)ᵀ, from Cᵀ·Pᵀ = Wᵀ
	if err := p.Solve(c.T(), w.T()); err != nil {
		return nil, fmt.Errorf("%w: the optimum determines some steps too badly: %w", ErrStrategy, err)
	}
	worst, all := 0.0, 0.0
	for t := range n {
		norm := mat.Norm(p.ColView(t), 2)
		worst, all = max(worst, norm), all+norm*norm
	}
	return &Factorization{name, f, Expected{RMSE: math.Sqrt(all / float64(n)), Maximum: worst}}, nil
}
