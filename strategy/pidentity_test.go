package strategy

import (
	"fmt"
	"math"
	"os"
	"testing"

	"dither/internal/splitmix"
)

// p-identity has at most the errors that its authors publish: 5.70 for ranges of 256 cells, and 7.80 and 6.75 for ranges
// and prefixes of 1,024 cells. It is not below the bound.
func TestPIdentity(t *testing.T) {
	for _, c := range []struct {
		name      string
		w         Workload
		p         int
		published float64
		long      bool
	}{
		{"256 ranges", must[Workload](t)(Ranges(256)), 16, 5.70, false},
		{"1,024 ranges", must[Workload](t)(Ranges(1024)), 64, 7.80, true},
		{"1,024 prefixes", must[Workload](t)(Prefixes(1024)), 64, 6.75, true},
	} {
		if c.long && os.Getenv("DITHER_LONG") != "1" {
			continue
		}
		s := must[*Strategy](t)(PIdentity(c.w, c.p))
		if bound := Bound(c.w); !(s.RMSE <= c.published && s.RMSE >= bound) {
			t.Errorf("%s: the error with %d sums is %g; published %g, bound %g", c.name, c.p, s.RMSE, c.published, bound)
		}
		t.Logf("%s: the error with %d sums is %.4f", c.name, c.p, s.RMSE)
	}
}

// The gradient of the loss is the limit of its differences, and the loss is that of the matrix.
func TestPLoss(t *testing.T) {
	for name, w := range workloads(t) {
		n, p := w.Cells(), min(3, w.Cells())
		random, x := splitmix.At(9), make([]float64, p*n)
		for i := range x {
			x[i] = 0.2 + float64(random.Word()>>11)*0x1p-53
		}
		f := &pLoss{w: w, p: p, width: 1}
		loss, by := f.value(x), make([]float64, p*n)
		f.gradient(by, x)
		s := must[*Strategy](t)(New("", w, pMatrix(x, p, n), Epsilon))
		near(t, name+": the loss", math.Sqrt(loss/w.Weight()), s.RMSE, 1e-4*s.RMSE)
		for i := range x {
			const step = 1e-5
			at := x[i]
			x[i] = at + step
			up := f.value(x)
			x[i] = at - step
			down := f.value(x)
			x[i] = at
			near(t, fmt.Sprintf("%s: the derivative by %d", name, i), by[i], (up-down)/(2*step), 1e-4*(1+math.Abs(by[i])))
		}
	}
}
