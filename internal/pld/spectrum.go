package pld

import (
	"math"
	"math/cmplx"
)

// spectrum is a product of transforms of pairs of real sequences, called above and below. Each pair is transformed
// as the real and the imaginary part of one complex sequence. errAbove and errBelow bound the error of the computed
// product at each frequency. They are sums and products of positive numbers. inflate covers their rounding errors.
type spectrum struct {
	*transform
	above, below       []complex128
	errAbove, errBelow []float64
}

// inflate covers the rounding of up to 10⁹ operations on positive numbers.
const inflate = 1 + 1e-6

// sequence is a pair of tilted measures, on consecutive points from first on, modulo the size of the transform.
// errAbove and errBelow bound the errors of the measures in the Euclidean norm. count is the number of times that
// it is composed.
type sequence struct {
	above, below       []float64
	errAbove, errBelow float64
	first              int64
	count              int64
}

func newSpectrum(t *transform) *spectrum {
	n := t.size/2 + 1
	s := &spectrum{t, make([]complex128, n), make([]complex128, n), make([]float64, n), make([]float64, n)}
	for i := range n {
		s.above[i], s.below[i] = 1, 1
	}
	return s
}

// multiply composes the spectrum with a sequence, q.count times. A sequence that is longer than the size is folded,
// as in a circular convolution.
func (s *spectrum) multiply(q sequence, scratch []complex128) {
	clear(scratch)
	at := int(((q.first % int64(s.size)) + int64(s.size)) % int64(s.size))
	for j := range q.above {
		scratch[at] += complex(q.above[j], q.below[j])
		if at++; at == s.size {
			at = 0
		}
	}
	var square, total float64
	for _, z := range scratch {
		square += real(z)*real(z) + imag(z)*imag(z)
		total += math.Abs(real(z)) + math.Abs(imag(z))
	}
	folds := float64(len(q.above)/s.size + 1)
	s.forward(scratch)
	root := math.Sqrt(float64(s.size))
	own := (s.relativeError()*root*math.Sqrt(square) + (4+folds)*unit*total) * inflate
	errAbove, errBelow := own+root*q.errAbove, own+root*q.errBelow
	to := powerOf(q.count)
	s.pairs(func(i, p, partner int) {
		z, w := scratch[p], cmplx.Conj(scratch[partner])
		sum, difference := z+w, z-w
		a := complex(real(sum)/2, imag(sum)/2)
		b := complex(imag(difference)/2, -real(difference)/2)
		s.above[i], s.errAbove[i] = to.times(s.above[i], s.errAbove[i], a, errAbove)
		s.below[i], s.errBelow[i] = to.times(s.below[i], s.errBelow[i], b, errBelow)
	})
}

func magnitude(z complex128) float64 {
	return math.Sqrt(real(z)*real(z)+imag(z)*imag(z)) * (1 + 4*unit)
}

// power is an exponent n, with the constants of the error of an n-th power.
type power struct {
	n          int64
	own, grown float64 // a power's relative error is at most own; the error of its argument grows by n·grown at most
	vanishing  float64 // the n-th power of a number of at most this absolute value is below 10⁻¹⁵⁰
}

func powerOf(n int64) power {
	times := float64(n)
	return power{n, math.Expm1(3*unit*times) * 1.01, math.Exp(4 * unit * times), math.Exp(-346 / times)}
}

// times returns c·zⁿ with a bound on its error, given bounds on the errors of c and z. Let z̃ be the computed
// value of z. If |z − z̃| ≤ e, |zⁿ − z̃ⁿ| ≤ n·(|z̃| + e)ⁿ⁻¹·e. A product of complex floats has a relative error of
// at most √5·u, where u is the unit roundoff [Brent, Percival & Zimmermann 2007]. So a power by squaring has one of
// at most (1 + √5·u)ⁿ − 1. The term 10⁻¹⁵⁰ covers underflow, also that of magnitude, which squares. If |z̃| + e is so
// small that |zⁿ| < 10⁻¹⁵⁰, 0 takes the place of the power. After many uses, this holds for nearly all frequencies.
func (p power) times(c complex128, errC float64, z complex128, errZ float64) (product complex128, bound float64) {
	size := magnitude(z)
	switch {
	case p.n <= 1:
	case size+errZ < p.vanishing:
		z, size, errZ = 0, 0, 1e-150
	default:
		times := float64(p.n)
		errZ *= times * math.Pow(size+errZ, times-1) * p.grown
		z = raise(z, p.n)
		size = magnitude(z)
		errZ += size*p.own + 1e-150
	}
	sizeC := magnitude(c)
	return c * z, errC*(size+errZ) + sizeC*errZ + 3*unit*sizeC*size + 1e-150
}

func raise(z complex128, n int64) complex128 {
	power := complex(1, 0)
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			power *= z
		}
		z *= z
	}
	return power
}

// invert returns the sequences whose transforms are the two products, with bounds on their errors in the Euclidean
// norm.
func (s *spectrum) invert(scratch []complex128) (above, below []float64, errAbove, errBelow float64) {
	var square float64
	s.pairs(func(i, p, partner int) {
		a, b := s.above[i], s.below[i]
		weight := 2.0
		if p == partner {
			a, b, weight = complex(real(a), 0), complex(real(b), 0), 1
		}
		scratch[p] = complex(real(a)-imag(b), imag(a)+real(b))
		scratch[partner] = complex(real(a)+imag(b), real(b)-imag(a))
		square += real(scratch[p])*real(scratch[p]) + imag(scratch[p])*imag(scratch[p])
		square += real(scratch[partner])*real(scratch[partner]) + imag(scratch[partner])*imag(scratch[partner])
		errAbove += weight * s.errAbove[i] * s.errAbove[i]
		errBelow += weight * s.errBelow[i] * s.errBelow[i]
	})
	s.inverse(scratch)
	root := math.Sqrt(float64(s.size))
	own := (s.relativeError() + 2*unit) * math.Sqrt(square) / root
	errAbove = (math.Sqrt(errAbove)/root + own) * inflate
	errBelow = (math.Sqrt(errBelow)/root + own) * inflate
	above, below = make([]float64, s.size), make([]float64, s.size)
	for i, z := range scratch {
		above[i], below[i] = real(z), imag(z)
	}
	return above, below, errAbove, errBelow
}
