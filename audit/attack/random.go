package attack

import (
	"math"
	"math/bits"
)

// stream is SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014). It makes up
// people, questions, and the noise of curators that promise nothing, the same from the same seed. Whoever sees an output can
// compute all others, so it must never make noise that protects anybody: that comes from package mechanism.
type stream struct{ state uint64 }

// step is 2⁶⁴ / φ, made odd.
const step = 0x9e3779b97f4a7c15

// newStream is the stream of one part of a simulation: streams of other parts begin at other, scattered places.
func newStream(seed uint64, parts ...uint64) *stream {
	z := mix(seed + step)
	for _, p := range parts {
		z = mix(z + (p+1)*step)
	}
	return &stream{z}
}

// mix is a bijection of the words that scatters neighbours.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func (s *stream) word() uint64 {
	s.state += step
	return mix(s.state)
}

// below is uniform in 0 … n-1, for n ≥ 1 (but for a bias of at most n / 2⁶⁴).
func (s *stream) below(n int) int {
	high, _ := bits.Mul64(s.word(), uint64(n))
	return int(high)
}

// bit is true with probability 1/2.
func (s *stream) bit() bool { return s.word()>>63 == 1 }

// unit is uniform in [0, 1), in steps of 2⁻⁵³.
func (s *stream) unit() float64 { return float64(s.word()>>11) * 0x1p-53 }

// within is uniform in [-bound, bound).
func (s *stream) within(bound float64) float64 { return (2*s.unit() - 1) * bound }

// threshold is the word below which a stream's word falls with probability p, to within 2⁻⁶⁴, for p in [0, 1).
func threshold(p float64) uint64 { return uint64(math.Ldexp(p, 64)) }
