package pld

import "math"

// transform is the discrete Fourier transform of a power of two of complex numbers, as n/2-point butterflies. It never
// reorders: forward takes natural order to bit-reversed order, inverse takes that back, and what stands between them
// works at each frequency alone.
type transform struct {
	size    int
	twiddle []complex128 // e^(−2πik/size), k < size/2
}

// unit is the unit roundoff of a float64.
const unit = 0x1p-53

// newTransform makes the twiddles: each component is the sine or cosine of an angle in the first octant, whose rounding
// and evaluation leave it within 4 units of the truth.
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
	case 2*k > quarter: // the mirror at the octant
		sin, cos := math.Sincos(2 * math.Pi * (float64(quarter-k) / float64(size)))
		return complex(sin, -cos)
	}
	sin, cos := math.Sincos(2 * math.Pi * (float64(k) / float64(size)))
	return complex(cos, -sin)
}

// relativeError bounds ‖computed − true‖₂/‖true‖₂ of a transform or its inverse: tη/(1 − tη) with t =
// log₂ size, η = μ + γ₄(√2 + μ), μ the error of a twiddle [Higham, Accuracy and Stability of Numerical
// Algorithms, 2002, Theorem 24.2]. With μ ≤ 4√2·u, η is below 12u.
func (t *transform) relativeError() float64 {
	levels := math.Log2(float64(t.size))
	return levels * 12 * unit * 1.001
}

// forward replaces x by its transform Σⱼ xⱼ·e^(−2πijk/n), frequency k at the place of k's bits reversed.
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
	scale := 1 / float64(t.size) // a power of two: exact
	for i := range x {
		x[i] = complex(real(x[i])*scale, imag(x[i])*scale)
	}
}

// fold is the place, in an array of half+1 frequencies, of the frequency that stands at p of a transform. Real input
// has conjugate frequencies k and n − k, and of the block of places [2ᵐ, 2ᵐ⁺¹) the second half mirrors the
// first; so the first halves stand one after another, the constant frequency first and the highest last.
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
