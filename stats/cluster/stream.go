package cluster

import (
	"math"

	"dither/internal/splitmix"
)

// stream is public randomness: anybody who knows the seed knows it all. It chooses where to begin, and never protects
// anything.
type stream struct{ words splitmix.Stream }

// randomStream is the stream of a seed for one use of it.
func randomStream(seed uint64, use ...int) *stream {
	state := splitmix.Mix(seed)
	for _, u := range use {
		state = splitmix.Mix(state + splitmix.Step*uint64(u+1))
	}
	return &stream{splitmix.At(state)}
}

// uniform is in [0, 1).
func (s *stream) uniform() float64 { return float64(s.words.Word()>>11) / (1 << 53) }

// exponential has mean 1.
func (s *stream) exponential() float64 { return -math.Log1p(-s.uniform()) }

// normal is standard, by Box and Muller's method.
func (s *stream) normal() float64 {
	return math.Sqrt(2*s.exponential()) * math.Cos(2*math.Pi*s.uniform())
}

// rounded rounds what is part of a question, so that the last bits of a function that processors compute differently
// change none.
func rounded(x float64) float64 { return math.Round(x*(1<<20)) / (1 << 20) }

// mostTries bounds how often a point of the ball is drawn that lies outside the cube.
const mostTries = 1000

// point is uniform in the cube [−1, 1]^d, within the radius.
func (s *stream) point(t task) []float64 {
	x := make([]float64, t.d)
	for range mostTries {
		switch {
		case t.radius <= 0:
			for i := range x {
				x[i] = 2*s.uniform() - 1
			}
		case t.l2: // a direction, and the radius of a ball of d dimensions
			n := 0.0
			for i := range x {
				x[i] = s.normal()
				n = math.Hypot(n, x[i])
			}
			s.stretch(x, t.radius*math.Pow(s.uniform(), 1/float64(t.d))/n)
		default: // d + 1 exponentials over their sum are uniform on the simplex, and the first d in the corner below it
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

// sameVector holds where two points are the same but for rounding.
func sameVector(x, y []float64) bool {
	for i := range x {
		if math.Abs(x[i]-y[i]) > 1e-9 {
			return false
		}
	}
	return true
}
