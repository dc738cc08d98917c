package pld

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"
)

// TestTransformError measures a transform against the definition, summed directly, and asks it to be within its bound.
func TestTransformError(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, size := range []int{1, 2, 4, 8, 64, 512} {
		x := make([]complex128, size)
		for i := range x {
			x[i] = complex(r.NormFloat64(), r.NormFloat64()*1e-3)
		}
		tr := newTransform(size)
		y := append([]complex128{}, x...)
		tr.forward(y)
		bits := int(math.Log2(float64(size)))
		var off, norm float64
		for p := range size {
			k := 0
			for b := range bits {
				k |= p >> b & 1 << (bits - 1 - b)
			}
			var sum complex128
			for j := range size {
				turn := float64(j*k%size) / float64(size)
				sin, cos := math.Sincos(2 * math.Pi * turn)
				sum += x[j] * complex(cos, -sin)
			}
			off += math.Pow(cmplx.Abs(sum-y[p]), 2)
			norm += math.Pow(cmplx.Abs(sum), 2)
		}
		// The direct sum itself is off by some units, times the square root of the size at random.
		if limit := tr.relativeError() + 4*unit*math.Sqrt(float64(size)); math.Sqrt(off) > limit*math.Sqrt(norm) {
			t.Errorf("size %d: off by a share of %g, bound %g", size, math.Sqrt(off/norm), limit)
		}
		tr.inverse(y)
		for i := range x {
			if cmplx.Abs(x[i]-y[i]) > 1e-13 {
				t.Fatalf("size %d: %v came back as %v", size, x[i], y[i])
			}
		}
	}
}

// TestSpectrumComposes convolves two pairs of sequences through a spectrum and directly, one of them thrice.
func TestSpectrumComposes(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	const size = 64
	draw := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = r.Float64() / float64(n)
		}
		return x
	}
	a, b := draw(20), draw(9)
	c, d := draw(20), draw(9)
	s := newSpectrum(newTransform(size))
	scratch := make([]complex128, size)
	s.multiply(sequence{above: a, below: c, count: 3}, scratch)
	s.multiply(sequence{above: b, below: d, count: 1, first: -5}, scratch)
	above, below, errAbove, errBelow := s.invert(scratch)
	check := func(name string, got []float64, err float64, x, y []float64) {
		direct := convolve(convolve(x, x, 1), x, 1)
		direct = convolve(direct, y, 1)
		want := make([]float64, size)
		for i, v := range direct {
			want[(i-5+size)%size] += v
		}
		off := 0.0
		for i := range want {
			off += (want[i] - got[i]) * (want[i] - got[i])
		}
		if math.Sqrt(off) > err || err > 1e-12 {
			t.Errorf("%s: off by %g, bound %g", name, math.Sqrt(off), err)
		}
	}
	check("above", above, errAbove, a, b)
	check("below", below, errBelow, c, d)
}

// TestSpecialFunctions compares with mpmath at 40 digits.
func TestSpecialFunctions(t *testing.T) {
	for _, c := range []struct{ x, want float64 }{
		{0.1, 0.8875370839817151016},
		{1, 0.15729920705028513066},
		{5, 1.5374597944280348502e-12},
		{11, 1.4408661379436946803e-54},
		{20, 5.3958656116079009289e-176},
		{26, 5.6631924088561428465e-296},
	} {
		if b := erfc(point(c.x)); b.lo > c.want || b.hi < c.want || math.Abs(math.Erfc(c.x)/c.want-1) > 3*0x1p-52 {
			t.Errorf("erfc(%g): [%.17g, %.17g], want %.17g", c.x, b.lo, b.hi, c.want)
		}
	}
	for _, c := range []struct{ x, want float64 }{
		{12, 0.04685422101489376262},
		{12.5, 0.044992099001027920845},
		{20, 0.028174348741051319319},
		{100, 0.0056416137829894329036},
		{1e6, 5.6418958354747419216e-7},
	} {
		if b := erfcx(point(c.x)); b.lo > c.want || b.hi < c.want || b.hi-b.lo > 1e-14*c.want {
			t.Errorf("erfcx(%g): [%.17g, %.17g], want %.17g", c.x, b.lo, b.hi, c.want)
		}
	}
}
