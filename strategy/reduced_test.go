package strategy

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// Roots by reduction are those by eigenvectors, for matrices of full rank and for others, with a weight on each cell,
// and for blocks that do not touch. The bounds on the trace are the same but for rounding.
func TestReducedRoots(t *testing.T) {
	var of []*mat.SymDense
	for _, w := range []func() (Workload, error){
		func() (Workload, error) { return Prefixes(140) },
		func() (Workload, error) { return Windows(150, 9) }, // of rank 142
		func() (Workload, error) { return Windows(160, 130) },
		func() (Workload, error) { return Windows(131, 1) }, // the identity
		func() (Workload, error) { return Windows(133, 133) },
	} {
		v, err := w()
		if err != nil {
			t.Fatal(err)
		}
		of = append(of, v.Gram())
	}
	blocks := mat.NewSymDense(140, nil)
	for i := range 140 {
		for j := i; j < 140 && i/20 == j/20; j++ {
			blocks.SetSym(i, j, float64(140-j))
		}
	}
	all, full := append(of, blocks), 0
	for _, gram := range all {
		n := gram.SymmetricDim()
		for i := range n {
			for j := i; j < n; j++ {
				gram.SetSym(i, j, gram.At(i, j)*math.Exp(math.Sin(float64(i))+math.Sin(float64(j))))
			}
		}
		want, bound := squareRoot(gram)
		got, trace, ok := reducedRoot(gram, true)
		if !ok {
			t.Fatalf("%d cells have no diagonal", n)
		}
		// Each eigenvalue has a doubt of at most this. Its root differs by at most the root of the doubt, once in each
		// result.
		near := 2 * math.Sqrt(4*float64(n)*0x1p-53*mat.Trace(gram))
		for i := range n {
			if math.Abs(got.At(i, i)-want.At(i, i)) > near {
				t.Errorf("%d cells: entry %d is %v, want %v", n, i, got.At(i, i), want.At(i, i))
			}
		}
		if math.Abs(trace/bound-1) > 1e-6 || trace > mat.Trace(want)*(1+1e-12) {
			t.Errorf("%d cells: a trace of %v, by eigenvectors %v", n, trace, bound)
		}
		root, _, ok := reducedRoot(gram, false)
		if !ok {
			continue
		}
		full++
		var square mat.Dense
		square.Mul(root, root)
		square.Sub(&square, gram)
		if off := max(mat.Max(&square), -mat.Min(&square)); off > 1e-11*mat.Trace(gram) {
			t.Errorf("%d cells: the square of the root is off by %v", n, off)
		}
	}
	if full < 3 || full == len(all) {
		t.Errorf("%d of %d matrices have full roots without eigenvectors", full, len(all))
	}
	if _, _, ok := reducedRoot(mat.NewSymDense(130, nil), true); ok {
		t.Error("a matrix of zeros has a largest eigenvalue")
	}
}

// The optimum for windows is certified, and no worse than the ascent with eigenvectors finds.
func TestReducedAscent(t *testing.T) {
	w, err := Windows(300, 16)
	if err != nil {
		t.Fatal(err)
	}
	d := newDense(w.Gram())
	quick, _, bound, err := OptimalWithDual(w)
	if err != nil {
		t.Fatal(err)
	}
	y, slow := ascend(byVectors{d}, 300, tolerance(true))
	m, err := factor(gramOf(d.full(y), y))
	if err != nil {
		t.Fatal(err)
	}
	want, err := New("", w, m, Rho)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(quick.RMSE/want.RMSE-1) > 1e-6 || math.Abs(bound/math.Sqrt(slow/w.Weight())-1) > 1e-6 || quick.RMSE/bound > 1+1e-3 {
		t.Errorf("%v at the bound %v, and with eigenvectors %v", quick.RMSE, bound, want.RMSE)
	}
}

// byVectors takes every root by eigenvectors.
type byVectors struct{ *dense }

func (d byVectors) diagonal(y []float64) (m []float64, trace float64) {
	full, trace := d.root(y, squareRoot)
	m = make([]float64, len(y))
	for i := range m {
		m[i] = full.At(i, i)
	}
	return m, trace
}

func BenchmarkDiagonalOfRoot(b *testing.B) {
	w, err := Windows(512, 16)
	if err != nil {
		b.Fatal(err)
	}
	for name, f := range map[string]func(*mat.SymDense) (*mat.SymDense, float64){
		"eigenvectors": squareRoot, "reduction": diagonalOfRoot,
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				f(w.Gram())
			}
		})
	}
}

// The roots of a symmetric workload for numbers y that are not symmetric are those of its matrix without division into
// halves. So they are lower bounds.
func TestRootsOfAsymmetricNumbers(t *testing.T) {
	for name, w := range map[string]Workload{
		"values": workloadOf(t)(Values(7)), "windows": workloadOf(t)(Windows(8, 3)),
		"ranges twice": workloadOf(t)(Union(workloadOf(t)(Ranges(6)), workloadOf(t)(Values(6)))),
	} {
		n := w.Cells()
		y, v, sum := make([]float64, n), make([]float64, n), 0.0
		for i := range y {
			y[i] = 1 + float64(i*i%5)
			sum += y[i]
		}
		scaled, gram := mat.NewSymDense(n, nil), w.Gram()
		for i := range n {
			v[i] = math.Sqrt(y[i] / sum)
			for j := i; j < n; j++ {
				scaled.SetSym(i, j, math.Sqrt(y[i]*y[j])*gram.At(i, j))
			}
		}
		root, _ := squareRoot(scaled)
		along := mat.Inner(mat.NewVecDense(n, v), root, mat.NewVecDense(n, v))
		got := RootOf(w, y)
		if math.Abs(got.Along-along) > 1e-5*along || math.Abs(got.Along+got.Across-mat.Trace(root)) > 1e-5*mat.Trace(root) {
			t.Errorf("%s: %+v, want %v along, and the trace %v", name, got, along, mat.Trace(root))
		}
	}
}

func workloadOf(t *testing.T) func(Workload, error) Workload {
	return func(w Workload, err error) Workload {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
}
