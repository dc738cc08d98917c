package attack

import (
	"math"

	"dither/internal/splitmix"
)

// stream is the source of simulated people and questions, and of the noise of curators without a privacy promise.
// The same seed gives the same draws. It is predictable, so it must never produce noise that protects anybody. Such
// noise comes from package mechanism.
type stream struct{ splitmix.Stream }

// newStream returns the stream for one part of a simulation. Different parts get streams that start at scattered
// positions.
func newStream(seed uint64, parts ...uint64) *stream {
	z := splitmix.Mix(seed + splitmix.Step)
	for _, p := range parts {
		z = splitmix.Mix(z + (p+1)*splitmix.Step)
	}
	return &stream{splitmix.At(z)}
}

// bit returns true with probability 1/2.
func (s *stream) bit() bool { return s.Word()>>63 == 1 }

// unit returns a number uniform in [0, 1), a multiple of 2⁻⁵³.
func (s *stream) unit() float64 { return float64(s.Word()>>11) * 0x1p-53 }

// within returns a number uniform in [-bound, bound).
func (s *stream) within(bound float64) float64 { return (2*s.unit() - 1) * bound }

// threshold returns the number that a random 64-bit word is below with probability p, up to 2⁻⁶⁴. p is in [0, 1).
func threshold(p float64) uint64 { return uint64(math.Ldexp(p, 64)) }
