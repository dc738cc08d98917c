package pld

import "math"

// transform is the discrete Fourier transform of complex sequences whose length is a power of two. It never
// reorders: forward turns natural order into bit-reversed order, and inverse undoes that. Code between the two
// works on each frequency alone.
type transform struct {
	size    int
	twiddle []complex128 // e^(−2πik/size) for k < size/2
}

// unit is the unit roundoff of a float64.
const unit = 0x1p-53

// newTransform computes the twiddle factors. Each component is the sine or cosine of an angle in the first octant.
// With all rounding errors, it is within 4 units of roundoff of the true value.
func newTransform(size int) *transform {
	t := &transform{size: size, twiddle: make([]complex128, max(1, size/2))}
	for k := range t.twiddle {
		t.twiddle[k] = root(k, size)
	}
	return t
}

func root(k, size int) complex128 {
	quarter := size / 4
	switch {
	case k == 0:
		return 1
	case k > quarter: // e^(−i(π/2 + a)) = −i·e^(−ia)
		z := root(k-quarter, size)
		return complex(imag(z), -real(z))
	case 2*k > quarter: // mirrored at 45°
		sin, cos := math.Sincos(2 * math.Pi * (float64(quarter-k) / float64(size)))
		return complex(sin, -cos)
	}
	sin, cos := math.Sincos(2 * math.Pi * (float64(k) / float64(size)))
	return complex(cos, -sin)
}

// relativeError returns a bound on ‖computed − true‖₂/‖true‖₂ for a transform or its inverse. The bound is tη/(1 −
// tη) with t = log₂ size and η = μ + γ₄(√2 + μ), where μ is the error of a twiddle factor [Higham, Accuracy and
// Stability of Numerical Algorithms, 2002, Theorem 24.2]. With μ ≤ 4√2·u, where u is the unit roundoff, η is below
// 12u.
func (t *transform) relativeError() float64 {
	levels := math.Log2(float64(t.size))
	return levels * 12 * unit * 1.001
}

// forward replaces x by its transform Σⱼ xⱼ·e^(−2πijk/n). Frequency k is at the index with the bits of k reversed.
func (t *transform) forward(x []complex128) {
	for half := t.size / 2; half >= 1; half /= 2 {
		stride := t.size / (2 * half)
		if half == 1 {
			for i := 0; i+1 < len(x); i += 2 {
				x[i], x[i+1] = x[i]+x[i+1], x[i]-x[i+1]
			}
			continue
		}
		for start := 0; start < t.size; start += 2 * half {
			a, b := x[start:start+half], x[start+half:start+2*half]
			for j := range a {
				u, v := a[j], b[j]
				a[j] = u + v
				b[j] = (u - v) * t.twiddle[j*stride]
			}
		}
	}
}

// inverse undoes forward.
func (t *transform) inverse(x []complex128) {
	for half := 1; half < t.size; half *= 2 {
		stride := t.size / (2 * half)
		if half == 1 {
			for i := 0; i+1 < len(x); i += 2 {
				x[i], x[i+1] = x[i]+x[i+1], x[i]-x[i+1]
			}
			continue
		}
		for start := 0; start < t.size; start += 2 * half {
			a, b := x[start:start+half], x[start+half:start+2*half]
			for j := range a {
				w := t.twiddle[j*stride]
				u, v := a[j], b[j]*complex(real(w), -imag(w))
				a[j], b[j] = u+v, u-v
			}
		}
	}
	scale := 1 / float64(t.size) // exact, because it is a power of two
	for i := range x {
		x[i] = complex(real(x[i])*scale, imag(x[i])*scale)
	}
}

// pairs calls visit for each frequency of a real sequence. The transform of a real sequence has conjugate values at
// the frequencies k and n − k, so half of them suffice. p is the index of a frequency in the transform, and partner
// the index of its conjugate. at is the index in an array of size/2 + 1 frequencies that keeps only one of each
// pair: the constant frequency first, and the highest last.
//
// In the transform, the indices from 2ᵐ to 2ᵐ⁺¹ − 1 form a block whose second half mirrors the first half.
func (t *transform) pairs(visit func(at, p, partner int)) {
	visit(0, 0, 0)
	if t.size > 1 {
		visit(t.size/2, 1, 1)
	}
	for block := 2; block < t.size; block *= 2 {
		for r := range block / 2 {
			visit(block/2+r, block+r, 2*block-1-r)
		}
	}
}
