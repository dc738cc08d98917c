package cluster

import (
	"math"

	"dither/internal/splitmix"
)

// stream is public randomness: it is determined by the public seed. It chooses starting points and never protects
// rows.
type stream struct{ words splitmix.Stream }

// randomStream returns the stream of a seed for one purpose, which the list of numbers `use` identifies.
func randomStream(seed uint64, use ...int) *stream {
	state := splitmix.Mix(seed)
	for _, u := range use {
		state = splitmix.Mix(state + splitmix.Step*uint64(u+1))
	}
	return &stream{splitmix.At(state)}
}

// uniform returns a number in [0, 1).
func (s *stream) uniform() float64 { return float64(s.words.Word()>>11) / (1 << 53) }

// exponential returns a draw from the exponential distribution with mean 1.
func (s *stream) exponential() float64 { return -math.Log1p(-s.uniform()) }

// normal returns a draw from the standard normal distribution, by the method of Box and Muller.
func (s *stream) normal() float64 {
	return math.Sqrt(2*s.exponential()) * math.Cos(2*math.Pi*s.uniform())
}

// rounded rounds a number for use in a question. Processors may compute the last bits of a function differently,
// and rounding keeps the question the same.
func rounded(x float64) float64 { return math.Round(x*(1<<20)) / (1 << 20) }

// mostTries is the largest number of attempts to draw a point of the ball that lies inside the cube.
const mostTries = 1000

// point returns a uniform point of the cube [−1, 1]^d within the radius, for d columns.
func (s *stream) point(t task) []float64 {
	x := make([]float64, t.d)
	for range mostTries {
		switch {
		case t.radius <= 0:
			for i := range x {
				x[i] = 2*s.uniform() - 1
			}
		case t.l2: // a random direction times a random radius, uniform in the d-dimensional ball
			n := 0.0
			for i := range x {
				x[i] = s.normal()
				n = math.Hypot(n, x[i])
			}
			s.stretch(x, t.radius*math.Pow(s.uniform(), 1/float64(t.d))/n)
		// d + 1 exponentials divided by their sum are uniform on the simplex; the first d are uniform in the corner
		// below it
		default:
			n := s.exponential()
			for i := range x {
				x[i] = s.exponential()
				n += x[i]
				if s.words.Word()>>63 == 1 {
					x[i] = -x[i]
				}
			}
			s.stretch(x, t.radius/n)
		}
		if inside := t.inside(x); sameVector(inside, x) {
			break
		}
	}
	for i, v := range t.inside(x) {
		x[i] = rounded(v)
	}
	return x
}

func (s *stream) stretch(x []float64, by float64) {
	if math.IsInf(by, 0) || math.IsNaN(by) {
		by = 0
	}
	for i := range x {
		x[i] *= by
	}
}

// sameVector reports whether two points are equal up to rounding.
func sameVector(x, y []float64) bool {
	for i := range x {
		if math.Abs(x[i]-y[i]) > 1e-9 {
			return false
		}
	}
	return true
}
